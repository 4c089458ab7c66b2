import History
import Seeds

/// Transactions of one to four operations on few cells: lists that are read and appended to, and numbers that are read
/// and then written, so that every version tells which version it was made from.
///
/// Only six cells are in use at a time, and after some transactions each actor moves on to the next six: conflicts are
/// many, and lists stay short. The operations depend on actor, position and seed, not on other actors.
package struct TransactionMix: Sendable {
    static let cellsInUse = 6
    /// After this many transactions an actor moves on to new cells.
    static let transactionsPerGeneration = 25
    private static let mostOperations = 4

    let seed: Seed
    /// Per actor.
    let transactions: Int

    package init(seed: Seed, transactions: Int) {
        self.seed = seed
        self.transactions = transactions
    }

    package var cellCount: Int {
        Self.cellsInUse * (transactions / Self.transactionsPerGeneration + 1)
    }

    /// Values are unique: each actor has a range of a million.
    static let valuesPerActor = 1_000_000

    /// The transactions of one actor, in order.
    package func plans(of actor: Int) -> [PlannedTransaction] {
        var random = RandomStream(seed.derived("actor \(actor)"))
        var next = Int64(actor * Self.valuesPerActor + 1)
        return (0..<transactions).map { index in
            let first = index / Self.transactionsPerGeneration * Self.cellsInUse
            var steps: [HistoryLog.Step] = []
            // One in four only reads, as most transactions of applications do; such transactions take no lock.
            let isReader = random.chance(1, in: 4)
            for _ in 0..<(1 + random.below(Self.mostOperations)) {
                let slot = random.below(Self.cellsInUse)
                let cell = first + slot
                let isRead = isReader || random.chance(1, in: 3)
                if slot % 2 == 0 {
                    steps.append(HistoryLog.Step(isRead ? .readList : .append, cell, value: isRead ? 0 : next))
                    next += isRead ? 0 : 1
                } else {
                    if isRead || random.chance(9, in: 10) { steps.append(HistoryLog.Step(.read, cell)) }
                    if isRead { continue }
                    steps.append(HistoryLog.Step(.write, cell, value: next))
                    next += 1
                }
            }
            return PlannedTransaction(steps: steps, isRolledBack: random.chance(1, in: 20))
        }
    }

    /// Reads every list and number, one transaction each, after all writers have ended.
    var finalReads: [PlannedTransaction] {
        (0..<cellCount).map { cell in
            let isList = cell % Self.cellsInUse % 2 == 0
            return PlannedTransaction(steps: [HistoryLog.Step(isList ? .readList : .read, cell)], isRolledBack: false)
        }
    }
}
