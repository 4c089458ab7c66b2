import Harness
import Measuring
import RunRecords

/// Deletes the rows that a query finds, and the links of other rows to them.
///
/// A violation: a row that should be deleted and is not, one that should not and is, or a link to a deleted row.
struct DeleteMatching: Scenario {
    let slug = "delete-matching"
    let family = Family.workload
    let question = "How fast are the rows deleted that a query finds, with the links to them?"
    let requires: Set<Capability> = [.probes]
    let layers: Set<Layer> = [.objects]
    let parameters = [
        ScenarioParameter(
            "rows", .size, default: 20_000, range: 10...10_000_000, summary: "with a link and a list of two"),
        ScenarioParameter(
            "what", default: What.linked.rawValue, allowed: What.allCases.map(\.rawValue),
            summary: "rows that link to a tenth of the rows, one half, all of the class, or every object there is"),
    ]

    private enum What: String, CaseIterable { case linked, half, all, every }

    private static func rows(_ count: Int64) -> [ProbeRow] {
        (0..<count).map { id in
            ProbeRow(
                id: id, number: id, real: Double(id) / 4, text: "row \(id)", friend: (id * 7 + 1) % count,
                friends: [(id * 3 + 2) % count, (id + 1) % count])
        }
    }

    func run(_ context: CaseContext) throws {
        let count = Int64(try context.integer("rows"))
        guard let what = What(rawValue: try context.text("what")) else { throw HarnessError("no such deletion") }
        let condition: ProbeCondition? =
            switch what {
            case .linked: .friend(.number, .less, .integer(count / 10))
            case .half: .compare(.number, .less, .integer(count / 2))
            case .all: .and([])
            case .every: nil
            }
        let session = try context.open(try context.emptyLocation("rows"), as: (any ProbeSession).self)
        let rows = Self.rows(count)
        try session.store(rows, deleting: [])
        var model = ProbeModel(rows)
        let gone = model.select(ProbeQuery("deletion", condition ?? .and([])))

        var end: UInt64 = 0
        let start = MonotonicClock.now()
        try session.delete(where: condition) { end = MonotonicClock.now() }
        let whole = MonotonicClock.now() - start
        let report = context.report
        let inside = max(start, end) - start
        report.add(.operationNanoseconds, Double(inside) / Double(gone.count), count: gone.count, label: "delete")
        report.add(
            .operationNanoseconds, Double(whole) / Double(gone.count), count: gone.count, label: "delete, with commit")
        report.add(.rows, Double(gone.count), statistic: "count")

        model.store([], deleting: gone)
        let (got, expected) = (try session.readProbes(), model.sorted)
        report.check("rows that are left", expected: expected.count, got: got.count)
        let wrong = zip(got, expected).first { $0 != $1 }
        report.check("first wrong row", expected: nil, got: wrong.map { "\($0), expected \($1)" })
        try session.close()
    }
}
