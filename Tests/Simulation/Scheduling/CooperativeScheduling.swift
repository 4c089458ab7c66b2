import FaultModel
import Seeds
import StrataFiles
import Synchronization

/// Runs everything on the calling thread, so that a history gives the same trace every time.
///
/// Spawned work is queued until the caller waits, or until ``runSome()``; the seed chooses which work runs.
final class CooperativeScheduling: Scheduling {
    private struct Queue {
        var random: RandomStream
        var work: [@Sendable () -> Void] = []
    }

    private let queue: Mutex<Queue>

    init(_ seed: Seed) { queue = Mutex(Queue(random: RandomStream(seed))) }

    func makeMonitor(_ label: String) -> any Monitor { CooperativeMonitor(self, label) }

    func spawn(_ label: String, _ work: @escaping @Sendable () -> Void) -> Bool {
        queue.withLock { $0.work.append(work) }
        return true
    }

    /// Every deadline has passed at once: there is no other thread to wait for.
    func deadline(after microseconds: Int) -> Deadline { Deadline(nanoseconds: 0) }
    func remaining(until deadline: Deadline) -> Int { deadline == .never ? .max : 0 }

    func yield(at point: StaticString) {}
    func pause(microseconds: Int) {}

    /// Runs one queued piece of work; false if there is none.
    func runOne() -> Bool {
        let work: (@Sendable () -> Void)? = queue.withLock { queue in
            queue.work.isEmpty ? nil : queue.work.remove(at: queue.random.below(queue.work.count))
        }
        work?()
        return work != nil
    }

    /// Drops queued work.
    func dropWork() {
        let work = queue.withLock { queue in
            defer { queue.work = [] }
            return queue.work
        }
        _ = work  // Released here, outside the lock, together with the objects that it holds.
    }

    /// Runs queued work or not, by the seed.
    func runSome() {
        while queue.withLock({ $0.random.chance(1, in: 2) }), runOne() {}
    }
}

/// There is one thread, so a lock is always free. A waiter runs queued work, which may satisfy its condition.
private final class CooperativeMonitor: Monitor {
    private let scheduling: CooperativeScheduling
    private let label: String
    private let isHeld = Atomic<Bool>(false)

    init(_ scheduling: CooperativeScheduling, _ label: String) {
        self.scheduling = scheduling
        self.label = label
    }

    func lock() {
        let wasHeld = isHeld.exchange(true, ordering: .relaxed)
        precondition(!wasHeld, "\(label): a lock is taken twice")
    }

    func unlock() { isHeld.store(false, ordering: .relaxed) }

    func wait() {
        unlock()
        let didRun = scheduling.runOne()
        precondition(didRun, "\(label): waits, and no runnable thread can end its wait")
        lock()
    }

    func wait(until deadline: Deadline) -> Bool {
        guard deadline == .never else { return false }
        wait()
        return true
    }

    func wakeAll() {}
}
