import Harness
import RunRecords

/// Iterates over all rows one by one, and reads one integer of each: the cost of a loop over a query's results.
struct Iterate: Scenario {
    let slug = "iterate"
    let family = Family.workload
    let question = "How fast does a program go through all rows and read one property of each?"
    let requires: Set<Capability> = [.tables, .queries]
    let layers: Set<Layer> = [.objects]
    let defaultDataset: String? = "people"

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let scan = try ScanMeasurement(context)
        let column = try scan.integerColumn()
        let session = try context.open(try context.fixtureLocation(), as: (any QuerySession).self)
        let expected = ExactOracle(try context.tables()).iterate(table: scan.table.name, column: column)
        context.report.check(
            "sum", expected: expected, got: try session.iterate(table: scan.table.name, column: column))
        try scan.measure(
            metric: .objectsPerSecond, bytesPerRow: 8, label: session.rowSteps.rawValue, expected: expected
        ) {
            try session.iterate(table: scan.table.name, column: column)
        }
        context.report.note("column \(column)")
        try session.close()
    }
}
