import Dispatch
import Foundation
import Harness
import RunRecords
import Strata
import Synchronization

/// The same commits beside no observer and beside many.
///
/// A violation: a file that is larger with observers than without, or an observer that does not end with what is there.
struct ManyListeners: Scenario {
    let slug = "many-listeners"
    let family = Family.growth
    let question = "Does a file grow with the number of observers?"
    let requires: Set<Capability> = [.objects]
    let schedule = Schedule.free
    let parameters = [
        ScenarioParameter(
            "commits", default: "300", range: 10...1_000_000, summary: "commits of a hundred changed objects each"),
        ScenarioParameter("observers", default: "100", range: 1...10_000, summary: "observers on eight queues"),
        ScenarioParameter(
            "bound", default: "130", range: 100...10_000, summary: "percent of the size without them, and 256 KiB"),
    ]
    func run(_ context: CaseContext) throws {
        let count = try context.integer("commits")
        let observers = try context.integer("observers")
        try context.withEngineErrors {
            let alone = try IdlePins(context, "alone").commit(count, name: "no observer")
            context.report.add(alone)
            context.report.add(.fileBytes, Double(IdlePins.largest(alone)), statistic: "max", label: "no observer")
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
            let observed = try file.commit(count, name: "\(observers) observers")
            IdlePins.judge(
                "observers", observed, alone, percent: try context.integer("bound"), context.report)
            for _ in 0..<1_000 where !seen.areAllAt(count) {
                for queue in queues { queue.sync {} }
                Thread.sleep(forTimeInterval: 0.005)
            }
            for token in tokens { token.invalidate() }
            context.report.check("observers that saw the last commit", expected: true, got: seen.areAllAt(count))
        }
    }

    /// The newest value that each observer saw.
    private final class Newest: Sendable {
        private let values: Mutex<[Int]>
        init(_ count: Int) { values = Mutex(Array(repeating: -1, count: count)) }
        func sees(_ value: Int, _ observer: Int) { values.withLock { $0[observer] = max($0[observer], value) } }
        func areAllAt(_ value: Int) -> Bool { values.withLock { $0.allSatisfy { $0 == value } } }
    }
}
