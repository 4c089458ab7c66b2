import Harness
import Measuring
import RunRecords

/// Very many lists of few elements: their time and space, compared with the same elements stored as one value each.
///
/// A violation: a list whose elements differ from those it was given.
struct SmallLists: Scenario {
    let slug = "small-lists"
    let family = Family.workload
    let question = "What do very many small lists cost, in time and in space?"
    let requires: Set<Capability> = [.lists]
    let layers: Set<Layer> = [.storage, .objects]
    let parameters = [
        ScenarioParameter("lists", .size, default: 100_000, range: 2...100_000_000, summary: "owners with a list each"),
        ScenarioParameter("length", .size, default: 3, range: 1...10_000, summary: "elements of a list"),
        ScenarioParameter("commits", .size, default: 100, range: 0...10_000_000, summary: "appends in a commit each"),
        CaseContext.listKeeping,
    ]

    /// Lists per transaction.
    private static let listsAtOnce = 100_000

    func run(_ context: CaseContext) throws {
        let report = context.report
        try context.noteKeeping()
        let (lists, length) = (try context.integer("lists"), try context.integer("length"))
        let location = try context.emptyLocation("database")
        let session = try context.openLists(location)
        var elapsed: UInt64 = 0
        for first in stride(from: 0, to: lists, by: Self.listsAtOnce) {
            let count = min(Self.listsAtOnce, lists - first)
            let batch = ListValues.batch(firstOwner: Int64(first), lists: count, length: length)
            let start = MonotonicClock.now()
            try session.addLists(batch)
            elapsed += MonotonicClock.now() - start
        }
        var model = Model(lists: lists, length: length)
        report.add(.operationNanoseconds, Double(elapsed) / Double(lists), count: lists, label: "build")
        report.add(.rows, Double(lists), statistic: "count")
        try read(context, session, model)
        try session.close()
        let bytes = try context.fileBytes(at: location)
        if bytes > 0 {
            report.add(.fileBytes, Double(bytes))
            report.add(.fileBytesPerRow, Double(bytes) / Double(lists))
        }
        let reopened = try context.openLists(location)
        try append(context, reopened, &model)
        try model.check(reopened, "content", report)
        try reopened.close()
        let last = try context.openLists(location)
        try model.check(last, "content after reopening", report)
        try last.close()
    }

    private func read(_ context: CaseContext, _ session: any ListSession, _ model: Model) throws {
        var random = context.random("owners")
        var asked: [[Int64]] = []
        var got: [ListDigest] = []
        let timing = try PreparedBatches.measure(
            batches: 9, from: 64, maximum: 1 << 14, isOverBudget: { context.isOverBudget },
            prepare: { number, _ in
                asked.append((0..<number).map { _ in Int64(random.below(model.lists)) })
                return asked[asked.count - 1]
            },
            run: { got.append(try session.walkLists(owners: $0)) })
        context.report.add(
            .operationNanoseconds, timing.median, statistic: "median", count: timing.count, label: "read a list")
        let wrong = asked.indices.first { model.digest(asked[$0]) != got[$0] }
        context.report.check("first wrong batch of lists", expected: nil, got: wrong)
        let all = (0..<Int64(model.lists)).map { $0 }
        let start = MonotonicClock.now()
        let walked = try session.walkLists(owners: all)
        let elapsed = MonotonicClock.now() - start
        context.report.check("all lists", expected: model.digest(all), got: walked)
        context.report.add(
            .operationNanoseconds, Double(elapsed) / Double(model.lists), count: model.lists, label: "read all lists")
    }

    /// A transaction for each append, each to another list.
    private func append(_ context: CaseContext, _ session: any ListSession, _ model: inout Model) throws {
        let count = try context.integer("commits")
        guard count > 0, try context.text("keeping") != ListKeeping.packed.rawValue else { return }
        var random = context.random("appends")
        let latency = context.commitRecorder()
        for _ in 0..<count {
            if context.isOverBudget {
                context.report.cut()
                break
            }
            let (owner, value) = (Int64(random.below(model.lists)), Int64(random.below(1_000_000)))
            try latency.time { try session.change(owner: owner, .append([value])) {} }
            model.appended[owner, default: []].append(value)
        }
        context.report.add(latency.histogram, name: "commit")
        context.report.judge(latency.commits, in: context.test.durability)
    }

    /// The expected lists; their initial elements are derived from the owner.
    private struct Model {
        let lists: Int
        let length: Int
        var appended: [Int64: [Int64]] = [:]

        func elements(_ owner: Int64) -> [Int64] {
            (0..<length).map { ListValues.value(owner, $0) } + (appended[owner] ?? [])
        }

        func digest(_ owners: some Sequence<Int64>) -> ListDigest {
            var digest = ListDigest()
            for owner in owners {
                for place in 0..<length { digest.add(ListValues.value(owner, place)) }
                if let more = appended[owner] { for value in more { digest.add(value) } }
                digest.endList()
            }
            return digest
        }

        /// Compares every list, and names the first one that differs.
        func check(_ session: any ListSession, _ address: String, _ report: CaseReport) throws {
            let owners = 0..<Int64(lists)
            let got = try session.walkLists(owners: Array(owners))
            var difference: String?
            if got != digest(owners) {
                let first = try owners.first { try session.readList(owner: $0) != elements($0) }
                difference = first.map { "list \($0)" } ?? "a walk over all lists differs from that over each"
            }
            report.check(address, expected: nil, got: difference)
        }
    }
}
