import Harness
import RunRecords
import Seeds

/// Sums, extremes and means over nulls, NaNs, no rows, and beyond the limits of integers; repeated while a few rows at
/// a time are inserted between others, changed and deleted.
///
/// A violation: a result that differs from the naive one. SQLite stores NaN as null and fails if a sum overflows, so it
/// gets neither.
struct QueryAggregates: Scenario {
    let slug = "query-aggregates"
    let family = Family.queries
    let question = "Are sums and extremes right with nulls, with NaN, and when a sum overflows?"
    let requires: Set<Capability> = [.probes]
    let parameters =
        ProbeTrials.parameters + [
            ScenarioParameter(
                "values", default: "plain", allowed: ["plain", "extreme"],
                summary: "plain, or with NaN, infinity and integers whose sum does not fit")
        ]

    func run(_ context: CaseContext) throws {
        var random = context.random("rows")
        let count = Int64(try context.integer("rows"))
        let isExtreme = try context.text("values") == "extreme"
        if isExtreme, context.engine.name.hasPrefix("sqlite") {
            context.report.inconclusive("SQLite stores what is not a number as null, and stops where a sum overflows")
            return
        }
        let reals: [Double?] =
            isExtreme ? [nil, .nan, 0, -0.0, .infinity, 1.25, -3.5] : [nil, 0, 1.25, -3.5, 1_000.75]
        let numbers: [Int64?] = isExtreme ? [nil, .max, .max - 1, .min, 0, 12, -7] : [nil, 0, 12, -7, 90_001]
        func row(_ id: Int64) -> ProbeRow {
            ProbeRow(
                id: id, number: numbers[random.below(numbers.count)], real: reals[random.below(reals.count)],
                text: "\(random.below(20))")
        }
        // The ids have gaps, into which later rows are inserted.
        var trials = try ProbeTrials(context, (0..<count).map { row($0 * Self.gap) })
        var choice = context.random("questions")
        let columns: [ProbeColumn] = [.number, .indexedNumber, .real, .indexedReal]
        var queries: [ProbeQuery] = []
        let all = Int(count * Self.gap)
        for number in 0..<(try context.integer("queries")) {
            if number % 8 == 4 { try Self.change(&trials, all, random: &choice, row: row) }
            let condition: ProbeCondition = number % 8 == 4 ? .and([]) : Self.condition(&choice, rows: all)
            let column = columns[number % 8 == 4 ? choice.below(4) : number % 4]
            try trials.ask(column, where: condition)
            queries.append(ProbeQuery("rows of a sum", condition, sort: [.init(column)]))
        }
        for column in columns { try trials.ask(column, where: .and([])) }
        try trials.compareRows("rows")
        try trials.measure(queries)
    }

    /// The distance between the ids of the first rows.
    private static let gap: Int64 = 4

    /// One transaction inserts rows between others and changes some; another one deletes a row.
    private static func change(
        _ trials: inout ProbeTrials, _ all: Int, random: inout RandomStream, row: (Int64) -> ProbeRow
    ) throws {
        let some = Set((0..<6).map { _ in Int64(random.below(all)) }).sorted()
        try trials.store(some.dropFirst().map(row), deleting: [])
        try trials.store([], deleting: some.prefix(1).filter { trials.model.rows[$0] != nil })
    }

    private static func condition(_ random: inout RandomStream, rows: Int) -> ProbeCondition {
        let low = Int64(random.below(rows))
        switch random.below(6) {
        // All rows, none, one, a range, a few by text, those without a number.
        case 0: return .and([])
        case 1: return .compare(.id, .less, .integer(0))
        case 2: return .compare(.id, .equal, .integer(low))
        case 3:
            let high = low + Int64(random.below(rows))
            return .and([.compare(.id, .greaterOrEqual, .integer(low)), .compare(.id, .less, .integer(high))])
        case 4: return .compare(.indexedText, .equal, .text("\(random.below(22))"))
        default: return .compare(.number, random.below(2) == 0 ? .equal : .notEqual, .null)
        }
    }
}
