/// Contents of a checkpoint that is to be written.
struct CheckpointPlan: Sendable {
    /// The version that the data file alone will hold.
    var version: UInt64
    var slot: HeaderSlot
    var slotIndex: Int
    /// Runs of dirty pages to write back before the sync.
    var dirty: [Range<Int>]
    /// Version of the previous checkpoint. It loses its protection once this checkpoint is durable.
    var previous: UInt64
}

/// The header slots and the pages written since the last checkpoint; decides what the next one writes.
///
/// Does no I/O. Guarded by the write gate.
struct Checkpointer {
    /// Where commits go after a checkpoint.
    enum Continuation {
        /// To this half of the log. A sync has covered the log's records up to LSN `reach`.
        case log(segment: Int, reach: UInt64)
        /// There is no log.
        case withoutLog
        /// There are no more commits: the slot is the first of the two clean ones.
        case clean
    }

    /// The slot in force, or the one that a running checkpoint writes.
    private(set) var slot: HeaderSlot
    /// Which of the two places `slot` has: 0 or 1.
    private(set) var slotIndex: Int
    private var dirty = DirtyPages()
    /// Pages below this one were written at least once.
    private var writtenEnd: Int
    /// A slot was planned since the log changed halves. Once that slot is durable, replay needs no record of the
    /// inactive half.
    private var hasFreedSegment = false
    /// The directory was synced since this process opened the store.
    private(set) var isNameDurable = false

    /// - Parameter writtenEnd: the end of the pages that were written at least once.
    init(slot: HeaderSlot, index: Int, writtenEnd: Int) {
        self.slot = slot
        slotIndex = index
        self.writtenEnd = writtenEnd
    }

    /// Continues from a checkpoint that another process made.
    mutating func resume(from slot: HeaderSlot, index: Int, writtenEnd: Int) {
        let isNameDurable = isNameDurable
        self = Checkpointer(slot: slot, index: index, writtenEnd: writtenEnd)
        self.isNameDurable = isNameDurable
    }

    // MARK: Pages

    /// Whether a page before `end` may never have been written.
    func isFresh(before end: Int) -> Bool { end > writtenEnd }

    /// Notes pages that were written and not synced.
    mutating func noteWritten(_ run: Range<Int>) {
        writtenEnd = max(writtenEnd, run.upperBound)
        dirty.insert(run)
    }

    /// Notes pages that a transaction wrote before its commit.
    mutating func noteWrittenEarly(_ run: Range<Int>) { dirty.insert(run) }

    /// Notes that the file was truncated to this size.
    mutating func noteCut(to pages: Int) { writtenEnd = min(writtenEnd, pages) }

    /// Bytes that a sync of the data file has to write; a page that was written several times counts once.
    var dirtyBytes: Int { dirty.count * Format.pageSize }

    mutating func noteNameDurable() { isNameDurable = true }

    // MARK: Checkpoints

    /// Whether the inactive half of the log may be overwritten: true for the first call after each checkpoint. No
    /// checkpoint is running.
    mutating func takesFreedSegment() -> Bool {
        defer { hasFreedSegment = false }
        return hasFreedSegment
    }

    /// Plans the checkpoint of a version, and takes the dirty pages. The version's free map is written, and no
    /// checkpoint is running.
    mutating func plan(
        _ version: VersionState, map: NodeReference, pageCount: Int, then continuation: Continuation
    ) -> CheckpointPlan {
        var next = slot
        next.sequence += 1
        next.checkpoint = TransactionID(version.version)
        next.root = version.root
        next.freeMap = map
        next.pageCount = UInt64(pageCount)
        switch continuation {
        case .clean:
            // In a session without a log the slot in force is still clean. If the process dies after it has written the
            // next slot, two clean slots differ. Without the mark an open would take that for a lost write.
            let isOverClean = slot.isClean
            next.makeClean()
            if isOverClean { next.flags = HeaderSlot.withoutLog }
        case .log(let segment, let reach):
            next.logRequired = true
            next.logHalf = UInt32(segment)
            next.logReach = reach
        case .withoutLog: next.flags = HeaderSlot.withoutLog
        }
        let plan = CheckpointPlan(
            version: version.version, slot: next, slotIndex: 1 - slotIndex, dirty: dirty.takeRuns(),
            previous: slot.checkpoint.rawValue)
        adopt(next)
        hasFreedSegment = true
        return plan
    }

    /// The slot as it is to be written over the one that is not in force, and its index.
    func successor(_ slot: HeaderSlot) -> (slot: HeaderSlot, index: Int) {
        var slot = slot
        slot.sequence = self.slot.sequence + 1
        return (slot, 1 - slotIndex)
    }

    /// Notes that the other slot is in force now.
    mutating func adopt(_ slot: HeaderSlot) {
        self.slot = slot
        slotIndex = 1 - slotIndex
    }
}
