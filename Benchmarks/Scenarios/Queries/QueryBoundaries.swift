import Harness
import RunRecords
import Seeds

/// Tables of as many rows as a node holds, one row less and one more. Values become null and get values again; ranges
/// are deleted, so that nodes merge; rows are inserted between others.
///
/// A violation: a row that differs from what was written, a query whose rows differ from the naive answer, or a wrong
/// sum.
struct QueryBoundaries: Scenario {
    let slug = "query-boundaries"
    let family = Family.queries
    let question = "Are values right at the ends of nodes, through splits and merges, nulls among them?"
    let requires: Set<Capability> = [.probes]
    let parameters = [
        ScenarioParameter("most", .size, default: 4_097, range: 9...10_000_000, summary: "rows of the largest table"),
        ScenarioParameter("queries", .size, default: 30, summary: "queries after every change"),
    ]
    func run(_ context: CaseContext) throws {
        let most = try context.integer("most")
        let sizes = [64, 128, 256, 512, 1_024, 2_048, 4_096].flatMap { [$0 - 1, $0, $0 + 1] }.filter { $0 <= most }
        let count = try context.integer("queries")
        var queries: [ProbeQuery] = []
        var trials: ProbeTrials?
        for size in sizes.isEmpty ? [most] : sizes {
            var random = context.random("size \(size)")
            let rows = (0..<Int64(size)).map { Self.row($0, &random) }
            if trials == nil {
                trials = try ProbeTrials(context, rows)
            } else {
                // One database for all sizes: the transaction that stores the rows of a size deletes the rest of the
                // previous one.
                let gone = trials?.model.rows.keys.filter { $0 >= Int64(size) } ?? []
                try trials?.store(rows, deleting: gone)
            }
            if var own = trials {
                try Self.change(&own, size, count: count, random: &random, queries: &queries)
                trials = own
            }
            if context.isOverBudget {
                context.report.cut()
                break
            }
        }
        try trials?.measure(Array(queries.suffix(count)))
    }

    private static func row(_ id: Int64, _ random: inout RandomStream) -> ProbeRow {
        var row = ProbeRow(
            id: id, number: random.below(4) == 0 ? nil : Int64(random.below(1 << (random.below(5) * 8 + 1))),
            real: random.below(4) == 0 ? nil : Double(random.below(100)) / 4,
            text: random.below(4) == 0 ? nil : String(repeating: "x", count: random.below(20)))
        switch random.below(16) {
        case 0: row.real = -0.0
        case 1, 2: row.text = ProbeValues.texts[random.below(ProbeValues.texts.count)]
        default: break
        }
        return row
    }

    private static func change(
        _ trials: inout ProbeTrials, _ size: Int, count: Int, random: inout RandomStream,
        queries: inout [ProbeQuery]
    ) throws {
        try compare(&trials, "\(size) rows", count: count, random: &random, queries: &queries)
        // The values at the ends of nodes become null, and get values again.
        let ends = [0, 63, 64, 127, 128, 255, 256, 511, 512, 1_023, 1_024, size - 1].filter { $0 < size }
        try trials.store(Set(ends).sorted().map { ProbeRow(id: Int64($0)) }, deleting: [])
        try compare(&trials, "\(size) rows, ends null", count: count, random: &random, queries: &queries)
        try trials.store(
            Set(ends).sorted().map { ProbeRow(id: Int64($0), number: Int64($0), real: 0.5, text: "end") }, deleting: [])
        try trials.compareRows("\(size) rows, ends with values again")
        try insertBetween(&trials, size, &random)
        // Ranges are deleted until few rows are left, and then inserted again.
        while trials.model.rows.count > size / 8 + 1 {
            let first = Int64(random.below(size))
            let gone = (first..<(first + Int64(size / 3 + 1))).filter { trials.model.rows[$0] != nil }
            let one = trials.model.rows.keys.min()
            try trials.store([], deleting: gone.isEmpty ? one.map { [$0] } ?? [] : gone)
        }
        try compare(&trials, "\(size) rows, most deleted", count: count, random: &random, queries: &queries)
        let again = (0..<Int64(size)).map { row($0, &random) }
        try trials.store(again.filter { trials.model.rows[$0.id] == nil }, deleting: [])
        try compare(&trials, "\(size) rows again", count: count, random: &random, queries: &queries)
    }

    /// A few rows are deleted at distant places, and inserted again with other values: so few that an engine may keep
    /// them outside the node. Sums are compared before and after.
    private static func insertBetween(
        _ trials: inout ProbeTrials, _ size: Int, _ random: inout RandomStream
    ) throws {
        let gone = Set((0..<min(20, size / 8)).map { _ in Int64(random.below(size)) }).sorted()
        try trials.store([], deleting: gone)
        try compareSums(&trials)
        try trials.store(gone.map { ProbeRow(id: $0, number: 1_000 + $0, real: 7.5, text: "between") }, deleting: [])
        try trials.compareRows("\(size) rows, some between others")
        try compareSums(&trials)
    }

    private static func compareSums(_ trials: inout ProbeTrials) throws {
        for column in [ProbeColumn.number, .indexedNumber, .real, .indexedReal] {
            try trials.ask(column, where: .and([]))
        }
    }

    private static func compare(
        _ trials: inout ProbeTrials, _ what: String, count: Int, random: inout RandomStream,
        queries: inout [ProbeQuery]
    ) throws {
        try trials.compareRows(what)
        try compareSums(&trials)
        for _ in 0..<count {
            let number = Value.integer(Int64(random.below(1 << (random.below(4) * 6 + 1))))
            let comparisons = ProbeComparison.allCases
            let condition: ProbeCondition =
                switch random.below(5) {
                case 0: .compare(.number, .equal, .null)
                case 1: .compare(.number, comparisons[random.below(comparisons.count)], number)
                case 2: .compare(.real, comparisons[random.below(comparisons.count)], .real(Double(random.below(25))))
                case 3: .compare(.text, .equal, .text(ProbeValues.texts[random.below(ProbeValues.texts.count)]))
                default: .compare(.text, .equal, .text(String(repeating: "x", count: random.below(20))))
                }
            let query = ProbeQuery("compare", condition.on(indexed: random.below(2) == 0))
            queries.append(query)
            try trials.ask(query)
        }
    }
}
