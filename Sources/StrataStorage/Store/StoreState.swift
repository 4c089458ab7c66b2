/// State that the store's monitor guards.
struct StoreState {
    /// Stages of a store's life.
    enum Use {
        case open
        /// A thread closes it; further calls of close wait for that thread.
        case closing
        /// Closed; the last pin closes the file.
        case closed
    }

    var queue: CommitQueue
    var use = Use.open
    var observers = CommitObservers()
    var pins: VersionPins
    /// The writer's log, for the leader of a commit.
    var log: LogFile?
    var logBytes = 0

    // With other processes
    /// Changes only with the write gate held, too.
    var role: WritingRole
    var others = OtherProcesses()
    /// Whether this process allocates pages and makes versions.
    var isOwner: Bool { role != .beside }

    /// - Parameter isShared: whether there is a process table.
    init(_ version: VersionState, isShared: Bool) {
        role = isShared ? .beside : .alone
        queue = CommitQueue(version)
        // A process slot has room for a limited number of pins.
        pins = isShared ? VersionPins(mostVersions: ProcessTable.Layout.pinsPerSlot) : VersionPins()
    }

    /// No new snapshot or transaction is begun.
    var isClosed: Bool { use != .open }
    /// The newest version that readers pin.
    var visible: VersionState { queue.visible }
    /// The newest version, which may not be durable yet.
    var committed: VersionState { queue.committed }
    /// The last version that may be acknowledged.
    var durable: UInt64 { queue.durable }
    /// A write or sync failed: no process writes any more.
    var isPoisoned: Bool { queue.hasFailed }

    var isUsable: Bool { !isClosed && !isPoisoned }
    /// The store is closed or poisoned for good.
    var isOver: Bool { use == .closed || isPoisoned }
}
