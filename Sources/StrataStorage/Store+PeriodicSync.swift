internal import StrataFiles

// Under `periodic` durability a commit returns at once, and is durable at the latest one interval later.

extension Store {
    /// Sees that what was just committed is synced at the end of the interval. The write gate is held.
    func promiseSync() {
        let isFirst = monitor.withLock {
            defer { state.isSyncPromised = true }
            return !state.isSyncPromised
        }
        guard isFirst else { return }
        let interval = options.periodicInterval
        options.scheduling.spawn("periodic sync") { [weak self, scheduling = options.scheduling] in
            scheduling.pause(microseconds: interval)
            // A store that was let go of meanwhile was closed first, or gave its commits up.
            self?.syncPromised()
        }
    }

    /// Syncs what was written to the log, as its leader: nobody appends or closes it meanwhile.
    private func syncPromised() {
        monitor.lock()
        defer { monitor.unlock() }
        state.isSyncPromised = false
        while state.isLeading { monitor.wait() }
        guard !state.isClosed, !state.isPoisoned, state.durable > state.synced, let log = state.log else { return }
        let version = state.durable
        state.isLeading = true
        monitor.unlock()
        var isDone = false
        do throws(StorageError) {
            try log.sync()
            isDone = true
        } catch { isDone = false }
        monitor.lock()
        if isDone { state.synced = max(state.synced, version) } else { state.isPoisoned = true }
        state.isLeading = false
        monitor.wakeAll()
    }
}
