// A commit on its way: it is *committed* when it is the version that the next transaction builds on, *appended* when
// its record was written to the log, *durable* when it may be acknowledged, and *visible* when readers pin it. Under
// `full` durability it is durable when it is *synced*; under `periodic` a version is durable as soon as it is appended,
// and synced later. Versions pass each of these in order (invariants 3 and 6 of docs/file-format.md).
//
//     append ──► records wait ──► beginWriting ──► endWriting ──► endLead ──► durable and visible
//                     ▲
//     append(isHeldBack) ──► endBatch

/// The commits of a store from the moment that they are versions until everybody may see them.
///
/// It decides and remembers; it waits for nothing and writes nothing: whoever calls a method does what is returned, and
/// says how that ended. Guarded by the store's monitor.
struct CommitQueue {
    /// The newest version that readers pin.
    private(set) var visible: VersionState
    /// The newest version.
    private(set) var committed: VersionState
    /// The last version that may be acknowledged: durable, or written where the store's durability asks no more.
    private(set) var durable: UInt64
    /// The last version that a sync of the log, or a checkpoint, covered: what the log may claim.
    private(set) var synced: UInt64
    /// The last version whose record was written to the log.
    private(set) var appended: UInt64 = 0
    /// Some write or sync failed: what is not durable now will never be called so.
    private(set) var hasFailed = false
    /// Somebody writes what waits, and syncs it; all others wait for that.
    private(set) var isLeading = false
    /// One thread at a time writes to the log.
    private(set) var isWriting = false
    /// Versions that are committed and not visible, in order.
    private var unpublished: [VersionState] = []
    /// Records that the next leader writes.
    private var waiting = Records()
    /// Records of a batch of commits that goes on, so that no leader writes some of them without the others.
    private var heldBack = Records()

    /// Records of commits that follow one another.
    private struct Records {
        var bytes: [UInt8] = []
        /// Versions of the first and the last record; of no meaning without bytes.
        var first: UInt64 = 0
        var last: UInt64 = 0
        var isEmpty: Bool { bytes.isEmpty }

        mutating func append(_ record: some Sequence<UInt8>, _ versions: ClosedRange<UInt64>) {
            if isEmpty { first = versions.lowerBound }
            bytes.append(contentsOf: record)
            last = versions.upperBound
        }
    }

    /// - Parameter version: durable, and visible.
    init(_ version: VersionState) {
        visible = version
        committed = version
        durable = version.version
        synced = version.version
    }

    // MARK: New versions

    /// A version follows the last committed one.
    /// - Parameters:
    ///   - record: for the log; nil where the version is made durable without it.
    ///   - isHeldBack: the record is written together with those of the commits that follow, after ``endBatch()``.
    mutating func append(
        _ version: VersionState, record: UnsafeRawBufferPointer? = nil, isHeldBack: Bool = false
    ) {
        committed = version
        unpublished.append(version)
        guard let record else { return }
        if isHeldBack { return heldBack.append(record, version.version...version.version) }
        endBatch()
        waiting.append(record, version.version...version.version)
    }

    /// The next leader writes the records that were held back.
    mutating func endBatch() {
        if heldBack.isEmpty { return }
        waiting.append(heldBack.bytes, heldBack.first...heldBack.last)
        heldBack.bytes.removeAll()
    }

    /// As ``endBatch()``, if the version is one of the batch: who waits for it would wait for ever.
    mutating func endBatch(of version: UInt64) {
        if version >= heldBack.first { endBatch() }
    }

    /// Bytes of the records that no leader has taken yet.
    var waitingBytes: Int { waiting.bytes.count }

    // MARK: Making versions durable

    /// What somebody who waits for a version does next.
    enum Step {
        /// The version is durable.
        case finish
        /// It will never be durable here.
        case giveUp
        /// Writes what waits, syncs it, and says so by ``endLead(through:isSynced:wasKept:)``.
        case lead
        /// Sleeps until something has changed, and asks again.
        case sleep
    }

    /// - Parameter isOwner: this process gives out pages and makes versions.
    mutating func step(towards version: UInt64, isOwner: Bool) -> Step {
        if durable >= version { return .finish }
        // Without ownership the work went with the place that this process had, or with the process that it was based
        // on.
        if hasFailed || !isOwner || version > committed.version { return .giveUp }
        if isLeading || (waiting.isEmpty && appended <= durable) { return .sleep }
        isLeading = true
        return .lead
    }

    /// Begins a sync beside the commits, which covers what is durable and not synced yet. Nobody leads.
    /// - Returns: what it will cover; nil when there is nothing to sync. ``endSync(through:)`` is called when it
    ///   is done.
    mutating func beginSync() -> UInt64? {
        if isLeading || hasFailed || durable <= synced { return nil }
        isLeading = true
        return durable
    }

    /// Ends what ``beginSync()`` began. Before, ``fail()`` is called when it did not work.
    mutating func endSync(through version: UInt64) {
        isLeading = false
        noteSynced(version)
    }

    /// The log was synced after the record of this version had been written to it.
    mutating func noteSynced(_ version: UInt64) {
        if !hasFailed && version <= max(appended, durable) { synced = max(synced, version) }
    }

    /// Records that go to the log by one write.
    struct Writing {
        var records: [UInt8]
        var first: UInt64
        var last: UInt64
        /// The last version that is certainly on the disk.
        var durableTo: UInt64
    }

    /// Takes the records that wait. Nobody writes to the log.
    /// - Returns: what is to be written; nil when nothing waits. ``endWriting(_:isDone:keeping:)`` is called in either
    ///   case.
    mutating func beginWriting() -> Writing? {
        precondition(!isWriting, "one thread at a time writes to the log")
        isWriting = true
        if waiting.isEmpty { return nil }
        defer { waiting.bytes = [] }
        return Writing(records: waiting.bytes, first: waiting.first, last: waiting.last, durableTo: synced)
    }

    /// - Parameters:
    ///   - isDone: it is in the log. Else ``fail()`` was called before.
    ///   - keeping: nobody else may write to the log until the lead ends.
    mutating func endWriting(_ writing: Writing?, isDone: Bool, keeping: Bool) {
        if isDone, let writing { appended = max(appended, writing.last) }
        if !keeping || hasFailed { isWriting = false }
    }

    /// Ends what a step of ``Step/lead`` began.
    /// Before, ``fail()`` is called when it did not work.
    /// - Parameters:
    ///   - version: ``appended`` as it was when the sync began.
    ///   - isSynced: the log was synced; where the durability asks for no sync, it was not.
    ///   - wasKept: what was written by this lead was written ``keeping`` the log.
    /// - Returns: what is not visible any more.
    mutating func endLead(through version: UInt64, isSynced: Bool, wasKept: Bool) -> SupersededVersions? {
        isLeading = false
        if wasKept { isWriting = false }
        if hasFailed || version > appended { return nil }
        if isSynced { noteSynced(version) }
        return advance(through: version)
    }

    /// A checkpoint made versions durable, or nothing has to.
    /// - Parameter isSynced: a checkpoint did.
    /// - Returns: what is not visible any more.
    mutating func acknowledge(through version: UInt64, isSynced: Bool) -> SupersededVersions? {
        if version > committed.version { return nil }
        if isSynced { synced = max(synced, version) }
        return advance(through: version)
    }

    /// The newest durable version is what readers pin from now on.
    private mutating func advance(through version: UInt64) -> SupersededVersions? {
        durable = max(durable, version)
        var count = 0
        while count < unpublished.count, unpublished[count].version <= version { count += 1 }
        if count == 0 { return nil }
        let superseded = SupersededVersions(
            oldest: visible.version, others: count == 1 ? [] : unpublished[..<(count - 1)].map(\.version))
        visible = unpublished[count - 1]
        if count == unpublished.count {
            unpublished.removeAll(keepingCapacity: true)
        } else {
            unpublished.removeFirst(count)
        }
        return superseded
    }

    /// A write or a sync failed, of this log or of anything else that versions rest on.
    mutating func fail() { hasFailed = true }

    // MARK: Another process

    /// Another process owns writing and has made this version durable: all that this one knew of is void.
    mutating func restart(at version: VersionState) {
        visible = version
        committed = version
        durable = version.version
        synced = version.version
        appended = version.version
        unpublished = []
        waiting.bytes = []
        heldBack.bytes = []
    }
}
