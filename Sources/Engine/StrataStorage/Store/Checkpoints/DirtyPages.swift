/// Pages that were written since the last checkpoint, by chunks of the file.
///
/// A checkpoint writes back chunk by chunk: its cost grows with the changes, not with the file. A page that was written
/// twice counts once.
/// Memory: 4 bytes per chunk of the file up to the last dirty one, and 80 per dirty chunk.
struct DirtyPages {
    /// Pages of a chunk: 2 MiB, what one call writes back.
    static let chunkPages = 512
    /// For each chunk of the file its place in `chunks`, plus 1; 0 if it has no dirty page.
    private var places: [UInt32] = []
    private var chunks: [Chunk] = []
    /// Dirty pages, each counted once.
    private(set) var count = 0

    /// The dirty pages of one chunk.
    private struct Chunk {
        let index: Int
        /// A bit per page.
        var pages = SIMD8<UInt64>()

        /// - Returns: how many of them were clean.
        mutating func insert(_ part: Range<Int>) -> Int {
            var added = 0
            for word in (part.lowerBound >> 6)...((part.upperBound - 1) >> 6) {
                let first = max(part.lowerBound - word << 6, 0)
                let last = min(part.upperBound - 1 - word << 6, 63)
                let bits = (UInt64.max >> UInt64(63 - (last - first))) << UInt64(first)
                added += (bits & ~pages[word]).nonzeroBitCount
                pages[word] |= bits
            }
            return added
        }

        /// From its first dirty page to its last.
        var hull: Range<Int> {
            var low = DirtyPages.chunkPages
            var high = 0
            for word in 0..<8 where pages[word] != 0 {
                low = min(low, word << 6 + pages[word].trailingZeroBitCount)
                high = word << 6 + 64 - pages[word].leadingZeroBitCount
            }
            return index * DirtyPages.chunkPages + low..<index * DirtyPages.chunkPages + high
        }
    }

    /// - Complexity: O(pages / 64).
    mutating func insert(_ run: Range<Int>) {
        var page = run.lowerBound
        while page < run.upperBound {
            let (chunk, first) = page.quotientAndRemainder(dividingBy: Self.chunkPages)
            let last = min(Self.chunkPages, first + run.upperBound - page)
            count += chunks[place(of: chunk)].insert(first..<last)
            page += last - first
        }
    }

    private mutating func place(of chunk: Int) -> Int {
        if chunk >= places.count { places += repeatElement(0, count: chunk + 1 - places.count) }
        if places[chunk] == 0 {
            chunks.append(Chunk(index: chunk))
            places[chunk] = UInt32(chunks.count)
        }
        return Int(places[chunk]) - 1
    }

    /// Takes all dirty pages: for each dirty chunk one run within it, in the order of the file.
    /// - Complexity: O(n log n) in the dirty chunks.
    mutating func takeRuns() -> [Range<Int>] {
        let runs = chunks.sorted { $0.index < $1.index }.map(\.hull)
        for chunk in chunks { places[chunk.index] = 0 }
        chunks.removeAll(keepingCapacity: chunks.count <= Self.kept)
        count = 0
        return runs
    }

    /// Capacity, in chunks, that is kept for the next checkpoint.
    private static let kept = 4096
}
