import Harness
import Measuring
import RunRecords
import Seeds

/// Changes the columns of a table with many rows, as a new version of an application needs them.
///
/// A violation: a row that differs from what the change must leave, a missing or an extra row, a change that is
/// acknowledged but not done.
struct ChangeColumns: Scenario {
    let slug = "change-columns"
    let family = Family.migration
    let question = "How long does it take to add, remove or rename a column of many rows, or to give each a new value?"
    let requires: Set<Capability> = [.columnChanges]
    let layers: Set<Layer> = [.storage, .objects]
    let parameters = [
        ScenarioParameter("rows", .size, default: 100_000, range: 4...100_000_000, summary: "of the table"),
        ScenarioParameter(
            "change", default: ColumnChange.add.rawValue, allowed: ColumnChange.allCases.map(\.rawValue),
            summary: "a column more, less, or of another name; or a new one with a value from the others"),
    ]

    /// Rows per transaction.
    private static let rowsAtOnce = 50_000

    /// In one row of ten thousand, first in the eighth, the first name is too long for a page of rows.
    private static func row(_ number: Int) -> ResidentRow {
        let isLong = number % 10_007 == 7
        return ResidentRow(
            number: Int64(number),
            first: "First \(number)" + (isLong ? String(repeating: ", and so on", count: 300) : ""),
            last: "Last \(number % 1_017)", born: 1_930 + Int64(splitMix(UInt64(number)) % 90))
    }

    func run(_ context: CaseContext) throws {
        guard let engine = context.engine as? any ColumnChangingEngine else {
            throw HarnessError("\(context.test.engine) declares a capability that it has not: column changes")
        }
        guard let change = ColumnChange(rawValue: try context.text("change")) else {
            throw HarnessError("no such change")
        }
        let (report, count) = (context.report, try context.integer("rows"))
        let location = try context.emptyLocation("database")
        for first in stride(from: 0, to: count, by: Self.rowsAtOnce) {
            let rows = (first..<min(first + Self.rowsAtOnce, count)).map { Self.row($0) }
            try engine.addResidents(rows, location, settings: context.settings)
        }
        let before = try context.fileBytes(at: location)
        var acknowledged: UInt64 = 0
        let start = MonotonicClock.now()
        try engine.change(change, location, settings: context.settings) { acknowledged = MonotonicClock.now() }
        let closed = MonotonicClock.now() - start
        report.add(.durationMilliseconds, Double(max(acknowledged, start) - start) / 1e6)
        report.add(.durationMilliseconds, Double(closed) / 1e6, label: "with close")
        report.add(.rowsPerSecond, Double(count) * 1e9 / Double(max(1, closed)), label: "with close")
        report.add(.fileBytes, Double(before), label: "before")
        report.add(.fileBytes, Double(try context.fileBytes(at: location)), label: "after")
        report.add(.rows, Double(count), statistic: "count")
        try check(engine, change, location: location, count: count, context: context)
    }

    private func check(
        _ engine: any ColumnChangingEngine, _ change: ColumnChange, location: DatabaseLocation, count: Int,
        context: CaseContext
    ) throws {
        var seen = 0
        var wrong: String?
        try engine.readResidents(after: change, location, settings: context.settings) { values in
            let expected = change.values(of: Self.row(seen))
            if values != expected, wrong == nil { wrong = "row \(seen): expected \(expected), got \(values)" }
            seen += 1
            return seen <= count
        }
        context.report.check("rows", expected: count, got: seen)
        context.report.check("first wrong row", expected: nil, got: wrong)
    }
}
