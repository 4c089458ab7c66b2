import Platform
import Synchronization

/// A barrier that holds threads until all have opened their session. Every thread must arrive, even after a failure.
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
