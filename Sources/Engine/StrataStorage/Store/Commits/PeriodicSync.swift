internal import StrataFiles

/// Syncs the log periodically under `periodic` durability. A commit returns when its record is written; it is on the
/// disk one interval later at the latest, or once the limit of unsynced bytes is reached.
///
/// Concurrency: commits call it with the write gate held; the sync at the end of an interval runs on a thread of its
/// own.
final class PeriodicSync: Sendable {
    private let commits: Commits
    private let scheduling: any Scheduling
    /// Microseconds.
    private let interval: Int
    private let mostBytes: Int
    /// Bytes written since the last sync by a commit. Guarded by the write gate.
    @exclusivity(unchecked) private nonisolated(unsafe) var unsyncedBytes = 0

    init(_ commits: Commits, _ options: StoreOptions) {
        self.commits = commits
        scheduling = options.scheduling
        interval = options.periodicInterval
        mostBytes = options.periodicBytes
    }

    /// Resets the count after another process owned writing: earlier bytes are synced, or lost with their process.
    func restart() { unsyncedBytes = 0 }

    /// Writes the record of a version at once, and schedules its sync. The write gate is held.
    /// - Throws: `commitOutcomeUnknown`.
    func write(_ version: UInt64, _ log: LogFile?) throws(StorageError) {
        let bytes = commits.withState { $0.queue.waitingBytes }
        if !commits.waitUntilDurable(version) { throw .commitOutcomeUnknown(TransactionID(version)) }
        unsyncedBytes += bytes
        promise()
        guard unsyncedBytes >= mostBytes, let log else { return }
        unsyncedBytes = 0
        do throws(StorageError) { try log.sync() } catch {
            commits.poison()
            throw .commitOutcomeUnknown(TransactionID(version))
        }
        commits.withState { $0.noteSynced(version) }
    }

    /// Schedules a sync at the end of the interval, unless there is one.
    private func promise() {
        guard commits.withState({ $0.promiseSync() }) else { return }
        let hasThread = scheduling.spawn("periodic sync") { [weak self, scheduling, interval] in
            scheduling.pause(microseconds: interval)
            // A store that was released meanwhile was closed, and synced, or has dropped its commits.
            self?.keepPromise()
        }
        // Without a thread there is no sync at the end of the interval, so it is done now.
        if !hasThread { keepPromise() }
    }

    /// Syncs the log as its leader, so that no other thread appends to it or closes it meanwhile.
    private func keepPromise() {
        commits.whileHeld { held in
            held.state.takePromise()
            while held.state.queue.isLeading { held.wait() }
            guard let (log, version) = held.state.beginPromisedSync() else { return }
            let isDone = held.unlocked {
                do throws(StorageError) { try log.sync() } catch { return false }
                return true
            }
            if !isDone { commits.fail(&held.state) }
            held.state.endSync(through: version)
            commits.wakeWaiters(&held, after: .promisedSync)
        }
    }
}
