import History

/// A handwritten history: transactions in the order of their starts, each with its operations and times.
struct HandWrittenHistory {
    private(set) var history = History()

    /// `at`: start and end.
    mutating func add(
        _ actor: Int, _ at: ClosedRange<UInt64>, _ end: History.End = .committed, _ operations: (inout History) -> Void
    ) {
        history.begin(actor: actor, at: at.lowerBound)
        operations(&history)
        history.end(end, at: at.upperBound)
    }

    /// Adds a transaction that is concurrent with all others added in this way.
    mutating func add(_ actor: Int, _ end: History.End = .committed, _ operations: (inout History) -> Void) {
        add(actor, 100...200, end, operations)
    }
}
