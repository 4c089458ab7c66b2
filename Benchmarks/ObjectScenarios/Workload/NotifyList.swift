import Dispatch
import Foundation
import Harness
import Measuring
import RunRecords
import Seeds
import Strata
import Synchronization

/// Times from the commit call to the callback of a list's observer, and the cost of the change set for the writer.
///
/// Commits insert and remove elements alternately, at positions chosen by the seed. All elements differ, so that only
/// one change set is right. Durability is `none`, so that no wait for the disk hides the cost.
struct NotifyList: Scenario {
    let slug = "notify-list"
    let family = Family.workload
    let question = "How soon is an observer told where a long list changed, and what does it cost the writer?"
    let requires: Set<Capability> = [.objects]
    let durability: DurabilityClass? = DurabilityClass.none
    let parameters = [
        ScenarioParameter(
            "elements", .size, default: 100_000, range: 10...100_000_000, summary: "of the observed list"),
        ScenarioParameter("changes", .size, default: 1, summary: "elements that each commit puts in, or takes out"),
        ScenarioParameter(
            "commits", .size, default: 500, range: 2...10_000_000, summary: "with the observer, and without"),
        ScenarioParameter(
            "way", default: "commit", allowed: ["commit", "queue"],
            summary: "called at the end of the observer's own commit, or on a queue"),
        ScenarioParameter(
            "patience", .allowance, default: 10_000,
            summary: "milliseconds after which a notification counts as lost"),
    ]

    func objection(to test: Case) -> String? {
        test.integer("changes") <= test.integer("elements") ? nil : "a commit takes out more than there is"
    }

    final class Sequence: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var elements: List<Int>
    }

    /// Positions of the removed and of the inserted elements of a commit, each ascending.
    private struct Change: Equatable, Sendable {
        var deletions: [Int] = []
        var insertions: [Int] = []
    }

    /// The observer's notifications.
    private final class Board: Sendable {
        let told = Mutex<[Change]>([])
        let errors = Mutex<[String]>([])
        let calledAt = Atomic<UInt64>(0)
        let latency = Mutex(Histogram())
        private let signal = DispatchSemaphore(value: 0)

        func receive(_ change: RealmCollectionChange<List<Int>>) {
            let now = MonotonicClock.now()
            switch change {
            case .initial: return
            case .error(let error): errors.withLock { $0.append("\(error)") }
            case .update(_, let deletions, let insertions, let modifications):
                latency.withLock { $0.record(now - calledAt.load(ordering: .acquiring)) }
                told.withLock { $0.append(Change(deletions: deletions, insertions: insertions)) }
                if !modifications.isEmpty { errors.withLock { $0.append("modified \(modifications.prefix(3))") } }
            }
            signal.signal()
        }

        func wait(milliseconds: Int) -> Bool { signal.wait(timeout: .now() + .milliseconds(milliseconds)) == .success }
    }

    func run(_ context: CaseContext) throws {
        let path = try context.emptyLocation("notify").directory + "/notify.strata"
        let configuration = Realm.Configuration(
            fileURL: URL(fileURLWithPath: path), objectTypes: [Sequence.self], durability: .none)
        try context.withEngineErrors {
            let realm = try Realm(configuration: configuration)
            let count = try context.integer("elements")
            let owner = Sequence()
            try realm.write {
                realm.add(owner)
                owner.elements.append(objectsIn: 0..<count)
            }
            var writer = Writer(
                realm: realm, list: owner.elements, next: count, random: context.random("places"),
                changes: try context.integer("changes"), patience: try context.integer("patience"),
                deadline: context.deadline)
            let commits = try context.integer("commits") / 2 * 2
            let alone = try writer.commit(commits, nil)
            let board = Board()
            let isQueued = try context.text("way") == "queue"
            let queue = DispatchQueue(label: "observer")
            let token = owner.elements.observe(on: isQueued ? queue : nil) { board.receive($0) }
            if isQueued { queue.sync {} }
            let observed = try writer.commit(commits, board)
            token.invalidate()
            Self.report(alone, observed, board: board, context: context, commits: commits)
            let sum = owner.elements.reduce(into: ListSum()) { $0.add($1) }
            context.report.check("elements", expected: writer.expected(count), got: sum)
        }
    }

    /// The number of a list's elements and their sum, by which the list is checked at the end.
    private struct ListSum: Equatable {
        var count = 0
        var sum = 0

        mutating func add(_ value: Int) {
            count += 1
            sum &+= value
        }
    }

    private static func report(
        _ alone: Commits, _ observed: Commits, board: Board, context: CaseContext, commits: Int
    ) {
        let report = context.report
        if alone.changes.count < commits || observed.changes.count < commits && !observed.isLost { report.cut() }
        report.add(board.latency.withLock { $0 }, name: "commit to callback")
        report.add(alone.latency, name: "commit, no observer")
        report.add(observed.latency, name: "commit, observed")
        report.add(.rows, Double(context.test.integer("elements")), statistic: "count")
        let told = board.told.withLock { $0 }
        let wrong = zip(told, observed.changes).enumerated().first { $0.element.0 != $0.element.1 }
        report.check(
            "change sets", expected: nil,
            got: wrong.map { "commit \($0.offset): \($0.element.0), expected \($0.element.1)" })
        report.check("times that the observer was told", expected: observed.changes.count, got: told.count)
        report.check("errors", expected: [], got: board.errors.withLock { Array($0.prefix(3)) })
        if observed.changes.isEmpty { report.inconclusive("nothing was committed while observers were there") }
    }

    private struct Commits {
        var latency = Histogram()
        var changes: [Change] = []
        /// The observer was not notified of the last commit.
        var isLost = false
    }

    private struct Writer {
        let realm: Realm
        let list: List<Int>
        var next: Int
        var random: RandomStream
        let changes: Int
        let patience: Int
        let deadline: UInt64
        /// The number and the sum of the inserted elements, minus those of the removed ones.
        private var sum = ListSum()

        init(
            realm: Realm, list: List<Int>, next: Int, random: RandomStream, changes: Int, patience: Int,
            deadline: UInt64
        ) {
            (self.realm, self.list, self.next, self.random) = (realm, list, next, random)
            (self.changes, self.patience, self.deadline) = (changes, patience, deadline)
        }

        func expected(_ count: Int) -> ListSum {
            ListSum(count: count + sum.count, sum: count * (count - 1) / 2 &+ sum.sum)
        }

        /// Different places below the bound, ascending.
        private mutating func places(below bound: Int) -> [Int] {
            var places: Set<Int> = []
            while places.count < changes { places.insert(random.below(bound)) }
            return places.sorted()
        }

        mutating func commit(_ count: Int, _ board: Board?) throws -> Commits {
            var result = Commits()
            for number in 0..<count {
                if MonotonicClock.now() > deadline && number % 2 == 0 { break }
                var change = Change()
                realm.beginWrite()
                if number % 2 == 0 {
                    change.insertions = places(below: list.count + changes)
                    for place in change.insertions {
                        list.insert(next, at: place)
                        sum.add(next)
                        next += 1
                    }
                } else {
                    change.deletions = places(below: list.count)
                    for place in change.deletions.reversed() {
                        sum.sum &-= list[place]
                        sum.count -= 1
                        list.remove(at: place)
                    }
                }
                let called = MonotonicClock.now()
                board?.calledAt.store(called, ordering: .releasing)
                try realm.commitWrite()
                result.latency.record(MonotonicClock.now() - called)
                result.changes.append(change)
                if let board, !board.wait(milliseconds: patience) {
                    result.isLost = true
                    break
                }
            }
            return result
        }
    }
}
