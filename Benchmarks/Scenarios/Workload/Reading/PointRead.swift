import Harness
import Measuring
import RunRecords
import Seeds

/// Reads of random rows by primary key, in batches with no clock inside; latencies in a second pass.
struct PointRead: Scenario {
    let slug = "point-read"
    let family = Family.workload
    let question = "How long does it take to find a row by its key and read from it?"
    let requires: Set<Capability> = [.tables]
    let layers: Set<Layer> = [.storage, .objects]
    let conditions = Condition.ofTheMachine.union([.cache])
    let defaultDataset: String? = "people"
    let parameters = [
        ScenarioParameter("properties", default: "1", allowed: ["1", "3"], summary: "properties read of each row"),
        ScenarioParameter(
            "snapshot", default: "batch", allowed: SnapshotUse.allCases.map(\.rawValue),
            summary: "one version for all reads of a batch, or the newest for each"),
    ]

    /// Number of reads for which allocations are counted.
    private static let countedReads = 4_096
    private static let nanosecondsForAll: UInt64 = 500_000_000

    func fixture(for test: Case) -> FixtureRequest? { .reading(test) }

    func run(_ context: CaseContext) throws {
        let report = context.report
        let rows = try RowOracle(context)
        let table = rows.main
        let columns = try Self.columns(of: table, count: try context.integer("properties"))
        if context.test.isCold { return try runCold(context, rows, columns) }
        let session = try context.open(try context.fixtureLocation(), as: (any TableSession).self)
        var random = context.random("keys")
        let snapshot = SnapshotUse(rawValue: try context.text("snapshot")) ?? .batch
        func reads(_ count: Int, from random: inout RandomStream) -> PointReads {
            PointReads(
                table: table.name, keys: (0..<count).map { _ in rows.key(ofRow: random.below(rows.rowCount)) },
                columns: columns, snapshot: snapshot)
        }
        let checked = reads(min(rows.rowCount, 10_000), from: &random)
        report.check("digest", expected: rows.digest(checked), got: try session.readPoints(checked, latency: nil))

        var answers = TimedAnswers<PointReads, ReadDigest>()
        let timing = try PreparedBatches.measure(
            maximum: 1 << 17, isOverBudget: { context.isOverBudget },
            prepare: { count, _ in reads(count, from: &random) },
            run: { try session.readPoints($0, latency: nil) }, answered: { answers.note($0, $1) })
        report.add(.operationNanoseconds, timing.median, statistic: "median", count: timing.count)
        report.add(.operationsPerSecond, 1e9 / timing.median, statistic: "median", count: timing.count)
        report.add(.emptyLoopNanoseconds, BatchTimer.emptyLoop().medianNanoseconds, statistic: "median")

        if let counter = AllocationCounter() {
            // The same reads on every machine: one-time allocations of a batch are divided by the same number.
            var keys = context.random("counted keys")
            let counted = reads(Self.countedReads, from: &keys)
            let before = counter.snapshot()
            let digest = try session.readPoints(counted, latency: nil)
            let used = counter.snapshot().since(before)
            report.check("reads that were counted", expected: rows.digest(counted), got: digest)
            let count = Double(Self.countedReads)
            report.add(.allocationsPerOperation, Double(used.allocations) / count, count: Self.countedReads)
            report.add(.allocatedBytesPerOperation, Double(used.threadBytes) / count, count: Self.countedReads)
        }
        let sampled = reads(min(timing.operationsPerBatch * 4, 1 << 17), from: &random)
        let latency = LatencyRecorder()
        let digest = try session.readPoints(sampled, latency: latency)
        report.check("reads with a clock each", expected: rows.digest(sampled), got: digest)
        report.add(latency.histogram, name: "read")
        answers.judge("timed batches", report, expected: rows.digest)
        try readAll(context, rows, columns: columns, session: session)
        try session.close()
    }

    /// A search that fails only at the edges of pages is wrong for a handful of a million keys, which random keys miss.
    /// So each key is read once more after the measurement: all of them, or as many from a random one on as fit in half
    /// a second.
    private func readAll(
        _ context: CaseContext, _ rows: RowOracle, columns: [String], session: any TableSession
    ) throws {
        var random = context.random("all keys")
        let first = random.below(rows.rowCount)
        let end = MonotonicClock.now() + Self.nanosecondsForAll
        var answers = TimedAnswers<PointReads, ReadDigest>()
        for start in stride(from: 0, to: rows.rowCount, by: Self.countedReads) where MonotonicClock.now() < end {
            let places = start..<min(start + Self.countedReads, rows.rowCount)
            let keys = places.map { rows.key(ofRow: (first + $0) % rows.rowCount) }
            let reads = PointReads(table: rows.main.name, keys: keys, columns: columns)
            answers.note(reads, try session.readPoints(reads, latency: nil))
        }
        answers.judge("all keys", context.report, expected: rows.digest)
    }

    private func runCold(_ context: CaseContext, _ rows: RowOracle, _ columns: [String]) throws {
        let table = rows.main.name
        var random = context.random("keys")
        try ColdReads(context: context).measure { _ in
            let key = rows.key(ofRow: random.below(rows.rowCount))
            let sum = rows.digest(PointReads(table: table, keys: [key], columns: columns)).sum
            return [table, String(key), columns.joined(separator: ","), String(sum)]
        }
    }

    func runStep(_ arguments: [String], _ context: CaseContext) throws {
        guard arguments.count == 4, let key = Int64(arguments[1]), let expected = UInt64(arguments[3]) else {
            throw HarnessError("a read needs a table, a key, columns and what is there")
        }
        let reads = PointReads(
            table: arguments[0], keys: [key], columns: arguments[2].split(separator: ",").map(String.init))
        let timing = try FreshRead.timed(context, as: (any TableSession).self, expected: expected) {
            try $0.readPoints(reads, latency: nil).sum
        }
        ColdReads.report(timing, to: context.report)
    }

    /// The first integer property; then a text and a real.
    private static func columns(of table: Table, count: Int) throws -> [String] {
        func first(_ matches: (ColumnValues) -> Bool) -> String? {
            table.columns.first { $0.name != table.key && matches($0.values) }?.name
        }
        let integer = first { if case .integer = $0 { true } else { false } }
        let text = first { if case .text = $0 { true } else { false } }
        let real = first { if case .real = $0 { true } else { false } }
        let columns = count == 1 ? [integer] : [integer, text, real]
        let found = columns.compactMap { $0 }
        guard found.count == columns.count else {
            throw HarnessError("\(table.name) has no integer, text and real property")
        }
        return found
    }
}
