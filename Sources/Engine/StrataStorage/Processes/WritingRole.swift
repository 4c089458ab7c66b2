internal import StrataFiles

/// A process's part in writing to a store.
enum WritingRole {
    /// The process keeps the store for itself: there is no process table.
    case alone
    /// The process allocates pages and makes versions, for all processes that have the store open.
    case owner
    /// Another process is the owner, or none is yet.
    case beside
}

/// A store's state about other processes that have it open. Guarded by the store's lock.
struct OtherProcesses {
    /// Threads of this process that wait until the owner, another process, has published a version.
    var waiters = 0
    /// Whether the attendant's thread runs.
    var hasAttendant = false
}
