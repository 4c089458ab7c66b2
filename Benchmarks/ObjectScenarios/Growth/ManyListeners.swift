import Dispatch
import Foundation
import Harness
import RunRecords
import Strata
import Synchronization

/// Makes the same commits without an observer and with many.
///
/// A violation: a file that is larger with observers than without, or an observer whose last notification does not have
/// the final state. Inconclusive if a file with every version pinned is within the bound, too, or if no observer was
/// notified during the commits.
struct ManyListeners: Scenario {
    let slug = "many-listeners"
    let family = Family.growth
    let question = "Does a file grow with the number of observers?"
    let requires: Set<Capability> = [.objects]
    let schedule = Schedule.free
    let parameters = [
        ScenarioParameter(
            "commits", .size, default: 300, range: 10...1_000_000,
            summary: "commits of a hundred changed objects each"),
        ScenarioParameter("observers", .size, default: 100, range: 1...10_000, summary: "observers on eight queues"),
        ScenarioParameter(
            "bound", .allowance, default: 130, range: 100...10_000,
            summary: "largest size of the file, in percent of its size without observers, besides 256 KiB"),
        ScenarioParameter(
            "live", .allowance, default: 250, range: 100...100_000,
            summary: "largest size of the file without observers, in percent of its live data, besides 256 KiB"),
    ]
    func run(_ context: CaseContext) throws {
        let count = try context.integer("commits")
        let observers = try context.integer("observers")
        try context.withEngineErrors {
            let controls = try IdlePins.controls(context, commits: count, live: try context.integer("live"))
            let file = try IdlePins(context, "observed")
            let queues = (0..<8).map { DispatchQueue(label: "observers \($0)") }
            let realm = try Realm(configuration: file.configuration)
            let table = realm.objects(Entry.self)
            let seen = Newest(observers)
            let tokens = (0..<observers).map { observer in
                table.observe(on: queues[observer % 8]) { change in
                    switch change {
                    case .initial(let now), .update(let now, _, _, _):
                        seen.sees(now.max(ofProperty: "rank") ?? 0, observer)
                    case .error: break
                    }
                }
            }
            for queue in queues { queue.sync {} }
            let before = seen.calls
            let observed = try file.commit(count, name: "\(observers) observers")
            if seen.calls == before { context.report.inconclusive("no observer was told of anything meanwhile") }
            IdlePins.judge(
                "observers", observed, controls: controls, percent: try context.integer("bound"), report: context.report
            )
            for _ in 0..<1_000 where !seen.areAllAt(count) {
                for queue in queues { queue.sync {} }
                Thread.sleep(forTimeInterval: 0.005)
            }
            for token in tokens { token.invalidate() }
            context.report.check("observers that saw the last commit", expected: true, got: seen.areAllAt(count))
            try file.check("observers", after: count, context.report)
        }
    }

    /// The newest value in each observer's notifications.
    private final class Newest: Sendable {
        private let values: Mutex<[Int]>
        private let count = Atomic<Int>(0)
        init(_ count: Int) { values = Mutex(Array(repeating: -1, count: count)) }
        func sees(_ value: Int, _ observer: Int) {
            values.withLock { $0[observer] = max($0[observer], value) }
            count.add(1, ordering: .relaxed)
        }
        var calls: Int { count.load(ordering: .relaxed) }
        func areAllAt(_ value: Int) -> Bool { values.withLock { $0.allSatisfy { $0 == value } } }
    }
}
