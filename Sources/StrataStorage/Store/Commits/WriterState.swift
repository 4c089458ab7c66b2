/// What the write gate guards.
struct WriterState {
    /// Kept from transaction to transaction.
    var workspace: WriterWorkspace?
    /// Versions that this session has made.
    var commits = 0
    var hasCommitted: Bool { commits > 0 }
    /// The log is made before the commit after so many: a session that sets up its schema and loads its data once
    /// needs none.
    var wantsLog: Bool { commits >= 2 }
    /// Whom the turn was lent last, how often in a row, and ``commits`` after it.
    var lent = (slot: -1, times: 0, commits: 0)
}
