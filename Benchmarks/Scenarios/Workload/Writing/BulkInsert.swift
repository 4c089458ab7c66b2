import Files
import Harness
import Measuring
import RunRecords

/// Inserts all rows of a data set in one durable transaction, into an empty database, several times.
struct BulkInsert: Scenario {
    let slug = "bulk-insert"
    let family = Family.workload
    let question = "How fast is a large insert transaction, and how much space does a row take?"
    let requires: Set<Capability> = [.tables]
    let defaultDataset: String? = "people"
    let parameters = [
        ScenarioParameter(
            "rounds", .size, default: 3, range: 1...1_000, summary: "times the data set goes into an empty database")
    ]

    func run(_ context: CaseContext) throws {
        let report = context.report
        let tables = try context.tables()
        let rows = tables.tables.reduce(0) { $0 + $1.rowCount }
        let oracle = ExactOracle(tables)
        var seconds: [Double] = []
        var secondsWithClose: [Double] = []
        var last: DatabaseLocation?
        for round in 0..<(try context.integer("rounds")) {
            if round > 0 && context.isOverBudget {
                report.cut()
                break
            }
            if let last { try FileTree.remove(last.directory) }
            let location = try context.emptyLocation("database-\(round)")
            let session = try context.open(location, as: (any TableSession).self)
            ResourceUsage.resetPeak()
            let meter = CostMeter(context)
            let start = MonotonicClock.now()
            try session.load(tables)
            seconds.append(Double(MonotonicClock.now() - start) / 1e9)
            if round == 0 {
                report.add(.peakResidentBytes, Double(ResourceUsage.now().peakResidentBytes))
                report.add(meter.samples(per: "row", count: rows))
            }
            try session.close()
            secondsWithClose.append(Double(MonotonicClock.now() - start) / 1e9)
            last = location
        }
        guard let last else { return }
        // To the acknowledgement, when the rows are durable; and to the end of all write-back, which some engines do
        // before the acknowledgement and some after it.
        for (label, seconds) in [("", seconds.sorted()), ("with close", secondsWithClose.sorted())] {
            report.add(
                .rowsPerSecond, Double(rows) / max(seconds[seconds.count / 2], 1e-9), statistic: "median",
                count: seconds.count, label: label)
        }
        report.add(.rows, Double(rows), statistic: "count")
        let bytes = try context.fileBytes(at: last)
        if bytes > 0 {
            report.add(.fileBytes, Double(bytes))
            report.add(.fileBytesPerRow, Double(bytes) / Double(max(1, rows)))
        }
        for line in tables.rejected.prefix(5) { report.note("left out: \(line)") }
        if !tables.rejected.isEmpty { report.note("left out of \(tables.dataset): \(tables.rejected.count) in all") }
        context.judgeContent("content", at: last, expected: oracle)
    }
}
