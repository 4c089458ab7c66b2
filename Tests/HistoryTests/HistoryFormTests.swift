import RunRecords
import Testing

@testable import History

@Suite struct WitnessTextTests {
    private func witness() throws -> Witness {
        var history = HandWrittenHistory()
        for (actor, own, other) in [(0, 1, 3), (1, 3, 1)] {
            history.add(actor, UInt64(100 + actor * 10)...UInt64(200 + actor * 10)) {
                $0.read(own, 0)
                $0.readList(8, [])
                $0.read(other, 0)
                $0.write(own, Int64(own))
            }
        }
        return try #require(try HistoryChecker(history.history).check().findings.first?.witness)
    }

    @Test("operations outside the cycle are dropped")
    func operations() throws {
        let witness = try witness()
        #expect(
            witness.parties.map(\.operations) == [["read k3 = 0", "write k1 = 1"], ["read k1 = 0", "write k3 = 3"]])
        #expect(witness.parties.map(\.omitted) == [2, 2])
    }

    @Test("sentences and a timeline in 80 columns")
    func lines() throws {
        let lines = WitnessText(try witness()).lines
        #expect(lines.allSatisfy { $0.count <= 80 })
        #expect(
            lines == [
                "write-skew (G2-item): transactions each wrote what would have changed what the",
                "other read.",
                "  T1 read 0 from key 3, which T2 wrote over with 3.",
                "  T2 read 0 from key 1, which T1 wrote over with 1.",
                "  So T1 comes before T2, T2 comes before T1: no order has that.",
                "  T1 a0 done        |--------------------------------------|",
                "     read k3 = 0, write k1 = 1, ..",
                "  T2 a1 done                           |--------------------------------------|",
                "     read k1 = 0, write k3 = 3, ..",
                "  from start to end: 110 ns",
            ])
    }

    @Test("the record for the report round-trips through its label")
    func record() throws {
        let record = WitnessText(try witness()).timelineRecord
        #expect(record.rows.map(\.start) == [0, 1])
        #expect(record.rows.map(\.end) == [2, 3])
        #expect(WitnessTimeline(label: record.label) == record)
        #expect(WitnessTimeline(label: "something|else|1") == nil)
    }
}

@Suite struct ElleExportTests {
    @Test("invocations and completions are maps, a line each, in the order of time")
    func lines() {
        var history = HandWrittenHistory()
        history.add(0, 10...40) {
            $0.append(1, 2)
            $0.readList(1, [2])
        }
        history.add(1, 20...30, .aborted) { $0.append(1, 3) }
        history.add(1, 50...60, .unknown) { $0.append(1, 4) }
        history.add(1, 70...80) { $0.read(2, 0) }
        let text = ElleExport(history.history).text(lists: true)
        #expect(
            text.split(separator: "\n").map(String.init) == [
                "{:type :invoke, :f :txn, :value [[:append 1 2] [:r 1 nil]], :process 0, :time 10, :index 0}",
                "{:type :invoke, :f :txn, :value [[:append 1 3]], :process 1, :time 20, :index 1}",
                "{:type :fail, :f :txn, :value [[:append 1 3]], :process 1, :time 30, :index 2}",
                "{:type :ok, :f :txn, :value [[:append 1 2] [:r 1 [2]]], :process 0, :time 40, :index 3}",
                "{:type :invoke, :f :txn, :value [[:append 1 4]], :process 1, :time 50, :index 4}",
                "{:type :info, :f :txn, :value [[:append 1 4]], :process 1, :time 80, :index 5}",
            ])
        let registers = ElleExport(history.history).text(lists: false)
        #expect(
            registers.split(separator: "\n").map(String.init) == [
                "{:type :invoke, :f :txn, :value [[:r 2 nil]], :process 2, :time 70, :index 0}",
                "{:type :ok, :f :txn, :value [[:r 2 nil]], :process 2, :time 80, :index 1}",
            ], "an actor's operations after an unknown end get a new process")
    }
}

@Suite struct HistoryLogTests {
    private func log() -> HistoryLog {
        var log = HistoryLog()
        log.begin(actor: 3, at: 5, [HistoryLog.Step(.readList, 0), HistoryLog.Step(.append, 0, value: 9)])
        log.read([1, 2])
        log.end(.committed, at: 8, done: 2)
        log.begin(actor: 3, at: 10, [HistoryLog.Step(.read, 1), HistoryLog.Step(.write, 1, value: 4)])
        log.read(7)
        log.end(.aborted, at: 12, done: 1)
        return log
    }

    @Test("records round-trip; operations that were not done are removed")
    func roundTrip() throws {
        var history = History()
        try HistoryLog.add(log().words, to: &history)
        #expect(history.transactions.map(\.end) == [.committed, .aborted])
        #expect(history.transactions.map(\.start) == [5, 10])
        #expect(history.transactions.map { Int($0.count) } == [2, 1])
        #expect(Array(history.list(history.operations[0])) == [1, 2])
        #expect(history.operations[2].value == 7)
    }

    @Test("an interrupted transaction has an unknown outcome, with all its possible writes", arguments: 1...9)
    func brokenOff(missing: Int) throws {
        var history = History()
        try HistoryLog.add(log().words.dropLast(missing), to: &history)
        let isIntentWhole = missing <= 6
        #expect(history.transactions.count == (isIntentWhole ? 2 : 1))
        guard isIntentWhole else { return }
        #expect(history.transactions[1].end == .unknown)
        #expect(history.operations.dropFirst(2).map(\.kind) == [.write])
    }

    @Test("a time that is not positive round-trips")
    func times() throws {
        var log = HistoryLog()
        log.begin(actor: 0, at: UInt64.max - 1, [])
        log.end(.committed, at: .max, done: 0)
        var history = History()
        try HistoryLog.add(log.words, to: &history)
        #expect(history.transactions.map(\.start) == [UInt64.max - 1])
        #expect(history.transactions.map(\.finish) == [UInt64.max])
    }

    /// Any word with any contents: no trap, and earlier records are kept.
    @Test("a word that no actor writes is an error, never a trap")
    func damagedWords() throws {
        let whole = log().words
        for place in whole.indices {
            for value in [Int64.min, -1, 3, 4, 77, 1 << 40, .max] where whole[place] != value {
                var words = whole
                words[place] = value
                var history = History()
                do throws(HistoryError) {
                    try HistoryLog.add(words, to: &history)
                } catch {
                    guard case .damagedLog = error else {
                        Issue.record("\(error)")
                        continue
                    }
                }
                #expect(history.transactions.count <= 2)
                for operation in history.operations where operation.kind == .readList { _ = history.list(operation) }
            }
        }
        // Mark, number of steps, kind, key; of the end its mark, kind, steps done, reads; the length of a list.
        for place in [0, 3, 4, 5, 10, 11, 13, 14, 15] {
            var words = whole
            words[place] = place == 5 ? 1 << 40 : -1
            var history = History()
            #expect(throws: HistoryError.damagedLog(word: place)) { try HistoryLog.add(words, to: &history) }
        }
        var more = whole
        more[15] = 1
        var history = History()
        #expect(throws: HistoryError.damagedLog(word: 14)) { try HistoryLog.add(more, to: &history) }
    }
}
