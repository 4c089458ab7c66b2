import Harness
import Measuring
import RunRecords

/// An open and the first read of a row, each time in a process that never opened the database before.
struct OpenAndRead: Scenario {
    let slug = "open"
    let family = Family.workload
    let question = "How long does it take from a closed file to the first row?"
    let requires: Set<Capability> = [.tables, .persistent]
    let defaultDataset: String? = "people"
    let parameters = [
        ScenarioParameter("opens", .size, default: 20, range: 1...10_000, summary: "processes, one after the other"),
        ScenarioParameter(
            "cache", default: "warm", allowed: ["warm", "cold"], summary: "whether the file is in the page cache"),
    ]

    func fixture(for test: Case) -> FixtureRequest? { .reading(test) }

    func run(_ context: CaseContext) throws {
        let report = context.report
        let location = try context.fixtureLocation()
        var cold = context.test.isCold ? ColdFiles(context, at: location) : nil
        let rows = try RowOracle(context)
        let read = FirstRead(context: context, table: rows.main.name, column: try Self.column(of: rows.main))
        // A program is compiled for its tables: it does not read them from the database.
        context.engine.learn(rows.schema)
        var random = context.random("keys")
        var histogram = Histogram()
        // The first one is not counted: it loads code and file into memory.
        for number in 0...(try context.integer("opens")) {
            let key = rows.key(ofRow: random.below(rows.rowCount))
            try cold?.drop()
            let sum = rows.digest(PointReads(table: read.table, keys: [key], columns: [read.column])).sum
            let nanoseconds = try read.measure(at: location, key: key, sum: sum, name: "open \(number)")
            if number > 0, let nanoseconds { histogram.record(nanoseconds) }
            if number > 2 && context.isOverBudget {
                report.cut()
                break
            }
        }
        cold?.report()
        report.add(histogram, name: "open")
        if !histogram.isEmpty {
            report.add(
                .openMicroseconds, Double(histogram.quantile(0.5)) / 1e3, statistic: "median",
                count: Int(histogram.count))
        }
        report.add(.fileBytes, Double(try context.fileBytes(at: location)))
    }

    func runStep(_ arguments: [String], _ context: CaseContext) throws {
        try FirstRead.runStep(arguments, context)
    }

    /// The first integer property.
    static func column(of table: Table) throws -> String {
        for column in table.columns where column.name != table.key {
            if case .integer = column.values { return column.name }
        }
        throw HarnessError("\(table.name) has no integer property")
    }
}
