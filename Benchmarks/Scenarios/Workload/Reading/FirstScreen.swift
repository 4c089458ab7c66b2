import Harness
import RunRecords

/// What an application asks for before it shows a list: the first twenty rows of an order; of the rows that link to one
/// row, their number and the first twenty.
///
/// All rows link to row 0, and numbers are a permutation, so that a row's place in an order tells nothing of its id.
struct FirstScreen: Scenario {
    let slug = "first-screen"
    let family = Family.workload
    let question = "How long does it take until the first rows of an order, or behind a link, are there?"
    let requires: Set<Capability> = [.probes]
    let layers: Set<Layer> = [.objects]
    let parameters = [
        ScenarioParameter("rows", .size, default: 100_000, range: 40...10_000_000, summary: "rows, with no value twice")
    ]

    private static let screen = 20

    func run(_ context: CaseContext) throws {
        let count = try context.integer("rows")
        var random = context.random("numbers")
        let numbers = random.permutation(of: count)
        var ids = [Int64](repeating: 0, count: count)
        for (id, number) in numbers.enumerated() { ids[number] = Int64(id) }
        let session = try context.open(try context.emptyLocation("rows"), as: (any ProbeSession).self)
        try session.store(numbers.enumerated().map { Self.row($0.offset, $0.element, count) }, deleting: [])

        let byNumber = Array(ids.prefix(Self.screen))
        for (label, column) in [
            ("indexed number", ProbeColumn.indexedNumber), ("indexed text", .indexedText), ("real", .real),
            ("text", .text),
        ] {
            try measure(context, label, expected: byNumber) {
                try session.firstRows(ProbeQuery.Sort(column), count: Self.screen)
            }
        }
        let last = (1...Self.screen).map { Int64(count - $0) }
        try measure(context, "key, last first", expected: last) {
            try session.firstRows(ProbeQuery.Sort(.id, ascending: false), count: Self.screen)
        }
        try measure(context, "links to a row, count", expected: count - 1) { try session.linkCount(to: 0) }
        let linking = try session.linkingRows(to: 0, count: Self.screen)
        context.report.check(
            "rows that link to one", expected: true,
            got: Set(linking).count == Self.screen && linking.allSatisfy { $0 > 0 && $0 < count })
        try measure(context, "links to a row, first 20", expected: linking) {
            try session.linkingRows(to: 0, count: Self.screen)
        }
        try session.close()
    }

    private static func row(_ id: Int, _ number: Int, _ count: Int) -> ProbeRow {
        let digits = String(number)
        let padding = String(repeating: "0", count: String(count).utf8.count - digits.utf8.count)
        return ProbeRow(
            id: Int64(id), number: Int64(number), real: Double(number) / 8, text: "name \(padding)\(digits)",
            friend: id == 0 ? nil : 0)
    }

    private func measure<Answer: Equatable>(
        _ context: CaseContext, _ label: String, expected: Answer, _ ask: () throws -> Answer
    ) throws {
        var answers = PassAnswers<Answer>()
        let timing = try PreparedBatches.measure(
            batches: 9, from: 1, maximum: 1 << 14, isOverBudget: { context.isOverBudget },
            prepare: { passes, _ in passes },
            run: { passes in for _ in 0..<passes { answers.note(try ask(), expected: expected) } })
        answers.judge(label, context.report)
        context.report.add(
            .operationNanoseconds, timing.median, statistic: "median", count: timing.count, label: label)
    }
}
