// The free map on disk says what is free when only the checkpoint counts. Each node has two places that take turns, and
// so has the root: a checkpoint never has to find space for its map, which is part of how a full disk can be emptied.

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

/// Layout of the root, which a map of several nodes has: nodes u32 at 24, the other place u32 at 28, then from 32 per
/// node its reference, free pages u32, and a bound on its longest free run within 512 pages u32.
enum FreeMapRoot {
    static let entriesOffset = 32
    static let entrySize = 32

    static func pages(_ nodes: Int) -> Int {
        (entriesOffset + nodes * entrySize + Format.pageSize - 1) / Format.pageSize
    }
}

/// The two places of the map's root; no pages while one node is enough.
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

/// The whole free map as a checkpoint wrote it, for salvage.
struct FreeMap {
    /// A bit per page, set when free.
    private(set) var bits: [UInt64] = []
    private(set) var nodes: [NodeReference] = []

    init() {}

    init(_ reference: NodeReference, _ reader: PageReader) throws(StorageError) {
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
                // A node named over and over would need memory without end.
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

extension PageAllocator {
    /// Takes over what the last checkpoint wrote, but for the nodes themselves.
    /// - Throws: `corrupt`.
    func openMap(_ reference: NodeReference) throws(StorageError) {
        // Changes under the write gate alone, which the caller has.
        if isMapOpen { return }
        lock.lock()
        defer { lock.unlock() }
        let count = (pageCount + SpaceRegion.pages - 1) / SpaceRegion.pages
        func fail(_ offset: Int) -> StorageError {
            .corrupt(page: PageNumber(reference.page), offset: offset, reason: .structure)
        }
        if reference.isNull {
            guard pageCount == Format.firstDataPage else { throw fail(0) }
        } else if reference.is(.freeMap) {
            guard count == 1 else { throw fail(0) }
            let node = try reader.node(reference, .freeMap)
            regions = [
                SpaceRegion(reference, freeCount: FreeMapNode.freeCount(node), longest: SpaceRegion.blockPages)
            ]
        } else {
            let node = try reader.node(reference, .freeMapRoot)
            guard Int(node.u32(24)) == count, FreeMapRoot.pages(count) <= Int(reference.pages) else { throw fail(24) }
            let places = FreeMapRootPlaces(
                reference: reference, place: reference.page, spare: node.u32(28), pages: Int(reference.pages))
            guard isPlace(places.spare, places.pages), places.spare != places.place else { throw fail(28) }
            root = places
            for index in 0..<count {
                let offset = FreeMapRoot.entriesOffset + index * FreeMapRoot.entrySize
                let free = Int(node.u32(offset + 24))
                guard free <= SpaceRegion.pages else { throw fail(offset) }
                regions.append(
                    SpaceRegion(
                        NodeReference(node, offset), freeCount: free,
                        longest: min(Int(node.u32(offset + 28)), SpaceRegion.blockPages)))
            }
        }
        freeCount = regions.reduce(0) { $0 + $1.freeCount }
        isMapOpen = true
    }

    private func isFree(_ page: UInt32) -> Bool {
        let (region, inside) = Int(page).quotientAndRemainder(dividingBy: SpaceRegion.pages)
        return regions[region].isFree(inside)
    }

    private func isPlace(_ page: UInt32, _ pages: Int) -> Bool {
        Int(page) >= Format.firstDataPage && Int(page) + pages <= pageCount
    }

    /// Reads the node of a region when it was not read yet. The lock is held.
    func load(_ index: Int) throws(StorageError) {
        let region = regions[index]
        if region.isLoaded { return }
        let node = try reader.node(region.reference, .freeMap)
        let end = pageCount - index * SpaceRegion.pages
        let freeCount = region.freeCount
        guard region.load(node), isPlace(region.spare, 1), region.spare != region.place,
            !region.hasFree(from: end), index > 0 || !(0..<Format.firstDataPage).contains(where: region.isFree),
            !isFree(region.place), !isFree(region.spare)
        else {
            region.unload(freeCount: freeCount)
            throw .corrupt(page: PageNumber(region.reference.page), offset: 24, reason: .structure)
        }
    }

    /// Pages that the map itself takes, both places of everything.
    var mapExtents: [Extent] {
        regions.flatMap { region in
            [region.place, region.spare].map { Extent(page: $0, pages: 1, birth: region.reference.birth) }
        } + root.extents + retired
    }
}
