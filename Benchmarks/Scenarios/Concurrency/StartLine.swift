import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Holds threads back until all of them have opened their session. Every thread has to arrive, also one that failed.
final class StartLine: Sendable {
    private let missing: Atomic<Int>

    init(count: Int) {
        missing = Atomic(count)
    }

    func arriveAndWait() {
        missing.subtract(1, ordering: .sequentiallyConsistent)
        while missing.load(ordering: .sequentiallyConsistent) > 0 { sched_yield() }
    }
}
