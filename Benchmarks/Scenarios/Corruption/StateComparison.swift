import Harness
import RunRecords

/// Compares a full read with the last state of a database, and with earlier ones, so that a complete older state is
/// told from a value that was never there.
final class StateComparison: ContentComparison {
    private let comparisons: [FullReadComparison]
    private var isOver = false

    /// - Parameter states: the last one last; at least one.
    init(_ states: [ExactOracle]) {
        comparisons = states.map { FullReadComparison($0) }
    }

    var difference: String? { comparisons.last?.difference }

    func receive(table: String, row: Int, values: [Value]) -> Bool {
        for comparison in comparisons where comparison.difference == nil {
            _ = comparison.receive(table: table, row: row, values: values)
        }
        return comparisons.contains { $0.difference == nil }
    }

    func finish() {
        isOver = true
        for comparison in comparisons { comparison.finish() }
    }

    /// For a completed read that gives an earlier state: how many transactions it is behind the last one. nil for the
    /// last state, or for none of them.
    var age: Int? {
        guard isOver, difference != nil, let found = comparisons.lastIndex(where: { $0.difference == nil }) else {
            return nil
        }
        return comparisons.count - 1 - found
    }
}
