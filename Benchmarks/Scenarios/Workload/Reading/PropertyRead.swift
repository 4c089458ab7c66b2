import Harness
import Measuring
import RunRecords

/// Reads of properties of held objects: what an application does for every row that it draws.
struct PropertyRead: Scenario {
    let slug = "property-read"
    let family = Family.workload
    let question = "What does it cost to read a property of a held object?"
    let requires: Set<Capability> = [.tables, .heldObjects]
    /// It has texts of 12 and of 40 bytes and a single link.
    let defaultDataset: String? = "damage"
    let parameters = [
        ScenarioParameter("held", .size, default: 500, summary: "objects that are held, and read in turn")
    ]

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let report = context.report
        let tables = try context.tables()
        let table = tables.main
        guard case .integer(let keys)? = table.keyColumn?.values, !keys.isEmpty else {
            throw HarnessError("\(table.name) has no integer key")
        }
        let held = Array(keys.prefix(try context.integer("held")))
        let oracle = ExactOracle(tables)
        let session = try context.open(try context.fixtureLocation(), as: (any HeldObjectSession).self)
        try session.hold(table: table.name, keys: held)
        for column in table.columns where column.name != table.key {
            guard let label = Self.label(column.values) else { continue }
            let reads = PointReads(table: table.name, keys: held, columns: [column.name])
            report.check(
                label, expected: oracle.digest(reads),
                got: try session.readHeld(column: column.name, count: held.count, latency: nil))
            let expected = { (count: Int) in Self.digest(count, of: reads, oracle) }
            var answers = TimedAnswers<Int, ReadDigest>()
            let timing = try BatchTimer.measure(
                { count in try session.readHeld(column: column.name, count: count, latency: nil) },
                answered: { answers.note($0, $1) })
            report.add(
                .operationNanoseconds, timing.medianNanoseconds, statistic: "median", count: timing.count,
                label: label)
            answers.judge("\(label), timed batches", report, expected: expected)
            try Self.measureUnmanaged(
                session, column.name, label: label, held: held.count, report: report, expected: expected)
            if context.isOverBudget {
                report.cut()
                break
            }
            let latency = LatencyRecorder()
            let sampled = min(timing.operationsPerBatch, 1 << 18)
            let digest = try session.readHeld(column: column.name, count: sampled, latency: latency)
            report.check("\(label), reads with a clock each", expected: expected(sampled), got: digest)
            report.add(latency.histogram, name: label)
        }
        report.add(.emptyLoopNanoseconds, BatchTimer.emptyLoop().medianNanoseconds, statistic: "median")
        try session.close()
    }

    /// The expected digest of `count` reads that cycle through the rows of `round`.
    private static func digest(_ count: Int, of round: PointReads, _ oracle: ExactOracle) -> ReadDigest {
        let (rounds, rest) = count.quotientAndRemainder(dividingBy: round.keys.count)
        let whole = oracle.digest(round)
        var last = round
        last.keys = Array(round.keys.prefix(rest))
        var digest = oracle.digest(last)
        digest.count &+= whole.count &* rounds
        digest.sum &+= whole.sum &* UInt64(rounds)
        return digest
    }

    /// Times reads by the language's fastest means (``HeldObjectSession/readHeldUnmanaged(column:count:)``), if the
    /// engine has one. The figure is reported beside the main one, and never replaces it.
    private static func measureUnmanaged(
        _ session: any HeldObjectSession, _ column: String, label: String, held: Int, report: CaseReport,
        expected: (Int) -> ReadDigest
    ) throws {
        guard let digest = try session.readHeldUnmanaged(column: column, count: held) else { return }
        report.check("\(label), unmanaged", expected: expected(held), got: digest)
        var answers = TimedAnswers<Int, ReadDigest?>()
        let timing = try BatchTimer.measure(
            { count in try session.readHeldUnmanaged(column: column, count: count) },
            answered: { answers.note($0, $1) })
        answers.judge("\(label), unmanaged, timed batches", report, expected: expected)
        report.add(
            .operationNanoseconds, timing.medianNanoseconds, statistic: "median", count: timing.count,
            label: "\(label), unmanaged")
    }

    private static func label(_ values: ColumnValues) -> String? {
        switch values {
        case .integer: "Int"
        case .real: "Double"
        case .text(let text): text.count > 0 ? "String(\(text.range(0).count))" : nil
        case .link: "link"
        case .links: nil
        }
    }
}
