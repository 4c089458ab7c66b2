/// A region of 126 MiB of the file: its free pages, and those that the newest committed version does not reach.
///
/// A checkpoint writes the second set, the unreached pages. The free pages are fewer: readers, the last checkpoint or
/// the open transaction still need some unreached ones. A region whose node was not loaded has summaries only, and is
/// unchanged. Every block of 512 pages has a bound on its longest free run, so that a search skips blocks that cannot
/// fit.
/// Concurrency: guarded by the allocator's lock.
package final class SpaceRegion {
    static let wordCount = 504
    package static let pages = wordCount * 64
    static let blockPages = 512
    static let blockCount = pages / blockPages

    /// The region's node as last written; null before the first checkpoint with the region.
    @exclusivity(unchecked) var reference = NodeReference.null
    /// Page of that node. Before the first checkpoint the page has no node: the first one goes to `spare`.
    @exclusivity(unchecked) var place: UInt32
    /// Page to which the next checkpoint writes the node. The two pages are used in turn, so that a checkpoint
    /// allocates nothing for its map.
    @exclusivity(unchecked) var spare: UInt32
    /// Whether the region differs from its node on disk.
    @exclusivity(unchecked) var isChanged = true
    /// Summary in the node on disk.
    @exclusivity(unchecked) var written = (free: 0, longest: 0)
    @exclusivity(unchecked) private(set) var freeCount = 0
    /// Upper bound on the length of a free run within a block.
    @exclusivity(unchecked) private(set) var longest = 0
    @exclusivity(unchecked) private var free: UnsafeMutablePointer<UInt64>?
    @exclusivity(unchecked) private var unreached: UnsafeMutablePointer<UInt64>?
    @exclusivity(unchecked) private var bounds = [Int16](repeating: 0, count: blockCount)

    /// A region at the end of a growing file: none of its pages is free.
    init(place: UInt32, spare: UInt32) {
        self.place = place
        self.spare = spare
        allocate()
    }

    /// A region that a checkpoint wrote, to be loaded on first use.
    init(_ reference: NodeReference, freeCount: Int, longest: Int) {
        self.reference = reference
        self.freeCount = freeCount
        self.longest = longest
        written = (freeCount, longest)
        place = reference.page
        spare = 0
        isChanged = false
    }

    deinit {
        free?.deallocate()
        unreached?.deallocate()
    }

    private func allocate() {
        for bits in [\SpaceRegion.free, \SpaceRegion.unreached] {
            let words = UnsafeMutablePointer<UInt64>.allocate(capacity: Self.wordCount)
            words.initialize(repeating: 0, count: Self.wordCount)
            self[keyPath: bits] = words
        }
    }

    var isLoaded: Bool { free != nil }

    /// Discards loaded bits that proved wrong.
    func unload(freeCount: Int) {
        free?.deallocate()
        unreached?.deallocate()
        free = nil
        unreached = nil
        self.freeCount = freeCount
    }

    // MARK: The node

    /// Loads a node: pages that the checkpoint's version does not reach are free.
    /// - Returns: false if the node's counts differ from its bits.
    func load(_ node: UnsafeRawPointer) -> Bool {
        let expected = freeCount
        allocate()
        guard let free, let unreached else { return false }
        spare = FreeMapNode.spare(node)
        freeCount = 0
        for word in 0..<Self.wordCount {
            free[word] = FreeMapNode.word(node, word)
            unreached[word] = free[word]
            freeCount += free[word].nonzeroBitCount
        }
        longest = 0
        for block in 0..<Self.blockCount { measure(block) }
        return freeCount == expected
    }

    /// Encodes the region for a checkpoint, and returns its summary.
    func encode(_ node: UnsafeMutableRawPointer) -> (free: Int, longest: Int) {
        guard let unreached else { return (0, 0) }
        var count = 0
        for word in 0..<Self.wordCount {
            FreeMapNode.put(node, word, unreached[word])
            count += unreached[word].nonzeroBitCount
        }
        // After a restart all unreached pages are free, so runs may be longer than the present free ones.
        return (count, count == 0 ? 0 : min(count, Self.blockPages))
    }

    // MARK: Sets of pages

    private static func change(_ words: UnsafeMutablePointer<UInt64>, _ range: Range<Int>, to isSet: Bool) -> Int {
        var index = range.lowerBound
        var changed = 0
        while index < range.upperBound {
            let count = min(64 - index & 63, range.upperBound - index)
            let mask = (count == 64 ? UInt64.max : (1 << UInt64(count)) - 1) << UInt64(index & 63)
            let old = words[index >> 6]
            let new = isSet ? old | mask : old & ~mask
            words[index >> 6] = new
            changed += (old ^ new).nonzeroBitCount
            index += count
        }
        return changed
    }

    /// - Returns: how many of them were not free.
    func markFree(_ range: Range<Int>) -> Int {
        guard let free else { return 0 }
        let changed = Self.change(free, range, to: true)
        freeCount += changed
        for block in range.lowerBound / Self.blockPages...(range.upperBound - 1) / Self.blockPages {
            let inside = block * Self.blockPages..<(block + 1) * Self.blockPages
            let part = range.clamped(to: inside)
            let start = self.start(of: part.lowerBound, notBelow: inside.lowerBound)
            let end = min(self.end(of: part.upperBound), inside.upperBound)
            raise(block, end - start)
        }
        return changed
    }

    /// - Returns: how many of them were free.
    func markUsed(_ range: Range<Int>) -> Int {
        guard let free else { return 0 }
        let changed = Self.change(free, range, to: false)
        freeCount -= changed
        return changed
    }

    func setUnreached(_ range: Range<Int>, _ isUnreached: Bool) {
        guard let unreached else { return }
        if Self.change(unreached, range, to: isUnreached) > 0 { isChanged = true }
    }

    func isFree(_ page: Int) -> Bool { free.map { $0[page >> 6] >> UInt64(page & 63) & 1 != 0 } ?? false }

    func isUnreached(_ page: Int) -> Bool { unreached.map { $0[page >> 6] >> UInt64(page & 63) & 1 != 0 } ?? false }

    // MARK: Runs

    private func raise(_ block: Int, _ run: Int) {
        bounds[block] = max(bounds[block], Int16(run))
        longest = max(longest, run)
    }

    /// End of the free run that contains `page`; `page` itself if it is not free.
    func end(of page: Int) -> Int {
        guard let free else { return page }
        var index = page
        while index < Self.pages {
            let used = ~free[index >> 6] >> UInt64(index & 63)
            if used != 0 { return index + used.trailingZeroBitCount }
            index = (index | 63) + 1
        }
        return Self.pages
    }

    /// Whether any page from `page` on is free.
    func hasFree(from page: Int) -> Bool {
        guard let free, page < Self.pages else { return false }
        if free[page >> 6] >> UInt64(page & 63) != 0 { return true }
        return ((page >> 6) + 1..<Self.wordCount).contains { free[$0] != 0 }
    }

    /// Start of the free run that ends with the page before `page`, cut at `floor`; `page` itself if there is none.
    func start(of page: Int, notBelow floor: Int = 0) -> Int {
        guard let free else { return page }
        var index = page
        while index > floor {
            let last = index - 1
            let used = ~free[last >> 6] << UInt64(63 - last & 63)
            if used != 0 { return max(floor, index - used.leadingZeroBitCount) }
            index = last & ~63
        }
        return max(floor, index)
    }

    /// The first free run at or after `from`, cut at `end`.
    private func nextRun(_ from: Int, _ end: Int) -> Range<Int>? {
        guard let free else { return nil }
        var index = from
        while index < end {
            let word = free[index >> 6] >> UInt64(index & 63)
            if word == 0 {
                index = (index | 63) + 1
                continue
            }
            index += word.trailingZeroBitCount
            return index < end ? index..<min(self.end(of: index), end) : nil
        }
        return nil
    }

    private func measure(_ block: Int) {
        bounds[block] = 0
        visit(block, atLeast: 1) { _ in true }
    }

    /// Calls `body` with the free runs of a block, each cut at the block's ends, until it returns false; a complete
    /// visit updates the block's bound.
    private func visit(_ block: Int, atLeast: Int, _ body: (Range<Int>) -> Bool) {
        let end = (block + 1) * Self.blockPages
        var from = block * Self.blockPages
        var found = 0
        while let run = nextRun(from, end) {
            found = max(found, run.count)
            if run.count >= atLeast, !body(run) { return }
            from = run.upperBound
        }
        bounds[block] = Int16(found)
        longest = max(longest, found)
    }

    /// The smallest free run that fits, in the first block that has one.
    /// - Parameter limit: the run ends at or below this page.
    func bestRun(_ pages: Int, below limit: Int = pages) -> Range<Int>? {
        for block in 0..<Self.blockCount where Int(bounds[block]) >= pages {
            if block * Self.blockPages + pages > limit { return nil }
            var best: Range<Int>?
            visit(block, atLeast: pages) { run in
                if run.count < best?.count ?? .max && run.lowerBound + pages <= limit { best = run }
                return best?.count != pages
            }
            if let best { return best }
        }
        if limit >= Self.pages { longest = Int(bounds.max() ?? 0) }
        return nil
    }

    /// Calls `body` with all free runs of at least this length, each cut at its block's ends, until it returns false.
    func forEachRun(atLeast: Int, _ body: (Range<Int>) -> Bool) {
        var goesOn = true
        for block in 0..<Self.blockCount where goesOn && Int(bounds[block]) >= atLeast {
            visit(block, atLeast: atLeast) { run in
                goesOn = body(run)
                return goesOn
            }
        }
        if goesOn { longest = Int(bounds.max() ?? 0) }
    }
}
