import Dispatch
import Foundation
import Harness
import Measuring
import RunRecords
import Strata
import Synchronization

/// Times from the commit call to the callback of an observer, and the cost of observers for the writer.
///
/// One commit at a time: the writer waits until every observer was notified. Durability is `none`, so that no wait for
/// the disk hides the cost.
struct NotifyObservers: Scenario {
    let slug = "notify"
    let family = Family.workload
    let question = "How soon after a commit are observers told of it, and what do they cost the writer?"
    let requires: Set<Capability> = [.objects]
    let schedule = Schedule.free
    let durability: DurabilityClass? = DurabilityClass.none
    let parameters = [
        ScenarioParameter(
            "way", default: "commit", allowed: Way.allCases.map(\.rawValue),
            summary: "called at the end of the observer's own commit, on a queue, or by refresh on another thread"),
        ScenarioParameter("objects", .size, default: 100_000, summary: "objects of the observed collection"),
        ScenarioParameter("observers", .size, default: 1, range: 1...10_000, summary: "observers of it"),
        ScenarioParameter("changes", .size, default: 1, summary: "objects that each commit changes"),
        ScenarioParameter(
            "collection", default: "class", allowed: ["class", "filter"], summary: "what is observed"),
        ScenarioParameter("commits", .size, default: 500, summary: "commits, with observers and again without"),
        ScenarioParameter(
            "patience", .allowance, default: 10_000,
            summary: "milliseconds after which a notification counts as lost"),
    ]

    enum Way: String, CaseIterable { case commit, queue, thread }

    final class Item: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var number = 0
    }

    /// The writer's changes.
    private struct Work: Sendable {
        let objects: Int
        let observers: Int
        let changes: Int
        let commits: Int
        let isFiltered: Bool
        let deadline: UInt64
        let patience: UInt64
        let configuration: Realm.Configuration
    }

    /// State shared by the writer and its observers.
    private final class Board: Sendable {
        let observers: Int
        let changes: Int
        /// Positions of the objects that the last commit changed.
        let expected = Mutex<[Int]>([])
        /// Number of notifications of each observer.
        let counts: Mutex<[Int]>
        let calledAt = Atomic<UInt64>(0)
        let latency = Mutex(Histogram())
        let wrong = Mutex<[String]>([])
        let calls = Atomic<Int>(0)
        let isOver = Atomic<Bool>(false)
        /// Signalled by the last observer notified of a commit.
        private let allTold = DispatchSemaphore(value: 0)

        init(_ work: Work) {
            observers = work.observers
            changes = work.changes
            counts = Mutex(Array(repeating: 0, count: work.observers))
        }

        func told(_ observer: Int, _ change: RealmCollectionChange<Strata.Results<Item>>) {
            let now = MonotonicClock.now()
            counts.withLock { if case .update = change { $0[observer] += 1 } }
            switch change {
            case .initial: return
            case .error(let error): wrong.withLock { $0.append("\(error)") }
            case .update(_, let deletions, let insertions, let modifications):
                let expected = expected.withLock { $0 }
                if !deletions.isEmpty || !insertions.isEmpty || modifications != expected {
                    let text =
                        "\(deletions.count) deleted, \(insertions.count) inserted, modified \(modifications.prefix(5))"
                        + ", expected \(expected.prefix(5))"
                    wrong.withLock { $0.append(text) }
                }
            }
            latency.withLock { $0.record(now - calledAt.load(ordering: .acquiring)) }
            if calls.add(1, ordering: .acquiringAndReleasing).newValue % observers == 0 { allTold.signal() }
        }

        enum Waiting { case told, outOfTime, lost }

        func waitUntilAllAreTold(_ work: Work) -> Waiting {
            let now = MonotonicClock.now()
            let left = work.deadline > now ? work.deadline - now : 0
            let isCut = left < work.patience
            let end = allTold.wait(timeout: .now() + .nanoseconds(Int(clamping: min(left, work.patience))))
            return end == .success ? .told : isCut ? .outOfTime : .lost
        }
    }

    /// The times of a loop of commits.
    private struct Commits: Sendable {
        var latency = Histogram()
        var seconds = 0.0
        var count = 0
        /// Some observers were not notified of the last commit before the timeout.
        var isLost = false
        var perSecond: Double { Double(count) / seconds }
    }

    func run(_ context: CaseContext) throws {
        guard let way = Way(rawValue: try context.text("way")) else { throw HarnessError("no such way") }
        let path = try context.emptyLocation("notify").directory + "/notify.strata"
        let work = Work(
            objects: try context.integer("objects"), observers: try context.integer("observers"),
            changes: try context.integer("changes"), commits: try context.integer("commits"),
            isFiltered: try context.text("collection") == "filter", deadline: context.deadline,
            patience: UInt64(try context.integer("patience")) * 1_000_000,
            configuration: Realm.Configuration(
                fileURL: URL(fileURLWithPath: path), objectTypes: [Item.self], durability: .none))
        guard work.changes <= work.objects else { throw HarnessError("notify changes no more objects than there are") }
        try context.withEngineErrors {
            let realm = try Realm(configuration: work.configuration)
            try realm.write {
                for id in 0..<work.objects {
                    let item = Item()
                    item.id = id
                    realm.add(item)
                }
            }
            let alone = try Self.commit(work, realm, nil)
            let board = Board(work)
            let observed = try Self.observe(work, way, realm: realm, board: board)
            Self.report(work, alone, observed: observed, board: board, report: context.report)
        }
    }

    private static func report(
        _ work: Work, _ alone: Commits, observed: Commits, board: Board, report: CaseReport
    ) {
        if alone.count < work.commits || observed.count < work.commits { report.cut() }
        report.add(board.latency.withLock { $0 }, name: "commit to callback")
        report.add(alone.latency, name: "commit, no observer")
        report.add(observed.latency, name: "commit, observed")
        report.add(.operationsPerSecond, alone.perSecond, count: alone.count, label: "no observer")
        report.add(.operationsPerSecond, observed.perSecond, count: observed.count, label: "observed")
        // Some observers may have been notified of a commit that the deadline cut.
        let told = board.counts.withLock { $0 }
        report.check(
            "observers not told of every commit", expected: nil, got: told.firstIndex { $0 < observed.count })
        let most = observed.count < work.commits ? observed.count + 1 : observed.count
        report.check("observers told twice", expected: nil, got: told.firstIndex { $0 > most })
        report.check("an observer that was never told of a commit", expected: false, got: observed.isLost)
        if observed.count == 0, !observed.isLost {
            report.inconclusive("nothing was committed while observers were there")
        }
        report.check("change sets", expected: [], got: board.wrong.withLock { Array($0.prefix(3)) })
    }

    /// Commits with observers in place.
    private static func observe(_ work: Work, _ way: Way, realm: Realm, board: Board) throws -> Commits {
        let all = realm.objects(Item.self)
        let collection = work.isFiltered ? all.where { $0.number >= 0 } : all
        let queue = DispatchQueue(label: "observers")
        let tokens = (0..<work.observers).map { observer in
            collection.observe(on: way == .queue ? queue : nil) { board.told(observer, $0) }
        }
        defer { for token in tokens { token.invalidate() } }
        guard way == .thread else {
            // Observers start on their queue: this waits until they have started.
            queue.sync {}
            return try commit(work, realm, board)
        }
        let writer = ThreadTask {
            defer { board.isOver.store(true, ordering: .releasing) }
            return try Self.commit(work, try Realm(configuration: work.configuration), board)
        }
        while !board.isOver.load(ordering: .acquiring) { realm.refresh() }
        return try writer.wait()
    }

    /// Changes and commits. With a board it waits after each commit until all observers were notified: the rate
    /// includes that wait, the latency of a commit does not.
    private static func commit(_ work: Work, _ realm: Realm, _ board: Board?) throws -> Commits {
        var result = Commits()
        let stride = work.objects / work.changes
        let start = MonotonicClock.now()
        for number in 0..<work.commits {
            if MonotonicClock.now() > work.deadline { break }
            realm.beginWrite()
            let ids = (0..<work.changes).map { (number &* 7_919 + $0 * stride) % work.objects }
            for id in ids { realm.object(ofType: Item.self, forPrimaryKey: id)?.number += 1 }
            board?.expected.withLock { $0 = ids.sorted() }
            let called = MonotonicClock.now()
            board?.calledAt.store(called, ordering: .releasing)
            try realm.commitWrite()
            result.latency.record(MonotonicClock.now() - called)
            if let board {
                let end = board.waitUntilAllAreTold(work)
                result.isLost = end == .lost
                if end != .told { break }
            }
            result.count += 1
        }
        result.seconds = Double(MonotonicClock.now() - start) / 1e9
        return result
    }
}
