/// What a checkpoint will write.
struct CheckpointPlan: Sendable {
    /// The version that the data file alone will hold.
    var version: UInt64
    var slot: HeaderSlot
    var slotIndex: Int
    /// Runs of dirty pages to be written back before the sync.
    var dirty: [Range<Int>]
    /// The version of the checkpoint before, whose pages may be used again afterwards.
    var previous: UInt64
}

/// Knows the header slots and what was written since the last checkpoint, and decides what the next one writes.
///
/// Does nothing to a file. Guarded by the write gate.
struct Checkpointer {
    /// Where commits go after a checkpoint.
    enum Continuation {
        /// To this half of the log, which has reached an LSN durably.
        case log(segment: Int, reach: UInt64)
        /// There is no log.
        case withoutLog
        /// There are none: the slot is the first of the two clean ones.
        case clean
    }

    /// The slot in force, or the one that the checkpoint in progress is writing.
    private(set) var slot: HeaderSlot
    /// Which of the two it is: 0 or 1.
    private(set) var slotIndex: Int
    private var dirty = DirtyPages()
    /// Pages below this one were written at least once.
    private var writtenEnd: Int
    /// A slot was planned since the log's halves changed places; once it is durable, the other half is not needed.
    private var hasFreedSegment = false
    /// The directory was synced since this process opened the store.
    private(set) var isNameDurable = false

    /// - Parameter writtenEnd: the end of the pages that were written at least once.
    init(slot: HeaderSlot, index: Int, writtenEnd: Int) {
        self.slot = slot
        slotIndex = index
        self.writtenEnd = writtenEnd
    }

    /// Goes on from a checkpoint that another process made.
    mutating func resume(from slot: HeaderSlot, index: Int, writtenEnd: Int) {
        let isNameDurable = isNameDurable
        self = Checkpointer(slot: slot, index: index, writtenEnd: writtenEnd)
        self.isNameDurable = isNameDurable
    }

    // MARK: Pages

    /// Whether some page in front of `end` may never have been written.
    func isFresh(before end: Int) -> Bool { end > writtenEnd }

    /// Notes what was written to the file and not synced.
    mutating func noteWritten(_ run: Range<Int>) {
        writtenEnd = max(writtenEnd, run.upperBound)
        dirty.insert(run)
    }

    /// Notes pages that a transaction wrote before it ended.
    mutating func noteWrittenEarly(_ run: Range<Int>) { dirty.insert(run) }

    /// Notes that the file ends here now.
    mutating func noteCut(to pages: Int) { writtenEnd = min(writtenEnd, pages) }

    /// Bytes that a sync of the data file has to bring to the disk; what was written several times counts once.
    var dirtyBytes: Int { dirty.count * Format.pageSize }

    mutating func noteNameDurable() { isNameDurable = true }

    // MARK: Checkpoints

    /// Whether the half of the log that commits do not go to may be written over. Asked when no checkpoint is in
    /// progress, and answered with yes once for each.
    mutating func takesFreedSegment() -> Bool {
        defer { hasFreedSegment = false }
        return hasFreedSegment
    }

    /// Lets a version be the next checkpoint. Its free map is written, and no checkpoint is in progress.
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
            // Over a clean slot, by a session without a log, the mark tells it from a write that was lost.
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

    /// The slot as it has to be written over the one that is not in force, and where.
    func successor(_ slot: HeaderSlot) -> (slot: HeaderSlot, index: Int) {
        var slot = slot
        slot.sequence = self.slot.sequence + 1
        return (slot, 1 - slotIndex)
    }

    /// The other slot is in force now.
    mutating func adopt(_ slot: HeaderSlot) {
        self.slot = slot
        slotIndex = 1 - slotIndex
    }
}
