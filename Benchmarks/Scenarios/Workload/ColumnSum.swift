import Harness
import RunRecords

/// The sum of one integer column over all rows.
struct ColumnSum: Scenario {
    let slug = "column-sum"
    let family = Family.workload
    let question = "How fast is a column summed?"
    let requires: Set<Capability> = [.tables, .queries]
    let layers: Set<Layer> = [.storage, .objects]
    let defaultDataset: String? = "people"

    func fixture(for test: Case) -> FixtureRequest? { ScanMeasurement.fixture(for: test) }

    func run(_ context: CaseContext) throws {
        let scan = try ScanMeasurement(context)
        let column = try scan.integerColumn()
        let session = try context.open(try context.fixtureLocation(), as: (any QuerySession).self)
        let expected = ExactOracle(try context.tables()).iterate(table: scan.table.name, column: column)
        context.report.check(
            "sum", expected: Int64(bitPattern: expected.sum),
            got: try session.sum(table: scan.table.name, column: column))
        try scan.measure(bytesPerRow: 8) { _ = try session.sum(table: scan.table.name, column: column) }
        context.report.note("column \(column)")
        try session.close()
    }
}
