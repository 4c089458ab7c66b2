internal import StrataFiles

/// The write lock: one transaction at a time, first come first served.
///
/// It belongs to a transaction, not to a thread. Each waiter sleeps on a monitor of its own, so that handing over wakes
/// one thread only.
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

    /// - Returns: nil when the moment passed first; the gate is somebody else's then.
    func acquire(until deadline: Deadline) -> WritePermit? {
        if wait(until: deadline) { return WritePermit(self) }
        return nil
    }

    /// Waits for the gate, and has it for as long as `body` takes.
    func whileHeld<Value, Failure: Error>(
        _ body: (borrowing WritePermit) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let permit = acquire()
        return try body(permit)
    }

    /// - Returns: false when the moment passed first.
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
            // Not in the queue any more: whoever left the gate has chosen this waiter, and says so in a moment.
            waiter.monitor.withLock { while !waiter.isServed { waiter.monitor.wait() } }
            return true
        }
        return false
    }

    /// - Returns: false when the waiter was not in the queue any more.
    private func withdraw(_ waiter: Waiter) -> Bool {
        monitor.withLock {
            guard let place = waiters[firstWaiter...].firstIndex(where: { $0 === waiter }) else { return false }
            waiters.remove(at: place)
            return true
        }
    }

    /// Whether anybody waits for the gate.
    var hasWaiters: Bool { monitor.withLock { firstWaiter < waiters.count } }

    fileprivate func release() {
        // In a child that was forked off since, the parent's threads may have been just here.
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

/// Possession of a store's write gate. There is one at a time: whoever has it may change what the gate guards. It goes
/// from hand to hand by the functions that take one or return one; the gate is free again when it is given back, or
/// goes out of scope.
struct WritePermit: ~Copyable {
    /// Its store has the gate, and whoever has a permit has the store.
    private unowned(unsafe) let gate: WriteGate

    fileprivate init(_ gate: WriteGate) { self.gate = gate }

    deinit { gate.release() }

    /// Lets the next writer in.
    consuming func giveBack() {}
}
