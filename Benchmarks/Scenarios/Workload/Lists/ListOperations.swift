import Harness
import Measuring
import RunRecords
import Seeds

/// One long list: the cost of each kind of operation, inside a transaction and with its commit.
///
/// A violation: an element that is lost, or that is at another position than it should be, also after a move.
struct ListOperations: Scenario {
    let slug = "list-operations"
    let family = Family.workload
    let question = "What does it cost to append to a long list, insert, remove, read by place and walk?"
    let requires: Set<Capability> = [.lists]
    let layers: Set<Layer> = [.storage, .objects]
    let parameters = [
        ScenarioParameter("elements", .size, default: 10_000, range: 10...100_000_000, summary: "of the list"),
        ScenarioParameter("changes", .size, default: 1_000, summary: "steps of a transaction"),
        ScenarioParameter("rounds", .size, default: 5, range: 1...1_000, summary: "transactions of each sort of step"),
        ScenarioParameter("commits", .size, default: 100, range: 0...10_000_000, summary: "appends in a commit each"),
        CaseContext.listKeeping,
    ]

    func objection(to test: Case) -> String? {
        if test.parameter("keeping") == ListKeeping.packed.rawValue {
            return "one value has no elements: keeping=packed is for many lists"
        }
        return test.integer("changes") <= test.integer("elements") ? nil : "a list is removed from that has no more"
    }

    private static let owner: Int64 = 0

    func run(_ context: CaseContext) throws {
        let report = context.report
        try context.noteKeeping()
        let location = try context.emptyLocation("database")
        let batch = ListValues.batch(
            firstOwner: Self.owner, lists: 1, length: try context.integer("elements"))
        var steps = Steps(session: try context.openLists(location), context: context, model: ListModel(batch.values))

        let start = MonotonicClock.now()
        try steps.session.addLists(batch)
        var load = RepeatedFigure()
        load.add(MonotonicClock.now() - start, operations: batch.length)
        load.report("bulk append, with commit", to: report)

        try steps.readAll()
        try steps.changeAll()
        try steps.commitEach()
        report.check(
            "content", expected: nil,
            got: steps.model.difference(from: try steps.session.readList(owner: Self.owner)))
        try steps.session.close()
        report.add(.rows, Double(batch.length), statistic: "count")
        if context.engine.capabilities.contains(.persistent) {
            let bytes = try context.fileBytes(at: location)
            report.add(.fileBytes, Double(bytes))
            report.add(.fileBytesPerRow, Double(bytes) / Double(steps.model.count))
        }
        let reopened = try context.openLists(location)
        report.check(
            "content after reopening", expected: nil,
            got: steps.model.difference(from: try reopened.readList(owner: Self.owner)))
        try reopened.close()
    }

    /// The steps of one case, with the expected list.
    private struct Steps {
        let session: any ListSession
        let context: CaseContext
        var model: ListModel

        // MARK: Changes

        mutating func changeAll() throws {
            let count = try context.integer("changes")
            var random = context.random("changes")
            func values() -> [Int64] { (0..<count).map { _ in Int64(random.below(1_000_000)) } }
            try change("append") { _ in .append(values()) }
            try change("append at once") { _ in .appendAll(values()) }
            try change("insert at 0") { _ in .insert(values(), at: Array(repeating: 0, count: count)) }
            var places = context.random("places")
            try change("insert") { length in
                .insert(values(), at: (0..<count).map { places.below(length + $0 + 1) })
            }
            try change("remove") { length in .remove(at: (0..<count).map { places.below(length - $0) }) }
        }

        private mutating func change(_ label: String, _ make: (_ length: Int) -> ListChange) throws {
            var (inside, whole) = (RepeatedFigure(), RepeatedFigure())
            for round in 0..<(try context.integer("rounds")) {
                if round > 0 && context.isOverBudget {
                    context.report.cut()
                    break
                }
                let change = make(model.count)
                var end: UInt64 = 0
                let start = MonotonicClock.now()
                try session.change(owner: ListOperations.owner, change) { end = MonotonicClock.now() }
                whole.add(MonotonicClock.now() - start, operations: change.count)
                // A transaction that was acknowledged but never ran has no end time.
                inside.add(max(start, end) - start, operations: change.count)
                model.apply(change)
            }
            inside.report(label, to: context.report)
            whole.report("\(label), with commit", to: context.report)
        }

        /// Moves between random positions, from the first position to the last and back, and to the neighbour; nil if
        /// the engine cannot move.
        private func moves() -> ListChange? {
            guard (context.engine as? any ListEngine)?.hasOwnLists == true, model.count > 1 else { return nil }
            var random = context.random("moves")
            let last = model.count - 1
            var (from, to) = ([0, last, last / 2], [last, 0, last / 2 + 1])
            for _ in 0..<60 {
                from.append(random.below(last + 1))
                to.append(random.below(last + 1))
            }
            return .move(from: from, to: to)
        }

        /// A transaction for each append.
        mutating func commitEach() throws {
            let count = try context.integer("commits")
            guard count > 0 else { return }
            let latency = context.commitRecorder()
            var (done, start) = (0, MonotonicClock.now())
            let values = (0...count).map { ListValues.value(7, $0) }
            // The first commit after others pays for their deferred work. It is not measured; it moves elements if the
            // engine can.
            let first = moves() ?? .append([values[0]])
            try session.change(owner: ListOperations.owner, first) {}
            model.apply(first)
            start = MonotonicClock.now()
            for value in values.dropFirst() {
                if done > 0 && context.isOverBudget {
                    context.report.cut()
                    break
                }
                try latency.time { try session.change(owner: ListOperations.owner, .append([value])) {} }
                done += 1
            }
            let seconds = Double(MonotonicClock.now() - start) / 1e9
            model.append(Array(values[1..<(1 + done)]))
            context.report.add(.commitsPerSecond, Double(done) / seconds, count: done)
            context.report.add(latency.histogram, name: "commit")
            context.report.judge(latency.commits, in: context.test.durability)
        }

        // MARK: Reads

        func readAll() throws {
            var random = context.random("reads")
            let count = model.count
            try read("read by place") { number in (0..<number).map { _ in random.below(count) } }
            try read("read by place, in order") { number in
                let first = random.below(max(1, count - number))
                return (0..<number).map { (first + $0) % count }
            }
            try walk()
        }

        private func read(_ label: String, _ places: (Int) -> [Int]) throws {
            let expected = model
            var asked: [[Int]] = []
            var got: [ListDigest] = []
            let timing = try PreparedBatches.measure(
                batches: 9, from: 8, maximum: 1 << 14, isOverBudget: { context.isOverBudget },
                prepare: { number, _ in
                    asked.append(places(number))
                    return asked[asked.count - 1]
                },
                run: { got.append(try session.readElements(owner: ListOperations.owner, at: $0)) })
            report(label, timing)
            let wrong = asked.indices.first { expected.digest(at: asked[$0]) != got[$0] }
            context.report.check("\(label), first wrong batch", expected: nil, got: wrong)
        }

        private func walk() throws {
            var got: [ListDigest] = []
            let count = model.count
            let timing = try PreparedBatches.measure(
                batches: 9, from: 1, maximum: 1 << 12, isOverBudget: { context.isOverBudget },
                prepare: { passes, _ in passes },
                run: { passes in
                    for _ in 0..<passes { got.append(try session.walkLists(owners: [ListOperations.owner])) }
                })
            report("walk", timing, per: count)
            let expected = model.walk
            context.report.check("walk, first wrong pass", expected: nil, got: got.firstIndex { $0 != expected })
        }

        private func report(_ label: String, _ timing: PreparedBatches, per count: Int = 1) {
            let values = timing.nanoseconds.map { $0 / Double(count) }
            guard let least = values.first, let most = values.last else { return }
            let statistics = [("median", timing.median / Double(count)), ("min", least), ("max", most)]
            for (statistic, value) in statistics {
                context.report.add(
                    .operationNanoseconds, value, statistic: statistic, count: timing.count * count, label: label)
            }
        }
    }
}
