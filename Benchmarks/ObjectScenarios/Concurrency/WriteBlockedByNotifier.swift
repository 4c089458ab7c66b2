import Dispatch
import Foundation
import Harness
import Measuring
import RunRecords
import Strata
import Synchronization

/// Slow observers, and observers of a densely linked graph, while a thread writes.
///
/// A violation: a write that waits for a callback, one that takes longer than the bound, or an observer whose last
/// notification does not have the newest version.
struct WriteBlockedByNotifier: Scenario {
    let slug = "write-blocked-by-notifier"
    let family = Family.concurrency
    let question = "Does a writer wait for observers that are slow, or for a graph of many links?"
    let requires: Set<Capability> = [.objects]
    let schedule = Schedule.free
    let parameters = [
        ScenarioParameter("objects", .size, default: 300, range: 2...1_000_000, summary: "objects of the graph"),
        ScenarioParameter("links", .size, default: 20, summary: "links of each, to others of the graph"),
        ScenarioParameter(
            "observers", .size, default: 4, range: 1...256,
            summary: "observers of the whole graph, each on a queue of its own"),
        ScenarioParameter("commits", .size, default: 50, summary: "commits of one changed object"),
        ScenarioParameter(
            "bound", .allowance, default: 2_000, range: 0...100_000_000,
            summary: "milliseconds that the slowest write may take"),
        ScenarioParameter(
            "patience", .allowance, default: 10_000,
            summary: "milliseconds after which a notification counts as lost"),
    ]

    final class Acquaintance: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var name = ""
        @Persisted var friends: List<Acquaintance>
    }

    private final class Board: Sendable {
        /// The number of the newest commit in each observer's notifications.
        let newest: Mutex<[Int]>
        let calls = Atomic<Int>(0)
        let begun = DispatchSemaphore(value: 0)
        let release = DispatchSemaphore(value: 0)
        let wasReleased = Atomic<Int>(0)

        init(observers: Int) { newest = Mutex(Array(repeating: -1, count: observers)) }

        func sees(_ commit: Int, _ observer: Int) {
            newest.withLock { $0[observer] = max($0[observer], commit) }
            calls.add(1, ordering: .relaxed)
        }
    }

    func run(_ context: CaseContext) throws {
        let directory = try context.emptyLocation("graph").directory
        var configuration = Realm.Configuration(
            fileURL: URL(fileURLWithPath: directory + "/a.strata"), objectTypes: [Acquaintance.self])
        configuration.durability = .none
        let bound = try context.integer("bound")
        try context.withEngineErrors {
            let realm = try Realm(configuration: configuration)
            try Self.fill(
                realm, objects: try context.integer("objects"), links: try context.integer("links"))
            try Self.slowCallback(realm, context.report, patience: try context.integer("patience"))
            try Self.graph(realm, context, bound)
        }
    }

    private static func fill(_ realm: Realm, objects: Int, links: Int) throws {
        try realm.write {
            let all = (0..<objects).map { realm.create(Acquaintance.self, value: ["id": $0, "name": "0"]) }
            for (index, one) in all.enumerated() {
                one.friends.append(objectsIn: (1...links).map { all[(index + $0 * $0) % objects] })
            }
        }
    }

    /// A callback that waits for the writer: if the writer waited for it in turn, both would hang.
    private static func slowCallback(_ realm: Realm, _ report: CaseReport, patience: Int) throws {
        let board = Board(observers: 1)
        let queue = DispatchQueue(label: "slow")
        let token = realm.objects(Acquaintance.self).observe(on: queue) { change in
            guard case .update = change, board.wasReleased.load(ordering: .acquiring) == 0 else { return }
            board.begun.signal()
            let isReleased = board.release.wait(timeout: .now() + 5) == .success
            board.wasReleased.store(isReleased ? 1 : -1, ordering: .releasing)
        }
        defer { token.invalidate() }
        queue.sync {}
        func write(_ number: Int) throws {
            try realm.write { realm.object(ofType: Acquaintance.self, forPrimaryKey: 0)?.name = "slow \(number)" }
        }
        try write(0)
        guard board.begun.wait(timeout: .now() + .milliseconds(patience)) == .success else {
            return report.check("the callback begins", expected: true, got: false)
        }
        for number in 1...20 { try write(number) }
        let end = board.wasReleased.load(ordering: .acquiring)
        board.release.signal()
        queue.sync {}
        report.check("the callback still ran when 20 writes had ended", expected: 0, got: end)
    }

    private static func graph(_ realm: Realm, _ context: CaseContext, _ bound: Int) throws {
        let count = try context.integer("commits")
        let observers = try context.integer("observers")
        let board = Board(observers: observers)
        let all = realm.objects(Acquaintance.self)
        let total = all.count
        let patience = try context.integer("patience")
        let path = ["friends.friends.name"]
        let tokens = (0..<observers).map { observer in
            all.observe(keyPaths: path, on: DispatchQueue(label: "observer \(observer)")) { change in
                // The first call of an observer that starts late has the newer state.
                switch change {
                case .initial(let now), .update(let now, _, _, _):
                    board.sees(now.compactMap { Int($0.name) }.max() ?? -1, observer)
                case .error: break
                }
            }
        }
        defer { for token in tokens { token.invalidate() } }
        let before = try initialCalls(board, observers, patience)
        var (begin, whole) = (Histogram(), Histogram())
        var number = 0
        let patienceEnd = MonotonicClock.now() + UInt64(patience) * 1_000_000
        // At least until an observer was notified: writes without concurrent notifications show nothing.
        while number < count
            || board.calls.load(ordering: .acquiring) == before && MonotonicClock.now() < patienceEnd
        {
            if context.isOverBudget { break }
            number += 1
            let start = MonotonicClock.now()
            realm.beginWrite()
            begin.record(MonotonicClock.now() - start)
            realm.object(ofType: Acquaintance.self, forPrimaryKey: number % total)?.name = "\(number)"
            try realm.commitWrite()
            whole.record(MonotonicClock.now() - start)
        }
        let report = context.report
        if number < count { report.cut() }
        report.add(begin, name: "beginWrite")
        report.add(whole, name: "write")
        report.add(.operations, Double(number), statistic: "count")
        let slowest = Double(whole.maximum) / 1e6
        report.add(
            Trial(
                address: FaultAddress(text: "slowest write"), outcome: slowest <= Double(bound) ? .correct : .hung,
                detail: slowest <= Double(bound) ? "" : "\(slowest) ms, allowed \(bound)"))
        let meanwhile = board.calls.load(ordering: .acquiring) - before
        report.add(.calls, Double(meanwhile), label: "while the thread wrote")
        if meanwhile == 0 { report.inconclusive("no observer was told of anything while the thread wrote") }
        let start = MonotonicClock.now()
        let limit = start + UInt64(patience) * 1_000_000
        func areAllThere() -> Bool { board.newest.withLock { $0.allSatisfy { $0 == number } } }
        while !areAllThere(), MonotonicClock.now() < limit { Thread.sleep(forTimeInterval: 0.001) }
        report.add(
            .durationMilliseconds, Double(MonotonicClock.now() - start) / 1e6, label: "last commit to last callback")
        report.check(
            "newest commit that observers saw", expected: Array(repeating: number, count: observers),
            got: board.newest.withLock { $0 })
    }

    /// Waits until every observer has started.
    /// - Returns: the number of calls.
    private static func initialCalls(_ board: Board, _ observers: Int, _ patience: Int) throws -> Int {
        let limit = MonotonicClock.now() + UInt64(patience) * 1_000_000
        while board.calls.load(ordering: .acquiring) < observers {
            guard MonotonicClock.now() < limit else {
                throw EngineError(.refused, "an observer did not get its first notification")
            }
            Thread.sleep(forTimeInterval: 0.001)
        }
        return observers
    }
}

extension Metric {
    static let calls = Metric("calls", unit: "count", .neutral, .measured)
}
