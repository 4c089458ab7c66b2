/// What the lock of an open store guards, and the transitions between its states.
///
/// A transition changes every part that it concerns. Each stands here once, and callers use no other way; a test makes
/// them in any order (`StoreStateTests`). A version that a transition returns as superseded loses one protection
/// in the allocator; its caller ends that.
struct StoreState {
    /// Stages of a store's life.
    enum Use {
        case open
        /// A thread closes it; further calls of close wait for that thread.
        case closing
        /// Closed; the last pin closes the file.
        case closed
    }

    private(set) var queue: CommitQueue
    private(set) var use = Use.open
    var observers = CommitObservers()
    /// The newest version that readers pin, and its role among other processes.
    let visible: VisibleVersion
    /// The writer's log, for the leader of a commit. Nil in a process that does not own writing.
    private(set) var log: LogFile?
    private(set) var others = OtherProcesses()
    /// Threads that sleep until their commits are durable.
    private var waiters = CommitWaiters()
    /// A checkpoint is being written in the background.
    private(set) var isCheckpointing = false
    /// A thread will sync the log at the end of the interval, under ``Durability/periodic``.
    private(set) var isSyncPromised = false

    init(_ visible: VisibleVersion) {
        self.visible = visible
        queue = CommitQueue(visible.state)
    }

    // MARK: New versions

    /// Adds a version of this process, which owns writing.
    /// - Parameters:
    ///   - record: for the log; nil if the version is made durable without it.
    ///   - isHeldBack: the record belongs to an open commit batch.
    ///   - isDurable: the durability class asks for nothing more, so the version becomes visible at once.
    ///   - notice: for observers.
    mutating func append(
        _ version: VersionState, record: UnsafeRawBufferPointer?, isHeldBack: Bool, isDurable: Bool,
        notice: @autoclosure () -> CommitNotice
    ) -> SupersededVersions? {
        queue.append(version, record: record, isHeldBack: isHeldBack)
        #if Zoo
            visible.shareEarly(version)
        #endif
        // A version that is visible at once is of no interest to observers that come later.
        if !isDurable || !observers.isEmpty { observers.note(notice()) }
        return isDurable ? show(queue.acknowledge(through: version.version, isSynced: false)) : nil
    }

    /// A checkpoint made a version durable, and all before it.
    mutating func acknowledge(through version: UInt64) -> SupersededVersions? {
        show(queue.acknowledge(through: version, isSynced: true))
    }

    /// Makes a version visible that a recovery has made durable.
    mutating func showRecovered(_ version: VersionState) -> SupersededVersions? {
        queue.append(version)
        return acknowledge(through: version.version)
    }

    /// Makes the newest durable version visible.
    private mutating func show(_ durable: CommitQueue.Durable?) -> SupersededVersions? {
        guard let durable else { return nil }
        let superseded = visible.replace(by: durable)
        observers.becameVisible(visible.version)
        return superseded
    }

    // MARK: Making versions durable

    /// Next step of a thread that waits for a version.
    mutating func step(towards version: UInt64) -> CommitQueue.Step { queue.step(towards: version, isOwner: isOwner) }

    /// A thread is about to sleep until a version is durable.
    mutating func add(_ waiter: CommitWaiter) { waiters.add(waiter) }

    /// As ``CommitWaiters/takeReady(_:isOwner:)``.
    mutating func takeReadyWaiters() -> ReadyWaiters {
        if waiters.isEmpty { return ReadyWaiters() }
        return waiters.takeReady(queue, isOwner: isOwner)
    }

    /// Ends the commit batch.
    mutating func endBatch() { queue.endBatch() }

    /// Ends the commit batch if the version belongs to it.
    mutating func endBatch(of version: UInt64) { queue.endBatch(of: version) }

    /// As ``CommitQueue/beginWriting()``.
    mutating func beginWriting() -> CommitQueue.Writing? { queue.beginWriting() }

    /// As ``CommitQueue/endWriting(_:isDone:keeping:)``.
    mutating func endWriting(_ writing: CommitQueue.Writing?, isDone: Bool, keeping: Bool) {
        queue.endWriting(writing, isDone: isDone, keeping: keeping)
    }

    /// Ends a lead, and makes its versions visible. If it failed, ``fail()`` is called first.
    mutating func endLead(through version: UInt64, isSynced: Bool, wasKept: Bool) -> SupersededVersions? {
        show(queue.endLead(through: version, isSynced: isSynced, wasKept: wasKept))
    }

    /// A write or sync failed: no later version becomes durable in this process.
    mutating func fail() { queue.fail() }

    /// Notes a log that this process has made. It owns writing.
    mutating func begin(_ made: LogFile) { log = made }

    // MARK: Periodic syncs

    /// - Returns: whether no sync was promised before: the caller then starts a thread that keeps the promise.
    mutating func promiseSync() -> Bool {
        defer { isSyncPromised = true }
        return !isSyncPromised
    }

    /// Begins the sync that was promised; a later commit promises another one. No thread leads.
    /// - Returns: nil if there is nothing to sync. The caller then calls ``endSync(through:)``.
    mutating func beginPromisedSync() -> (log: LogFile, version: UInt64)? {
        guard !isClosed, let log, let version = queue.beginSync() else { return nil }
        return (log, version)
    }

    /// The thread that promised a sync is about to make it.
    mutating func takePromise() { isSyncPromised = false }

    /// Ends the sync that ``beginPromisedSync()`` began. If it failed, ``fail()`` is called first.
    mutating func endSync(through version: UInt64) { queue.endSync(through: version) }

    /// As ``CommitQueue/noteSynced(_:)``.
    mutating func noteSynced(_ version: UInt64) { queue.noteSynced(version) }

    // MARK: Checkpoints

    mutating func beginCheckpoint() { isCheckpointing = true }
    mutating func endCheckpoint() { isCheckpointing = false }

    // MARK: Ownership of writing

    /// This process owns writing from now on. It has no log yet, and no commits of its own.
    /// - Returns: versions to protect for their pins, each as often as it is listed.
    mutating func becomeOwner() -> [UInt64] {
        let versions = visible.becomeOwner()
        log = nil
        queue.restart(at: visible.state)
        return versions
    }

    /// This process does not own writing from now on. No thread leads.
    /// - Parameter isNewest: the visible version is the newest one.
    mutating func leaveOwnership(isNewest: Bool) {
        visible.endOwnership(isNewest: isNewest)
        log = nil
    }

    /// Makes a version of another process visible.
    /// - Parameter publication: its number.
    mutating func follow(_ version: VersionState, publication: UInt64) {
        observers.follow(version, after: visible.state)
        queue.restart(at: version)
        visible.follow(version, publication: publication)
    }

    // MARK: Other processes

    /// - Returns: whether the attendant's thread does not run: the caller starts it.
    mutating func beginAttending() -> Bool {
        defer { others.hasAttendant = true }
        return !others.hasAttendant
    }

    /// The attendant's thread could not be started.
    mutating func endAttending() { others.hasAttendant = false }

    /// Counts threads that wait until the owner, another process, has published a version.
    /// - Returns: how many wait now.
    mutating func changeWaiters(by count: Int) -> Int {
        others.waiters += count
        return others.waiters
    }

    // MARK: The end

    /// Refuses new pins and transactions from now on.
    mutating func beginClosing() {
        use = .closing
        visible.beginClosing()
    }

    /// Takes ``beginClosing()`` back.
    mutating func reopen() {
        use = .open
        visible.reopen()
    }

    /// Ends all use. No thread leads.
    /// - Parameter hasFailed: the close failed. Threads that still wait for a commit must not write to the closed log:
    ///   the number of its descriptor may belong to another file by then.
    mutating func endClosing(hasFailed: Bool) {
        if hasFailed { queue.fail() }
        log = nil
        use = .closed
    }

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
    /// Size of the log's file.
    var logBytes: Int { log?.byteCount ?? 0 }

    var isUsable: Bool { !isClosed && !isPoisoned }
    /// The store is closed or poisoned for good.
    var isOver: Bool { use == .closed || isPoisoned }
    /// The store is closed, and no version is pinned: the file can be closed.
    var isUnused: Bool { use == .closed && !visible.isPinned }
}
