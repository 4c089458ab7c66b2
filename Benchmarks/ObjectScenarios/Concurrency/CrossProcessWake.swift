import Dispatch
import Files
import Harness
import Measuring
import Platform
import RunRecords
import Strata
import Synchronization

/// Another process commits; observers in this process must be notified without polling.
///
/// After half of its commits, the last among them, the other process waits with the file open until this process was
/// notified: so no later commit, and no close, wakes an observer that missed a wake-up.
///
/// A violation: an object of which the observer was not notified, or was notified twice; a notification without a
/// change, or of an object that no process wrote; a notification that came later than the bound; threads that wake
/// again and again while no process commits, as those of an engine that polls do. Only the slowest notification has a
/// bound: the usual time depends on the other load of the machine.
struct CrossProcessWake: Scenario {
    let slug = "cross-process-wake"
    let family = Family.concurrency
    let question = "How soon do observers hear of another process's commit, and of nothing else?"
    let requires: Set<Capability> = [.objects]
    let schedule = Schedule.free
    let parameters = [
        ScenarioParameter(
            "commits", .size, default: 200, summary: "commits of the other process, some milliseconds apart"),
        ScenarioParameter(
            "bound", .allowance, default: 1_000, summary: "milliseconds that the slowest notification may take"),
    ]

    /// The notifications of observers, with their times.
    final class Seen: Sendable {
        struct State {
            var moments: [Int: UInt64] = [:]
            var twice: [Int] = []
            var calls = 0
            var emptyCalls = 0
            var idleCalls = 0
        }
        let state = Mutex(State())

        func told(_ ids: [Int]) {
            let now = MonotonicClock.now()
            state.withLock { state in
                state.calls += 1
                if ids.isEmpty { state.emptyCalls += 1 }
                for id in ids where state.moments.updateValue(now, forKey: id) != nil { state.twice.append(id) }
            }
        }
    }

    func run(_ context: CaseContext) throws {
        let count = try context.integer("commits")
        let directory = try context.emptyLocation("wake").directory
        let configuration = EntryClasses.configuration(directory + "/a.strata", context.test.durability)
        let gate = directory + "/go"
        var random = context.random("pauses")
        let pauses = (0..<count).map { _ in UInt32(random.below(4_000)) }
        let bound = try context.integer("bound")
        // Forked while this process has only one thread.
        let writer = try ForkedChild.start { output in Self.write(configuration, gate, pauses: pauses, output: output) }
        var held = Held(gate: gate, count: count, patience: UInt64(bound) * 2_000_000)
        try context.withEngineErrors {
            let queue = DispatchQueue(label: "observer")
            let seen = Seen()
            let tokens = try queue.sync { try Self.observe(configuration, queue, seen) }
            defer { for token in tokens { token.invalidate() } }
            queue.sync {}
            try FileTree.writeText(gate, "")
            let returned = try Self.receive(writer, count) { id in
                try held.wait(for: id, in: seen) { context.report.checkSilence() }
            }
            context.report.check(
                "objects", expected: ([-1] + Array(0..<count)).map { EntryClasses.line($0) },
                got: queue.sync { Self.lines(configuration, queue) })
            // Far more than the bound, to tell late notifications from missing ones.
            let limit = MonotonicClock.now() + 10_000_000_000
            while MonotonicClock.now() < limit, seen.state.withLock({ $0.moments.count }) < count { usleep(1_000) }
            Self.judge(seen, returned, bound: bound, context.report)
        }
    }

    /// The commits after which the other process waits for a file that this process creates.
    struct Held {
        let gate: String
        let count: Int
        /// Nanoseconds after which the notification of a commit counts as missing: twice the bound.
        let patience: UInt64
        private var isLost = false
        private var hasWaited = false

        init(gate: String, count: Int, patience: UInt64) {
            (self.gate, self.count, self.patience) = (gate, count, patience)
        }

        /// Whether the other process waits after a commit: after six of twelve in a row, so that any pattern with a
        /// period of three or five is among them, and after the last six.
        static func contains(_ id: Int, of count: Int) -> Bool { id % 12 >= 6 || id >= count - 6 }

        static func path(_ gate: String, _ id: Int) -> String { "\(gate)-\(id)" }

        /// Lets the other process go on once the observer was notified of its commit, or `patience` is over. After
        /// the first commit of which the observer was not notified in time, it waits for no further one.
        ///
        /// - Parameter first: called once, while the other process waits.
        mutating func wait(for id: Int, in seen: Seen, first: () -> Void) throws {
            guard Self.contains(id, of: count) else { return }
            let limit = MonotonicClock.now() + patience
            while !isLost, seen.state.withLock({ $0.moments[id] == nil }) {
                if MonotonicClock.now() > limit { isLost = true }
                usleep(100)
            }
            if !hasWaited { first() }
            hasWaited = true
            try FileTree.writeText(Self.path(gate, id), "")
        }
    }

    /// The objects of the database as this process sees them.
    private static func lines(_ configuration: Realm.Configuration, _ queue: DispatchQueue) -> [String] {
        do {
            let realm = try Realm(configuration: configuration, queue: queue)
            realm.refresh()
            return EntryClasses.lines(realm)
        } catch { return ["\(error)"] }
    }

    private static func observe(
        _ configuration: Realm.Configuration, _ queue: DispatchQueue, _ seen: Seen
    ) throws -> [NotificationToken] {
        let realm = try Realm(configuration: configuration, queue: queue)
        let untouched = EntryClasses.make(-1)
        try realm.write { realm.add(untouched) }
        let inserted = realm.objects(Entry.self).observe { change in
            guard case .update(let now, _, let insertions, _) = change else { return }
            seen.told(insertions.map { now[$0].id })
        }
        let idle = untouched.observe { _ in seen.state.withLock { $0.idleCalls += 1 } }
        return [inserted, idle]
    }

    static func judge(_ seen: Seen, _ returned: [UInt64], bound: Int, _ report: CaseReport) {
        let state = seen.state.withLock { $0 }
        var latency = Histogram()
        for (id, moment) in returned.enumerated() {
            guard let told = state.moments[id] else { continue }
            latency.record(told > moment ? told - moment : 0)
        }
        report.add(latency, name: "commit to callback")
        report.add(.operations, Double(returned.count), statistic: "count")
        let missing = returned.indices.filter { state.moments[$0] == nil }
        report.check("objects missing from notifications", expected: [], got: Array(missing.prefix(10)))
        report.check("objects told of twice", expected: [], got: Array(state.twice.prefix(10)))
        report.check("calls without a change", expected: 0, got: state.emptyCalls)
        report.check("calls for an object that no process changed", expected: 0, got: state.idleCalls)
        report.check("at most one call per commit", expected: true, got: state.calls <= returned.count)
        let slowest = Double(latency.maximum) / 1e6
        report.add(
            Trial(
                address: FaultAddress(text: "slowest"), outcome: slowest <= Double(bound) ? .correct : .hung,
                detail: slowest <= Double(bound) ? "" : "\(slowest) ms, allowed \(bound)"))
    }

    // MARK: The other process

    private static func write(
        _ configuration: Realm.Configuration, _ gate: String, pauses: [UInt32], output: Int32
    ) -> Int32 {
        while !FileTree.exists(gate) { usleep(200) }
        do {
            let realm = try Realm(configuration: configuration)
            for (id, pause) in pauses.enumerated() {
                usleep(pause)
                try realm.write { realm.add(EntryClasses.make(id)) }
                var moment = MonotonicClock.now()
                if write(output, &moment, 8) != 8 { return 2 }
                guard Held.contains(id, of: pauses.count) else { continue }
                while !FileTree.exists(Held.path(gate, id)) { usleep(100) }
            }
            return 0
        } catch {
            let text = "\(error)\n"
            text.withCString { _ = write(STDERR_FILENO, $0, strlen($0)) }
            return 1
        }
    }

    private static func write(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
        Platform.write(descriptor, bytes, count)
    }

    /// The return times of commits, on the clock that all processes share.
    private static func receive(
        _ writer: ForkedChild, _ count: Int, each: (_ id: Int) throws -> Void
    ) throws -> [UInt64] {
        var moments: [UInt64] = []
        var moment: UInt64 = 0
        while moments.count < count {
            let length = Platform.read(writer.output, &moment, 8)
            guard length == 8 else {
                throw EngineError(.refused, "the other process ended before its last commit: \(writer.wait())")
            }
            moments.append(moment)
            try each(moments.count - 1)
        }
        writer.wait()
        return moments
    }
}
