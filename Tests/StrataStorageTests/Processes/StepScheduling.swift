import StrataFiles
import Synchronization

/// The platform's threads, except that background work with one label is queued, and runs when the test calls
/// ``runStep()``.
final class StepScheduling: Scheduling {
    private let label: String
    private let waiting = Mutex<[@Sendable () -> Void]>([])

    init(holding label: String) { self.label = label }

    func makeMonitor(_ label: String) -> any Monitor { SystemScheduling().makeMonitor(label) }
    func yield(at point: StaticString) {}
    func deadline(after microseconds: Int) -> Deadline { SystemScheduling().deadline(after: microseconds) }
    func remaining(until deadline: Deadline) -> Int { SystemScheduling().remaining(until: deadline) }
    func pause(microseconds: Int) {}

    func spawn(_ label: String, _ work: @escaping @Sendable () -> Void) -> Bool {
        guard label == self.label else { return SystemScheduling().spawn(label, work) }
        waiting.withLock { $0.append(work) }
        return true
    }

    /// Runs the queued work, but not work that it queues.
    /// - Returns: whether any work was queued.
    func runStep() -> Bool {
        let work = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for each in work { each() }
        return !work.isEmpty
    }
}
