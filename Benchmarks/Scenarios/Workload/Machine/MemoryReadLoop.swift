import Measuring

/// Memory bandwidth: sums words, with no other work.
enum MemoryReadLoop {
    /// Sums consecutive words on one thread: of one array, or of two side by side, as a scan of one or of two columns
    /// does.
    static func read(
        bytes: Int, bytesPerRow: Int, rounds: Int
    ) -> (bytesPerSecond: Double, sum: UInt64, expected: UInt64) {
        let rows = max(1, bytes / bytesPerRow)
        let first = [UInt64](repeating: 3, count: rows)
        let second = [UInt64](repeating: 5, count: bytesPerRow == 16 ? rows : 0)
        var best = UInt64.max
        var sum: UInt64 = 0
        for _ in 0..<rounds {
            let start = MonotonicClock.now()
            sum = first.withUnsafeBufferPointer { first in
                second.withUnsafeBufferPointer { second in
                    second.isEmpty ? Self.sum(first) : Self.sum(first, second)
                }
            }
            best = min(best, MonotonicClock.now() - start)
        }
        let expected = UInt64(rows) * (bytesPerRow == 16 ? 8 : 3)
        // Compared, so that the compiler cannot remove the reads.
        precondition(sum == expected, "the memory does not hold what was put there")
        return (Double(rows * bytesPerRow) / (Double(max(1, best)) / 1e9), sum, expected)
    }

    private static func sum(_ words: UnsafeBufferPointer<UInt64>) -> UInt64 {
        var sum: UInt64 = 0
        for word in words { sum &+= word }
        return sum
    }

    private static func sum(
        _ first: UnsafeBufferPointer<UInt64>, _ second: UnsafeBufferPointer<UInt64>
    ) -> UInt64 {
        var sum: UInt64 = 0
        for row in 0..<min(first.count, second.count) { sum &+= first[row] &+ second[row] }
        return sum
    }
}
