/// The free map in memory: the regions of the contents, and the two places of each of the map's own nodes.
///
/// Guarded by the allocator's lock. The places and the unreached pages change under the write gate alone.
struct SpaceMap {
    private let reader: PageReader
    var regions: SpaceRegions
    private(set) var root = FreeMapRootPlaces()
    private(set) var isOpen = false
    /// Pages of the map that the next checkpoint's map no longer uses.
    private var retired: [Extent] = []

    /// - Parameter pageCount: pages of the contents; the caller then opens the last checkpoint's map.
    init(_ reader: PageReader, pageCount: Int) {
        self.reader = reader
        regions = SpaceRegions(reader, pageCount: pageCount)
    }

    /// Reads the map of the last checkpoint, except the nodes of its regions.
    /// - Throws: `corrupt`.
    mutating func open(_ reference: NodeReference) throws(StorageError) {
        let count = (regions.pageCount + SpaceRegion.pages - 1) / SpaceRegion.pages
        func fail(_ offset: Int) -> StorageError {
            .corrupt(page: PageNumber(reference.page), offset: offset, reason: .structure)
        }
        var read = SpaceRegions(reader, pageCount: regions.pageCount)
        if reference.isNull {
            guard regions.pageCount == Format.firstDataPage else { throw fail(0) }
        } else if reference.is(.freeMap) {
            guard count == 1 else { throw fail(0) }
            let node = try reader.node(reference, .freeMap)
            read.append(
                SpaceRegion(reference, freeCount: FreeMapNode.freeCount(node), longest: SpaceRegion.blockPages))
        } else {
            let node = try reader.node(reference, .freeMapRoot)
            guard Int(node.u32(24)) == count, FreeMapRoot.pages(count) <= Int(reference.pages) else { throw fail(24) }
            let places = FreeMapRootPlaces(
                reference: reference, place: reference.page, spare: node.u32(28), pages: Int(reference.pages))
            guard read.isPlace(places.spare, places.pages), places.spare != places.place else { throw fail(28) }
            for index in 0..<count {
                let offset = FreeMapRoot.entriesOffset + index * FreeMapRoot.entrySize
                let free = Int(node.u32(offset + 24))
                guard free <= SpaceRegion.pages else { throw fail(offset) }
                read.append(
                    SpaceRegion(
                        NodeReference(node, offset), freeCount: free,
                        longest: min(Int(node.u32(offset + 28)), SpaceRegion.blockPages)))
            }
            root = places
        }
        regions = read
        isOpen = true
    }

    /// All pages of the map, both places of each node.
    var extents: [Extent] {
        regions.indices.flatMap { index in
            [regions[index].place, regions[index].spare].map {
                Extent(page: $0, pages: 1, birth: regions[index].reference.birth)
            }
        } + root.extents + retired
    }

    // MARK: Growing

    /// The needs of longer contents, as planned before any change.
    struct Growth {
        /// Regions of the longer contents.
        var regions: Int
        /// Pages of the map's root if it needs other places, else 0.
        var rootPages: Int
        /// Pages of the longer contents.
        var end: Int
    }

    /// Plans contents that are longer by this many pages. A new region starts with the two places of its map node.
    mutating func growth(by pages: Int) throws(StorageError) -> Growth {
        // `load` would overwrite changes that were noted before the region was loaded.
        if !regions.isEmpty { try regions.load(regions.count - 1) }
        var extra = 0
        while true {
            let end = regions.pageCount + extra + pages
            let count = (end + SpaceRegion.pages - 1) / SpaceRegion.pages
            let rootPages = count > 1 && FreeMapRoot.pages(count) > root.pages ? FreeMapRoot.pages(count) : 0
            let needed = 2 * (count - regions.count) + 2 * rootPages
            if needed == extra { return Growth(regions: count, rootPages: rootPages, end: end) }
            extra = needed
        }
    }

    /// - Returns: the first page that does not belong to the map.
    mutating func grow(_ growth: Growth) -> Int {
        var next = UInt32(regions.pageCount)
        regions.pageCount = growth.end
        if growth.rootPages > 0 {
            retired += root.extents
            root = FreeMapRootPlaces(
                reference: .null, place: next, spare: next + UInt32(growth.rootPages), pages: growth.rootPages)
            next += 2 * UInt32(growth.rootPages)
        }
        while regions.count < growth.regions {
            regions.append(SpaceRegion(place: next, spare: next + 1))
            next += 2
        }
        regions.setUnreached(Int(next)..<growth.end, to: true)
        return Int(next)
    }

    // MARK: Trimming

    /// Drops free pages at the end from the contents, and moves the map's places away from there.
    mutating func trim() throws(StorageError) {
        for _ in 0..<8 {
            try dropTail()
            dropRegions()
            if try !moveLastPlace() { break }
        }
    }

    private mutating func dropTail() throws(StorageError) {
        while regions.pageCount > Format.firstDataPage, let last = regions.indices.last {
            if regions[last].longest == 0 { return }
            try regions.load(last)
            let (index, page) = (regions.pageCount - 1).quotientAndRemainder(dividingBy: SpaceRegion.pages)
            guard index == last, regions[index].isFree(page) else { return }
            let start = regions[index].start(of: page + 1)
            let run = (index * SpaceRegion.pages + start)..<regions.pageCount
            regions.markUsed(run)
            regions.setUnreached(run, to: false)
            regions.pageCount = run.lowerBound
            mark(.droppedTail)
            dropRegions()
        }
    }

    /// Drops the nodes of regions behind the contents.
    private mutating func dropRegions() {
        let count = (regions.pageCount + SpaceRegion.pages - 1) / SpaceRegion.pages
        while regions.count > max(count, 1) {
            let last = regions.removeLast()
            retired += [last.place, last.spare].map { Extent(page: $0, pages: 1, birth: last.reference.birth) }
        }
        if count == 1 && root.pages > 0 {
            retired += root.extents
            root = FreeMapRootPlaces()
        }
    }

    /// If the contents end with a place of the map, moves that place to a free page further down.
    /// - Returns: whether the end is free now.
    private mutating func moveLastPlace() throws(StorageError) -> Bool {
        let last = UInt32(regions.pageCount - 1)
        var isMoved = false
        if root.pages > 0, root.extents.contains(where: { $0.range.contains(Int(last)) }),
            let page = try regions.bestRun(root.pages, below: Int(min(root.place, root.spare)))
        {
            isMoved = Int(root.spare) + root.pages > Int(last)
            replace(root.spare, by: UInt32(page), pages: root.pages)
            root.spare = UInt32(page)
        }
        for index in regions.indices where regions[index].place == last || regions[index].spare == last {
            let region = regions[index]
            try regions.load(index)
            // The node in force moves only by being written to its other place.
            region.isChanged = true
            guard region.spare == last || region.spare + 1 == last,
                let page = try regions.bestRun(1, below: Int(last) - 1)
            else { continue }
            replace(region.spare, by: UInt32(page), pages: 1)
            isMoved = region.spare == last
            region.spare = UInt32(page)
        }
        return isMoved
    }

    /// Makes a free run a place of the map, and frees the place that it replaces, which no durable map uses.
    private mutating func replace(_ old: UInt32, by new: UInt32, pages: Int) {
        let run = Int(new)..<Int(new) + pages
        regions.markUsed(run)
        regions.setUnreached(run, to: false)
        let free = Int(old)..<Int(old) + pages
        regions.setUnreached(free, to: true)
        regions.markFree(free)
    }

    // MARK: The map of a checkpoint

    /// Begins a checkpoint's map: it marks the places that the new map leaves as unreached.
    /// - Returns: regions whose nodes a checkpoint has to write.
    mutating func beginWriting() -> [Int] {
        regions.setUnreached(retired, to: true)
        return regions.indices.filter { regions[$0].isChanged }
    }

    /// Root of the map.
    var reference: NodeReference { root.pages > 0 ? root.reference : regions.first?.reference ?? .null }

    /// Makes the nodes that a checkpoint has written the map in force.
    /// - Returns: pages that the map no longer uses.
    mutating func adopt(_ written: FreeMapWriting.Result) -> [Extent] {
        for node in written.nodes {
            let region = regions[node.region]
            swap(&region.place, &region.spare)
            region.reference = node.reference
            region.written = (node.free, node.longest)
            region.isChanged = false
        }
        if root.pages > 0 {
            (root.place, root.spare) = (root.spare, root.place)
            root.reference = written.root
        }
        defer { retired = [] }
        return retired
    }
}
