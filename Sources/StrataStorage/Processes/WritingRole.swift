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

/// What a store knows of other processes that have it open. Guarded by the store's monitor.
struct OtherProcesses {
    /// Number of the publication that is the visible version.
    var publication: UInt64 = 0
    /// Count of versions that this process has announced.
    var announcements = 0
    /// Threads of this process whose commits wait for another process's sync.
    var waiters = 0
    /// Whether the attendant's thread runs.
    var hasAttendant = false
}
