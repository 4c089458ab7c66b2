/// What a store's lock guards.
struct StoreState {
    /// What may still be done with a store.
    enum Use {
        case open
        /// Somebody closes it. Whoever closes it too waits for the end of that.
        case closing
        /// Over; the last pin lets the file go.
        case closed
    }

    var queue: CommitQueue
    var use = Use.open
    var observers = CommitObservers()
    var pins: VersionPins
    /// The writer's log, for whoever leads a group.
    var log: LogFile?
    var logBytes = 0

    // With other processes
    /// Changes with the write gate held too.
    var role: WritingRole
    var others = OtherProcesses()
    /// Whether this process gives out pages and makes versions.
    var isOwner: Bool { role != .beside }

    /// - Parameter isShared: there is a process table.
    init(_ version: VersionState, isShared: Bool) {
        role = isShared ? .beside : .alone
        queue = CommitQueue(version)
        // Other processes have room for so many of this one's.
        pins = isShared ? VersionPins(mostVersions: ProcessTable.Layout.pinsPerSlot) : VersionPins()
    }

    /// Nothing is begun any more.
    var isClosed: Bool { use != .open }
    /// The newest version that readers pin.
    var visible: VersionState { queue.visible }
    /// The newest version, which may not be durable yet.
    var committed: VersionState { queue.committed }
    /// The last version that may be acknowledged.
    var durable: UInt64 { queue.durable }
    /// A write or a sync failed: nothing is written any more, by this process or by another.
    var isPoisoned: Bool { queue.hasFailed }

    var isUsable: Bool { !isClosed && !isPoisoned }
    /// Nothing will ever be begun again.
    var isOver: Bool { use == .closed || isPoisoned }
}
