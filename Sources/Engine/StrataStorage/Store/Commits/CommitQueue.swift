// States of a commit. It is *committed* when the next transaction builds on it, *appended* when its record was written
// to the log, *durable* when it may be acknowledged, and *visible* when readers pin it. Under `full` durability a
// version is durable when it is *synced*; under `periodic` it is durable as soon as it is appended, and synced later.
// Versions pass each state in order (invariants 3 and 6 of docs/file-format.md).
//
//     append ──► records wait ──► beginWriting ──► endWriting ──► endLead ──► durable and visible
//                     ▲
//     append(isHeldBack) ──► endBatch

/// The commits of a store between their commit and their visibility to all readers.
///
/// A state machine: it neither waits nor does I/O. The caller of a method carries out the returned step, and reports
/// its result. A part of ``StoreState``.
struct CommitQueue {
    /// The newest version.
    private(set) var committed: VersionState
    /// The last version that may be acknowledged: synced, or only written if the durability class asks for no more.
    private(set) var durable: UInt64
    /// The last version that a sync of the log or a checkpoint covers. A log batch may claim no more as durable.
    private(set) var synced: UInt64
    /// The last version whose record was written to the log.
    private(set) var appended: UInt64 = 0
    /// A write or sync failed: versions that are not durable by now never will be.
    private(set) var hasFailed = false
    /// A leader writes and syncs the waiting records; other threads wait for it.
    private(set) var isLeading = false
    /// One thread at a time writes to the log.
    private(set) var isWriting = false
    /// Committed versions that are not visible yet, in order.
    private var unpublished: [VersionState] = []
    /// Records that the next leader writes.
    private var waiting = Records()
    /// Records of an open commit batch. No leader may write some of them without the rest.
    private var heldBack = Records()

    /// Records of consecutive commits.
    private struct Records {
        var bytes: [UInt8] = []
        /// Versions of the first and the last record; meaningless while there are no bytes.
        var first: UInt64 = 0
        var last: UInt64 = 0
        var isEmpty: Bool { bytes.isEmpty }

        mutating func append(_ record: some Sequence<UInt8>, _ versions: ClosedRange<UInt64>) {
            if isEmpty { first = versions.lowerBound }
            bytes.append(contentsOf: record)
            last = versions.upperBound
        }
    }

    /// What becomes durable at once.
    struct Durable {
        /// The version to show.
        var newest: VersionState
        /// Versions between the one that is shown and `newest`, ascending. Empty unless several commits share a sync,
        /// so that most commits allocate nothing for it.
        var earlier: [UInt64] = []
    }

    /// - Parameter version: durable, and visible.
    init(_ version: VersionState) {
        committed = version
        durable = version.version
        synced = version.version
    }

    // MARK: New versions

    /// Adds a version that follows the last committed one.
    /// - Parameters:
    ///   - record: for the log; nil if the version is made durable without it.
    ///   - isHeldBack: the record belongs to a commit batch, and waits for ``endBatch()``.
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

    /// Ends the commit batch: the next leader writes its records.
    mutating func endBatch() {
        if heldBack.isEmpty { return }
        waiting.append(heldBack.bytes, heldBack.first...heldBack.last)
        heldBack.bytes.removeAll()
    }

    /// As ``endBatch()``, if the version belongs to the batch: a thread that waits for it would wait for ever.
    mutating func endBatch(of version: UInt64) {
        if version >= heldBack.first { endBatch() }
    }

    /// Bytes of the records that no leader has taken yet.
    var waitingBytes: Int { waiting.bytes.count }

    // MARK: Making versions durable

    /// Next step of a thread that waits for a version.
    enum Step {
        /// The version is durable.
        case finish
        /// The version will not become durable in this process.
        case giveUp
        /// Write and sync the waiting records, then call ``endLead(through:isSynced:wasKept:)``.
        case lead
        /// Sleep until the next step may be another one, and ask again.
        case sleep
    }

    /// What ``step(towards:isOwner:)`` would return.
    /// - Parameter isOwner: this process is the owner of writing.
    func nextStep(towards version: UInt64, isOwner: Bool) -> Step {
        if durable >= version { return .finish }
        // Without ownership, the commit was lost with this process's slot, or with the process whose version it was
        // based on.
        if hasFailed || !isOwner || version > committed.version { return .giveUp }
        return isLeading || (waiting.isEmpty && appended <= durable) ? .sleep : .lead
    }

    /// The next step of the calling thread, which leads from now on if that is its step.
    /// - Parameter isOwner: this process is the owner of writing.
    mutating func step(towards version: UInt64, isOwner: Bool) -> Step {
        let step = nextStep(towards: version, isOwner: isOwner)
        if step == .lead { isLeading = true }
        return step
    }

    /// Begins a sync besides those of commit leaders, for what is durable and not synced yet. No thread leads.
    /// - Returns: the last version it covers; nil if nothing is unsynced. The caller then calls ``endSync(through:)``.
    mutating func beginSync() -> UInt64? {
        if isLeading || hasFailed || durable <= synced { return nil }
        isLeading = true
        return durable
    }

    /// Ends the sync that ``beginSync()`` began. If it failed, ``fail()`` is called first.
    mutating func endSync(through version: UInt64) {
        isLeading = false
        noteSynced(version)
    }

    /// Notes a sync of the log that began after this version's record was written.
    mutating func noteSynced(_ version: UInt64) {
        if !hasFailed && version <= max(appended, durable) { synced = max(synced, version) }
    }

    /// Records that one write appends to the log.
    struct Writing {
        var records: [UInt8]
        var first: UInt64
        var last: UInt64
        /// The last version that is known to be on the disk.
        var durableTo: UInt64
    }

    /// Takes the waiting records. No other thread writes to the log.
    /// - Returns: the records to write; nil if none wait. The caller calls ``endWriting(_:isDone:keeping:)`` in either
    ///   case.
    mutating func beginWriting() -> Writing? {
        precondition(!isWriting, "one thread at a time writes to the log")
        isWriting = true
        if waiting.isEmpty { return nil }
        defer { waiting.bytes = [] }
        return Writing(records: waiting.bytes, first: waiting.first, last: waiting.last, durableTo: synced)
    }

    /// - Parameters:
    ///   - isDone: the records are in the log. If not, ``fail()`` was called before.
    ///   - keeping: excludes other writers of the log until the lead ends.
    mutating func endWriting(_ writing: Writing?, isDone: Bool, keeping: Bool) {
        if isDone, let writing { appended = max(appended, writing.last) }
        if !keeping || hasFailed { isWriting = false }
    }

    /// Ends a lead. If it failed, ``fail()`` is called first.
    /// - Parameters:
    ///   - version: ``appended`` as it was when the sync began.
    ///   - isSynced: the log was synced; false if the durability class asks for no sync.
    ///   - wasKept: the records were written with ``keeping``.
    /// - Returns: what the caller makes visible.
    mutating func endLead(through version: UInt64, isSynced: Bool, wasKept: Bool) -> Durable? {
        isLeading = false
        if wasKept { isWriting = false }
        if hasFailed || version > appended { return nil }
        if isSynced { noteSynced(version) }
        return advance(through: version)
    }

    /// Notes that a checkpoint made versions durable, or that the durability class asks for nothing more.
    /// - Parameter isSynced: a checkpoint did.
    /// - Returns: what the caller makes visible.
    mutating func acknowledge(through version: UInt64, isSynced: Bool) -> Durable? {
        if version > committed.version { return nil }
        if isSynced { synced = max(synced, version) }
        return advance(through: version)
    }

    private mutating func advance(through version: UInt64) -> Durable? {
        durable = max(durable, version)
        var count = 0
        while count < unpublished.count, unpublished[count].version <= version { count += 1 }
        if count == 0 { return nil }
        let found = Durable(
            newest: unpublished[count - 1],
            earlier: count == 1 ? [] : unpublished[..<(count - 1)].map(\.version))
        if count == unpublished.count {
            unpublished.removeAll(keepingCapacity: true)
        } else {
            unpublished.removeFirst(count)
        }
        return found
    }

    /// Notes that a write or sync failed, of the log or of any pages that versions consist of.
    mutating func fail() { hasFailed = true }

    // MARK: Another process

    /// Starts over at a version that another process made durable. All state of this process's own commits is void.
    mutating func restart(at version: VersionState) {
        committed = version
        durable = version.version
        synced = version.version
        appended = version.version
        unpublished = []
        waiting.bytes = []
        heldBack.bytes = []
    }
}
