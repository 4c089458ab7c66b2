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
    private(set) var use = Use.open
    var observers = CommitObservers()
    /// The newest version that readers pin, and its role among other processes.
    let visible: VisibleVersion
    /// The writer's log, for the leader of a commit.
    var log: LogFile?
    var logBytes = 0

    var others = OtherProcesses()

    init(_ visible: VisibleVersion) {
        self.visible = visible
        queue = CommitQueue(visible.state)
    }

    // MARK: The end

    mutating func beginClosing() {
        use = .closing
        visible.beginClosing()
    }

    /// Takes ``beginClosing()`` back.
    mutating func reopen() {
        use = .open
        visible.reopen()
    }

    mutating func endClosing() { use = .closed }

    // MARK: What follows from it

    /// Whether this process allocates pages and makes versions.
    var isOwner: Bool { visible.isOwner }
    /// No new snapshot or transaction is begun.
    var isClosed: Bool { use != .open }
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
