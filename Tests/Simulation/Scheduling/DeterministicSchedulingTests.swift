import Synchronization
import Testing

@testable import StrataFiles

/// Which thread a deterministic schedule lets run, and when it ends waits.
@Suite struct DeterministicSchedulingTests {
    /// Takes the first thread always, and notes which choices were forced.
    private final class FirstThread: ScheduleChoosing {
        private(set) var forced: [Bool] = []

        func choose(among count: Int, isForced: Bool) -> Int {
            forced.append(isForced)
            return 0
        }
    }

    /// Runs the threads, and returns which choices the schedule was forced to.
    private static func run(
        _ scheduling: DeterministicScheduling, _ chooser: FirstThread, _ threads: [@Sendable () -> Void]
    ) throws -> [Bool] {
        try scheduling.run {
            try scheduling.together(threads.enumerated().map { ("thread \($0)", $1) })
        }
        return chooser.forced
    }

    @Test("a thread that pauses is never taken for one that can continue")
    func aThreadThatPausesIsNeverTakenForOneThatCanContinue() throws {
        let chooser = FirstThread()
        let scheduling = DeterministicScheduling(chooser)
        let pauses: @Sendable () -> Void = { for _ in 0..<3 { scheduling.pause(microseconds: 1) } }
        let forced = try Self.run(scheduling, chooser, [pauses, pauses])
        #expect(forced.count > 3 && !forced.contains(false), "\(forced)")
    }

    @Test("a thread that yields can continue")
    func aThreadThatYieldsCanContinue() throws {
        let chooser = FirstThread()
        let scheduling = DeterministicScheduling(chooser)
        let yields: @Sendable () -> Void = { for _ in 0..<3 { scheduling.yield(at: "test") } }
        // The end of the main thread's own work, and of one of the two, leaves a choice or none.
        #expect(try Self.run(scheduling, chooser, [yields, yields]) == [true, false, false, false])
    }

    @Test("a thread whose wait ends by its deadline could not continue")
    func aThreadWhoseWaitEndsByItsDeadlineCouldNotContinue() throws {
        let chooser = FirstThread()
        let scheduling = DeterministicScheduling(chooser)
        let monitor = scheduling.makeMonitor("test")
        let late = Mutex(0)
        let waits: @Sendable () -> Void = {
            monitor.withLock {
                if !monitor.wait(until: Deadline(nanoseconds: 5_000)) { late.withLock { $0 += 1 } }
            }
        }
        let forced = try Self.run(scheduling, chooser, [waits, waits])
        #expect(late.withLock { $0 } == 2)
        // Before the first lock of either thread, the thread that runs could continue.
        #expect(forced.count { $0 } == 2, "the beginning, and the moment at which both deadlines pass: \(forced)")
    }

    /// Lets a thread pause until another one has done its work, at most 100 times.
    /// - Returns: how often it paused.
    private static func pauses(
        until work: @escaping @Sendable (DeterministicScheduling) -> Void, microseconds: Int = 1
    ) throws -> Int {
        let chooser = FirstThread()
        let scheduling = DeterministicScheduling(chooser)
        let isDone = Mutex(false)
        let count = Mutex(0)
        _ = try run(
            scheduling, chooser,
            [
                {
                    while !isDone.withLock({ $0 }), count.withLock({ $0 }) < 100 {
                        count.withLock { $0 += 1 }
                        scheduling.pause(microseconds: microseconds)
                    }
                },
                {
                    work(scheduling)
                    isDone.withLock { $0 = true }
                },
            ])
        return count.withLock { $0 }
    }

    @Test("a thread that pauses again and again lets others go on")
    func aThreadThatPausesAgainAndAgainLetsOthersGoOn() throws {
        // The second thread runs when the first one pauses for the first time: its own pause ends 3 µs later.
        #expect(try Self.pauses(until: { $0.pause(microseconds: 3) }) <= 5)
        #expect(
            try Self.pauses(until: { $0.pause(microseconds: 3) }, microseconds: 0) <= 5,
            "a pause without a length takes time")
        let waits: @Sendable (DeterministicScheduling) -> Void = { scheduling in
            let monitor = scheduling.makeMonitor("test")
            monitor.withLock {
                while monitor.wait(until: Deadline(nanoseconds: 3_000)) {}
            }
        }
        #expect(try Self.pauses(until: waits) <= 5, "a wait whose deadline passes meanwhile")
    }

    /// The caller says how to repeat the schedule, which a trap would prevent.
    @Test("an endless history is an error")
    func anEndlessHistoryIsAnError() {
        let scheduling = DeterministicScheduling(FirstThread(), pointLimit: 1_000)
        let error = #expect(throws: DeterministicScheduling.Deadlock.self) {
            try scheduling.run { while true { scheduling.yield(at: "test") } }
        }
        #expect(error?.description == "a history of more than 1000 points")
    }
}
