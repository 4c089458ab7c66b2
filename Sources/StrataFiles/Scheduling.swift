/// Where the storage engine waits, wakes and starts background work: the schedule seam.
///
/// A test hands in a scheduler that lets one thread run at a time and chooses which, so every interleaving of a short
/// history can be visited. ``SystemScheduling`` uses the platform's threads.
package protocol Scheduling: Sendable {
    /// A mutual exclusion lock with a condition. `label` names it in traces.
    func makeMonitor(_ label: String) -> any Monitor

    /// Runs `work` beside the caller: on a thread of its own, or, for a deterministic scheduler, when it chooses to.
    /// - Returns: false where no thread is to be had: the work is not done then, and the caller does without. It is
    ///   never run in the caller's place, since it may have no end.
    func spawn(_ label: String, _ work: @escaping @Sendable () -> Void) -> Bool

    /// A place where a deterministic scheduler may switch. Does nothing otherwise.
    func yield(at point: StaticString)

    /// The moment so many microseconds from now; ``Deadline/never`` where no time passes.
    func deadline(after microseconds: Int) -> Deadline

    /// Microseconds until a moment; 0 when it has passed.
    func remaining(until deadline: Deadline) -> Int

    /// Pauses background work, so that it leaves the disk to commits.
    func pause(microseconds: Int)
}

/// A lock with one condition, as POSIX has it: `wait` and `wakeAll` are called with the lock held.
package protocol Monitor: AnyObject, Sendable {
    func lock()
    func unlock()
    /// Gives the lock up, sleeps until a wake-up, and takes it again. May return without one.
    func wait()
    func wakeAll()
    /// As ``wait()``, but not beyond a moment.
    /// - Returns: false when that moment has passed.
    func wait(until deadline: Deadline) -> Bool
}

/// A moment of a clock that only goes forward.
package struct Deadline: Sendable, Equatable {
    /// Of the platform's monotonic clock.
    var nanoseconds: UInt64

    package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// Never comes.
    package static var never: Deadline { Deadline(nanoseconds: .max) }
}

// For schedulers without a clock.
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
    // Inlinable: other modules would look up the metadata of both types at each call, several times in a commit.
    @inlinable
    package func withLock<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        lock()
        defer { unlock() }
        return try body()
    }
}
