/// One step of an online compaction: visits nodes in key order, and moves those that end after a page limit nearer to
/// the start of the file.
///
/// A node whose references change is rewritten through the arena, as in any transaction; other nodes are copied as they
/// are. A node that finds no room stays. A step is bounded by the pages moved and the nodes visited. A row group with
/// too many values for one step stays unfinished, and the next step visits it again; it resumes a tree of elements at
/// the place where this step left it, and skips the trees before it.
///
/// Concurrency: confined to the write transaction.
struct CompactionWalk {
    let nodes: TransactionNodes
    /// Nodes are to end at or below this page, if there is room.
    let limit: Int
    private var pagesLeft: Int
    private var visitsLeft: Int
    /// Visits of nodes in trees of elements.
    private var elementVisitsLeft: Int
    /// Position where the previous step left a tree of elements, until it is found again.
    private var resumed: CompactionCursor.Element?
    /// Position where this step leaves a tree of elements.
    private var left: CompactionCursor.Element?
    /// First place of the current tree that was not visited.
    private var stoppedAt: Int?
    /// Branches of collections, and all nodes of inner collections. A node reached twice is damage; it ends the walk,
    /// which would otherwise repeat it for each way.
    private var met = PageSet()
    /// A node was moved: the transaction must be committed.
    private(set) var hasMoved = false

    /// - Parameter pages: to be moved, up to one row group more or less.
    init(_ nodes: TransactionNodes, limit: Int, pages: Int) {
        self.nodes = nodes
        self.limit = limit
        pagesLeft = pages
        visitsLeft = 8 * pages
        elementVisitsLeft = 8 * pages
        nodes.placesBelow = limit
        // The allocator's reserve is for transactions that delete.
        nodes.usesReserve = false
    }

    /// The properties of a table that its nodes' layout depends on.
    private struct Table {
        let layout: TableLayout
        let definition: TableDefinition

        /// Shape of the trees of a column, for any owner; nil if the column has none.
        func shape(_ column: Int) -> CollectionShape? {
            guard layout.isCollection[column] else { return nil }
            var shape = CollectionShape(
                definition.columns[column - RowSet.firstUserColumn], table: definition.id.rawValue, owner: 0)
            shape?.isAnyones = true
            return shape
        }
    }

    private var isOver: Bool { pagesLeft <= 0 || visitsLeft <= 0 }
    private var isOverInTree: Bool { pagesLeft <= 0 || elementVisitsLeft <= 0 }

    /// Continues from a cursor.
    /// - Returns: where the next step continues; nil at the end.
    mutating func run(
        _ state: inout VersionState, from start: CompactionCursor
    ) throws(StorageError) -> CompactionCursor? {
        if !state.schemaNode.isNull, let moved = try moved(state.schemaNode) { state.schemaNode = moved }
        var cursor = start
        resumed = start.element
        cursor.element = nil
        while cursor.table < state.tables.count {
            let table = Table(layout: state.layouts[cursor.table], definition: state.schema.tables[cursor.table])
            while cursor.tree <= state.tables[cursor.table].entries.count {
                if isOver { return cursor }
                var stop: EntryKey?
                if cursor.tree == 0 {
                    var root = state.tables[cursor.table].tree
                    let key = try rows(&root, cursor.key.low, table, below: Branch.maxLevel + 1)
                    state.tables[cursor.table].tree = root
                    stop = key.map { (.min, $0) }
                } else {
                    var root = state.tables[cursor.table].entries[cursor.tree - 1].root
                    if !root.isNull {
                        stop = try entries(&root, cursor.key, level: try EntryTree.level(of: root, nodes))
                        state.tables[cursor.table].entries[cursor.tree - 1].root = root
                    }
                }
                if let stop {
                    cursor.key = stop
                    cursor.element = left
                    return cursor
                }
                cursor.tree += 1
                cursor.key = (.min, .min)
            }
            cursor.table += 1
            cursor.tree = 0
        }
        return nil
    }

    /// The node's new reference, if it was moved.
    private mutating func moved(_ reference: NodeReference) throws(StorageError) -> NodeReference? {
        if reference.isInArena || Int(reference.page) + Int(reference.pages) <= limit { return nil }
        guard let moved = try nodes.relocate(reference, below: limit) else { return nil }
        pagesLeft -= Int(reference.pages)
        hasMoved = true
        mark(.compacted)
        return moved
    }

    // MARK: Rows

    /// - Returns: the key to continue with; nil at the tree's end.
    private mutating func rows(
        _ reference: inout NodeReference, _ start: Int64, _ table: Table, below above: Int
    ) throws(StorageError) -> Int64? {
        if reference.isNull { return nil }
        visitsLeft -= 1
        if reference.is(.group) { return try group(&reference, table) ? nil : start }
        var level = above
        let branch = try nodes.reader.branch(reference, below: &level)
        let count = branch.count
        let first = branch.find(start)
        // Copied, because the branch may move to the arena meanwhile.
        let keys = (0..<count).map(branch.key)
        for index in first..<count {
            let from = index == first ? start : keys[index]
            if isOver { return from }
            let old = Branch(try nodes.node(reference, .branch)).reference(index)
            var child = old
            let stop = try rows(&child, from, table, below: level)
            if child != old { Branch.setReference(try nodes.mutable(&reference), index, child) }
            if let stop { return stop }
        }
        if let moved = try moved(reference) { reference = moved }
        return nil
    }

    /// - Returns: whether the row group is finished.
    private mutating func group(_ reference: inout NodeReference, _ table: Table) throws(StorageError) -> Bool {
        var isDone = try values(&reference, table)
        if isDone, resumed != nil {
            // The tree at which the last step stopped is gone.
            resumed = nil
            isDone = try values(&reference, table)
        }
        if !isDone, left == nil { left = resumed }
        let group = Group(try nodes.node(reference, .group))
        for index in 0..<group.nodes {
            let old = Group(try nodes.node(reference, .group)).reference(index)
            guard let child = try moved(old) else { continue }
            child.store(try nodes.mutable(&reference), Group.referencesOffset + index * NodeReference.size)
        }
        if let moved = try moved(reference) { reference = moved }
        return isDone
    }

    // MARK: Long values

    /// - Returns: whether the row group is finished.
    private mutating func values(
        _ reference: inout NodeReference, _ table: Table
    ) throws(StorageError) -> Bool {
        let layout = table.layout
        for column in layout.kinds.indices where layout.kinds[column] == .bytes {
            let group = Group(try nodes.node(reference, .group))
            guard let position = group.position(of: layout.ids[column], near: column) else { continue }
            let shape = table.shape(column)
            let first = group.firstSegment(position)
            for number in first..<(first + group.segmentCount(position)) {
                if try !mainValues(&reference, position: position, number: number, shape: shape) { return false }
            }
            for index in 0..<group.patched where group.patch(index).column == position {
                if try !patchedValues(&reference, index, shape) { return false }
            }
            if group.inserted > 0, try !insertedValues(&reference, position, shape) { return false }
        }
        return true
    }

    /// Values of main rows that are neither deleted nor patched: the descriptors of other main rows are stale.
    private mutating func mainValues(
        _ reference: inout NodeReference, position: Int, number: Int, shape: CollectionShape?
    ) throws(StorageError) -> Bool {
        let group = Group(try nodes.node(reference, .group))
        let descriptor = group.descriptor(number)
        let segment = try group.segment(number, nodes.reader)
        try segment.require(.bytes, nodes.reader)
        if segment.flags & Segment.hasLong == 0 { return true }
        for index in 0..<segment.rows where segment.isLong(index) {
            let group = Group(try nodes.node(reference, .group))
            let slot = descriptor.firstSlot + index
            if group.isDeleted(slot) || group.patchedValue(position, slot) != nil { continue }
            guard let value = try movedValue(try group.segment(number, nodes.reader), index, shape) else {
                if left != nil { return false }
                continue
            }
            let node = try nodes.mutable(&reference)
            if descriptor.node == Group.inThisNode {
                store(value, Segment(node + descriptor.offset), index, in: node)
            } else {
                var child = Group(UnsafeRawPointer(node)).reference(descriptor.node)
                let segments = try nodes.mutable(&child)
                child.store(node, Group.referencesOffset + descriptor.node * NodeReference.size)
                store(value, SegmentNode.segment(segments, descriptor.index), index, in: segments)
            }
            if isOver || left != nil { return false }
        }
        return true
    }

    private mutating func patchedValues(
        _ reference: inout NodeReference, _ number: Int, _ shape: CollectionShape?
    ) throws(StorageError) -> Bool {
        let first = Group(try nodes.node(reference, .group)).patch(number)
        try first.segment.require(.bytes, nodes.reader)
        let count = first.count
        for index in 0..<count {
            let group = Group(try nodes.node(reference, .group))
            let patch = group.patch(number)
            guard patch.segment.isLong(index), !group.isDeleted(patch.slot(index)),
                let value = try movedValue(patch.segment, index, shape)
            else {
                if left != nil { return false }
                continue
            }
            let node = try nodes.mutable(&reference)
            store(value, Group(UnsafeRawPointer(node)).patch(number).segment, index, in: node)
            if isOver || left != nil { return false }
        }
        return true
    }

    private mutating func insertedValues(
        _ reference: inout NodeReference, _ position: Int, _ shape: CollectionShape?
    ) throws(StorageError) -> Bool {
        let count = Group(try nodes.node(reference, .group)).inserted
        try Group(try nodes.node(reference, .group)).insertedSegment(position).require(.bytes, nodes.reader)
        for index in 0..<count {
            let segment = Group(try nodes.node(reference, .group)).insertedSegment(position)
            guard segment.isLong(index), let value = try movedValue(segment, index, shape) else {
                if left != nil { return false }
                continue
            }
            let node = try nodes.mutable(&reference)
            store(value, Group(UnsafeRawPointer(node)).insertedSegment(position), index, in: node)
            if isOver || left != nil { return false }
        }
        return true
    }

    private mutating func movedValue(
        _ segment: Segment, _ index: Int, _ shape: CollectionShape?
    ) throws(StorageError) -> LongValue? {
        let bytes = segment.bytes(index)
        guard let base = bytes.baseAddress, bytes.count == LongValue.size else {
            throw nodes.reader.damage(at: segment.base)
        }
        var value = LongValue(base)
        guard value.isPlausible(takesTrees: shape != nil) else { throw nodes.reader.damage(at: segment.base) }
        let place: NodeReference?
        if let shape, value.isTree {
            try value.checkCount(nodes.reader)
            place = try tree(value.reference, shape)
        } else {
            place = try moved(value.reference)
        }
        guard let moved = place else { return nil }
        mark(.movedValue)
        value.reference = moved
        return value
    }

    /// Overwrites the descriptor in place; its length is fixed.
    private func store(_ value: LongValue, _ segment: Segment, _ index: Int, in node: UnsafeMutableRawPointer) {
        guard let base = segment.bytes(index).baseAddress else { return }
        value.store(node + (base - UnsafeRawPointer(node)))
    }

    // MARK: Trees of elements

    /// The new root of a collection, if it or a node below it was moved. Nodes with changed references are rewritten at
    /// once, not through the arena: only a row's cell references the root, and a cell must never reference the arena.
    private mutating func tree(_ root: NodeReference, _ shape: CollectionShape) throws(StorageError) -> NodeReference? {
        let level = try CollectionTree.level(of: root, shape, nodes)
        if shape.depth > 0 { return try elements(root, level: level, first: 0, mayHaveLong: true, shape) }
        let owner =
            level == 0
            ? try CollectionTree.leaf(root, shape, nodes).owner
            : try CollectionTree.branch(root, level: level, shape, nodes).owner
        var from = 0
        if let resumed {
            if resumed.owner != owner || resumed.column != shape.column { return nil }
            from = resumed.place
            self.resumed = nil
        }
        stoppedAt = nil
        let moved = try elements(root, level: level, first: 0, from: from, mayHaveLong: true, shape)
        if isOverInTree {
            left = CompactionCursor.Element(owner: owner, column: shape.column, place: stoppedAt ?? .max)
        }
        return moved
    }

    /// Reads leaves only if their elements may be long values.
    /// - Parameters:
    ///   - first: the place of the first element below.
    ///   - from: elements before this place were visited.
    private mutating func elements(
        _ reference: NodeReference, level: Int, first: Int, from: Int = 0, mayHaveLong: Bool, _ shape: CollectionShape
    ) throws(StorageError) -> NodeReference? {
        if isOverInTree {
            if shape.depth == 0 { stoppedAt = stoppedAt ?? first }
            return nil
        }
        if level > 0 || shape.depth > 0, !reference.isInArena, !met.insert(Int(reference.page)) {
            throw .structure(reference)
        }
        // Nodes before the step's start are not counted, so that each step makes progress.
        if shape.depth == 0, first > from, level > 0 || mayHaveLong { elementVisitsLeft -= 1 }
        var places: [(offset: Int, reference: NodeReference)] = []
        if level > 0 {
            let branch = try CollectionTree.branch(reference, level: level, shape, nodes)
            let mayHaveLong = branch.flags & CollectionLeaf.hasLong != 0
            var next = first
            for index in 0..<branch.count {
                let child = branch.reference(index)
                let start = next
                next += branch.elements(index)
                if next <= from { continue }
                let moved = try elements(
                    child, level: level - 1, first: start, from: from, mayHaveLong: mayHaveLong, shape)
                guard let moved else { continue }
                places.append((CollectionBranch.referencesOffset + index * NodeReference.size, moved))
            }
        } else if mayHaveLong {
            let leaf = try CollectionTree.leaf(reference, shape, nodes)
            for segment in [leaf.keys, leaf.values].compactMap(\.self)
            where segment.kind == .bytes && segment.flags & Segment.hasLong != 0 {
                for slot in 0..<segment.rows {
                    guard pagesLeft > 0, let long = segment.cellValue(slot).long,
                        let base = segment.bytes(slot).baseAddress,
                        let moved = try movedElement(long.reference, isTree: long.isTree, shape)
                    else { continue }
                    places.append((base - leaf.node, moved))
                }
            }
            // Some of its values may be unvisited.
            if pagesLeft <= 0, shape.depth == 0 { stoppedAt = stoppedAt ?? first }
        }
        if places.isEmpty { return try moved(reference) }
        hasMoved = true
        pagesLeft -= 1
        return try nodes.rewrite(reference, below: limit) { node in
            for place in places { place.reference.store(node, place.offset) }
        }
    }

    /// The new reference of a long element: a value, or the tree of a collection.
    private mutating func movedElement(
        _ reference: NodeReference, isTree: Bool, _ shape: CollectionShape
    ) throws(StorageError) -> NodeReference? {
        if !isTree { return try moved(reference) }
        let isKeyed = try NestedCollection.isKeyed(reference, nodes)
        return try tree(reference, shape.nested(isKeyed: isKeyed, in: reference))
    }

    // MARK: Indexes and backlinks

    /// - Returns: the key to continue with; nil at the tree's end.
    private mutating func entries(
        _ reference: inout NodeReference, _ start: EntryKey, level: Int
    ) throws(StorageError) -> EntryKey? {
        visitsLeft -= 1
        if level > 0 {
            let branch = try EntryTree.branch(reference, level: level, nodes)
            let first = branch.position(of: start)
            let keys = (0..<branch.count).map(branch.key)
            for index in first..<keys.count {
                let from = index == first ? start : keys[index]
                if isOver { return from }
                let old = try EntryTree.branch(reference, level: level, nodes).reference(index)
                var child = old
                let stop = try entries(&child, from, level: level - 1)
                if child != old { EntryBranch.setReference(try nodes.mutable(&reference), index, child) }
                if let stop { return stop }
            }
        } else {
            _ = try nodes.node(reference, .entryLeaf)
        }
        if let moved = try moved(reference) { reference = moved }
        return nil
    }
}
