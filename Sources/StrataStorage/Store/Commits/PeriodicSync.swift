internal import StrataFiles

/// Syncs the log every now and then under `periodic` durability: a commit returns when it is written, and is on the
/// disk at the latest one interval later, or when so many bytes were written since the last sync.
///
/// Concurrency: a commit calls it with the write gate held; the sync at the end of an interval comes on a thread of its
/// own.
final class PeriodicSync: Sendable {
    private let commits: Commits
    private let scheduling: any Scheduling
    /// Microseconds.
    private let interval: Int
    private let mostBytes: Int
    /// Written since the last sync by a commit. Guarded by the write gate.
    @exclusivity(unchecked) private nonisolated(unsafe) var unsyncedBytes = 0
    /// A sync was promised for the end of the interval. Guarded by the monitor of `commits`.
    @exclusivity(unchecked) private nonisolated(unsafe) var isPromised = false

    init(_ commits: Commits, _ options: StoreOptions) {
        self.commits = commits
        scheduling = options.scheduling
        interval = options.periodicInterval
        mostBytes = options.periodicBytes
    }

    /// Another process has written: what was written before is synced, or is not this process's.
    func restart() { unsyncedBytes = 0 }

    /// Writes the record of a version at once and sees that it is synced. The write gate is held.
    /// - Throws: `commitOutcomeUnknown`.
    func write(_ version: UInt64, _ log: LogFile?) throws(StorageError) {
        let bytes = commits.monitor.withLock { commits.state.queue.waitingBytes }
        if !commits.waitUntilDurable(version) { throw .commitOutcomeUnknown(TransactionID(version)) }
        unsyncedBytes += bytes
        promise()
        guard unsyncedBytes >= mostBytes, let log else { return }
        unsyncedBytes = 0
        do throws(StorageError) { try log.sync() } catch {
            commits.poison()
            throw .commitOutcomeUnknown(TransactionID(version))
        }
        commits.monitor.withLock { commits.state.queue.noteSynced(version) }
    }

    /// Sees that what was just written is synced at the end of the interval.
    private func promise() {
        let isFirst = commits.monitor.withLock {
            defer { isPromised = true }
            return !isPromised
        }
        guard isFirst else { return }
        let hasThread = scheduling.spawn("periodic sync") { [weak self, scheduling, interval] in
            scheduling.pause(microseconds: interval)
            // A store that was let go of meanwhile was closed first, or gave its commits up.
            self?.keepPromise()
        }
        // Without a thread nobody comes back at the end of the interval: what was committed is synced now.
        if !hasThread { keepPromise() }
    }

    /// Syncs what was written to the log, as its leader: nobody appends or closes it meanwhile.
    private func keepPromise() {
        let monitor = commits.monitor
        monitor.lock()
        defer { monitor.unlock() }
        isPromised = false
        while commits.state.queue.isLeading { monitor.wait() }
        guard !commits.state.isClosed, let log = commits.state.log, let version = commits.state.queue.beginSync() else {
            return
        }
        monitor.unlock()
        var isDone = false
        do throws(StorageError) {
            try log.sync()
            isDone = true
        } catch { isDone = false }
        monitor.lock()
        if !isDone { commits.fail() }
        commits.state.queue.endSync(through: version)
        monitor.wakeAll()
    }
}
