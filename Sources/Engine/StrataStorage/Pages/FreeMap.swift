// The free map on disk lists the pages that its checkpoint does not reach. Some of them are not free in memory, because
// other versions need them. Each node of the map has two places in the file, used in turn, and so has its root. So a
// checkpoint needs no space for its map, and can be written on a full disk.

/// Layout of a map node, behind the node header: the other place u32 at 24, zeros, 504 words of bits from 64, lowest
/// bit first, set when free. Node i covers 32 256 pages from i x 32 256.
enum FreeMapNode {
    private static let bitsOffset = 64

    static func spare(_ node: UnsafeRawPointer) -> UInt32 { node.u32(24) }
    static func putSpare(_ node: UnsafeMutableRawPointer, _ page: UInt32) { node.put32(24, page) }
    static func word(_ node: UnsafeRawPointer, _ index: Int) -> UInt64 { node.u64(bitsOffset + 8 * index) }
    static func put(_ node: UnsafeMutableRawPointer, _ index: Int, _ word: UInt64) {
        node.put64(bitsOffset + 8 * index, word)
    }

    static func freeCount(_ node: UnsafeRawPointer) -> Int {
        (0..<SpaceRegion.wordCount).reduce(0) { $0 + word(node, $1).nonzeroBitCount }
    }
}

/// Layout of the root, which a map of several nodes has: nodes u32 at 24, the other place u32 at 28; then from 32 for
/// each node its reference, its free pages u32, and a bound on its longest free run within 512 pages u32.
package enum FreeMapRoot {
    static let entriesOffset = 32
    static let entrySize = 32

    package static func pages(_ nodes: Int) -> Int {
        (entriesOffset + nodes * entrySize + Format.pageSize - 1) / Format.pageSize
    }
}

/// The two places of the map's root; zero pages while one node is enough.
struct FreeMapRootPlaces {
    var reference = NodeReference.null
    var place: UInt32 = 0
    var spare: UInt32 = 0
    var pages = 0

    var extents: [Extent] {
        if pages == 0 { return [] }
        return [place, spare].map { Extent(page: $0, pages: UInt32(pages), birth: reference.birth) }
    }
}

/// The whole free map of a checkpoint, for salvage.
package struct FreeMap {
    /// A bit per page, set when free.
    package private(set) var bits: [UInt64] = []
    package private(set) var nodes: [NodeReference] = []

    package init() {}

    package init(_ reference: NodeReference, _ reader: PageReader) throws(StorageError) {
        nodes = [reference]
        if reference.is(.freeMapRoot) {
            let root = try reader.node(reference, .freeMapRoot)
            let count = Int(root.u32(24))
            guard FreeMapRoot.pages(count) <= Int(reference.pages) else {
                throw .corrupt(page: PageNumber(reference.page), offset: 24, reason: .structure)
            }
            var seen: Set<UInt32> = []
            for index in 0..<count {
                let node = NodeReference(root, FreeMapRoot.entriesOffset + index * FreeMapRoot.entrySize)
                // A node listed many times would take unbounded memory.
                guard node.pages == 1, seen.insert(node.page).inserted else {
                    throw .corrupt(page: PageNumber(reference.page), offset: 32, reason: .structure)
                }
                nodes.append(node)
                try read(node, reader)
            }
        } else {
            try read(reference, reader)
        }
        try reader.confirm()
    }

    private mutating func read(_ reference: NodeReference, _ reader: PageReader) throws(StorageError) {
        let node = try reader.node(reference, .freeMap)
        for word in 0..<SpaceRegion.wordCount { bits.append(FreeMapNode.word(node, word)) }
    }
}
