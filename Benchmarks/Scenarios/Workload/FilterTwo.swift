import Harness
import RunRecords

/// How many rows pass a filter on two columns, of which none has an index.
struct FilterTwo: Scenario {
    let slug = "filter-two"
    let family = Family.workload
    let question = "How fast are rows counted by two properties without an index?"
    let requires: Set<Capability> = [.tables, .queries]
    let layers: Set<Layer> = [.storage, .objects]
    let defaultDataset: String? = "people"
    let parameters = [
        ScenarioParameter("updates", default: "0", summary: "rows set at random in transactions of 1 000 before")
    ]

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let scan = try ScanMeasurement(context)
        let integer = try scan.integerColumn()
        let filter = TwoColumnFilter(
            table: scan.table.name, integer: integer, above: 50, real: try scan.realColumn(), below: 30)
        let session = try context.open(try context.fixtureLocation(), as: (any QuerySession).self)
        var oracle = ExactOracle(try context.tables())
        try update(context, session, &oracle, scan.table, integer, count: try context.integer("updates"))
        context.report.check("count", expected: oracle.count(filter), got: try session.count(filter))
        try scan.measure(bytesPerRow: 16) { _ = try session.count(filter) }
        context.report.note("\(integer) > 50 and \(filter.real) < 30")
        try session.close()
    }

    private func update(
        _ context: CaseContext, _ session: any Session, _ oracle: inout ExactOracle, _ table: Table, _ column: String,
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
