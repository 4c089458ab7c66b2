/// State that the write gate guards.
struct WriterState {
    /// Reused by the next transaction.
    var workspace: WriterWorkspace?
    /// Versions that this process has committed since it opened the store, or took over writing from another process.
    var commits = 0
    var hasCommitted: Bool { commits > 0 }
    /// The log is created before the third commit: a program that only sets up its schema and loads its data once needs
    /// none.
    var wantsLog: Bool { commits >= 2 }
    /// Slot of the last guest, its consecutive turns, and ``commits`` after the last of them.
    var lent = (slot: -1, times: 0, commits: 0)
}
