internal import StrataFiles

/// The write lock: one transaction at a time, first come first served.
///
/// It belongs to a transaction, not to a thread. Each waiter sleeps on a monitor of its own, so that handing over wakes
/// one thread only.
final class WriteGate: Sendable {
    private let scheduling: any Scheduling
    private let monitor: any Monitor
    /// Guarded by `monitor`.
    private nonisolated(unsafe) var isHeld = false
    private nonisolated(unsafe) var waiters: [Waiter] = []
    private nonisolated(unsafe) var firstWaiter = 0

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

    func acquire() {
        let waiter: Waiter? = monitor.withLock {
            if !isHeld {
                isHeld = true
                return nil
            }
            let waiter = Waiter(scheduling.makeMonitor("writer"))
            waiters.append(waiter)
            return waiter
        }
        guard let waiter else { return }
        scheduling.yield(at: "write gate")
        waiter.monitor.withLock { while !waiter.isServed { waiter.monitor.wait() } }
    }

    func release() {
        let next: Waiter? = monitor.withLock {
            if firstWaiter == waiters.count {
                waiters.removeAll(keepingCapacity: true)
                firstWaiter = 0
                isHeld = false
                return nil
            }
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
