internal import StrataFiles

/// The write lock of a process: one transaction at a time, first come, first served.
///
/// A transaction holds it, not a thread. Each waiter sleeps on a lock of its own, so that a release wakes one thread
/// only.
final class WriteGate: Sendable {
    private struct Queue {
        var isHeld = false
        var waiters: [Waiter] = []
        var firstWaiter = 0
    }

    private final class Waiter: Sendable {
        let isServed: Guarded<Bool>
        init(_ monitor: any Monitor) { isServed = Guarded(false, by: monitor) }

        func waitUntilServed() { isServed.whileHeld { held in while !held.state { held.wait() } } }
    }

    private let scheduling: any Scheduling
    private let queue: Guarded<Queue>
    private let origin = ProcessOrigin()

    init(_ scheduling: any Scheduling) {
        self.scheduling = scheduling
        queue = Guarded(Queue(), by: scheduling.makeMonitor("write gate"))
    }

    /// Waits for the gate.
    func acquire() -> WritePermit {
        while true { if let permit = acquire(until: .never) { return permit } }
    }

    /// - Returns: nil if the deadline passed first.
    func acquire(until deadline: Deadline) -> WritePermit? {
        if wait(until: deadline) { return WritePermit(self) }
        return nil
    }

    /// Holds the gate while `body` runs.
    func whileHeld<Value, Failure: Error>(
        _ body: (borrowing WritePermit) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let permit = acquire()
        return try body(permit)
    }

    /// - Returns: false if the deadline passed first.
    private func wait(until deadline: Deadline) -> Bool {
        let waiter: Waiter? = queue.withState { queue in
            if !queue.isHeld {
                queue.isHeld = true
                return nil
            }
            let waiter = Waiter(scheduling.makeMonitor("writer"))
            queue.waiters.append(waiter)
            return waiter
        }
        guard let waiter else { return true }
        scheduling.yield(at: "write gate")
        let isServed = waiter.isServed.whileHeld { held in
            while !held.state { if !held.wait(until: deadline) { break } }
            return held.state
        }
        if isServed || !withdraw(waiter) {
            // No longer in the queue: the releasing thread has chosen this waiter, and is about to mark it as served.
            waiter.waitUntilServed()
            return true
        }
        return false
    }

    /// - Returns: false if the waiter was not in the queue any more.
    private func withdraw(_ waiter: Waiter) -> Bool {
        queue.withState { queue in
            let waiting = queue.waiters[queue.firstWaiter...]
            guard let place = waiting.firstIndex(where: { $0 === waiter }) else { return false }
            queue.waiters.remove(at: place)
            return true
        }
    }

    /// Whether a thread waits for the gate.
    var hasWaiters: Bool { queue.withState { $0.firstWaiter < $0.waiters.count } }

    fileprivate func release() {
        // In a forked child, a thread of the parent may have held the lock at the fork.
        if origin.isForked { return }
        let next: Waiter? = queue.withState { queue in
            if queue.firstWaiter == queue.waiters.count {
                queue.waiters.removeAll(keepingCapacity: true)
                queue.firstWaiter = 0
                queue.isHeld = false
                return nil
            }
            #if Zoo
                if PlantedMistake.lastWriterFirst.isPlanted { return queue.waiters.removeLast() }
            #endif
            defer { queue.firstWaiter += 1 }
            if queue.firstWaiter > 64 {
                queue.waiters.removeFirst(queue.firstWaiter)
                queue.firstWaiter = 0
            }
            return queue.waiters[queue.firstWaiter]
        }
        guard let next else { return }
        next.isServed.whileHeld { held in
            held.state = true
            held.wakeAll()
        }
    }
}

/// Possession of a store's write gate. There is one at a time; its holder may change the state that the gate guards.
/// Functions pass it on by taking or returning it; the gate is released by ``giveBack()``, or at the end of its scope.
struct WritePermit: ~Copyable {
    /// Unowned: its store owns the gate, and the holder of a permit holds the store.
    private unowned(unsafe) let gate: WriteGate

    fileprivate init(_ gate: WriteGate) { self.gate = gate }

    deinit { gate.release() }

    /// Releases the gate for the next writer.
    consuming func giveBack() {}
}
