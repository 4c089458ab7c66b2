internal import StrataFiles

/// What the lock of ``PageAllocator`` guards: free pages, and what keeps others from being used again.
struct AllocatorState {
    /// The free map: free pages, and the map's own places.
    var space: SpaceMap
    var protections = Protections()
    /// The size of the file.
    var room: FileRoom

    /// Size of the file, and the end of all allocated pages.
    var extent: FileExtent { FileExtent(pages: room.capacity, contents: space.regions.pageCount) }

    // MARK: Pages that a version has used

    mutating func unprotect(_ version: UInt64) {
        for extent in protections.unprotect(version) { place(extent) }
    }

    /// Attaches a dead extent to a protected version that reaches it, or frees it if there is none.
    mutating func place(_ extent: Extent) {
        #if Zoo
            if PlantedMistake.pinIgnored.isPlanted { return space.regions.markFree(extent.range) }
        #endif
        if !protections.hang(extent) { space.regions.markFree(extent.range) }
    }

    /// Checks that an extent lies in the contents, and loads its regions.
    mutating func check(_ extent: Extent) throws(StorageError) {
        let isWithin = extent.range.upperBound <= space.regions.pageCount
        guard Int(extent.page) >= Format.firstDataPage, extent.pages > 0, isWithin else {
            throw .corrupt(page: PageNumber(extent.page), offset: 0, reason: .structure)
        }
        try space.regions.load(extent.range)
    }

    // MARK: Taking pages

    /// Shortest run worth a write: a small commit of five runs takes a third longer than one of a single run.
    func smallestRun(for pages: Int) -> Int {
        let (pageCount, freeCount) = (space.regions.pageCount, space.regions.freeCount)
        if freeCount * 50 <= pageCount { return 8 }
        return pages <= 16 && freeCount * 8 <= pageCount ? 4 : 1
    }

    mutating func takeRuns(
        _ pages: Int, largest: Int, smallest: Int, _ usesReserve: Bool
    ) throws(StorageError) -> [Range<Int>] {
        var chosen: [Range<Int>] = []
        var need = pages
        for size in [SpaceRegion.blockPages, 64, 8, 4, 2, 1]
        where size >= smallest && need > 0 && space.regions.freeCount > 0 {
            try space.regions.takeRuns(&need, atLeast: max(size, largest), largest, &chosen)
        }
        do throws(StorageError) {
            if need > 0 {
                let count = need + (chosen.isEmpty ? 0 : largest - 1)
                let start = try extend(by: count, usesReserve)
                chosen.append(start..<(start + count))
            } else {
                try ensureRoom(space.regions.pageCount, usesReserve)
            }
        } catch {
            for run in chosen { space.regions.markFree(run) }
            throw error
        }
        if chosen.count > 1 { mark(.manyRuns) }
        return chosen
    }

    // MARK: The end of the file

    /// Pages kept for transactions that delete. On a full disk such a transaction still needs pages for the nodes that
    /// it changes, before the next checkpoint frees the old ones; a bounded delete writes at most this many. The
    /// checkpoint needs none: its free map goes to places that it already has.
    var reserve: Int { min(max(8, space.regions.pageCount / 32), 64) }

    /// Allocates pages at the end of the contents; grows the file if necessary.
    mutating func extend(by pages: Int, _ usesReserve: Bool) throws(StorageError) -> Int {
        let growth = try space.growth(by: pages)
        guard growth.end < Int(Format.arenaBit) else { throw .limit(.pages) }
        guard room.canMap(growth.end) else { throw .limit(.addressSpace) }
        try ensureRoom(growth.end, usesReserve)
        return space.grow(growth)
    }

    /// Grows the file for this many pages, and for the part of the reserve that free pages do not cover.
    /// - Parameter taken: free pages that are about to be allocated.
    mutating func ensureRoom(_ end: Int, _ usesReserve: Bool, taken: Int = 0) throws(StorageError) {
        let beyond = max(0, reserve - (space.regions.freeCount - taken))
        try room.ensure(end, beyond: beyond, isOptional: usesReserve)
    }
}
