import Dispatch

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Writes to the store that an application leaves and to the one that it moves to, and keeps the phase of the
/// migration.
///
///     let writer = try DoubleWriter(old: old, new: new, outbox: url, order: .oldFirst)
///     try writer.enter(.bothOldRead)
///     try writer.write([.upsert(record), .delete(id)])
///
/// A batch in a phase that writes both stores:
/// 1. The batch is checked against the models, and made durable in the outbox, before either store has any of it.
/// 2. Waiting batches are written first, so that both stores get all batches in one order.
/// 3. The first store commits the batch, then the second one. If the first refuses, the batch is withdrawn. If the
/// second fails, this batch and all later ones wait.
/// 4. A process that dies in between leaves the batch in the outbox. The next
/// ``init(old:new:outbox:order:outboxLimit:)`` writes the batches that a store may lack, so that a batch that reached
/// one store reaches both; its caller had no answer. The first store is given only the newest batch, so that it never
/// returns to the values of an older one.
///
/// The writer does not see writes that bypass it; ``Reconciler`` finds them.
///
/// Concurrency: any thread; one batch at a time. Unchecked: all mutable state is read and set on `queue` only.
public final class DoubleWriter: @unchecked Sendable {
    public let order: WriteOrder
    let queue = DispatchQueue(label: "migration.writer")
    let stores: StorePair
    private let outboxURL: URL
    private let outboxLimit: Int
    private var openOutbox: Outbox?
    /// The newest batch that the first store is known to have.
    private var reached = 0
    private var waitingSince: [Int: ContinuousClock.Instant] = [:]
    /// One reading at a time: each begins the pair's set of concurrently changed records anew.
    let readingQueue = DispatchQueue(label: "migration.reading")

    /// Opens or creates the outbox, and writes the batches that a dead process left in it.
    ///
    /// A batch that a store refuses then keeps waiting; see ``waitingCount``.
    /// - Throws: `invalidModel` where the stores have different models; `outboxFailed`.
    public init(
        old: any PrimaryStore, new: any PrimaryStore, outbox: URL, order: WriteOrder = .oldFirst,
        outboxLimit: Int = 10_000
    ) throws {
        stores = try StorePair(old: old, new: new)
        self.order = order
        self.outboxLimit = outboxLimit
        outboxURL = outbox
        try queue.sync { try openAndRecover() }
    }

    private func openAndRecover() throws {
        let outbox = try Outbox(outboxURL, queue: queue, limit: outboxLimit)
        openOutbox = outbox
        stores.phase = try outbox.phase
        #if Zoo
            if PlantedMistake.phaseForgotten.isMade {
                stores.phase = MigrationPhase(rawValue: stores.phase.rawValue - 1) ?? .old
            }
        #endif
        reached = 0
        // The error is ignored here: a failing store fails again in a call that can report it.
        _ = try drainAll()
    }

    private func outbox() throws -> Outbox {
        if let openOutbox { return openOutbox }
        throw MigrationError(.closed, "the writer is closed; call reopen() first")
    }

    // MARK: Asking

    public var old: any PrimaryStore { stores.old }
    public var new: any PrimaryStore { stores.new }
    public var phase: MigrationPhase { queue.sync { stores.phase } }
    public var figures: [MigrationPhase: MigrationFigures] { queue.sync { stores.figures } }
    /// Batches that one of the stores does not have yet.
    public var waitingCount: Int { queue.sync { openOutbox?.waitingCount ?? 0 } }
    /// Seconds that the oldest of them has waited, or 0. Measured by the wall clock, which may be set.
    public var lagSeconds: Double {
        get throws {
            try queue.sync {
                guard let oldest = try outbox().waiting().first else { return 0 }
                return max(0, Date().timeIntervalSinceReferenceDate - oldest.time)
            }
        }
    }

    /// Records by id, from the store that the phase reads.
    public func records(_ ids: [RecordID]) throws -> [RecordID: Record] {
        try queue.sync {
            _ = try outbox()
            return try stores[stores.phase.readSide].records(ids)
        }
    }

    // MARK: Writing

    /// Writes a batch to the stores that the phase writes.
    ///
    /// Both get values that both can represent (``PrimaryStore/asKept(_:)``): zeros without a sign, dates at the
    /// coarser precision. After an error nothing was written, except with `writeUnknown`.
    @discardableResult
    public func write(_ changes: [RecordChange]) throws -> WriteOutcome {
        if changes.isEmpty { return .done }
        return try queue.sync {
            let outbox = try outbox()
            let changes = try changes.map { try stores.asKept($0) }
            stores.count { $0.batches += 1 }
            stores.count { $0.changes += changes.count }
            switch stores.phase {
            case .old:
                try applyAlone(changes, to: .old)
                return .done
            case .new:
                if MigrationHabits.notesChanges, try !outbox.isRetired {
                    try stores.timed(\.secondsInOutbox) { try outbox.noteChanges(changes) }
                }
                try applyAlone(changes, to: .new)
                return .done
            case .bothOldRead, .bothNewRead: return try writeBoth(changes, outbox)
            }
        }
    }

    private func writeBoth(_ changes: [RecordChange], _ outbox: Outbox) throws -> WriteOutcome {
        var stuck: (side: StoreSide, error: any Error)?
        if MigrationHabits.keepsOrder, outbox.waitingCount > 0 { stuck = try drainAll() }
        let first = order.first
        // Batches that wait for the first store have to come before this one.
        if let stuck, stuck.side == first {
            throw MigrationError(
                .writeRefused, "the \(first.rawValue) store still lacks earlier batches; mend it and call drain()",
                cause: stuck.error)
        }
        #if Zoo
            if PlantedMistake.outboxLate.isMade { try applyAlone(changes, to: first) }
        #endif
        let sequence = try stores.timed(\.secondsInOutbox) { try outbox.add(changes, first: first) }
        do { try stores.apply(changes, to: first) } catch {
            try afterFailure(of: first, changes, sequence, outbox: outbox, error: error)
        }
        reached = sequence
        #if Zoo
            if PlantedMistake.outboxEntryLost.isMade { try outbox.withdraw(sequence) }
        #endif
        if let stuck { return wait(sequence, first.other, stuck.error) }
        do { try stores.apply(changes, to: first.other) } catch { return wait(sequence, first.other, error) }
        #if Zoo
            if PlantedMistake.outboxEntryLost.isMade { return .done }
        #endif
        outbox.finish(sequence)
        return .done
    }

    private func wait(_ sequence: Int, _ side: StoreSide, _ error: any Error) -> WriteOutcome {
        stores.count { $0.waited += 1 }
        waitingSince[sequence] = .now
        return .waiting(side, error)
    }

    private func afterFailure(
        of side: StoreSide, _ changes: [RecordChange], _ sequence: Int, outbox: Outbox, error: any Error
    ) throws -> Never {
        let mayHave = mayHold(changes, side)
        if !mayHave { try outbox.withdraw(sequence) }
        throw Self.failure(of: side, mayHave, "it waits in the outbox and will be in both", error)
    }

    private static func failure(
        of side: StoreSide, _ mayHave: Bool, _ words: String, _ error: any Error
    ) -> MigrationError {
        let store = "the \(side.rawValue) store"
        return mayHave
            ? MigrationError(.writeUnknown, "\(store) failed and may have the batch; \(words)", cause: error)
            : MigrationError(.writeRefused, "\(store) refused the batch; nothing was written", cause: error)
    }

    /// Whether a failed commit may have reached the file: the store is asked; without an answer it may have.
    private func mayHold(_ changes: [RecordChange], _ side: StoreSide) -> Bool {
        do { return try holdsAny(changes, side) } catch { return true }
    }

    /// Whether a store already matches some change of a batch. If it matched before the write, the batch stays in the
    /// outbox needlessly, without harm.
    private func holdsAny(_ changes: [RecordChange], _ side: StoreSide) throws -> Bool {
        let found = try stores[side].records(changes.map(\.id))
        return changes.contains { change in
            switch change {
            case .delete(let id): found[id] == nil
            case .upsert(let record):
                found[record.id].map { now in record.values.allSatisfy { now[$0.key] == $0.value } } ?? false
            }
        }
    }

    /// Writes a batch to the only store that the phase writes; no entry of the outbox repeats it.
    private func applyAlone(_ changes: [RecordChange], to side: StoreSide) throws {
        do { try stores.apply(changes, to: side) } catch {
            throw Self.failure(
                of: side, mayHold(changes, side), "write it again, which harms nothing", error)
        }
    }

    // MARK: Waiting batches

    /// Writes the waiting batches, until a store refuses one.
    /// - Returns: how many batches still wait.
    @discardableResult
    public func drain() throws -> Int {
        try queue.sync {
            let outbox = try outbox()
            _ = try drainAll()
            try outbox.settle()
            return outbox.waitingCount
        }
    }

    /// Discards the waiting batches, for a store that can never accept them. The stores then differ, and a
    /// ``Reconciler`` finds where.
    /// - Returns: how many batches were discarded.
    @discardableResult
    public func giveUpWaiting() throws -> Int {
        try queue.sync {
            let outbox = try outbox()
            defer { waitingSince = [:] }
            let count = outbox.waitingCount
            try outbox.withdrawAll()
            return count
        }
    }

    /// - Returns: the failing store, and its error.
    private func drainAll() throws -> (side: StoreSide, error: any Error)? {
        let outbox = try outbox()
        let all = try outbox.waiting()
        // The first store may lack the newest batch: the process died before the commit, or the commit failed. Writing
        // it again is harmless.
        if let newest = all.last, newest.sequence > reached {
            do { try stores.apply(newest.changes, to: newest.first) } catch { return (newest.first, error) }
            reached = newest.sequence
        }
        for waiting in all {
            let side = waiting.first.other
            do { try stores.apply(waiting.changes, to: side) } catch { return (side, error) }
            outbox.finish(waiting.sequence)
            // Removes the entry before it writes later batches: after a crash, a retry would write this one over them.
            if all.count > 1 { try outbox.settle() }
            let since = waitingSince.removeValue(forKey: waiting.sequence)
            if let since {
                stores.count { $0.secondsWaitedMax = max($0.secondsWaitedMax, (ContinuousClock.now - since).inSeconds) }
            }
        }
        return nil
    }

    // MARK: Phases

    /// Moves one step forward or back. There is no step from ``MigrationPhase/bothNewRead`` back to
    /// ``MigrationPhase/old``, nor from ``MigrationPhase/new`` after ``retire()``.
    ///
    /// Before the new store is read, or written alone, both must have been compared and be equal; `unchecked` skips
    /// this check. The way back from ``MigrationPhase/new`` first writes the changes since the cut-over to the old
    /// store. A crash on the way leaves the phase, and the step is repeated.
    /// - Throws: `wrongPhase`, `notReconciled`, `retired`; a store's error.
    public func enter(_ phase: MigrationPhase, unchecked: Bool = false) throws {
        try queue.sync {
            let outbox = try outbox()
            if phase == stores.phase { return }
            if try outbox.isRetired {
                throw MigrationError(
                    .retired, "the old store was retired: only the new store has the later writes")
            }
            guard abs(phase.rawValue - stores.phase.rawValue) == 1 else {
                throw MigrationError(
                    .wrongPhase, "from \"\(stores.phase)\" to \"\(phase)\" leads no step; go one by one")
            }
            if let stuck = try drainAll() {
                throw MigrationError(
                    .notReconciled,
                    "\(outbox.waitingCount) batches wait for the \(stuck.side.rawValue) store; mend it, or call "
                        + "giveUpWaiting() and compare the stores",
                    cause: stuck.error)
            }
            try outbox.settle()
            if phase.rawValue > stores.phase.rawValue, phase != .bothOldRead, !unchecked { try requireEqual(phase) }
            if stores.phase == .new { try writeBack(outbox) }
            // Changes of only one store have no hash on the other side.
            if !phase.writesBoth { stores.hashes = nil }
            try outbox.setPhase(phase, forgetting: stores.phase == .new ? .changed : nil)
            stores.phase = phase
        }
    }

    private func requireEqual(_ phase: MigrationPhase) throws {
        var steps = 0
        guard let differing = stores.hashes?.differences(&steps) else {
            throw MigrationError(
                .notReconciled, "the stores were not compared: run a Reconciler before entering \"\(phase)\"")
        }
        if let first = differing.first {
            throw MigrationError(
                .notReconciled, "\(differing.count) records differ, \(first) first: mend them with the Reconciler")
        }
    }

    /// Writes the records changed since the cut-over to the old store, as the new store has them now.
    private func writeBack(_ outbox: Outbox) throws {
        let ids = try outbox.noted(.changed)
        // Inserts rows before links, which may refer to any row.
        if stores.hasLinks {
            for some in ids.chunked(500) {
                let (found, there) = (try stores.new.records(some), try stores.old.records(some))
                let rows = some.compactMap { id in
                    there[id] == nil ? found[id].flatMap { stores.models[id.model]?.withoutLinks($0) } : nil
                }
                if !rows.isEmpty { try stores.apply(rows.map { .upsert($0) }, to: .old) }
            }
        }
        for some in ids.chunked(500) {
            let found = try stores.new.records(some)
            try stores.apply(some.map { id in found[id].map { RecordChange.upsert($0) } ?? .delete(id) }, to: .old)
        }
    }

    /// Gives up the way back: changes are no longer recorded, and the old store may be deleted.
    /// - Throws: `wrongPhase` in another phase than ``MigrationPhase/new``.
    public func retire() throws {
        try queue.sync {
            guard stores.phase == .new else {
                throw MigrationError(.wrongPhase, "in \"\(stores.phase)\" the old store is written; enter .new first")
            }
            try outbox().setPhase(.new, retiring: true, forgetting: .changed)
        }
    }

    public var isRetired: Bool { get throws { try queue.sync { try outbox().isRetired } } }

    // MARK: Account switch

    /// Closes both stores and the outbox, in any phase. Waiting batches stay in the outbox.
    public func close() throws {
        try queue.sync {
            // A failing outbox must not keep the stores open.
            #if Zoo
                if PlantedMistake.switchDropsWaiting.isMade { try openOutbox?.withdrawAll() }
            #endif
            let settled = Result { try openOutbox?.settle() }
            openOutbox = nil
            stores.hashes = nil
            try stores.old.close()
            try stores.new.close()
            try settled.get()
        }
    }

    /// Compacts the files of the closed stores.
    public func compact() throws {
        try queue.sync {
            guard openOutbox == nil else { throw MigrationError(.wrongPhase, "call close() before compact()") }
            #if Zoo
                if PlantedMistake.closedUncompacted.isMade { return }
            #endif
            try stores.old.compact()
            try stores.new.compact()
        }
    }

    public func reopen() throws {
        try queue.sync {
            if openOutbox != nil { return }
            try stores.old.reopen()
            try stores.new.reopen()
            try openAndRecover()
        }
    }

    // MARK: For the reconciler, on the queue

    /// Records that the writer deleted since the stores were last equal.
    func knownDeletions(_ ids: [RecordID]) throws -> Set<RecordID> {
        let outbox = try outbox()
        return outbox.hasNotes(.deleted) ? Set(ids.filter { outbox.isNoted($0, .deleted) }) : []
    }
    func forgetDeletions() throws { try outbox().forget(.deleted) }
    func halfMade() throws -> [StoreSide: Set<RecordID>] { try outbox().halfMade() }
    func noteHalfMade(_ ids: [RecordID], _ side: StoreSide) throws { try outbox().noteHalfMade(ids, side) }
    func setHalfMade(_ ids: [StoreSide: Set<RecordID>]) throws { try outbox().setHalfMade(ids) }
    func drainForComparing() throws { _ = try drainAll() }

    /// Records that a batch in the outbox changes: they differ until it is written.
    func waitingIDs() throws -> Set<RecordID> {
        Set(try outbox().waiting().flatMap { $0.changes.map(\.id) })
    }
}
