import Harness
import Measuring
import RunRecords

/// Reads of properties of objects that the program holds: what an application does for every row that it draws.
struct PropertyRead: Scenario {
    let slug = "property-read"
    let family = Family.workload
    let question = "What does it cost to read a property of an object in hand?"
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
            let timing = try BatchTimer.measure { count in
                _ = try session.readHeld(column: column.name, count: count, latency: nil)
            }
            report.add(
                .operationNanoseconds, timing.medianNanoseconds, statistic: "median", count: timing.count,
                label: label)
            try Self.measureUnmanaged(session, column.name, label: label, expected: oracle.digest(reads), held, report)
            if context.isOverBudget {
                report.cut()
                break
            }
            let latency = LatencyRecorder()
            _ = try session.readHeld(
                column: column.name, count: min(timing.operationsPerBatch, 1 << 18), latency: latency)
            report.add(latency.histogram, name: label)
        }
        report.add(.emptyLoopNanoseconds, BatchTimer.emptyLoop().medianNanoseconds, statistic: "median")
        try session.close()
    }

    /// The fastest way that the language has, where there is one: beside the figure, and never it.
    private static func measureUnmanaged(
        _ session: any HeldObjectSession, _ column: String, label: String, expected: ReadDigest, _ held: [Int64],
        _ report: CaseReport
    ) throws {
        guard let digest = try session.readHeldUnmanaged(column: column, count: held.count) else { return }
        report.check("\(label), unmanaged", expected: expected, got: digest)
        let timing = try BatchTimer.measure { count in
            _ = try session.readHeldUnmanaged(column: column, count: count)
        }
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
