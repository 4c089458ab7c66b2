import Harness
import Measuring
import RunRecords

/// Follows links from every row: in the order of the rows, at random, and backwards.
struct Traverse: Scenario {
    let slug = "traverse"
    let family = Family.workload
    let question = "How many links a second can be followed?"
    let requires: Set<Capability> = [.tables, .links]
    let defaultDataset: String? = "dpkg"
    let parameters = [
        ScenarioParameter(
            "snapshot", default: "batch", allowed: SnapshotUse.allCases.map(\.rawValue),
            summary: "one version for a whole walk, or the newest at each row (SQLite alone tells them apart)")
    ]

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let report = context.report
        let tables = try context.tables()
        let table = tables.main
        guard let (column, target) = Self.links(of: table, in: tables) else {
            throw HarnessError("\(table.name) has no list of links")
        }
        let oracle = ExactOracle(tables)
        let session = try context.open(try context.fixtureLocation(), as: (any LinkSession).self)
        var random = context.random("order")
        let snapshot = SnapshotUse(rawValue: try context.text("snapshot")) ?? .batch
        func walk(_ direction: Traversal.Direction, _ rows: [Int]) -> Traversal {
            let other = direction == .forward ? target : table
            return Traversal(
                table: table.name, column: column, direction: direction, rows: rows.map { Int32($0) },
                property: Self.integerProperty(of: other), snapshot: snapshot)
        }
        let walks = [
            ("forward", walk(.forward, Array(0..<table.rowCount))),
            ("random", walk(.forward, random.permutation(of: table.rowCount))),
            ("backward", walk(.backward, Array(0..<target.rowCount))),
        ]
        for (label, walk) in walks {
            let expected = oracle.digest(walk)
            report.check(label, expected: expected, got: try session.traverse(walk, latency: nil))
            var answers = PassAnswers<ReadDigest>()
            let timing = try PreparedBatches.measure(
                batches: 9, from: 1, maximum: 1 << 16, isOverBudget: { context.isOverBudget },
                prepare: { passes, _ in passes },
                run: { passes in
                    for _ in 0..<passes {
                        answers.note(try session.traverse(walk, latency: nil), expected: expected)
                    }
                })
            answers.judge("\(label), timed passes", report)
            report.add(
                .linksPerSecond, Double(expected.count) * 1e9 / timing.median, statistic: "median",
                count: timing.count * expected.count, label: label)
            report.add(.links, Double(expected.count), statistic: "count", label: label)
            if context.isOverBudget {
                report.cut()
                break
            }
        }
        try session.close()
    }

    private static func links(of table: Table, in tables: TableSet) -> (column: String, target: Table)? {
        for column in table.columns {
            if case .links(let target, _) = column.values, let target = tables.table(target) {
                return (column.name, target)
            }
        }
        return nil
    }

    private static func integerProperty(of table: Table) -> String? {
        table.columns.first { column in
            if case .integer = column.values { column.name != table.key } else { false }
        }?.name
    }
}
