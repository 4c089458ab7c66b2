import RunRecords
import Testing

@testable import History

/// The checker's search is bounded: it reports what it skips, and a large history takes no deep stack.
@Suite struct SearchLimitTests {
    @Test("unexamined cycles mark the verdict as cut")
    func manyCircles() throws {
        for (pairs, isCut) in [(64, false), (65, true)] {
            var history = HandWrittenHistory()
            for pair in 0..<pairs {
                let (a, b) = (pair * 2, pair * 2 + 1)
                for (own, other) in [(a, b), (b, a)] {
                    history.add(own) {
                        $0.read(own, 0)
                        $0.read(other, 0)
                        $0.write(own, 1)
                    }
                }
            }
            let verdict = try HistoryChecker(history.history, level: .snapshot).check()
            #expect(verdict.forbidden.isEmpty && verdict.findings.map(\.anomaly) == [.writeSkew])
            #expect(verdict.isCut == isCut)
        }
    }

    @Test("a search past its budget marks the verdict as cut", arguments: [2, 300])
    func exhausted(transactions count: Int) throws {
        // A ring of transactions: each reads the value that the next one overwrites.
        var history = HandWrittenHistory()
        for index in 0..<count {
            history.add(index) {
                $0.read((index + 1) % count, 0)
                $0.read(index, 0)
                $0.write(index, 1)
            }
        }
        var checker = HistoryChecker(history.history)
        #expect(try checker.check().findings.map(\.anomaly) == [.writeSkew])
        #expect(try !checker.check().isCut)
        checker.mostCircleSteps = 0
        #expect(try checker.check().isCut)
    }

    @Test("a real-time violation is shown past the budget as well")
    func realTimePastBudget() throws {
        var history = HandWrittenHistory()
        history.add(0, 1...2) { $0.append(0, 1) }
        history.add(2, 5...6) { $0.readList(0, []) }
        history.add(1, 7...8) { $0.readList(0, [1]) }
        var checker = HistoryChecker(history.history)
        checker.mostWaySteps = 0
        let verdict = try checker.check()
        #expect(verdict.findings.map(\.anomaly) == [.realTime])
        #expect(!verdict.isCut)
    }

    @Test("a long chain is walked without a deep stack, and a cycle through its ends is found")
    func longChain() throws {
        var history = History()
        let count = 200_000
        for index in 0..<count {
            history.begin(actor: index % 2, at: UInt64(index * 10))
            history.read(1, Int64(index))
            history.write(1, Int64(index + 1))
            history.end(.committed, at: UInt64(index * 10 + 15))
        }
        #expect(try HistoryChecker(history).check().findings.isEmpty)
        // A transaction that read the first value, and whose write the last one in the chain read.
        history.begin(actor: 3, at: 1)
        history.read(1, 1)
        history.readList(2, [7])
        history.end(.committed, at: UInt64(count * 20))
        history.begin(actor: 4, at: UInt64(count * 10 - 5))
        history.read(1, Int64(count))
        history.write(1, Int64(count + 1))
        history.append(2, 7)
        history.end(.committed, at: UInt64(count * 20))
        let verdict = try HistoryChecker(history).check()
        #expect(verdict.findings.map(\.anomaly) == [.readSkew])
        #expect(verdict.findings.first?.witness.transactions.count == 2)
    }
}
