internal import StrataFiles

/// The write lock of a process: one transaction at a time, first come, first served.
///
/// A transaction holds it, not a thread. Each waiter sleeps on a monitor of its own, so that a release wakes one thread
/// only.
final class WriteGate: Sendable {
    private let scheduling: any Scheduling
    private let monitor: any Monitor
    private let origin = ProcessOrigin()
    /// Guarded by `monitor`.
    @exclusivity(unchecked) private nonisolated(unsafe) var isHeld = false
    @exclusivity(unchecked) private nonisolated(unsafe) var waiters: [Waiter] = []
    @exclusivity(unchecked) private nonisolated(unsafe) var firstWaiter = 0

    private final class Waiter: Sendable {
        let monitor: any Monitor
        /// Guarded by `monitor`.
        nonisolated(unsafe) var isServed = false
        init(_ monitor: any Monitor) { self.monitor = monitor }
    }

    init(_ scheduling: any Scheduling) {
        self.scheduling = scheduling
        monitor = scheduling.makeMonitor("write gate")
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
        let waiter: Waiter? = monitor.withLock {
            if !isHeld {
                isHeld = true
                return nil
            }
            let waiter = Waiter(scheduling.makeMonitor("writer"))
            waiters.append(waiter)
            return waiter
        }
        guard let waiter else { return true }
        scheduling.yield(at: "write gate")
        let isServed = waiter.monitor.withLock {
            while !waiter.isServed { if !waiter.monitor.wait(until: deadline) { break } }
            return waiter.isServed
        }
        if isServed || !withdraw(waiter) {
            // No longer in the queue: the releasing thread has chosen this waiter, and is about to mark it as served.
            waiter.monitor.withLock { while !waiter.isServed { waiter.monitor.wait() } }
            return true
        }
        return false
    }

    /// - Returns: false if the waiter was not in the queue any more.
    private func withdraw(_ waiter: Waiter) -> Bool {
        monitor.withLock {
            guard let place = waiters[firstWaiter...].firstIndex(where: { $0 === waiter }) else { return false }
            waiters.remove(at: place)
            return true
        }
    }

    /// Whether a thread waits for the gate.
    var hasWaiters: Bool { monitor.withLock { firstWaiter < waiters.count } }

    fileprivate func release() {
        // In a forked child, a thread of the parent may have held the monitor at the fork.
        if origin.isForked { return }
        let next: Waiter? = monitor.withLock {
            if firstWaiter == waiters.count {
                waiters.removeAll(keepingCapacity: true)
                firstWaiter = 0
                isHeld = false
                return nil
            }
            #if Zoo
                if PlantedMistake.lastWriterFirst.isPlanted { return waiters.removeLast() }
            #endif
            defer { firstWaiter += 1 }
            if firstWaiter > 64 {
                waiters.removeFirst(firstWaiter)
                firstWaiter = 0
            }
            return waiters[firstWaiter]
        }
        guard let next else { return }
        next.monitor.withLock {
            next.isServed = true
            next.monitor.wakeAll()
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
