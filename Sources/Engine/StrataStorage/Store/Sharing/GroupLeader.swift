internal import StrataFiles

/// A thread of the owner that leads the syncs of commits made for guests, so that the attendant can serve the next
/// process meanwhile. It is started at the first call.
final class GroupLeader: Sendable {
    private let scheduling: any Scheduling
    private let calls: Guarded<(isStarted: Bool, isCalled: Bool)>

    /// Microseconds after which the thread checks that its store still exists.
    private static let pause = 1_000_000

    init(_ scheduling: any Scheduling) {
        self.scheduling = scheduling
        calls = Guarded((isStarted: false, isCalled: false), by: scheduling.makeMonitor("group leader"))
    }

    /// Wakes the thread, which makes every commit so far durable. Returns at once, unless no thread could be started.
    func call(_ commits: Commits) {
        let isFirst = calls.whileHeld { held in
            held.state.isCalled = true
            held.wakeAll()
            defer { held.state.isStarted = true }
            return !held.state.isStarted
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
        // Without a thread the caller leads this sync; the next call tries again to start one.
        calls.withState { $0 = (false, false) }
        Self.makeDurable(commits)
    }

    private func wait() -> Bool {
        let deadline = scheduling.deadline(after: Self.pause)
        return calls.whileHeld { held in
            if !held.state.isCalled { _ = held.wait(until: deadline) }
            defer { held.state.isCalled = false }
            return held.state.isCalled
        }
    }

    private static func makeDurable(_ commits: Commits) {
        // A failure poisons the store; the threads that wait for the commit see that.
        _ = commits.waitUntilDurable(commits.newest.version)
    }
}
