import Platform
import Synchronization
import Testing

@testable import StrataFiles

@Suite struct SystemSchedulingTests {
    private let scheduling = SystemScheduling()

    @Test("spawned work runs, and a waiter is woken") func spawn() {
        let monitor = scheduling.makeMonitor("test")
        let done = Atomic<Int>(0)
        for _ in 0..<4 {
            let isStarted = scheduling.spawn("work") {
                monitor.withLock {
                    done.add(1, ordering: .relaxed)
                    monitor.wakeAll()
                }
            }
            #expect(isStarted)
        }
        monitor.lock()
        while done.load(ordering: .relaxed) < 4 { monitor.wait() }
        monitor.unlock()
        #expect(done.load(ordering: .relaxed) == 4)
    }

    @Test(
        "a deadline beyond the end of the clock never passes",
        arguments: [Int.max, .max / 2, Int(UInt64.max / 1000), Int(UInt64.max / 1000) + 1])
    func farDeadline(microseconds: Int) {
        let deadline = scheduling.deadline(after: microseconds)
        #expect(deadline == .never)
        #expect(scheduling.remaining(until: deadline) == .max)
    }

    @Test("a deadline that the clock can hold stays one", arguments: [1_000_000, 1 << 32, 1 << 53])
    func deadline(microseconds: Int) {
        let deadline = scheduling.deadline(after: microseconds)
        #expect(deadline != .never)
        #expect((1...microseconds).contains(scheduling.remaining(until: deadline)))
    }

    @Test("a deadline before now has passed", arguments: [0, -1, .min])
    func pastDeadline(microseconds: Int) {
        #expect(scheduling.remaining(until: scheduling.deadline(after: microseconds)) == 0)
    }

    /// A signal ends the process in its pause. A conversion that traps would end it by another one.
    @Test("a pause may be longer than the system's", arguments: [Int(UInt32.max) + 1, .max])
    func longPause(microseconds: Int) async {
        await #expect(processExitsWith: .signal(SIGALRM)) { [microseconds = microseconds as Int] in
            alarm(1)
            SystemScheduling().pause(microseconds: microseconds)
        }
    }

    @Test("a negative pause ends at once") func negativePause() {
        scheduling.pause(microseconds: -1)
    }
}
