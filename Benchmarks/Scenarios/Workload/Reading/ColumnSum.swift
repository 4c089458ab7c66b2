import Harness
import RunRecords

/// The sum of one integer column over all rows.
struct ColumnSum: Scenario {
    let slug = "column-sum"
    let family = Family.workload
    let question = "How fast is a column summed?"
    let requires: Set<Capability> = [.tables, .queries]
    let layers: Set<Layer> = [.storage, .objects]
    let conditions = Condition.ofTheMachine.union([.cache])
    let defaultDataset: String? = "people"

    func fixture(for test: Case) -> FixtureRequest? { ScanMeasurement.fixture(for: test) }

    func run(_ context: CaseContext) throws {
        let scan = try ScanMeasurement(context)
        let column = try scan.integerColumn()
        let expected = ExactOracle(try context.tables()).iterate(table: scan.table.name, column: column)
        if context.test.isCold {
            let step = [scan.table.name, column, String(expected.sum)]
            return try ColdReads(context: context).measure { _ in step }
        }
        let session = try context.open(try context.fixtureLocation(), as: (any QuerySession).self)
        let sum = Int64(bitPattern: expected.sum)
        context.report.check("sum", expected: sum, got: try session.sum(table: scan.table.name, column: column))
        try scan.measure(bytesPerRow: 8, expected: sum) { try session.sum(table: scan.table.name, column: column) }
        context.report.note("column \(column)")
        try session.close()
    }

    func runStep(_ arguments: [String], _ context: CaseContext) throws {
        guard arguments.count == 3, let expected = UInt64(arguments[2]) else {
            throw HarnessError("a sum needs a table, a column and what it comes to")
        }
        let timing = try FreshRead.timed(context, as: (any QuerySession).self, expected: expected) {
            UInt64(bitPattern: try $0.sum(table: arguments[0], column: arguments[1]))
        }
        ColdReads.report(timing, to: context.report)
    }
}
