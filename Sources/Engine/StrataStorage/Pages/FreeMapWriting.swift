/// Writes the free map of a checkpoint: the nodes of changed regions, and the root, to the places that the previous map
/// does not use.
struct FreeMapWriting {
    /// A node of the map that a checkpoint has written.
    struct Node {
        var region: Int
        var reference: NodeReference
        var free: Int
        var longest: Int
    }

    struct Result {
        var nodes: [Node] = []
        /// Null if the map has one node only, and so no root.
        var root = NodeReference.null
    }

    private let space: SpaceMap
    private let reader: PageReader
    private let version: UInt64

    /// - Parameter space: shares its regions with the allocator. The caller holds the write gate but not the
    ///   allocator's lock. So this type reads only the regions' places and unreached pages, which change under the gate
    ///   alone: other threads change the free pages concurrently.
    init(_ space: SpaceMap, _ reader: PageReader, _ version: UInt64) {
        self.space = space
        self.reader = reader
        self.version = version
    }

    /// - Parameters:
    ///   - changed: regions whose nodes are to be written.
    ///   - write: writes whole pages at a page number, unsynced.
    func run(
        _ changed: [Int], by write: (UnsafeRawBufferPointer, Int) throws(StorageError) -> Void
    ) throws(StorageError) -> Result {
        var result = Result()
        for index in changed {
            let region = space.regions[index]
            var summary = (free: 0, longest: 0)
            let reference = try writeNode(.freeMap, page: region.spare, pages: 1, write) { node in
                FreeMapNode.putSpare(node, region.place)
                summary = region.encode(node)
            }
            result.nodes.append(
                Node(region: index, reference: reference, free: summary.free, longest: summary.longest))
        }
        let root = space.root
        if root.pages == 0 { return result }
        let entries = entries(with: result.nodes)
        result.root = try writeNode(.freeMapRoot, page: root.spare, pages: root.pages, write) { node in
            node.put32(24, UInt32(entries.count))
            node.put32(28, root.place)
            for (index, entry) in entries.enumerated() {
                let offset = FreeMapRoot.entriesOffset + index * FreeMapRoot.entrySize
                entry.reference.store(node, offset)
                node.put32(offset + 24, UInt32(entry.free))
                node.put32(offset + 28, UInt32(entry.longest))
            }
        }
        return result
    }

    /// The root's entries for all nodes.
    private func entries(with written: [Node]) -> [Node] {
        var entries = space.regions.indices.map { index in
            let region = space.regions[index]
            return Node(
                region: index, reference: region.reference, free: region.written.free, longest: region.written.longest)
        }
        for node in written { entries[node.region] = node }
        return entries
    }

    private func writeNode(
        _ kind: NodeKind, page: UInt32, pages: Int,
        _ write: (UnsafeRawBufferPointer, Int) throws(StorageError) -> Void, _ fill: (UnsafeMutableRawPointer) -> Void
    ) throws(StorageError) -> NodeReference {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pages * Format.pageSize, alignment: 4096)
        defer { buffer.deallocate() }
        guard let base = buffer.baseAddress else { throw .limit(.pages) }
        buffer.initializeMemory(as: UInt8.self, repeating: 0)
        NodeHeader.write(base, kind: kind, table: 0)
        fill(base)
        var reference = NodeReference(page: page, pages: pages, kind: kind)
        reference.birth = version
        reference.checksum = NodeHeader.seal(base, count: buffer.count, birth: version, seed: reader.seed)
        reader.trust(reference)
        try write(UnsafeRawBufferPointer(buffer), Int(page))
        return reference
    }
}
