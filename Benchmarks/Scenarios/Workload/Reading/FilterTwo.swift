import Harness
import RunRecords

/// Counts the rows that pass a filter on two columns without an index.
struct FilterTwo: Scenario {
    let slug = "filter-two"
    let family = Family.workload
    let question = "How fast are rows counted by two properties without an index?"
    let requires: Set<Capability> = [.tables, .queries]
    let layers: Set<Layer> = [.storage, .objects]
    let defaultDataset: String? = "people"
    let parameters = [
        ScenarioParameter("updates", .size, default: 0, summary: "rows set at random in transactions of 1 000 before")
    ]

    func fixture(for test: Case) -> FixtureRequest? {
        test.parameter("updates") == "0" ? ScanMeasurement.fixture(for: test) : FixtureRequest()
    }

    func run(_ context: CaseContext) throws {
        let scan = try ScanMeasurement(context)
        let integer = try scan.integerColumn()
        let real = try scan.realColumn()
        let filter = TwoColumnFilter(
            table: scan.table.name, integer: integer, above: Self.middle(scan.table, integer), real: real,
            below: Self.third(scan.table, real))
        let session = try context.open(try context.fixtureLocation(), as: (any QuerySession).self)
        var oracle = ExactOracle(try context.tables())
        try update(
            context, session, oracle: &oracle, table: scan.table, column: integer, count: try context.integer("updates")
        )
        let expected = oracle.count(filter)
        context.report.check("count", expected: expected, got: try session.count(filter))
        try scan.measure(bytesPerRow: 16, expected: expected) { try session.count(filter) }
        context.report.note("\(integer) > \(filter.above) and \(real) < \(filter.below)")
        try session.close()
    }

    /// The median of the first thousand rows: about half of all rows are above.
    private static func middle(_ table: Table, _ column: String) -> Int64 {
        guard let index = table.columnIndex(column), case .integer(let values) = table.columns[index].values,
            !values.isEmpty
        else { return 0 }
        let sorted = values.prefix(1_000).sorted()
        return sorted[sorted.count / 2]
    }

    /// The value that about three of ten rows are below.
    private static func third(_ table: Table, _ column: String) -> Double {
        guard let index = table.columnIndex(column), case .real(let values) = table.columns[index].values,
            !values.isEmpty
        else { return 0 }
        let sorted = values.prefix(1_000).sorted()
        return sorted[sorted.count * 3 / 10]
    }

    private func update(
        _ context: CaseContext, _ session: any Session, oracle: inout ExactOracle, table: Table, column: String,
        count: Int
    ) throws {
        if count == 0 { return }
        guard let session = session as? any UpdateSession, case .integer(let keys)? = table.keyColumn?.values else {
            throw HarnessError("\(context.test.engine) cannot update \(table.name) by an integer key")
        }
        var random = context.random("updates")
        for first in stride(from: 0, to: count, by: 1_000) {
            let size = min(1_000, count - first)
            let chosen = (0..<size).map { _ in keys[random.below(keys.count)] }
            let values = (0..<size).map { _ in Int64(random.below(100)) }
            try session.update(table: table.name, column: column, keys: chosen, values: values)
            oracle.update(table: table.name, column: column, keys: chosen, values: values)
        }
    }
}
