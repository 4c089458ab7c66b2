extension PageAllocator {
    /// Runs up to so many pages are looked for within blocks; longer ones lead over their ends.
    private static let blockwise = SpaceRegion.blockPages / 4
    /// Long runs that are compared for the best fit.
    private static let candidates = 16

    /// One run of pages: a free one that fits well, or the end of the file.
    /// - Parameter usesReserve: the transaction gives up more than it takes.
    /// - Throws: `noSpace` when the disk is full, `corrupt`; nothing has changed then.
    func allocateRun(_ pages: Int, usesReserve: Bool = false) throws(StorageError) -> UInt32 {
        lock.lock()
        defer { lock.unlock() }
        if let found = try bestRun(pages) {
            try ensureRoom(pageCount, usesReserve, taken: pages)
            markUsed(found..<(found + pages))
            return UInt32(found)
        }
        return UInt32(try extend(by: pages, usesReserve))
    }

    /// A free run that ends at or below a page; nil when there is none.
    /// - Throws: as ``allocateRun(_:usesReserve:)``.
    func allocateRun(
        _ pages: Int, below limit: Int, usesReserve: Bool = false
    ) throws(StorageError) -> UInt32? {
        lock.lock()
        defer { lock.unlock() }
        guard let found = try bestRun(pages, below: limit) else { return nil }
        try ensureRoom(pageCount, usesReserve, taken: pages)
        markUsed(found..<(found + pages))
        return UInt32(found)
    }

    /// Runs that hold nodes of the given sizes, in order: one run where possible, else large ones before the end of
    /// the file; small ones only when there are many.
    /// - Parameter largest: pages of the largest node; no run is shorter.
    /// - Throws: `noSpace` when the disk is full, `corrupt`; nothing has changed then.
    /// - Complexity: O(regions + runs taken), whatever the number of free runs.
    func allocate(_ pages: Int, largest: Int, usesReserve: Bool = false) throws(StorageError) -> [Range<Int>] {
        lock.lock()
        defer { lock.unlock() }
        if let found = try bestRun(pages) {
            try ensureRoom(pageCount, usesReserve, taken: pages)
            markUsed(found..<(found + pages))
            return [found..<(found + pages)]
        }
        do throws(StorageError) {
            return try takeRuns(pages, largest: largest, smallest: smallestRun(for: pages), usesReserve)
        } catch {
            // On a full disk every page counts.
            guard case .noSpace = error else { throw error }
            return try takeRuns(pages, largest: largest, smallest: 1, usesReserve)
        }
    }

    /// A run costs a write, and a small commit of five runs takes a third longer than one of a single run.
    private func smallestRun(for pages: Int) -> Int {
        if freeCount * 50 <= pageCount { return 8 }
        return pages <= 16 && freeCount * 8 <= pageCount ? 4 : 1
    }

    private func takeRuns(
        _ pages: Int, largest: Int, smallest: Int, _ usesReserve: Bool
    ) throws(StorageError) -> [Range<Int>] {
        var chosen: [Range<Int>] = []
        var need = pages
        for size in [SpaceRegion.blockPages, 64, 8, 4, 2, 1] where size >= smallest && need > 0 && freeCount > 0 {
            try takeRuns(&need, atLeast: max(size, largest), largest, &chosen)
        }
        do throws(StorageError) {
            if need > 0 {
                let count = need + (chosen.isEmpty ? 0 : largest - 1)
                let start = try extend(by: count, usesReserve)
                chosen.append(start..<(start + count))
            } else {
                try ensureRoom(pageCount, usesReserve)
            }
        } catch {
            for run in chosen { forEachPart(run) { freeCount += $0.markFree($1) } }
            throw error
        }
        if chosen.count > 1 { mark(.manyRuns) }
        return chosen
    }

    /// Marks free runs used until they hold `need` pages in nodes of at most `largest` pages.
    private func takeRuns(
        _ need: inout Int, atLeast: Int, _ largest: Int, _ chosen: inout [Range<Int>]
    ) throws(StorageError) {
        for index in regions.indices where regions[index].longest >= atLeast && need > 0 {
            try load(index)
            let base = index * SpaceRegion.pages
            let first = chosen.count
            regions[index].forEachRun(atLeast: atLeast) { run in
                // A remainder smaller than the largest node would be wasted.
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

    /// - Parameter limit: the run ends at or below.
    func bestRun(_ pages: Int, below limit: Int = .max) throws(StorageError) -> Int? {
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

    /// A run that leads over the ends of blocks and regions. Each has a part of at least half its pages in some block.
    private func longRun(_ pages: Int, below limit: Int) throws(StorageError) -> Int? {
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

    /// The free run that a free page is part of.
    func wholeRun(around page: Int) throws(StorageError) -> Range<Int> {
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
}
