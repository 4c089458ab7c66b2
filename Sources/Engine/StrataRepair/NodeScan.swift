internal import CXXHash
internal import StrataStorage

/// Nodes identified by their own headers: kind, table, birth and checksum.
struct FoundNodes {
    var roots: [NodeReference] = []
    var schemas: [NodeReference] = []
    var freeMapRoots: [NodeReference] = []
    var branches: [UInt32: [NodeReference]] = [:]
    var groups: [UInt32: [NodeReference]] = [:]
    /// Leaves of collections by the owner that they name.
    var leaves: [CollectionOwner: [NodeReference]] = [:]

    var isEmpty: Bool { roots.isEmpty && schemas.isEmpty && branches.isEmpty && groups.isEmpty }

    /// The newest birth of all nodes.
    var newestBirth: UInt64 {
        var newest: UInt64 = 0
        for reference in roots + schemas + freeMapRoots { newest = max(newest, reference.birth) }
        for table in [branches, groups] {
            for reference in table.values.joined() { newest = max(newest, reference.birth) }
        }
        for reference in leaves.values.joined() { newest = max(newest, reference.birth) }
        return newest
    }

    fileprivate mutating func add(
        _ reference: NodeReference, _ kind: NodeKind, _ node: UnsafeRawPointer, isOnlyMap: Bool
    ) {
        let table = NodeHeader.table(node)
        switch kind {
        case .root: roots.append(reference)
        case .schema: schemas.append(reference)
        case .freeMapRoot: freeMapRoots.append(reference)
        // A map of one node has no root.
        case .freeMap: if isOnlyMap { freeMapRoots.append(reference) }
        case .branch: branches[table, default: []].append(reference)
        case .group: groups[table, default: []].append(reference)
        case .collectionLeaf:
            // A leaf of an inner collection cannot be placed without its tree.
            if LooseCollectionNode(node, .collectionLeaf).isNested { return }
            leaves[CollectionOwner(leaf: node), default: []].append(reference)
        case .segments, .value, .entryLeaf, .entryBranch, .collectionBranch: break
        }
    }
}

/// Searches for nodes on every page that no reachable node uses, but not inside other nodes: a user's value may be a
/// copy of another store.
///
/// Concurrency: confined to the salvage.
struct NodeScan {
    private let source: SalvageSource
    private var found = FoundNodes()
    /// How many more pages the scan may hash in search of the end of nodes that do not state their length.
    private var patience: Int

    init(_ source: SalvageSource) {
        self.source = source
        patience = 4 * source.writtenPages + Format.maxNodePages
    }

    /// - Complexity: reads the pages that no reachable node uses once, some up to five times if long values are
    ///   damaged; memory for a reference per found node.
    mutating func run() -> FoundNodes {
        var page = Format.firstDataPage
        while true {
            // Pages in holes are skipped.
            page = source.nextWritten(page)
            if page >= source.pageCount { return found }
            // No node begins with zeros.
            let isNone = source.isVisited(page) || source.reader.unverified(page).u32(0) == 0
            page += isNone ? 1 : take(page)
        }
    }

    /// - Returns: the number of pages to skip.
    private mutating func take(_ page: Int) -> Int {
        let node = source.reader.unverified(page)
        guard let kind = NodeKind(rawValue: UInt8(node.u8(0))), node.u32(0) == UInt32(kind.rawValue) else { return 1 }
        guard let pages = Self.pages(node, kind) else { return length(page, node) ?? 1 }
        guard page + pages <= source.pageCount else { return 1 }
        let reference = NodeReference(
            page: UInt32(page), pages: pages, kind: kind, checksum: node.u64(16), birth: node.u64(8))
        guard reference.birth < Format.versionLimit else { return 1 }
        do throws(StorageError) { _ = try source.reader.node(reference, kind) } catch { return 1 }
        found.add(reference, kind, node, isOnlyMap: source.pageCount <= SpaceRegion.pages)
        return pages
    }

    /// The length that a node states; nil for kinds whose length is only in the reference.
    static func pages(_ node: UnsafeRawPointer, _ kind: NodeKind) -> Int? {
        let bytes: Int
        switch kind {
        case .branch, .freeMap, .entryLeaf, .entryBranch, .collectionLeaf, .collectionBranch: return 1
        case .group: bytes = Group(node).size
        case .root: bytes = Int(node.u32(60))
        case .schema: bytes = SchemaNode.bytesOffset + Int(node.u32(24))
        case .freeMapRoot: return max(1, FreeMapRoot.pages(Int(min(node.u32(24), 1 << 20))))
        case .segments, .value: return nil
        }
        return min(max(1, (bytes + Format.pageSize - 1) / Format.pageSize), Format.maxNodePages)
    }

    /// The pages of a node that does not state its length: as many as its checksum covers. Nil if it is damaged.
    private mutating func length(_ page: Int, _ node: UnsafeRawPointer) -> Int? {
        guard let hash = XXH3_createState() else { return nil }
        defer { XXH3_freeState(hash) }
        XXH3_64bits_reset(hash)
        XXH3_64bits_update(hash, node + Format.nodeHeaderSize, Format.pageSize - Format.nodeHeaderSize)
        let (checksum, birth) = (node.u64(16), node.u64(8))
        for pages in 1...Format.maxNodePages {
            let found = NodeHeader.checksum(
                node, bodyHash: XXH3_64bits_digest(hash), birth: birth, seed: source.reader.seed)
            if found == checksum { return pages }
            patience -= 1
            let next = page + pages
            if next >= source.pageCount || source.isVisited(next) || patience < 0 { return nil }
            // A copy of the file may have a hole in place of a page of zeros.
            let page = source.nextWritten(next) == next ? source.reader.unverified(next) : PageReader.zeros
            XXH3_64bits_update(hash, page, Format.pageSize)
        }
        return nil
    }
}
