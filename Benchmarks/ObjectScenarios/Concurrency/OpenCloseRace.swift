import Foundation
import Harness
import RunRecords
import Seeds
import Strata
import Synchronization

/// Threads open a database, read all of it and close it, again and again, concurrently.
///
/// A violation: a committed object that is missing or wrong at any open. Inconclusive if no two threads had the
/// database open at once, or if it was never closed by all threads and opened again.
struct OpenCloseRace: Scenario {
    let slug = "open-close-race"
    let family = Family.concurrency
    let question = "Can a database be opened on one thread while another one closes it?"
    let requires: Set<Capability> = [.objects]
    let schedule = Schedule.free
    let parameters = [
        ScenarioParameter("threads", .size, default: 4, range: 2...256, summary: "threads that open and close"),
        ScenarioParameter("rounds", .size, default: 60, summary: "openings per thread"),
    ]

    /// The overlaps of the threads, and what they found.
    final class Watch: Sendable {
        struct State {
            var open = 0
            /// Opens while another thread had it open.
            var overlaps = 0
            /// Closes after which no thread had it open.
            var endings = 0
            var wrong: [String] = []
        }
        let state = Mutex(State())

        func opens() {
            state.withLock { state in
                if state.open > 0 { state.overlaps += 1 }
                state.open += 1
            }
        }

        func letsGo() {
            state.withLock { state in
                state.open -= 1
                if state.open == 0 { state.endings += 1 }
            }
        }

        func wrong(_ text: String) { state.withLock { $0.wrong.append(text) } }

        /// Why the case is inconclusive; nil otherwise.
        var objection: String? {
            state.withLock { state in
                if state.overlaps == 0 { return "no two threads had the database open at once" }
                return state.endings < 2 ? "it was never let go by all threads and opened again" : nil
            }
        }
    }

    private static let base = 5

    func run(_ context: CaseContext) throws {
        let (threads, rounds) = (try context.integer("threads"), try context.integer("rounds"))
        let place = TrialPlace(directory: try context.emptyLocation("race").directory, policy: .substitute)
        try context.withEngineErrors {
            let configuration: Realm.Configuration
            do {
                let realm = try place.realm(EntryClasses.all)
                try EntryClasses.fill(realm, count: Self.base)
                configuration = realm.configuration
            }
            let watch = Watch()
            let seed = context.seed
            let tasks = (0..<threads).map { thread in
                ThreadTask {
                    try Self.openAndLetGo(
                        configuration, thread, rounds: rounds, seed: seed.derived("thread \(thread)"), watch: watch)
                }
            }
            for task in tasks { try task.wait() }
            let added = (0..<threads).flatMap { thread in Self.added(thread, before: rounds) }
            let realm = try Realm(configuration: configuration)
            let expected = (Array(0..<Self.base) + added).sorted().map { EntryClasses.line($0) }
            context.report.check("objects", expected: expected, got: EntryClasses.lines(realm))
            let state = watch.state.withLock { $0 }
            context.report.check("what openings found", expected: [], got: Array(state.wrong.prefix(5)))
            context.report.add(.overlaps, Double(state.overlaps), statistic: "count")
            context.report.add(.endings, Double(state.endings), statistic: "count")
            if let objection = watch.objection { context.report.inconclusive(objection) }
        }
    }

    /// The objects that a thread has committed before a round.
    private static func added(_ thread: Int, before round: Int) -> [Int] {
        stride(from: 0, to: round, by: 5).map { 100 + thread * 1_000_000 + $0 }
    }

    private static func openAndLetGo(
        _ configuration: Realm.Configuration, _ thread: Int, rounds: Int, seed: Seed, watch: Watch
    ) throws {
        var random = RandomStream(seed)
        for round in 0..<rounds {
            watch.opens()
            do {
                defer { watch.letsGo() }
                let realm = try Realm(configuration: configuration)
                let own = (Array(0..<base) + added(thread, before: round)).map { EntryClasses.line($0) }
                if let lost = Set(own).subtracting(EntryClasses.lines(realm)).sorted().first {
                    watch.wrong("thread \(thread), round \(round): \(lost) is not there")
                }
                if round % 5 == 0 {
                    try realm.write { realm.add(EntryClasses.make(100 + thread * 1_000_000 + round)) }
                }
            }
            // Long enough, now and then, that no thread has it open.
            let pause = random.below(round % 2 == 0 ? 200 : 5_000)
            Thread.sleep(forTimeInterval: Double(pause) / 1e6)
        }
    }
}

extension Metric {
    static let overlaps = Metric("overlaps", unit: "count", .higherIsBetter, .measured)
    static let endings = Metric("endings", unit: "count", .higherIsBetter, .measured)
}
