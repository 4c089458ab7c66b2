import Dispatch
import Harness
import Platform
import RunRecords
import Strata
import Synchronization

/// Asynchronous writes of a Realm on a queue: in order, cancelled, left open, and in groups whose process is killed.
///
/// A violation: an order that differs from that of the calls; a cancelled write that ran; a write whose completion was
/// never called; a group of commits of which only a part is there.
struct AsyncWriteOrder: ObjectTrialScenario, Scenario {
    let slug = "async-write"
    let family = Family.concurrency
    let question = "Do asynchronous writes run in order, once, and whole?"
    let schedule = Schedule.free
    let parameters = [
        ScenarioParameter(
            "kills", .effort, default: 20, range: 0...100_000, summary: "processes killed while they commit in groups")
    ]

    enum Way: String, CaseIterable {
        case order, cancelBefore, cancelTwice, cancelInside, withoutEnd, blockingBetween, closePending, invalidated
        case inTask, taskCancelled
    }

    func run(_ context: CaseContext) throws {
        let kills = try context.integer("kills")
        for number in 0..<kills { try Self.killGroups(context, number) }
        if kills == 0 { context.report.inconclusive("no process was killed") }
        try PolicyTrials(context, policy: .substitute).run(Self.names, trial: Self.trial)
    }

    /// The effects of the writes, in order.
    private final class Log: Sendable {
        private let lines = Mutex<[String]>([])
        private let over = DispatchSemaphore(value: 0)

        func note(_ line: String) { lines.withLock { $0.append(line) } }
        func finish() { over.signal() }
        /// - Returns: false when the writes have not finished after five minutes; the harness ends a hanging trial
        ///   earlier. Long, because all tasks of a process share a few threads.
        func waitForEnd() -> Bool { over.wait(timeout: .now() + 300) == .success }
        func lines(_ word: String) -> [String] { lines.withLock { $0.filter { $0.hasPrefix(word) } } }
        var first: String? { lines.withLock { $0.first } }
    }

    static func trial(_ way: Way, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let observer = try place.realm(EntryClasses.all)
        let log = Log()
        if way == .inTask || way == .taskCancelled { return try inTask(way, observer, log) }
        let queue = DispatchQueue(label: "writes")
        try queue.sync {
            let realm = try Realm(configuration: observer.configuration, queue: queue)
            try ask(way, realm, log)
            log.note("asked")
        }
        guard log.waitForEnd() else { return .wrong("not finished: \(log.lines(""))") }
        queue.sync {}
        observer.refresh()
        let expected = wanted(way)
        return .all([
            .expect("the call returns before its write runs", log.first, "asked"),
            stored(observer, expected.stored),
            .expect("order of the writes", log.lines("run"), expected.ran.map { "run \($0)" }),
            .expect("order of the ends", log.lines("end"), expected.ended.map { "end \($0)" }),
        ])
    }

    private static func stored(_ realm: Realm, _ ids: [Int]) -> PolicyTrials.Finding {
        .same("objects", EntryClasses.lines(realm), ids.map { EntryClasses.line($0) })
    }

    /// By way: the ids that must be stored, the writes that must run, and those whose completion must be called.
    private static func wanted(_ way: Way) -> (stored: [Int], ran: [Int], ended: [Int]) {
        switch way {
        case .order, .closePending, .invalidated, .inTask:
            (Array(1...20), Array(1...20), Array(1...20))
        case .cancelBefore, .cancelTwice: ([1, 2, 4, 5], [1, 2, 4, 5], [1, 2, 4, 5])
        case .cancelInside, .withoutEnd: ([2], [1, 2], [2])
        case .blockingBetween: ([1, 2, 3, 50], [1, 2, 3], [1, 2, 3])
        case .taskCancelled: ([2], [2], [2])
        }
    }

    private static func ask(_ way: Way, _ realm: Realm, _ log: Log) throws {
        switch way {
        case .order, .closePending, .inTask, .taskCancelled: (1...20).forEach { _ = add($0, realm, log, last: 20) }
        case .invalidated:
            (1...20).forEach { _ = add($0, realm, log, last: 20) }
            realm.invalidate()
        case .cancelBefore, .cancelTwice:
            let numbers = (1...5).map { add($0, realm, log, last: 5) }
            try realm.cancelAsyncWrite(numbers[2])
            guard way == .cancelTwice else { return }
            do {
                try realm.cancelAsyncWrite(numbers[2])
                log.note("end of a write that was taken back twice")
            } catch let error as Realm.Error where error.code == .invalidInput {}
        case .cancelInside, .withoutEnd:
            realm.beginAsyncWrite {
                log.note("run 1")
                realm.add(EntryClasses.make(1))
                if way == .cancelInside { realm.cancelWrite() }
            }
            _ = add(2, realm, log, last: 2)
        case .blockingBetween:
            (1...3).forEach { _ = add($0, realm, log, last: 3) }
            try realm.write { realm.add(EntryClasses.make(50)) }
        }
    }

    private static func add(_ id: Int, _ realm: Realm, _ log: Log, last: Int) -> AsyncTransactionId {
        realm.writeAsync({
            log.note("run \(id)")
            realm.add(EntryClasses.make(id))
        }) { error in
            log.note("end \(id)" + (error.map { " with \($0)" } ?? ""))
            if id == last { log.finish() }
        }
    }

    // MARK: In tasks

    private actor Writer {
        private var realm: Realm?
        private let log: Log

        init(_ log: Log) { self.log = log }

        func open(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm.open(configuration: configuration)
        }

        func write(_ id: Int) async {
            guard let realm else { return log.note("end without a Realm") }
            do {
                try await realm.asyncWrite {
                    log.note("run \(id)")
                    realm.add(EntryClasses.make(id))
                }
                log.note("end \(id)")
            } catch is CancellationError {
                return
            } catch { log.note("end \(id) with \(error)") }
        }

        /// Waits until all earlier writes have begun.
        func writeAll(_ ids: ClosedRange<Int>) async { for id in ids { await write(id) } }
    }

    private static func inTask(_ way: Way, _ observer: Realm, _ log: Log) throws -> PolicyTrials.Finding {
        let configuration = observer.configuration
        Task.detached {
            do {
                let writer = Writer(log)
                try await writer.open(configuration)
                if way == .taskCancelled {
                    let first = Task {
                        // A task that is cancelled before its turn.
                        withUnsafeCurrentTask { $0?.cancel() }
                        await writer.write(1)
                    }
                    await first.value
                    await writer.write(2)
                } else {
                    await writer.writeAll(1...20)
                }
            } catch { log.note("end with \(error)") }
            log.finish()
        }
        guard log.waitForEnd() else { return .wrong("not finished: \(log.lines(""))") }
        observer.refresh()
        let expected = wanted(way)
        return .all([
            stored(observer, expected.stored),
            .expect("order of the writes", log.lines("run"), expected.ran.map { "run \($0)" }),
            .expect("order of the ends", log.lines("end"), expected.ended.map { "end \($0)" }),
        ])
    }

    // MARK: Groups

    private static let groupSize = 8

    /// A process commits in groups and is killed some microseconds after an acknowledgement.
    private static func killGroups(_ context: CaseContext, _ number: Int) throws {
        let path = try context.emptyLocation("groups-\(number)").directory + "/a.strata"
        let configuration = EntryClasses.configuration(path, context.test.durability)
        var random = context.random("kill \(number)")
        let child = try ForkedChild.start { output in
            do {
                try commitGroups(configuration, output)
                return 0
            } catch { return 1 }
        }
        let wanted = 1 + random.below(12)
        var acknowledged = 0
        var bytes = [UInt8](repeating: 0, count: 64)
        while acknowledged < wanted {
            let count = read(child.output, &bytes, bytes.count)
            guard count > 0 else { return report(context, number, who: "the writer", end: child.wait()) }
            acknowledged += count
        }
        usleep(UInt32(random.below(3_000)))
        child.kill()
        child.wait()
        while true {
            let count = read(child.output, &bytes, bytes.count)
            if count <= 0 { break }
            acknowledged += count
        }
        let reader = try ForkedChild.start { output in
            do {
                let lines = EntryClasses.lines(try Realm(configuration: configuration))
                // The first wrong object, then the number of objects.
                var answer = [Int64(foreign(lines) ?? -1), Int64(lines.count)]
                return write(output, &answer, 16) == 16 ? 0 : 2
            } catch { return 1 }
        }
        var answer: [Int64] = [-1, -1]
        let length = read(reader.output, &answer, 16)
        let end = reader.wait()
        guard length == 16, end == .exited(0) else { return report(context, number, who: "the reader", end: end) }
        var (outcome, detail) = judgeGroups(count: Int(answer[1]), acknowledged: acknowledged)
        if outcome == .correct, answer[0] >= 0 {
            (outcome, detail) = (.silentlyWrong, "object number \(answer[0]) is not as it was committed")
        }
        context.report.add(Trial(address: FaultAddress(.kill, number), outcome: outcome, detail: detail))
    }

    /// Reports a process that ended before it was killed.
    private static func report(_ context: CaseContext, _ number: Int, who: String, end: ChildEnd) {
        let isCrash = if case .signalled = end { true } else { false }
        context.report.add(
            Trial(
                address: FaultAddress(.kill, number), outcome: isCrash ? .crashed : .refused,
                detail: "\(who) ended by itself: \(end)"))
    }

    /// The first object that is not of a committed group; nil when there is none.
    static func foreign(_ lines: [String]) -> Int? {
        lines.indices.first { lines[$0] != EntryClasses.line($0 < 2 ? $0 : $0 - 2 + groupSize) }
    }

    /// The first two commits are not in a group. Acknowledged groups must be there, and the next one may be.
    static func judgeGroups(count: Int, acknowledged: Int) -> (Outcome, String) {
        let grouped = count - 2
        if grouped < 0 || grouped % groupSize != 0 { return (.silentlyWrong, "\(count) objects: a group in part") }
        let groups = grouped / groupSize
        if groups < acknowledged { return (.lostCommit, "\(acknowledged) groups acknowledged, \(groups) there") }
        if groups > acknowledged + 1 { return (.silentlyWrong, "\(groups) groups, \(acknowledged) acknowledged") }
        return (.correct, "")
    }

    private static func commitGroups(_ configuration: Realm.Configuration, _ output: Int32) throws {
        let queue = DispatchQueue(label: "groups")
        let realm = try queue.sync { () throws -> Realm in
            let realm = try Realm(configuration: configuration, queue: queue)
            for id in 0..<2 { try realm.write { realm.add(EntryClasses.make(id)) } }
            return realm
        }
        for group in 1...100_000 {
            let done = DispatchSemaphore(value: 0)
            queue.sync {
                for place in 0..<groupSize {
                    realm.beginAsyncWrite {
                        realm.add(EntryClasses.make(group * groupSize + place))
                        realm.commitAsyncWrite(allowGrouping: true) { _ in
                            if place == groupSize - 1 { done.signal() }
                        }
                    }
                }
            }
            done.wait()
            var byte: UInt8 = 1
            if write(output, &byte, 1) != 1 { return }
        }
    }
}
