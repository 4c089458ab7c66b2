import Harness
import RunRecords

/// Looks up the first row with an indexed value, for an application that needs only one.
struct IndexedFirst: Scenario {
    let slug = "indexed-first"
    let family = Family.workload
    let question = "How fast is the first row with a value in an indexed column found?"
    let requires: Set<Capability> = [.probes]
    let layers: Set<Layer> = [.objects]
    let parameters = [
        ScenarioParameter("rows", .size, default: 100_000, range: 10...10_000_000, summary: "rows, with no value twice")
    ]

    /// Uncorrelated with the order of the rows: neighbouring values are not neighbouring rows.
    private static func number(_ id: Int64) -> Int64 { id &* 7_919 }

    func run(_ context: CaseContext) throws {
        let count = Int64(try context.integer("rows"))
        let session = try context.open(try context.emptyLocation("rows"), as: (any ProbeSession).self)
        try session.store(
            (0..<count).map { ProbeRow(id: $0, number: Self.number($0), text: "row \(Self.number($0))") }, deleting: [])
        try measure(context, session, label: "number", column: .indexedNumber) { .integer(Self.number($0)) }
        try measure(context, session, label: "text", column: .indexedText) { .text("row \(Self.number($0))") }
        try session.close()
    }

    private func measure(
        _ context: CaseContext, _ session: any ProbeSession, label: String, column: ProbeColumn,
        value: (Int64) -> Value
    ) throws {
        let count = try context.integer("rows")
        var random = context.random(label)
        var asked: [[Int64]] = []
        var got: [[Int64]] = []
        let timing = try PreparedBatches.measure(
            batches: 9, from: 64, maximum: 1 << 14, isOverBudget: { context.isOverBudget },
            prepare: { number, _ in
                // One value in eight has no row.
                let ids = (0..<number).map { place in
                    place % 8 == 7 ? Int64(count + random.below(count)) : Int64(random.below(count))
                }
                asked.append(ids)
                return ids.map(value)
            },
            run: { got.append(try session.first(column, equal: $0)) })
        context.report.add(
            .operationNanoseconds, timing.median, statistic: "median", count: timing.count, label: label)
        let wrong = asked.indices.first { batch in
            asked[batch].map { $0 < count ? $0 : -1 } != got[batch]
        }
        context.report.check("\(label), first wrong batch", expected: nil, got: wrong)
    }
}
