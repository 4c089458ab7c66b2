import Harness
import RunRecords
import Seeds

/// Queries through links: single links, lists of links, rows with thousands of backlinks, and rows with none.
///
/// A violation: a query whose rows differ from the naive answer.
struct QueryLinks: Scenario {
    let slug = "query-links"
    let family = Family.queries
    let question = "Are queries through links right if more than a thousand rows link to one?"
    let requires: Set<Capability> = [.probes]
    let parameters = ProbeTrials.parameters

    func run(_ context: CaseContext) throws {
        var random = context.random("rows")
        let count = Int64(try context.integer("rows"))
        let rows = (0..<count).map { id in
            // Two thirds link to row 0, which then has more than a thousand backlinks; the others to random rows.
            let friend = random.below(3) > 0 ? 0 : Int64(random.below(Int(count)))
            return ProbeRow(
                id: id, number: random.below(6) == 0 ? nil : Int64(random.below(40)),
                text: random.below(6) == 0 ? nil : "name \(random.below(30))",
                friend: random.below(10) == 0 ? nil : friend,
                friends: (0..<random.below(5)).map { _ in random.below(2) == 0 ? 1 : Int64(random.below(Int(count))) })
        }
        var trials = try ProbeTrials(context, rows)
        var choice = context.random("questions")
        var queries: [ProbeQuery] = []
        for _ in 0..<(try context.integer("queries")) { queries.append(Self.query(&choice)) }
        for query in queries.prefix(queries.count / 2) { try trials.ask(query) }
        // The row with the most backlinks is deleted, and queries follow links to its place.
        let changed = (2..<min(count, 200)).map { id in
            ProbeRow(id: id, number: 3, text: "changed", friend: 1, friends: [1, 1, id])
        }
        try trials.store(changed, deleting: [0])
        try trials.compareRows("rows after the deletion")
        for query in queries.dropFirst(queries.count / 2) { try trials.ask(query) }
        try trials.measure(queries)
    }

    private static func query(_ random: inout RandomStream) -> ProbeQuery {
        let isText = random.below(3) == 0
        let column: ProbeColumn = isText ? .text : .number
        var value: Value = isText ? .text("name \(random.below(32))") : .integer(Int64(random.below(42)))
        if random.below(8) == 0 { value = .null }
        let isOrdered = !isText && value != .null
        let comparison = ProbeComparison.allCases[random.below(isOrdered ? 6 : 2)]
        let quantifier = ProbeQuantifier.allCases[random.below(3)]
        let through: ProbeCondition =
            random.below(2) == 0
            ? .friend(column, comparison, value) : .friends(quantifier, column, comparison, value)
        let kind = if case .friend = through { "link" } else { "\(quantifier) of a list" }
        switch random.below(4) {
        case 0: return ProbeQuery("\(kind), and own", .and([through, .compare(.indexedNumber, .less, .integer(5))]))
        case 1: return ProbeQuery("not \(kind)", .not(through))
        default: return ProbeQuery(kind, through.on(indexed: random.below(2) == 0))
        }
    }
}
