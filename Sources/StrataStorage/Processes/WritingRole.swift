internal import StrataFiles

/// Which part a process has in writing to a store.
enum WritingRole {
    /// It keeps the store for itself: there is no process table.
    case alone
    /// It gives out pages and makes versions, for all that have the store open.
    case owner
    /// Another process does, or none yet.
    case beside
}

/// What a store knows of the other processes that have it open. The store's monitor guards it.
struct OtherProcesses {
    /// Which publication the visible version is.
    var publication: UInt64 = 0
    /// Versions that this process has announced.
    var announcements = 0
    /// Threads of this process whose transactions wait for another one's sync.
    var waiters = 0
    /// Whether a thread answers other processes.
    var hasAttendant = false
}
