import Harness
import Measuring
import RunRecords
import StrataEngine
import Testing

@testable import Scenarios

/// Nine scenarios once passed with every text of a database replaced by `#`, since they checked one number of it.
@Suite struct ContentOracleTests {
    static let small: [(slug: String, parameters: [String: String])] = [
        ("commit", ["commits": "20"]), ("commit-threads", ["threads": "2", "commits": "20"]),
        ("commit-nosync", ["commits": "20"]), ("bulk-insert", ["rounds": "1"]), ("delete-half", [:]),
        ("commit-during-checkpoint", ["commits": "20", "every": "10", "updates": "20"]),
        ("update-batch", ["transactions": "3", "updates": "20"]), ("visible-latency", ["commits": "5"]),
        ("writer-starvation", ["greedy": "2", "waits": "5", "bound": "60000"]), ("compact", [:]),
        ("compact-memory", [:]), ("delete-refill", ["rounds": "3"]), ("million-small-commits", ["commits": "100"]),
        ("many-writer-threads", ["rounds": "6", "threads": "2", "updates": "10", "held": "2"]),
        ("account-switch", ["switches": "6", "transactions": "1", "bound": "60000"]),
        ("compact-vs-readers", ["compactions": "2"]), ("pinned-reader", ["transactions": "2", "updates": "10"]),
    ]

    @Test("texts replaced by # are found", arguments: small.indices, ["sqlite", "strata-storage"])
    func hashes(index: Int, engine: String) throws {
        let (slug, parameters) = Self.small[index]
        let spoilt = SpoiltEngine(base: try EnginesUnderTest.engine(engine), spoil: .hashTexts)
        let report = try CaseUnderTest.run(try ScenarioRunTests.scenario(slug), on: spoilt, parameters: parameters)
        #expect(report.outcomes[.silentlyWrong, default: 0] > 0, "\(slug): \(report.outcomes)")
        #expect(report.trials.contains { $0.detail.contains("#") }, "\(report.trials)")
    }

    /// RocksDB is left out of account-switch here: on a busy machine it compacts by itself between the calls, which
    /// hides the mistake.
    static let idle =
        ["sqlite", "strata-storage", "lmdb"].flatMap { [("compact", $0), ("account-switch", $0)] }
        + [("compact", "rocksdb")]

    @Test("a compaction that did nothing is found", arguments: idle)
    func idleCompaction(slug: String, engine: String) throws {
        let spoilt = SpoiltEngine(base: try EnginesUnderTest.engine(engine), spoil: .idleCompaction)
        let parameters = slug == "compact" ? [:] : ["switches": "6", "transactions": "1", "bound": "60000"]
        let report = try CaseUnderTest.run(
            try ScenarioRunTests.scenario(slug), on: spoilt, size: 20_000, parameters: parameters)
        #expect(
            report.outcomes[.overSize, default: 0] > 0, "\(report.samples.filter { $0.metric.name == "file_bytes" })"
        )
    }

    @Test(
        "a compaction that did nothing decides nothing", arguments: ["compact-memory", "compact-vs-readers"])
    func idleIsInconclusive(slug: String) throws {
        let spoilt = SpoiltEngine(base: try EnginesUnderTest.engine("sqlite"), spoil: .idleCompaction)
        let parameters = slug == "compact-memory" ? ["least": "64"] : ["compactions": "2"]
        let report = try CaseUnderTest.run(
            try ScenarioRunTests.scenario(slug), on: spoilt, size: 20_000, parameters: parameters)
        #expect(report.isInconclusive)
        let sound = try CaseUnderTest.run(
            try ScenarioRunTests.scenario(slug), on: EnginesUnderTest.engine("sqlite"), size: 20_000,
            parameters: parameters)
        #expect(!sound.isInconclusive, "\(sound.messages)")
    }

    @Test("a version that stays pinned is detected by the pages that remain")
    func neverClosed() throws {
        let parameters = ["transactions": "4", "updates": "50"]
        let scenario = try ScenarioRunTests.scenario("pinned-reader")
        let spoilt = SpoiltEngine(base: try EnginesUnderTest.engine("sqlite"), spoil: .neverClosed)
        let report = try CaseUnderTest.run(scenario, on: spoilt, parameters: parameters)
        #expect(report.outcomes[.overSize, default: 0] > 0, "\(report.outcomes)")
    }

    @Test("compacted databases of all engines are about as large as loaded ones", arguments: EnginesUnderTest.names)
    func ratio(engine: String) throws {
        let engine = try EnginesUnderTest.engine(engine)
        guard engine.capabilities.isSuperset(of: [.compaction, .deletions, .persistent]) else { return }
        let report = try CaseUnderTest.run(try ScenarioRunTests.scenario("compact"), on: engine, size: 20_000)
        #expect(report.outcomes.keys.filter { $0 != .correct } == [], "\(report.trials)")
        #expect(!report.isInconclusive, "\(report.messages)")
        #expect(report.value("over_fresh_ratio") != nil)
    }
}

/// The oracles of scenarios whose writer is killed or stopped.
@Suite struct WriterOracleTests {
    private static func withHistory<Output>(_ body: (KillMidWrite.History, [Int64?]) throws -> Output) throws -> Output
    {
        try EnginesUnderTest.withDirectory { directory in
            let context = try CaseUnderTest.context(
                KillMidWrite(), on: StorageEngine(), size: 200, in: directory)
            let history = try KillMidWrite.History(context)
            guard case .integer(let ages)? = try context.tables().main.column("age")?.values else {
                throw HarnessError("no ages")
            }
            return try body(history, ages.map { $0 })
        }
    }

    /// The contents of the database after each number of transactions.
    private static func numbers(_ history: KillMidWrite.History, after count: Int) -> [Int64?] {
        let set = [Int64?](repeating: Int64(count), count: KillMidWrite.History.rows)
        return set + history.turns(after: count).map { $0 }
    }

    @Test("a killed writer leaves the last transaction, or the one after it, and none before is missing")
    func killed() throws {
        try Self.withHistory { history, loaded in
            func judge(_ numbers: [Int64?], acknowledged: Int, isKept: Bool = true) -> Outcome {
                let finding = ContentFinding(.correct, numbers: numbers)
                return history.judge(finding, acknowledged: acknowledged, isKept: isKept).0
            }
            for count in [1, 7, 135, 136, 137, 500] {
                let numbers = Self.numbers(history, after: count)
                #expect(judge(numbers, acknowledged: count) == .correct)
                #expect(judge(numbers, acknowledged: count - 1) == .correct)
                #expect(judge(numbers, acknowledged: count + 1) == .lostCommit)
                #expect(judge(numbers, acknowledged: count + 1, isKept: false) == .correct)
                #expect(judge(numbers, acknowledged: count - 2) == .silentlyWrong)
            }
            #expect(judge(loaded, acknowledged: 1) == .lostCommit)
            #expect(judge(loaded, acknowledged: 0) == .correct)
            var torn = Self.numbers(history, after: 9)
            torn[5] = 8
            #expect(judge(torn, acknowledged: 9) == .silentlyWrong)
            var missing = Self.numbers(history, after: 9)
            missing[KillMidWrite.History.rows + 3] = loaded[KillMidWrite.History.rows + 3]
            #expect(judge(missing, acknowledged: 9) == .lostCommit)
            var null = Self.numbers(history, after: 9)
            null[70] = nil
            #expect(judge(null, acknowledged: 9) == .silentlyWrong)
            let finding = ContentFinding(.silentlyWrong, "DamagePerson row 3 name")
            #expect(history.judge(finding, acknowledged: 9, isKept: true).0 == .silentlyWrong)
        }
    }

    @Test("increments are exact while the writer is idle, and everything else is unchanged")
    func increments() throws {
        try EnginesUnderTest.withDirectory { directory in
            let context = try CaseUnderTest.context(StoppedWriter(), on: StorageEngine(), size: 200, in: directory)
            let trial = try IncrementTrial(context, try FixtureFiles(context))
            func judge(_ value: Int64, _ allowed: ClosedRange<Int>) -> Outcome {
                trial.judge(ContentFinding(.correct, numbers: [value]), allowed: allowed).outcome
            }
            #expect(judge(trial.initial + 5, 5...6) == .correct)
            #expect(judge(trial.initial + 6, 5...6) == .correct)
            #expect(judge(trial.initial + 4, 5...6) == .lostCommit)
            #expect(judge(trial.initial + 7, 5...6) == .silentlyWrong)
            #expect(judge(trial.initial - 1, 0...1) == .lostCommit)
            #expect(trial.judge(ContentFinding(.correct, numbers: [nil]), allowed: 0...1).outcome == .silentlyWrong)
            #expect(trial.judge(ContentFinding(.crashed, "signal 6"), allowed: 0...1).outcome == .crashed)
        }
    }

    @Test("progress and safety are different promises")
    func promises() {
        #expect(StoppedWriter().promise(brokenBy: .hung) == .boundedWait)
        #expect(StoppedWriter().promise(brokenBy: .silentlyWrong) == .isolation)
        #expect(KillMidWrite().promise(brokenBy: .lostCommit) == .durability)
        #expect(KillMidWrite().promise(brokenBy: .silentlyWrong) == .atomicity)
        #expect(KillMidWrite().promise(brokenBy: .crashed) == nil)
        #expect(WriterStarvation().promise(brokenBy: .hung) == .boundedWait)
        #expect(WriterStarvation().promise(brokenBy: .lostCommit) == .isolation)
        #expect(CompactMemory().promise(brokenBy: .memoryLimit) == .boundedSize)
    }
}
