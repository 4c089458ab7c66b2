internal import StrataFiles
internal import Synchronization

/// Writes checkpoints: on a background thread while commits continue, or on the caller's thread.
///
/// Concurrency: one checkpoint at a time is begun, by the holder of the write gate. Every member may be called from any
/// thread.
final class CheckpointWriting: Sendable {
    /// Microseconds between two chunks, so that commits can use the disk in between.
    private static let pause = 1000

    private let file: any File
    private let scheduling: any Scheduling
    private let commits: Commits
    /// Commits wait for the checkpoint, or soon will: it leaves the remaining chunks to the sync, without pauses.
    private let isUrgent = Atomic<Bool>(false)

    init(_ file: any File, _ scheduling: any Scheduling, _ commits: Commits) {
        self.file = file
        self.scheduling = scheduling
        self.commits = commits
    }

    /// Whether a checkpoint is being written in the background.
    var isInProgress: Bool { commits.withState { $0.isCheckpointing } }

    /// Makes the background checkpoint continue without pauses.
    func hurry() { isUrgent.store(true, ordering: .relaxed) }

    /// Waits for the background checkpoint.
    func waitUntilDone() {
        hurry()
        commits.whileHeld { held in while held.state.isCheckpointing { held.wait() } }
    }

    /// Writes a checkpoint in the background; on the caller's thread if no other can be started.
    /// - Parameters:
    ///   - mayFinish: as for ``write(_:paced:mayFinish:)``.
    ///   - ending: called with whether the checkpoint is durable, before threads that wait for it continue.
    func start(
        _ plan: CheckpointPlan, mayFinish: @escaping @Sendable () -> Bool,
        ending: @escaping @Sendable (_ isDone: Bool, _ state: inout StoreState) -> Void
    ) {
        isUrgent.store(false, ordering: .relaxed)
        commits.withState { $0.beginCheckpoint() }
        let work: @Sendable (Bool) -> Void = { [self] isPaced in
            let isDone = write(plan, paced: isPaced, mayFinish: mayFinish)
            commits.whileHeld { held in
                ending(isDone, &held.state)
                held.state.endCheckpoint()
                held.wakeAll()
            }
        }
        if !scheduling.spawn("checkpoint", { work(true) }) { work(false) }
    }

    /// Writes back and syncs the pages, then writes and syncs the slot.
    /// - Parameters:
    ///   - paced: write the pages back chunk by chunk with pauses before the sync.
    ///   - mayFinish: asked before the slot is written: the store may be poisoned by then.
    /// - Returns: whether pages and slot are durable.
    func write(_ plan: CheckpointPlan, paced: Bool, mayFinish: () -> Bool) -> Bool {
        do throws(FileError) {
            if paced { try writeBack(plan.dirty) }
            try syncPages()
            if !mayFinish() { return false }
            try write(plan.slot, at: plan.slotIndex)
        } catch {
            mark(.failedCheckpoint)
            return false
        }
        return true
    }

    private func syncPages() throws(FileError) {
        #if Zoo
            if PlantedMistake.checkpointWithoutSync.isPlanted { return }
        #endif
        try file.syncData()
    }

    private func writeBack(_ runs: [Range<Int>]) throws(FileError) {
        for run in runs {
            // The sync that follows writes the rest back, without waiting for each chunk.
            if isUrgent.load(ordering: .relaxed) { return }
            try file.writeBack(
                offset: Int64(run.lowerBound) * Int64(Format.pageSize), count: Int64(run.count * Format.pageSize))
            scheduling.pause(microseconds: Self.pause)
        }
    }

    /// Writes a slot and syncs it.
    func write(_ slot: HeaderSlot, at index: Int) throws(FileError) {
        let bytes = slot.encode(at: index)
        var failure: FileError?
        bytes.withUnsafeBytes { buffer in
            do throws(FileError) {
                try file.write(buffer, at: Int64(index * Format.pageSize))
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        #if Zoo
            if PlantedMistake.slotWithoutSync.isPlanted { return }
        #endif
        try file.syncData()
    }
}
