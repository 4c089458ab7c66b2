import Harness
import RunRecords
import Seeds

/// Null, 0 and "" in columns with and without an index: comparisons, lists of values, ALL and NONE, long chains. Values
/// and constants include the limits of integers, both zeros and NaN.
///
/// A violation: a query whose rows differ from the naive answer, or twin columns that answer differently.
struct QueryNulls: Scenario {
    let slug = "query-nulls"
    let family = Family.queries
    let question = "Is null told from 0 and from empty text, with an index and without?"
    let requires: Set<Capability> = [.probes]
    let parameters = ProbeTrials.parameters

    static let numbers: [Int64?] = [nil, 0, 0, 1, -1, 2, 7, .max, .min + 1, .min]
    static let texts: [String?] = [nil, "", "", "a", "0", "null", "nil", "b"]

    func run(_ context: CaseContext) throws {
        var random = context.random("rows")
        let count = Int64(try context.integer("rows"))
        var trials = try ProbeTrials(context) { session in
            let reals: [Double?] = [nil] + ProbeValues.reals(for: session).map { Optional($0) }
            return (0..<count).map { id in
                ProbeRow(
                    id: id, number: Self.numbers[random.below(Self.numbers.count)],
                    real: reals[random.below(reals.count)], text: Self.texts[random.below(Self.texts.count)],
                    friend: random.below(3) == 0 ? nil : Int64(random.below(Int(count))),
                    friends: (0..<random.below(4)).map { _ in Int64(random.below(Int(count))) })
            }
        }
        for query in ProbeValues.realQuestions + ProbeValues.integerQuestions { try trials.ask(query) }
        var queries: [ProbeQuery] = []
        var choice = context.random("questions")
        for _ in 0..<(try context.integer("queries")) / 2 {
            let (kind, condition) = Self.condition(&choice, depth: 0)
            queries += ProbeValues.twins(kind, condition)
        }
        for query in queries { try trials.ask(query) }
        try trials.compareRows("rows")
        try trials.measure(queries)
    }

    private static func value(_ column: ProbeColumn, _ random: inout RandomStream) -> Value {
        switch column {
        case .text: texts[random.below(texts.count)].map { .text($0) } ?? .null
        case .real: .real(ProbeValues.realConstants[random.below(ProbeValues.realConstants.count)])
        default: numbers[random.below(numbers.count)].map { .integer($0) } ?? .null
        }
    }

    private static func condition(_ random: inout RandomStream, depth: Int) -> (String, ProbeCondition) {
        let column = [ProbeColumn.number, .text, .real][random.below(3)]
        // Queries have no order of texts.
        let count = column == .text ? 2 : ProbeComparison.allCases.count
        let comparison = ProbeComparison.allCases[random.below(count)]
        let other = value(column, &random)
        // Null has no order: a query for less than null is refused.
        let isOrdered = other != .null || comparison == .equal || comparison == .notEqual
        switch random.below(depth > 1 ? 4 : 7) {
        case 0, 1: return ("compare", .compare(column, isOrdered ? comparison : .equal, other))
        case 2: return ("one of", .oneOf(column, (0..<random.below(5)).map { _ in value(column, &random) }))
        case 3:
            let quantifier = ProbeQuantifier.allCases[random.below(3)]
            return ("quantified", .friends(quantifier, column, isOrdered ? comparison : .notEqual, other))
        case 4: return ("not", .not(condition(&random, depth: depth + 1).1))
        case 5:
            return (
                "chain of or", .or((0..<(2 + random.below(30))).map { _ in condition(&random, depth: depth + 2).1 })
            )
        default: return ("and", .and((0..<(2 + random.below(3))).map { _ in condition(&random, depth: depth + 1).1 }))
        }
    }
}
