internal import StrataFiles

/// A lock, and the state behind it.
///
/// A function that needs the lock takes the state as `inout`, or a ``Held`` if it also waits or leaves the lock
/// meanwhile: neither value exists without the lock. A closure can still copy a part of the state out, and a reference
/// in it (`VisibleVersion`, a `SpaceRegion`) then leads back to the state without the lock.
// Inlined, so that no call goes through the metadata of `State`.
struct Guarded<State>: ~Copyable, @unchecked Sendable {
    private let monitor: any Monitor
    private let state: UnsafeMutablePointer<State>

    init(_ state: State, by monitor: any Monitor) {
        self.monitor = monitor
        self.state = .allocate(capacity: 1)
        self.state.initialize(to: state)
    }

    deinit {
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Runs `body` with the lock held.
    @inline(__always)
    func withState<Value, Failure: Error>(
        _ body: (_ state: inout State) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        monitor.lock()
        defer { monitor.unlock() }
        return try body(&state.pointee)
    }

    /// As ``withState(_:)``, for a body that waits, wakes threads that wait, or leaves the lock meanwhile.
    @inline(__always)
    func whileHeld<Value, Failure: Error>(
        _ body: (_ held: inout Held) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        monitor.lock()
        defer { monitor.unlock() }
        var held = Held(monitor: monitor, pointer: state)
        return try body(&held)
    }

    /// The lock, while a thread holds it. Cannot be copied, so no closure keeps it.
    struct Held: ~Copyable {
        fileprivate let monitor: any Monitor
        fileprivate let pointer: UnsafeMutablePointer<State>

        var state: State {
            @inline(__always) _read { yield pointer.pointee }
            @inline(__always) _modify { yield &pointer.pointee }
        }

        /// Releases the lock, sleeps until ``wakeAll()``, and takes the lock again. May wake spuriously.
        @inline(__always)
        mutating func wait() { monitor.wait() }

        /// As ``wait()``, but not beyond a deadline.
        /// - Returns: false once the deadline has passed.
        @inline(__always)
        mutating func wait(until deadline: Deadline) -> Bool { monitor.wait(until: deadline) }

        /// Wakes all threads that wait.
        @inline(__always)
        mutating func wakeAll() { monitor.wakeAll() }

        /// Runs `body` without the lock. The state may have changed afterwards.
        @inline(__always)
        mutating func unlocked<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
            monitor.unlock()
            defer { monitor.lock() }
            return try body()
        }
    }
}
