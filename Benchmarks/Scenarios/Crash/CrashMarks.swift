/// Operation counts of a simulated disk at the beginning and at the acknowledgement of each transaction.
struct CrashMarks {
    var begun: [Int] = []
    var acknowledged: [Int] = []

    /// The crash points of each transaction and of the close, each with a share of the states: otherwise the first
    /// operations would use them up.
    func stretches(operations: Int) -> [Range<Int>] {
        let starts = [0] + begun.dropFirst() + [acknowledged.last ?? 0]
        let ends = starts.dropFirst() + [operations + 1]
        return zip(starts, ends).filter { $0 < $1 }.map { $0..<$1 }
    }

    /// The crash points between two consecutive marks, and those after the last.
    func parts(operations: Int) -> [Range<Int>] {
        let borders = Set([0] + begun + acknowledged).sorted()
        return zip(borders, borders.dropFirst() + [operations + 1]).map { $0..<$1 }
    }

    /// The numbers of transactions that may have survived a power failure before that operation: at most all that had
    /// begun; at least the acknowledged ones if `keepsAcknowledged`.
    func allowed(before operation: Int, keepsAcknowledged: Bool) -> ClosedRange<Int> {
        let low = keepsAcknowledged ? acknowledged.count { $0 <= operation } : 0
        return low...max(low, begun.count { $0 < operation })
    }
}
