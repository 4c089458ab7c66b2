import Synchronization

/// Counts the reports of reads of deleted objects.
final class CardReports: Sendable {
    private let total = Atomic<Int>(0)

    func add() { total.add(1, ordering: .relaxed) }
    var count: Int { total.load(ordering: .relaxed) }
}
