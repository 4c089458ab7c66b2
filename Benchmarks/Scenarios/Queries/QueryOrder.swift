import Harness
import RunRecords
import Seeds

/// Sorts by one or more columns with many equal values, distinct values, and limits.
///
/// A violation: an order that differs from the naive one; equal rows must stay in the order of their ids.
struct QueryOrder: Scenario {
    let slug = "query-order"
    let family = Family.queries
    let question = "Do sort, distinct and limit give the right rows in the right order?"
    let requires: Set<Capability> = [.probes]
    let parameters = ProbeTrials.parameters

    func run(_ context: CaseContext) throws {
        var random = context.random("rows")
        let count = Int64(try context.integer("rows"))
        // Two of them have the same first 63 bytes, and two the same first 64.
        let long = [63, 64].flatMap { size in ["b", "a"].map { String(repeating: "x", count: size) + $0 } }
        let texts: [String?] = [nil, "", "Z", "a", "ä", "\u{1F600}", "z", "aa"] + long.map { Optional($0) }
        let rows = (0..<count).map { id in
            ProbeRow(
                id: id, number: random.below(5) == 0 ? nil : Int64(random.below(12)) - 6,
                real: random.below(5) == 0 ? nil : random.below(9) == 0 ? -0.0 : Double(random.below(9)) / 4 - 1,
                text: texts[random.below(texts.count)])
        }
        var trials = try ProbeTrials(context, rows)
        var choice = context.random("questions")
        var queries: [ProbeQuery] = []
        for _ in 0..<(try context.integer("queries")) { queries.append(Self.query(&choice, rows: Int(count))) }
        for query in queries { try trials.ask(query) }
        try trials.compareRows("rows")
        try trials.measure(queries)
    }

    private static func query(_ random: inout RandomStream, rows: Int) -> ProbeQuery {
        let columns: [ProbeColumn] = [.number, .indexedNumber, .real, .indexedReal, .text, .indexedText, .id]
        let condition: ProbeCondition =
            switch random.below(3) {
            case 0: .and([])
            case 1: .compare(.indexedNumber, .equal, .integer(Int64(random.below(12)) - 6))
            default: .compare(.id, .less, .integer(Int64(random.below(rows))))
            }
        var query = ProbeQuery("sort", condition)
        for _ in 0..<(1 + random.below(3)) {
            query.sort.append(.init(columns[random.below(columns.count)], ascending: random.below(2) == 0))
        }
        if random.below(3) == 0 {
            query.kind += ", distinct"
            for _ in 0..<(1 + random.below(2)) { query.distinct.append(columns[random.below(columns.count - 1)]) }
        }
        if random.below(3) == 0 {
            query.kind += ", limit"
            query.limit = [0, 1, 10, rows * 2][random.below(4)]
        }
        return query
    }
}
