internal import StrataFiles

// An online compaction is a row of ordinary transactions that change no row: each moves some nodes from the end of the
// file to free pages further down, and commits an empty record. So readers, pins, crashes and replay are dealt with
// like for any other commit: a replay ends with the same rows on other pages. What the moved nodes leave becomes free
// as after any change, when neither a pin nor the last checkpoint needs it; then the end of the file is cut.
//
// Each step is a piece of background work of its own, which has the write gate for as long as it takes to copy
// ``StoreLimits/compactionStep`` pages, or the largest single value, or to cut a piece off the file. It waits for no
// sync: its record goes to the log with the next commit's, or before the checkpoint that frees what was moved from.

/// What an online compaction has before it.
struct CompactionPass: Sendable {
    enum Phase: Sendable {
        /// A checkpoint lets go of pages that only the one before needs.
        case releasing
        /// How far the file can shrink is decided.
        case planning
        /// Nodes are moved.
        case moving
        /// A checkpoint without what was moved away from.
        case freeing
        /// A checkpoint with a shorter file.
        case trimming
        /// The end is cut.
        case cutting
    }

    var phase = Phase.releasing
    var cursor = CompactionCursor()
    /// Nodes shall end at or below this page: those that are moved, and those of all commits until the file is cut.
    var limit: Int?
    /// A change of the schema ends the pass: the cursor counts tables.
    var definitions: SchemaDefinitions?
    /// Pages of the file after the last cut.
    var capacity: Int?
    /// How often a checkpoint was put off because the newest commit was not durable yet.
    var delays = 0
}

extension Store {
    /// Microseconds from one step to the next, at least and at most.
    private static let pause = 500
    private static let longestPause = 50_000
    /// Between two steps, so many times as long as the one took is left to others.
    private static let rest = 4
    private static let second = 1_000_000
    /// Microseconds that a step waits for the writers in front of it at a time.
    private static let patience = 100_000
    /// So often a checkpoint is put off rather than to sync the commits of others with the write gate held.
    private static let mostDelays = 64
    /// Pages that are cut off the file at a time.
    private static let piece = 1024

    private enum StepEnd {
        case finished
        case more
        /// Before the next step this version should be durable.
        case waits(UInt64)
    }

    /// Begins an online compaction where the policy wants one. The write gate is held.
    func compactIfDue() {
        guard case .online(let share) = options.compaction, fileSystem.isPersistent, !options.readOnly,
            writer.commits >= writer.nextCompaction, isSpare(share, heldToo: true)
        else { return }
        let begins = monitor.withLock {
            if state.isCompacting || state.isClosed || state.isPoisoned || !state.isOwner { return false }
            state.isCompacting = true
            return true
        }
        if !begins { return }
        writer.compaction = CompactionPass()
        writer.nextCompaction = writer.commits + options.limits.compactionInterval
        continueCompaction()
    }

    /// Begins an online compaction at open where the policy wants one.
    func compactAfterOpen() {
        guard case .online = options.compaction, !options.readOnly else { return }
        gate.acquire()
        defer { gate.release() }
        // A map that cannot be read is reported to whoever writes.
        do throws(StorageError) { try loadFreeMap() } catch { return }
        compactIfDue()
    }

    /// Whether more than a share of the file is free.
    /// - Parameter heldToo: counts what would be free without readers of older versions, and after a checkpoint.
    private func isSpare(_ share: Double, heldToo: Bool) -> Bool {
        let counts = allocator.allocator.counts
        let spare = counts.free + (heldToo ? counts.held : 0)
        return spare >= options.limits.compactionMinimum && Double(spare) > share * Double(counts.pages)
    }

    /// - Parameter pause: microseconds to the next step.
    private func continueCompaction(after pause: Int = Store.pause) {
        options.scheduling.spawn("compaction") { [weak self] in
            guard let self else { return }
            options.scheduling.pause(microseconds: pause)
            let start = options.scheduling.deadline(after: Self.second)
            switch takeCompactionStep() {
            case .more:
                let taken = Self.second - min(Self.second, options.scheduling.remaining(until: start))
                continueCompaction(after: min(max(Self.pause, Self.rest * taken), Self.longestPause))
            case .waits(let version):
                _ = waitUntilDurable(version)
                continueCompaction(after: 0)
            case .finished:
                monitor.withLock {
                    state.isCompacting = false
                    monitor.wakeAll()
                }
            }
        }
    }

    private func takeCompactionStep() -> StepEnd {
        let isOpen = monitor.withLock { !state.isClosed && !state.isPoisoned }
        if !isOpen { return .finished }
        guard gate.acquire(until: options.scheduling.deadline(after: Self.patience)) else { return .more }
        let mayGoOn = monitor.withLock { !state.isClosed && !state.isPoisoned && state.isOwner }
        guard mayGoOn, let pass = writer.compaction else {
            gate.release()
            return .finished
        }
        // What goes wrong is met, and reported, by whoever uses the store next.
        if pass.phase == .moving {
            do throws(StorageError) { return try move(pass) } catch { return .finished }
        }
        defer { gate.release() }
        var end = StepEnd.finished
        do throws(StorageError) { end = try prepareOrFinish(pass) } catch {}
        if case .finished = end { writer.compaction = nil }
        return end
    }

    // MARK: Moving

    /// Gives the write gate back in every case.
    private func move(_ pass: CompactionPass) throws(StorageError) -> StepEnd {
        let transaction: WriteTransaction
        do throws(StorageError) {
            try checkPath()
            try checkOwnSize()
            try reader.confirm()
            let base = monitor.withLock { state.committed }
            guard base.definitions === pass.definitions else {
                writer.compaction = nil
                gate.release()
                return .finished
            }
            transaction = try makeTransaction(base)
        } catch {
            writer.compaction = nil
            gate.release()
            throw error
        }
        var walk = CompactionWalk(transaction.nodes, limit: pass.limit ?? .max, pages: options.limits.compactionStep)
        do throws(StorageError) {
            let next = try walk.run(&transaction.view.state, from: pass.cursor)
            try reader.confirm()
            if let next { writer.compaction?.cursor = next } else { writer.compaction?.phase = .freeing }
        } catch {
            writer.compaction = nil
            transaction.rollback()
            throw error
        }
        if walk.hasMoved { _ = try commit(transaction, ending: .pending) } else { transaction.rollback() }
        return .more
    }

    // MARK: Before and after

    /// The write gate is held.
    private func prepareOrFinish(_ pass: CompactionPass) throws(StorageError) -> StepEnd {
        if monitor.withLock({ state.isCheckpointing }) { return .more }
        let newest = monitor.withLock { state.durable < state.committed.version ? state.committed.version : nil }
        if let newest, pass.delays < Self.mostDelays {
            writer.compaction?.delays += 1
            return .waits(newest)
        }
        try loadFreeMap()
        let counts = allocator.allocator.counts
        switch pass.phase {
        case .releasing:
            if counts.held > counts.free / 2 { try startCheckpointOfNewest() }
            writer.compaction?.phase = .planning
        case .planning:
            guard case .online(let share) = options.compaction, isSpare(share, heldToo: false) else { return .finished }
            // Room for what commits write meanwhile, and for the branches above what is moved.
            let slack = max(options.limits.compactionMinimum / 4, counts.free / 8)
            writer.compaction?.limit = counts.pages - counts.free + slack
            writer.compaction?.definitions = monitor.withLock { state.committed.definitions }
            writer.compaction?.phase = .moving
        case .moving: break
        case .freeing:
            try startCheckpointOfNewest()
            writer.compaction?.phase = .trimming
        case .trimming:
            try startCheckpointOfNewest()
            writer.compaction?.phase = .cutting
        case .cutting:
            let capacity = try giveTailBack(slack: 0, atMost: Self.piece)
            let before = pass.capacity
            writer.compaction?.capacity = capacity
            if let before, capacity > before - Self.piece { return .finished }
        }
        return .more
    }

    private func startCheckpointOfNewest() throws(StorageError) {
        let newest = monitor.withLock { state.committed }
        if newest.version == 0 { return }
        if !waitUntilDurable(newest.version) { throw .poisoned }
        try startCheckpoint(newest)
    }
}
