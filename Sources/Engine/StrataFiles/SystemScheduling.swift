import CStrataShim
import Platform

/// The operating system's threads.
package struct SystemScheduling: Scheduling {
    package init() {}

    package func makeMonitor(_ label: String) -> any Monitor { SystemMonitor() }

    package func spawn(_ label: String, _ work: @escaping @Sendable () -> Void) -> Bool {
        let box = Unmanaged.passRetained(Work(work))
        #if canImport(Darwin)
            var thread: pthread_t?
            let body: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { @Sendable argument in
                Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }
        #else
            var thread = pthread_t()
            let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { @Sendable argument in
                if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }
        #endif
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        if pthread_create(&thread, &attributes, body, box.toOpaque()) != 0 {
            box.release()
            return false
        }
        return true
    }

    package func yield(at point: StaticString) {}

    package func deadline(after microseconds: Int) -> Deadline {
        let (span, isTooLong) = UInt64(max(microseconds, 0)).multipliedReportingOverflow(by: 1000)
        let (end, isTooLate) = strata_monotonic_time().addingReportingOverflow(span)
        return isTooLong || isTooLate ? .never : Deadline(nanoseconds: end)
    }

    package func remaining(until deadline: Deadline) -> Int {
        if deadline == .never { return .max }
        let now = strata_monotonic_time()
        return now >= deadline.nanoseconds ? 0 : Int((deadline.nanoseconds - now + 999) / 1000)
    }

    package func pause(microseconds: Int) { usleep(UInt32(clamping: microseconds)) }
}

/// The work of a new thread, as an object whose address `pthread_create` passes to it.
private final class Work: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// A POSIX mutex and condition.
///
/// In a forked child the lock has no effect: the child has one thread only, which cannot release a lock that another
/// thread of the parent held at the fork.
private final class SystemMonitor: Monitor {
    private let origin = ProcessOrigin()
    private nonisolated(unsafe) let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private nonisolated(unsafe) let condition: UnsafeMutablePointer<pthread_cond_t>

    init() {
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        strata_condition_init(condition)
    }

    deinit {
        if origin.isForked { return }
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func lock() { if !origin.isForked { pthread_mutex_lock(mutex) } }
    func unlock() { if !origin.isForked { pthread_mutex_unlock(mutex) } }
    func wait() { if !origin.isForked { pthread_cond_wait(condition, mutex) } }

    func wait(until deadline: Deadline) -> Bool {
        if deadline == .never {
            wait()
            return true
        }
        return origin.isForked || strata_condition_wait(condition, mutex, deadline.nanoseconds) == 0
    }

    func wakeAll() { if !origin.isForked { pthread_cond_broadcast(condition) } }
}
