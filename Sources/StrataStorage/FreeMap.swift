/// The free map as the last checkpoint wrote it: a bit per page, set when free.
///
/// A map node covers 32 576 pages by the 4 072 bytes behind its header. The root node: count u32 at 24, zero u32, then
/// a reference per map node. A checkpoint writes only nodes that changed.
struct FreeMap {
    static let wordsPerNode = (Format.pageSize - Format.nodeHeaderSize) / 8
    static let rootHeader = 32

    var root = NodeReference.null
    var nodes: [NodeReference] = []
    /// What the nodes say.
    var bits: [UInt64] = []

    init() {}

    /// Reads a map; a null root means that nothing is free.
    init(_ root: NodeReference, _ reader: PageReader) throws(StorageError) {
        self.root = root
        if root.isNull { return }
        let node = try reader.node(root, .freeMapRoot)
        let count = Int(node.u32(24))
        guard count <= (root.byteCount - Self.rootHeader) / NodeReference.size else {
            throw .corrupt(page: PageNumber(root.page), offset: 24, reason: .structure)
        }
        for index in 0..<count {
            let reference = NodeReference(node, Self.rootHeader + index * NodeReference.size)
            let map = try reader.node(reference, .freeMap)
            nodes.append(reference)
            for word in 0..<Self.wordsPerNode { bits.append(map.u64(Format.nodeHeaderSize + 8 * word)) }
        }
    }

    /// Pages that the map itself takes.
    var extents: [Extent] {
        ([root] + nodes).filter { !$0.isNull }.map {
            Extent(page: $0.page, pages: UInt32($0.pages), birth: $0.birth)
        }
    }

    /// The words of a map node, from all bits.
    static func slice(_ bits: [UInt64], _ node: Int) -> [UInt64] {
        let start = node * wordsPerNode
        let part = Array(bits[min(start, bits.count)..<min(start + wordsPerNode, bits.count)])
        return part + repeatElement(0, count: wordsPerNode - part.count)
    }

    static func nodeCount(_ bits: [UInt64]) -> Int { (bits.count + wordsPerNode - 1) / wordsPerNode }

    static func rootPages(_ nodes: Int) -> Int {
        (rootHeader + nodes * NodeReference.size + Format.pageSize - 1) / Format.pageSize
    }
}
