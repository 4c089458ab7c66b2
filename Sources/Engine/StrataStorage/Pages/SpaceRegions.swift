/// The pages of a file's contents by regions, and the search for free runs.
///
/// The node of a region is read on first use; its summaries, which the map's root has, are known before. Functions that
/// may load or change a region are mutating. Guarded by the allocator's lock.
struct SpaceRegions {
    private let reader: PageReader
    private var regions: [SpaceRegion] = []
    private(set) var freeCount = 0
    /// Pages of the file's contents, free ones included.
    var pageCount: Int

    /// Longest run that is searched for within single blocks; longer ones may cross the ends of blocks.
    private static let blockwise = SpaceRegion.blockPages / 4
    /// Number of long runs that are compared for the best fit.
    private static let candidates = 16

    init(_ reader: PageReader, pageCount: Int) {
        self.reader = reader
        self.pageCount = pageCount
    }

    var count: Int { regions.count }
    var indices: Range<Int> { regions.indices }
    var isEmpty: Bool { regions.isEmpty }
    var first: SpaceRegion? { regions.first }
    var last: SpaceRegion? { regions.last }

    subscript(_ index: Int) -> SpaceRegion { regions[index] }

    mutating func append(_ region: SpaceRegion) {
        regions.append(region)
        freeCount += region.freeCount
    }

    mutating func removeLast() -> SpaceRegion {
        let last = regions.removeLast()
        freeCount -= last.freeCount
        return last
    }

    /// Reads the node of a region, unless it was read.
    /// - Throws: `corrupt`.
    mutating func load(_ index: Int) throws(StorageError) {
        let region = regions[index]
        if region.isLoaded { return }
        let node = try reader.node(region.reference, .freeMap)
        let end = pageCount - index * SpaceRegion.pages
        let freeCount = region.freeCount
        guard region.load(node), isPlace(region.spare, 1), region.spare != region.place,
            !region.hasFree(from: end), index > 0 || !(0..<Format.firstDataPage).contains(where: region.isFree),
            !isFree(Int(region.place)), !isFree(Int(region.spare))
        else {
            region.unload(freeCount: freeCount)
            throw .corrupt(page: PageNumber(region.reference.page), offset: 24, reason: .structure)
        }
    }

    /// Reads the nodes of a run's regions.
    mutating func load(_ run: Range<Int>) throws(StorageError) {
        for index in run.lowerBound / SpaceRegion.pages...(run.upperBound - 1) / SpaceRegion.pages { try load(index) }
    }

    /// Whether these pages may be a place of the map.
    func isPlace(_ page: UInt32, _ pages: Int) -> Bool {
        Int(page) >= Format.firstDataPage && Int(page) + pages <= pageCount
    }

    // MARK: Sets of pages

    func isFree(_ page: Int) -> Bool {
        let (region, inside) = page.quotientAndRemainder(dividingBy: SpaceRegion.pages)
        return regions[region].isFree(inside)
    }

    func isUnreached(_ page: Int) -> Bool {
        let (region, inside) = page.quotientAndRemainder(dividingBy: SpaceRegion.pages)
        return regions[region].isUnreached(inside)
    }

    /// Calls `body` with the parts of a run in each region.
    private func forEachPart(_ run: Range<Int>, _ body: (SpaceRegion, Range<Int>) -> Void) {
        var page = run.lowerBound
        while page < run.upperBound {
            let (index, first) = page.quotientAndRemainder(dividingBy: SpaceRegion.pages)
            let count = min(SpaceRegion.pages - first, run.upperBound - page)
            body(regions[index], first..<(first + count))
            page += count
        }
    }

    mutating func setUnreached(_ run: Range<Int>, to isUnreached: Bool) {
        forEachPart(run) { $0.setUnreached($1, isUnreached) }
    }

    mutating func setUnreached(_ extents: [Extent], to isUnreached: Bool) {
        for extent in extents { setUnreached(extent.range, to: isUnreached) }
    }

    mutating func markFree(_ run: Range<Int>) {
        var added = 0
        forEachPart(run) { added += $0.markFree($1) }
        freeCount += added
    }

    mutating func markUsed(_ run: Range<Int>) {
        var taken = 0
        forEachPart(run) { taken += $0.markUsed($1) }
        freeCount -= taken
    }

    /// The given pages that are free and within the contents.
    func free(among pages: Set<UInt32>) -> [UInt32] {
        pages.sorted().filter { Int($0) < pageCount && isFree(Int($0)) }
    }

    /// Runs of free pages, ascending, each within a region.
    /// - Complexity: O(pages).
    mutating func freeRuns() throws(StorageError) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        for index in regions.indices {
            try load(index)
            let base = index * SpaceRegion.pages
            let pages = min(SpaceRegion.pages, pageCount - base)
            var first: Int?
            for page in 0...pages {
                if page < pages && regions[index].isFree(page) {
                    if first == nil { first = page }
                } else if let start = first {
                    runs.append(base + start..<base + page)
                    first = nil
                }
            }
        }
        return runs
    }

    /// Pages at the end of the contents that are free, or that the newest committed version does not reach.
    func tail(unreached: Bool) -> Int {
        var page = pageCount
        while page > Format.firstDataPage, unreached ? isUnreached(page - 1) : isFree(page - 1) { page -= 1 }
        return pageCount - page
    }

    // MARK: Search

    /// A free run that fits well.
    /// - Parameter limit: the run ends at or below this page.
    mutating func bestRun(_ pages: Int, below limit: Int = .max) throws(StorageError) -> Int? {
        if freeCount < pages { return nil }
        if pages > Self.blockwise { return try longRun(pages, below: limit) }
        for index in regions.indices where regions[index].longest >= pages {
            let base = index * SpaceRegion.pages
            if base >= limit { return nil }
            try load(index)
            if let run = regions[index].bestRun(pages, below: min(SpaceRegion.pages, limit - base)) {
                return base + run.lowerBound
            }
        }
        return nil
    }

    /// A run that may cross the ends of blocks and regions. One block has at least half of its pages, or 256 of them.
    private mutating func longRun(_ pages: Int, below limit: Int) throws(StorageError) -> Int? {
        var best: Range<Int>?
        var seen = 0
        var from = 0
        let part = min(pages / 2, SpaceRegion.blockPages / 2)
        for index in regions.indices where regions[index].longest >= part && seen < Self.candidates {
            try load(index)
            var parts: [Range<Int>] = []
            regions[index].forEachRun(atLeast: part) { run in
                parts.append(run)
                return true
            }
            let base = index * SpaceRegion.pages
            for part in parts where base + part.lowerBound >= from && seen < Self.candidates {
                let run = try wholeRun(around: base + part.lowerBound)
                from = run.upperBound
                if run.count < pages || run.lowerBound + pages > limit { continue }
                seen += 1
                if run.count < best?.count ?? .max { best = run }
                if run.count == pages { return run.lowerBound }
            }
        }
        return best?.lowerBound
    }

    /// The whole free run around a free page.
    private mutating func wholeRun(around page: Int) throws(StorageError) -> Range<Int> {
        var (index, first) = page.quotientAndRemainder(dividingBy: SpaceRegion.pages)
        var start = regions[index].start(of: first + 1)
        while start == 0 && index > 0 {
            try load(index - 1)
            let before = regions[index - 1].start(of: SpaceRegion.pages)
            if before == SpaceRegion.pages { break }
            index -= 1
            start = before
        }
        let lower = index * SpaceRegion.pages + start
        (index, first) = page.quotientAndRemainder(dividingBy: SpaceRegion.pages)
        var end = regions[index].end(of: first)
        while end == SpaceRegion.pages && index + 1 < regions.count {
            try load(index + 1)
            let after = regions[index + 1].end(of: 0)
            if after == 0 { break }
            index += 1
            end = after
        }
        return lower..<(index * SpaceRegion.pages + end)
    }

    /// Allocates free runs until they hold `need` pages in nodes of at most `largest` pages.
    mutating func takeRuns(
        _ need: inout Int, atLeast: Int, _ largest: Int, _ chosen: inout [Range<Int>]
    ) throws(StorageError) {
        for index in regions.indices where regions[index].longest >= atLeast && need > 0 {
            try load(index)
            let base = index * SpaceRegion.pages
            let first = chosen.count
            regions[index].forEachRun(atLeast: atLeast) { run in
                // The end of a run that is too short for the largest node would be wasted.
                let count = min(need + largest - 1, run.count)
                need -= count - (largest - 1)
                let start = base + run.lowerBound
                if let last = chosen.last, last.upperBound == start, chosen.count > first {
                    chosen[chosen.count - 1] = last.lowerBound..<(start + count)
                    need -= largest - 1
                } else {
                    chosen.append(start..<(start + count))
                }
                return need > 0
            }
            if chosen.count > first { mark(.usedAgain) }
            for run in chosen[first...] { markUsed(run) }
        }
    }
}
