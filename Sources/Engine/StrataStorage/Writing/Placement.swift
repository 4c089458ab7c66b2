/// Assigns file pages to the nodes of an arena, bottom up, and writes them in few large pieces.
struct Placement {
    private let nodes: TransactionNodes
    /// For each arena page that starts a node, its page in the file.
    private var final: [UInt32]
    /// The allocated pages.
    private(set) var taken: [Extent] = []
    /// With more pages than this, a commit does not search a place below the limit for each node.
    private static let mostBelow = 1024

    /// Allocates pages for all nodes of the arena, in one run if possible.
    init(_ nodes: TransactionNodes) throws(StorageError) {
        self.nodes = nodes
        let sizes = nodes.arena.nodePages
        final = Array(repeating: 0, count: sizes.count)
        var total = 0
        var largest = 1
        for size in sizes where size > 0 {
            total += Int(size)
            largest = max(largest, Int(size))
        }
        if total == 0 { return }
        if let limit = nodes.placesBelow, total <= Self.mostBelow {
            try takeBelow(limit, sizes)
            return
        }
        var runs = try nodes.allocator.allocate(total, largest: largest, usesReserve: nodes.usesReserve)[...]
        var unused: [Extent] = []
        func setAside(_ run: Range<Int>) { if !run.isEmpty { unused.append(Extent(run, birth: nodes.version)) } }
        func take(_ page: Int, _ count: Int) {
            if let last = taken.last, last.range.upperBound == page {
                taken[taken.count - 1].pages += UInt32(count)
            } else {
                taken.append(Extent(page..<page + count, birth: nodes.version))
            }
        }
        for (index, size) in sizes.enumerated() where size > 0 {
            while let run = runs.first, run.count < Int(size) {
                setAside(run)
                runs = runs.dropFirst()
            }
            guard let run = runs.first else { preconditionFailure("runs are as large as what they were asked for") }
            final[index] = UInt32(run.lowerBound)
            take(run.lowerBound, Int(size))
            runs[runs.startIndex] = (run.lowerBound + Int(size))..<run.upperBound
        }
        for run in runs { setAside(run) }
        nodes.allocator.giveBack(unused)
    }

    /// Allocates pages for each node separately, below a page if there is room.
    private mutating func takeBelow(_ limit: Int, _ sizes: [Int32]) throws(StorageError) {
        do throws(StorageError) {
            for (index, size) in sizes.enumerated() where size > 0 {
                let pages = Int(size)
                let reserve = nodes.usesReserve
                if let low = try nodes.allocator.allocateRun(pages, below: limit, usesReserve: reserve) {
                    final[index] = low
                } else {
                    final[index] = try nodes.allocator.allocateRun(pages, usesReserve: nodes.usesReserve)
                }
                taken.append(Extent(page: final[index], pages: UInt32(pages), birth: nodes.version))
            }
        } catch {
            nodes.allocator.giveBack(taken)
            throw error
        }
    }

    /// The pages of each node.
    var extents: [Extent] {
        zip(final, nodes.arena.nodePages).compactMap { page, size in
            size > 0 ? Extent(page: page, pages: UInt32(size), birth: nodes.version) : nil
        }
    }

    /// Seals the trees of all tables.
    func seal(_ tables: inout [TableState]) throws(StorageError) {
        for table in tables.indices {
            tables[table].tree = try seal(tables[table].tree)
            for entry in tables[table].entries.indices {
                tables[table].entries[entry].root = try seal(tables[table].entries[entry].root)
            }
        }
    }

    /// Seals a node of the arena, and all below it.
    func seal(_ reference: NodeReference) throws(StorageError) -> NodeReference {
        guard reference.isInArena, !reference.isNull else { return reference }
        let node = nodes.arena.pointer(reference.arenaIndex)
        switch NodeKind(rawValue: reference.kindCode) {
        case .branch:
            let branch = Branch(UnsafeRawPointer(node))
            for index in 0..<branch.count {
                let child = branch.reference(index)
                if child.isInArena { Branch.setReference(node, index, try seal(child)) }
            }
        case .group:
            let group = Group(UnsafeRawPointer(node))
            for index in 0..<group.nodes {
                let child = group.reference(index)
                if child.isInArena {
                    try seal(child).store(node, Group.referencesOffset + index * NodeReference.size)
                }
            }
        case .collectionBranch:
            let branch = CollectionBranch(UnsafeRawPointer(node))
            for index in 0..<branch.count {
                let child = branch.reference(index)
                if child.isInArena { CollectionBranch.setReference(node, index, try seal(child)) }
            }
        case .collectionLeaf:
            // Inner collections: their roots are in the arena, like children of a branch.
            try CollectionLeaf(UnsafeRawPointer(node)).forEachTree { (long, place) throws(StorageError) in
                guard long.reference.isInArena else { return }
                var sealed = long
                sealed.reference = try seal(long.reference)
                sealed.store(node + (place - UnsafeRawPointer(node)))
            }
        case .entryBranch:
            let branch = EntryBranch(UnsafeRawPointer(node))
            for index in 0..<branch.count {
                let child = branch.reference(index)
                if child.isInArena { EntryBranch.setReference(node, index, try seal(child)) }
            }
        default: break
        }
        var sealed = reference
        sealed.page = final[reference.arenaIndex]
        sealed.birth = nodes.version
        sealed.checksum = NodeHeader.seal(
            node, count: reference.byteCount, birth: nodes.version, seed: nodes.reader.seed)
        nodes.reader.trust(sealed)
        return sealed
    }

    /// Writes the nodes; nodes that adjoin in the arena and in the file are written by one call.
    func write(by pageWriter: any PageWriting) throws(StorageError) {
        let sizes = nodes.arena.nodePages
        var index = 0
        while index < sizes.count {
            let size = Int(sizes[index])
            if size <= 0 {
                index += 1
                continue
            }
            let first = Int(final[index])
            var end = index + size
            while end < sizes.count, sizes[end] > 0, Int(final[end]) == first + (end - index) {
                end += Int(sizes[end])
            }
            let bytes = UnsafeRawBufferPointer(
                start: nodes.arena.pointer(index), count: (end - index) * Format.pageSize)
            try pageWriter.writePages(bytes, at: first)
            index = end
        }
    }
}

// A transaction's nodes are placed at its commit, and before that whenever they take too much memory.
//
// Changed nodes are in the arena. If they exceed ``StoreLimits/memoryBudget`` after an operation, all of them are
// placed and written as at a commit, to pages that no version reaches and that are free again after a rollback or a
// crash. A node that changes again is copied to the arena once more, and the next spill uses the pages of its earlier
// copy.

extension TransactionChanges {
    /// Places and writes all nodes of the transaction, unsynced.
    /// - Returns: the new version.
    /// - Throws: `noSpace` before any write; the transaction can then be rolled back.
    func place() throws(StorageError) -> VersionState {
        if schemaChanged {
            nodes.drop(base.schemaNode)
            view.state.schemaNode = try SchemaNode.make(view.state.schema, nodes)
        }
        try CollectionPlacing(self).prepareForPlaces()
        nodes.drop(base.root)
        try nodes.allocator.prepare(nodes.dead)
        let pages = (RootNode.size(view.state.tables) + Format.pageSize - 1) / Format.pageSize
        let (rootReference, rootNode) = try nodes.makeNode(.root, pages: pages, table: 0)
        let placement = try makePlacement()
        do throws(StorageError) {
            let state = try write(placement, rootReference, rootNode)
            nodes.landed = placement.taken
            return state
        } catch {
            nodes.allocator.giveBack(placement.taken)
            throw error
        }
    }

    /// Allocates pages for the arena's nodes. If there is no space, a checkpoint of the newest version may free pages
    /// that only the previous one needs. Not during a replay: the newest version may then be a dead owner's, on pages
    /// that the last checkpoint's free map does not know, and must not become a checkpoint.
    func makePlacement() throws(StorageError) -> Placement {
        do throws(StorageError) { return try Placement(nodes) } catch {
            guard case .noSpace = error, !isReplay, try pageWriter.releaseHeldPages() else { throw error }
            return try Placement(nodes)
        }
    }

    private func write(
        _ placement: Placement, _ rootReference: NodeReference, _ rootNode: UnsafeMutableRawPointer
    ) throws(StorageError) -> VersionState {
        var state = view.state
        state.version = version
        try CollectionPlacing(self).seal(placement)
        state.schemaNode = try placement.seal(state.schemaNode)
        try placement.seal(&state.tables)
        RootNode.write(state, to: rootNode)
        state.root = try placement.seal(rootReference)
        try placement.write(by: pageWriter)
        return state
    }

    /// Spills changed nodes to the file if they take too much memory. No operation is under way.
    @inline(__always)
    func spillIfLarge() throws(StorageError) {
        if nodes.arena.byteCount > nodes.limits.memoryBudget { try spill() }
    }

    @inline(never)
    func spill() throws(StorageError) {
        mark(.spilled)
        try nodes.prepareForPages()
        try flushAll()
        try CollectionPlacing(self).prepareForPlaces()
        nodes.recycle()
        let placement = try makePlacement()
        do throws(StorageError) {
            try CollectionPlacing(self).seal(placement)
            try placement.seal(&view.state.tables)
            try placement.write(by: pageWriter)
        } catch {
            nodes.allocator.giveBack(placement.taken)
            throw error
        }
        nodes.place(placement.extents)
        workspace.endEditors()
        workspace.collections.removeAll()
        nodes.arena.reset()
        view.generation &+= 1
    }
}
