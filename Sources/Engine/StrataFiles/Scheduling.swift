/// The storage engine's locks, waits and background threads, and the interface for controlled schedules.
///
/// A test can pass a scheduler that runs one thread at a time and chooses which one, and so visit every interleaving of
/// a few short transactions. ``SystemScheduling`` uses the platform's threads.
package protocol Scheduling: Sendable {
    /// A mutual exclusion lock with a condition. `label` names it in traces.
    func makeMonitor(_ label: String) -> any Monitor

    /// Runs `work` concurrently: on a thread of its own, or, with a deterministic scheduler, at a time that it chooses.
    /// - Returns: false if no thread could be started: `work` does not run then. It never runs on the caller's thread,
    ///   since it may not end.
    func spawn(_ label: String, _ work: @escaping @Sendable () -> Void) -> Bool

    /// A point at which a deterministic scheduler may switch threads. No effect otherwise.
    func yield(at point: StaticString)

    /// The deadline this many microseconds from now; ``Deadline/never`` without a clock, and for a time that the clock
    /// cannot hold.
    func deadline(after microseconds: Int) -> Deadline

    /// Microseconds until a deadline; 0 once it has passed.
    func remaining(until deadline: Deadline) -> Int

    /// Pauses background work, so that it leaves the disk to commits; for at most 71 minutes.
    func pause(microseconds: Int)
}

/// A lock with one condition, like POSIX's: a thread that calls `wait` or `wakeAll` holds the lock.
package protocol Monitor: AnyObject, Sendable {
    func lock()
    func unlock()
    /// Releases the lock, sleeps until a wake-up, and takes it again. May wake spuriously.
    func wait()
    func wakeAll()
    /// As ``wait()``, but not beyond a deadline.
    /// - Returns: false once the deadline has passed.
    func wait(until deadline: Deadline) -> Bool
}

/// A moment of a monotonic clock.
package struct Deadline: Sendable, Equatable {
    /// Of the platform's monotonic clock.
    var nanoseconds: UInt64

    package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// Never passes.
    package static var never: Deadline { Deadline(nanoseconds: .max) }
}

// Defaults for schedulers without a clock.
extension Scheduling {
    package func deadline(after microseconds: Int) -> Deadline { .never }
    package func remaining(until deadline: Deadline) -> Int { .max }
}

extension Monitor {
    package func wait(until deadline: Deadline) -> Bool {
        wait()
        return true
    }
}

extension Monitor {
    /// Runs `body` with the lock held.
    // Inlinable: otherwise other modules look up the metadata of both types at each call, several times in a commit.
    @inlinable
    package func withLock<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        lock()
        defer { unlock() }
        return try body()
    }
}
