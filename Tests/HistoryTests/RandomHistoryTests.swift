import RunRecords
import Seeds
import Testing

@testable import History

@Suite struct RandomHistoryTests {
    @Test("a thousand histories that one thread ran raise no alarm")
    func noAlarm() throws {
        for number in 0..<1_000 {
            var plan = RandomHistory()
            plan.transactions = 20 + number % 180
            plan.actors = 1 + number % 7
            plan.keys = 2 + number % 9
            plan.mostElements = 3 + number % 20
            plan.aborted = number % 20
            plan.unknown = number % 30
            let history = plan.make(Seed(UInt64(number)))
            let verdict = try HistoryChecker(history).check()
            let text = verdict.findings.map { WitnessText($0.witness).lines.joined(separator: "\n") }
            #expect(verdict.findings.isEmpty, "seed \(number): \(text)")
        }
    }

    /// Swaps the times of two committed transactions, without their operations. If the two share a key, as most pairs
    /// do, the swap must be reported as a violation of real time.
    @Test("a history in which a dependency runs against the clock raises one")
    func alarm() throws {
        var found = 0
        for number in 0..<200 {
            var plan = RandomHistory()
            plan.transactions = 60
            plan.keys = 2
            plan.aborted = 0
            plan.unknown = 0
            let history = plan.make(Seed(UInt64(number)))
            var moved = History()
            for (index, transaction) in history.transactions.enumerated() {
                // The first transactions end after all others.
                let shift: UInt64 = index < 4 ? 10_000_000 : 0
                moved.begin(actor: index < 4 ? 100 + index : Int(transaction.actor), at: transaction.start + shift)
                for operation in transaction.operations.map({ history.operations[$0] }) {
                    switch operation.kind {
                    case .read: moved.read(Int(operation.key), operation.value)
                    case .write: moved.write(Int(operation.key), operation.value)
                    case .append: moved.append(Int(operation.key), operation.value)
                    case .readList: moved.readList(Int(operation.key), history.list(operation))
                    }
                }
                moved.end(transaction.end, at: transaction.finish + shift)
            }
            let verdict = try HistoryChecker(moved).check()
            if verdict.finding(.realTime) != nil { found += 1 }
            #expect(verdict.findings.allSatisfy { $0.anomaly == .realTime || $0.anomaly == .lostElement })
        }
        #expect(found == 200)
    }
}
