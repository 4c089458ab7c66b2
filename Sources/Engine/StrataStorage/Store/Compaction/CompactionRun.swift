internal import StrataFiles

/// Carries out the steps that ``OnlineCompaction`` decides. Each step runs on a background thread, and waits for the
/// write gate like any other writer.
///
/// Concurrency: may be called from any thread. Its mutable state is guarded by the write gate.
final class CompactionRun: Sendable {
    /// Shortest and longest pause between two steps, in microseconds.
    private static let pause = 500
    private static let longestPause = 50_000
    /// The pause after a step is this many times the step's duration.
    private static let rest = 4
    private static let second = 1_000_000
    /// Microseconds for which a step waits for the write gate; then it is tried again after a pause.
    private static let patience = 100_000

    private enum StepEnd {
        case finished
        case more
        /// This version should be durable before the next step.
        case waits(UInt64)
    }

    /// Guarded by the write gate.
    @exclusivity(unchecked) private nonisolated(unsafe) var compaction: OnlineCompaction
    private let scheduling: any Scheduling

    init(_ options: StoreOptions) {
        compaction = OnlineCompaction(options)
        scheduling = options.scheduling
    }

    /// Page at or below which new nodes of any transaction should end, if there is room; nil if no pass needs that.
    var limit: Int? { compaction.limit }

    /// Ends the pass after another process owned writing, since its commits were not counted.
    func forget() { compaction.forget() }

    /// Begins an online compaction if the policy asks for one. The write gate is held.
    @inline(__always)
    func beginIfDue(_ store: Store) {
        if compaction.mayBegin(afterCommits: store.writer.commits) { begin(store) }
    }

    @inline(never)
    private func begin(_ store: Store) {
        guard store.commits.mayMoveNodes, !store.damage.refusesWrites,
            compaction.begins(afterCommits: store.writer.commits, space(of: store))
        else { return }
        // Without a thread, a later commit begins it again.
        if !goOn(store, after: Self.pause) { compaction.end() }
    }

    /// Begins an online compaction of a store that was just opened, if the policy asks for one.
    func beginAtOpen(_ store: Store) {
        guard case .online = store.options.compaction, !store.options.readOnly else { return }
        store.gate.whileHeld { _ in
            // An error is dropped: the next transaction reports that the free map cannot be read.
            do throws(StorageError) { try store.checkpoints.loadFreeMap() } catch { return }
            beginIfDue(store)
        }
    }

    private func space(of store: Store) -> OnlineCompaction.Space {
        let counts = store.allocator.counts
        return OnlineCompaction.Space(pages: counts.pages, free: counts.free, held: counts.held)
    }

    // MARK: Steps

    /// Starts a thread that takes the next step after a pause.
    /// - Parameter pause: microseconds.
    /// - Returns: false if no thread could be started.
    private func goOn(_ store: Store, after pause: Int) -> Bool {
        scheduling.spawn("compaction") { [weak store, self] in
            guard let store else { return }
            scheduling.pause(microseconds: pause)
            let start = scheduling.deadline(after: Self.second)
            switch takeStep(store) {
            case .more:
                let taken = Self.second - min(Self.second, scheduling.remaining(until: start))
                continueOrEnd(store, after: min(max(Self.pause, Self.rest * taken), Self.longestPause))
            case .waits(let version):
                _ = store.commits.waitUntilDurable(version)
                continueOrEnd(store, after: 0)
            case .finished: break
            }
        }
    }

    /// Starts the next step; ends the pass if there is no thread for it. The write gate is not held.
    private func continueOrEnd(_ store: Store, after pause: Int) {
        if goOn(store, after: pause) { return }
        store.gate.whileHeld { _ in compaction.end() }
    }

    /// - Returns: `finished` if the pass is over. In a closed or poisoned store it is, and no other begins; a close
    ///   under way may still fail and leave the store open, so it does not end the pass here.
    private func takeStep(_ store: Store) -> StepEnd {
        if store.commits.isOver { return .finished }
        let patience = scheduling.deadline(after: Self.patience)
        guard let permit = store.gate.acquire(until: patience) else { return .more }
        guard store.commits.mayMoveNodes, !store.damage.refusesWrites else {
            compaction.end()
            permit.giveBack()
            return .finished
        }
        let step = nextStep(store)
        if case .move(let cursor, let limit) = step {
            return move(store, from: cursor, limit, permit) ? .more : .finished
        }
        let end = take(step, store.checkpoints)
        if case .finished = end { compaction.end() }
        permit.giveBack()
        return end
    }

    private func nextStep(_ store: Store) -> OnlineCompaction.Step {
        // Errors here and in the steps are dropped: the next use of the store finds them again and throws.
        do throws(StorageError) { try store.checkpoints.loadFreeMap() } catch { return .finish }
        let isCheckpointing = store.checkpoints.writing.isInProgress
        let space = space(of: store)
        let (committed, durable) = store.commits.withState { ($0.committed, $0.durable) }
        return compaction.step(
            OnlineCompaction.Situation(
                isCheckpointing: isCheckpointing, undurable: durable < committed.version ? committed.version : nil,
                space: space, definitions: committed.definitions))
    }

    /// The write gate is held.
    private func take(_ step: OnlineCompaction.Step, _ checkpoints: Checkpoints) -> StepEnd {
        do throws(StorageError) {
            switch step {
            case .nothing: return .more
            case .waitUntilDurable(let version): return .waits(version)
            case .checkpoint:
                try checkpoints.startOfNewest()
                return .more
            case .cut(let most):
                let capacity = try checkpoints.giveTailBack(slack: 0, atMost: most)
                return compaction.hasCut(to: capacity) ? .more : .finished
            case .move, .finish: return .finished
            }
        } catch {
            return .finished
        }
    }

    /// Moves nodes by a transaction of its own.
    /// - Returns: false after a failure; the pass is over then.
    private func move(
        _ store: Store, from cursor: CompactionCursor, _ limit: Int, _ permit: consuming WritePermit
    ) -> Bool {
        let transaction: WriteTransaction
        do throws(StorageError) {
            try store.checkPath()
            try FileEnd(store).check()
            try store.reader.confirm()
        } catch {
            compaction.end()
            return false
        }
        do throws(StorageError) {
            transaction = try store.makeTransaction(store.commits.newest, permit)
        } catch {
            // The permit was released with the transaction that failed to begin.
            store.gate.whileHeld { _ in compaction.end() }
            return false
        }
        var walk = CompactionWalk(transaction.nodes, limit: limit, pages: store.options.limits.compactionStep)
        do throws(StorageError) {
            let next = try walk.run(&transaction.view.state, from: cursor)
            try store.reader.confirm()
            compaction.hasMoved(to: next)
        } catch {
            compaction.end()
            transaction.rollback()
            return false
        }
        if !walk.hasMoved {
            transaction.rollback()
            return true
        }
        do throws(StorageError) { _ = try store.commit(transaction, ending: .pending) } catch {
            // The commit released the gate.
            store.gate.whileHeld { _ in compaction.end() }
            return false
        }
        return true
    }
}
