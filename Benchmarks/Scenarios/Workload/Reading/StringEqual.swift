import Harness
import Measuring
import RunRecords

/// Counts the rows whose text equals another, without an index: every row is compared.
struct StringEqual: Scenario {
    let slug = "string-equal"
    let family = Family.workload
    let question = "How fast are rows found by a text that has no index?"
    let requires: Set<Capability> = [.tables, .queries]
    let layers: Set<Layer> = [.storage, .objects]
    let defaultDataset: String? = "people"
    let parameters: [ScenarioParameter] = []

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let report = context.report
        let tables = try context.tables()
        let table = tables.main
        guard let column = Self.unindexedText(of: table), case .text(let texts) = column.values, texts.count > 0 else {
            throw HarnessError("\(table.name) has no text without an index")
        }
        var random = context.random("texts")
        let wanted = (0..<8).map { _ in texts[random.below(texts.count)] } + ["a text that no row has"]
        let session = try context.open(try context.fixtureLocation(), as: (any QuerySession).self)
        let oracle = ExactOracle(tables)
        let counts = wanted.map { oracle.countEqual(table: table.name, column: column.name, text: $0) }
        for (index, text) in wanted.enumerated() {
            report.check(
                "text \(index)", expected: counts[index],
                got: try session.countEqual(table: table.name, column: column.name, text: text))
        }
        var next = 0
        var answers = PassAnswers<Int>()
        let timing = try BatchTimer.measure(batches: 9) { count in
            for _ in 0..<count {
                let place = next % wanted.count
                let count = try session.countEqual(table: table.name, column: column.name, text: wanted[place])
                answers.note(count, expected: counts[place])
                next += 1
            }
        }
        answers.judge("timed passes", report)
        let rows = Double(table.rowCount)
        report.add(
            .rowsPerSecond, rows * timing.operationsPerSecond, statistic: "median", count: timing.count)
        report.add(.rows, rows, statistic: "count")
        report.note("column \(column.name)")
        try session.close()
    }

    private static func unindexedText(of table: Table) -> Column? {
        table.columns.first { column in
            guard case .text = column.values else { return false }
            return !column.isIndexed && column.name != table.key
        }
    }
}
