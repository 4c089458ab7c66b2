/// The operations of a simulated disk when each transaction began and when it was acknowledged.
struct CrashMarks {
    var begun: [Int] = []
    var acknowledged: [Int] = []

    /// The crash points of each transaction and of the close: with few states each of them has its share, where
    /// otherwise the first operations would have them all.
    func stretches(operations: Int) -> [Range<Int>] {
        let starts = [0] + begun.dropFirst() + [acknowledged.last ?? 0]
        let ends = starts.dropFirst() + [operations + 1]
        return zip(starts, ends).filter { $0 < $1 }.map { $0..<$1 }
    }

    /// The crash points between two of the moments at which a transaction began or was acknowledged, and those behind.
    func parts(operations: Int) -> [Range<Int>] {
        let borders = Set([0] + begun + acknowledged).sorted()
        return zip(borders, borders.dropFirst() + [operations + 1]).map { $0..<$1 }
    }

    /// How many transactions may be there when power went before that operation: all that had begun, and where
    /// acknowledged ones are kept at least those.
    func allowed(before operation: Int, keepsAcknowledged: Bool) -> ClosedRange<Int> {
        let low = keepsAcknowledged ? acknowledged.count { $0 <= operation } : 0
        return low...max(low, begun.count { $0 < operation })
    }
}
