import Dispatch
import Foundation
import Harness
import Measuring
import RunRecords
import Strata
import Synchronization

/// Observers that are slow, and observers of a graph in which everything leads to everything, while a thread writes.
///
/// A violation: a write that waits for a callback, one that takes longer than the bound, or observers that do not end
/// with the newest version.
struct WriteBlockedByNotifier: Scenario {
    let slug = "write-blocked-by-notifier"
    let family = Family.concurrency
    let question = "Does a writer wait for observers that are slow, or for a graph of many links?"
    let requires: Set<Capability> = [.objects]
    let schedule = Schedule.free
    let parameters = [
        ScenarioParameter("objects", default: "300", range: 2...1_000_000, summary: "objects of the graph"),
        ScenarioParameter("links", default: "20", summary: "links of each, to others of the graph"),
        ScenarioParameter(
            "observers", default: "4", range: 1...256, summary: "observers of all of it, each on a queue of its own"),
        ScenarioParameter("commits", default: "50", summary: "commits of one changed object"),
        ScenarioParameter("bound", default: "2000", summary: "milliseconds that the slowest write may take"),
    ]

    final class Acquaintance: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var name = ""
        @Persisted var friends: List<Acquaintance>
    }

    private final class Board: Sendable {
        /// The number of the newest commit that each observer saw.
        let newest: Mutex<[Int]>
        let release = DispatchSemaphore(value: 0)
        let wasReleased = Atomic<Int>(0)

        init(observers: Int) { newest = Mutex(Array(repeating: -1, count: observers)) }

        func sees(_ commit: Int, _ observer: Int) {
            newest.withLock { $0[observer] = max($0[observer], commit) }
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
            try Self.slowCallback(realm, context.report)
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

    /// A callback that waits for the writer: a writer that waited for it in turn would never end.
    private static func slowCallback(_ realm: Realm, _ report: CaseReport) throws {
        let board = Board(observers: 1)
        let queue = DispatchQueue(label: "slow")
        let token = realm.objects(Acquaintance.self).observe(on: queue) { change in
            guard case .update = change, board.wasReleased.load(ordering: .acquiring) == 0 else { return }
            let isReleased = board.release.wait(timeout: .now() + 5) == .success
            board.wasReleased.store(isReleased ? 1 : -1, ordering: .releasing)
        }
        defer { token.invalidate() }
        queue.sync {}
        for number in 1...20 {
            try realm.write { realm.object(ofType: Acquaintance.self, forPrimaryKey: 0)?.name = "slow \(number)" }
        }
        board.release.signal()
        queue.sync {}
        let end = board.wasReleased.load(ordering: .acquiring)
        report.check("20 writes ended while a callback ran", expected: 1, got: end)
    }

    private static func graph(_ realm: Realm, _ context: CaseContext, _ bound: Int) throws {
        let count = try context.integer("commits")
        let observers = try context.integer("observers")
        let board = Board(observers: observers)
        let all = realm.objects(Acquaintance.self)
        let total = all.count
        let path = ["friends.friends.name"]
        let tokens = (0..<observers).map { observer in
            all.observe(keyPaths: path, on: DispatchQueue(label: "observer \(observer)")) { change in
                // One that starts late has its first call with what is there then.
                switch change {
                case .initial(let now), .update(let now, _, _, _):
                    board.sees(now.compactMap { Int($0.name) }.max() ?? -1, observer)
                case .error: break
                }
            }
        }
        defer { for token in tokens { token.invalidate() } }
        var (begin, whole) = (Histogram(), Histogram())
        for number in 1...count {
            let start = MonotonicClock.now()
            realm.beginWrite()
            begin.record(MonotonicClock.now() - start)
            realm.object(ofType: Acquaintance.self, forPrimaryKey: number % total)?.name = "\(number)"
            try realm.commitWrite()
            whole.record(MonotonicClock.now() - start)
        }
        let report = context.report
        report.add(begin, name: "beginWrite")
        report.add(whole, name: "write")
        report.add(.operations, Double(count), statistic: "count")
        let slowest = Double(whole.maximum) / 1e6
        report.add(
            Trial(
                address: FaultAddress(text: "slowest write"), outcome: slowest <= Double(bound) ? .correct : .hung,
                detail: slowest <= Double(bound) ? "" : "\(slowest) ms, allowed \(bound)"))
        let start = MonotonicClock.now()
        let limit = start + 10_000_000_000
        func areAllThere() -> Bool { board.newest.withLock { $0.allSatisfy { $0 == count } } }
        while !areAllThere(), MonotonicClock.now() < limit { Thread.sleep(forTimeInterval: 0.001) }
        report.add(
            .durationMilliseconds, Double(MonotonicClock.now() - start) / 1e6, label: "last commit to last callback")
        report.check(
            "newest commit that observers saw", expected: Array(repeating: count, count: observers),
            got: board.newest.withLock { $0 })
    }
}
