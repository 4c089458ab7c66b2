internal import StrataFiles

/// A thread that leads the syncs of what a process commits for others, so that the one that serves them goes on
/// meanwhile. Started when it is needed.
final class GroupLeader: Sendable {
    private let scheduling: any Scheduling
    private let monitor: any Monitor
    /// Guarded by `monitor`.
    private nonisolated(unsafe) var isStarted = false
    /// Guarded by `monitor`.
    private nonisolated(unsafe) var isCalled = false

    /// Microseconds after which the thread looks whether its store is still there.
    private static let pause = 1_000_000

    init(_ scheduling: any Scheduling) {
        self.scheduling = scheduling
        monitor = scheduling.makeMonitor("group leader")
    }

    /// Sees that everything that was committed is made durable.
    func call(_ commits: Commits) {
        let isFirst = monitor.withLock {
            isCalled = true
            monitor.wakeAll()
            defer { isStarted = true }
            return !isStarted
        }
        guard isFirst, let processes = commits.processes else { return }
        let hasThread = scheduling.spawn("group leader") { [weak commits, self] in
            while !processes.isEnded {
                if !wait() { continue }
                guard let commits else { return }
                Self.makeDurable(commits)
                commits.deliverNotices()
            }
        }
        if hasThread { return }
        // This group is led by whoever asked; the next call tries for a thread again.
        monitor.withLock { (isStarted, isCalled) = (false, false) }
        Self.makeDurable(commits)
    }

    private func wait() -> Bool {
        let deadline = scheduling.deadline(after: Self.pause)
        return monitor.withLock {
            if !isCalled { _ = monitor.wait(until: deadline) }
            defer { isCalled = false }
            return isCalled
        }
    }

    private static func makeDurable(_ commits: Commits) {
        // A failure poisons the store, which whoever waits sees.
        _ = commits.waitUntilDurable(commits.newest.version)
    }
}
