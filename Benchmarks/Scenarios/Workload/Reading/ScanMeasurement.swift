import Harness
import Measuring
import RunRecords

/// Times passes over all rows of a table, and reports rows and bytes of values per second.
struct ScanMeasurement {
    let context: CaseContext
    let table: Table

    /// The main table of the case's data set with the columns that its scans read.
    init(_ context: CaseContext) throws {
        self.context = context
        table = try context.tables().main
    }

    /// The first integer column that is not the key.
    func integerColumn() throws -> String {
        try column("integer") { if case .integer = $0 { true } else { false } }
    }

    func realColumn() throws -> String {
        try column("real") { if case .real = $0 { true } else { false } }
    }

    private func column(_ kind: String, _ matches: (ColumnValues) -> Bool) throws -> String {
        guard let column = table.columns.first(where: { $0.name != table.key && matches($0.values) }) else {
            throw HarnessError("\(table.name) has no \(kind) property")
        }
        return column.name
    }

    /// Large tables are read in place: a copy for each measurement would take longer than the measurement.
    static func fixture(for test: Case) -> FixtureRequest {
        FixtureRequest(isReadInPlace: test.size >= 5_000_000)
    }

    /// `pass` iterates over all rows once, and must return `expected` each time. `bytesPerRow`: the size of a row's
    /// columns in plain arrays. For comparison, as much memory is read in the same process: the limit of a scan that
    /// reads every byte. A scan can be faster if values are stored in fewer bytes, or fit a cache; data that does not
    /// compress shows which.
    func measure<Answer: Equatable>(
        metric: Metric = .rowsPerSecond, bytesPerRow: Int, label: String = "", expected: Answer,
        _ pass: () throws -> Answer
    ) throws {
        var answers = PassAnswers<Answer>()
        let timing = try PreparedBatches.measure(
            batches: 9, from: 1, maximum: 1 << 16, isOverBudget: { context.isOverBudget },
            prepare: { passes, _ in passes },
            run: { passes in for _ in 0..<passes { answers.note(try pass(), expected: expected) } })
        answers.judge("timed passes", context.report)
        let rows = Double(table.rowCount)
        let perSecond = rows * 1e9 / max(timing.median, 1e-3)
        context.report.add(metric, perSecond, statistic: "median", count: timing.count, label: label)
        let memory = MemoryReadLoop.read(bytes: table.rowCount * bytesPerRow, bytesPerRow: bytesPerRow, rounds: 3)
        context.report.add(
            .rowsPerSecond, memory.bytesPerSecond / Double(bytesPerRow), statistic: "max", count: 3,
            label: "raw memory read")
        context.report.add(.rows, rows, statistic: "count")
    }
}
