internal import StrataFiles

// A checkpoint makes the data file alone enough for a version C:
// 1. all commits up to C are durable in the log's old segment; the log goes on in the other one;
// 2. C's free map is written beside its pages, in steps, then one sync makes all of it durable;
// 3. one header slot, never the one in force, says C and where replay starts; a second sync;
// 4. only then are C's predecessor's pages and the old segment used again.

/// What a checkpoint will write.
struct CheckpointPlan: Sendable {
    var state: VersionState
    var slot: HeaderSlot
    var slotIndex: Int
    /// Dirty pages to be written out before the sync.
    var dirty: Range<Int>
    var previous: UInt64
}

extension Store {
    private static let step = 2 << 20
    private static let pause = 1000

    var plannedSegmentBytes: Int {
        options.logSegmentBytes
            ?? LogFile.segmentBytes(forDataBytes: allocator.allocator.usedPages * Format.pageSize)
    }

    /// Under ``Durability/none`` nothing else makes versions durable.
    func checkpointIfDue() {
        guard fileSystem.isPersistent, writer.dirtyBytes >= options.checkpointBytes else { return }
        do throws(StorageError) {
            try startCheckpoint(monitor.withLock { state.committed })
        } catch {
            // On a full disk a later commit tries again.
            if case .noSpace = error { return }
            poison()
        }
    }

    /// Chooses C and lets the rest happen in the background. The write gate is held; C is durable in the log, if there
    /// is one.
    func startCheckpoint(_ version: VersionState) throws(StorageError) {
        try waitForCheckpoint()
        let plan = try prepareCheckpoint(version)
        monitor.withLock { state.isCheckpointing = true }
        options.scheduling.spawn("checkpoint") { [self] in
            let isDone = run(plan, paced: true)
            monitor.withLock {
                if !isDone { state.isPoisoned = true }
                state.isCheckpointing = false
                monitor.wakeAll()
            }
        }
    }

    /// Waits for the checkpoint in progress. The write gate is held.
    func waitForCheckpoint() throws(StorageError) {
        let isPoisoned = monitor.withLock {
            while state.isCheckpointing { monitor.wait() }
            return state.isPoisoned
        }
        if isPoisoned { throw .poisoned }
    }

    /// Prepares the checkpoint by which a transaction becomes durable that is too large for the log.
    ///
    /// After an error nothing has changed, and the transaction can be rolled back.
    func prepareOwnCheckpoint(
        _ transaction: WriteTransaction, _ version: VersionState
    ) throws(StorageError) -> CheckpointPlan {
        if version.version > 1, !waitUntilDurable(version.version - 1) { throw .poisoned }
        try waitForCheckpoint()
        let allocator = allocator.allocator
        allocator.settle(transaction.nodes)
        do throws(StorageError) { return try prepareCheckpoint(version) } catch {
            allocator.unsettle(transaction.nodes)
            throw error
        }
    }

    /// Makes a version durable by its checkpoint. The write gate is held until then: a small transaction on top of it
    /// must not be acknowledged first.
    func commitByCheckpoint(_ plan: CheckpointPlan) throws(StorageError) {
        guard run(plan, paced: false) else {
            poison()
            throw .poisoned
        }
        // Nothing but the slot holds this version: both do, before it is acknowledged.
        var slot = writer.slot
        if writer.log == nil { slot.makeClean() }
        try writeSlot(slot)
        monitor.withLock {
            state.synced = max(state.synced, plan.state.version)
            publish(through: plan.state.version)
            monitor.wakeAll()
        }
    }

    /// Writes the free map of a version and decides what its header will say. The write gate is held, no checkpoint is
    /// in progress.
    ///
    /// After an error nothing has changed.
    /// - Parameter isFinal: its slot is the first of the two clean ones; the log is not needed any more.
    func prepareCheckpoint(_ version: VersionState, isFinal: Bool = false) throws(StorageError) -> CheckpointPlan {
        let allocator = allocator.allocator
        try secureName()
        try giveTailBack()
        allocator.protect(version.version)
        do throws(StorageError) {
            let (map, pageCount) = try writeFreeMap(version.version)
            var slot = writer.slot
            slot.sequence += 1
            slot.checkpoint = TransactionID(version.version)
            slot.root = version.root
            slot.freeMap = map
            slot.pageCount = UInt64(pageCount)
            if isFinal {
                slot.makeClean()
            } else if let log = writer.log {
                if writer.canReleaseSegment { log.releaseInactiveSegment() }
                writer.canReleaseSegment = false
                log.switchSegment(after: version.version)
                writer.segmentUsed = 0
                slot.logRequired = true
                slot.logSegment = UInt32(log.activeSegment)
            } else {
                slot.flags = HeaderSlot.withoutLog
            }
            let dirty = writer.dirtyLow < writer.dirtyHigh ? writer.dirtyLow..<writer.dirtyHigh : 0..<0
            writer.dirtyLow = .max
            writer.dirtyHigh = 0
            writer.dirtyBytes = 0
            let previous = writer.slot.checkpoint.rawValue
            let plan = CheckpointPlan(
                state: version, slot: slot, slotIndex: 1 - writer.slotIndex, dirty: dirty, previous: previous)
            writer.slot = slot
            writer.slotIndex = plan.slotIndex
            writer.canReleaseSegment = true
            return plan
        } catch {
            allocator.unprotect(version.version)
            throw error
        }
    }

    /// Whoever made the file, or put it in the place of another one, may have died before its name was durable.
    private func secureName() throws(StorageError) {
        if writer.isNameDurable { return }
        do throws(FileError) { try fileSystem.syncDirectory(of: path) } catch { throw StorageError(error) }
        writer.isNameDurable = true
    }

    /// Steps 2 to 4. Called by one thread at a time; the slot in `plan` is nobody else's business meanwhile.
    func run(_ plan: CheckpointPlan, paced: Bool) -> Bool {
        do throws(FileError) {
            if paced { try writeBack(plan.dirty) }
            try file.syncData()
            if monitor.withLock({ state.isPoisoned }) { return false }
            try write(plan.slot, at: plan.slotIndex)
        } catch {
            mark(.failedCheckpoint)
            return false
        }
        allocator.allocator.unprotect(plan.previous)
        return true
    }

    private func writeBack(_ dirty: Range<Int>) throws(FileError) {
        let page = Format.pageSize
        var offset = dirty.lowerBound * page
        while offset < dirty.upperBound * page {
            let count = min(Self.step, dirty.upperBound * page - offset)
            try file.writeBack(offset: Int64(offset), count: Int64(count))
            options.scheduling.pause(microseconds: Self.pause)
            offset += count
        }
    }

    /// Writes a slot and syncs it.
    func write(_ slot: HeaderSlot, at index: Int) throws(FileError) {
        let bytes = slot.encode()
        var failure: FileError?
        bytes.withUnsafeBytes { buffer in
            do throws(FileError) {
                try file.write(buffer, at: Int64(index * Format.pageSize))
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        try file.syncData()
    }

    /// Writes a slot over the one that is not in force. The write gate is held, no checkpoint is in progress.
    func writeSlot(_ slot: HeaderSlot) throws(StorageError) {
        var slot = slot
        slot.sequence = writer.slot.sequence + 1
        do throws(FileError) { try write(slot, at: 1 - writer.slotIndex) } catch {
            // It may be on the disk or not, and no sync is tried again.
            poison()
            throw StorageError(error)
        }
        writer.slot = slot
        writer.slotIndex = 1 - writer.slotIndex
    }
}
