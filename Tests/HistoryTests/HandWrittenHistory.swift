import History

/// A history as a test writes it: transactions in the order of their starts, each with its operations, times included.
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

    /// The same at a time when everything runs at once.
    mutating func add(_ actor: Int, _ end: History.End = .committed, _ operations: (inout History) -> Void) {
        add(actor, 100...200, end, operations)
    }
}
