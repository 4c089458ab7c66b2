import Dispatch

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Writes to the store that an application leaves and to the one that it moves to, and knows how far it has come.
///
///     let writer = try DoubleWriter(old: old, new: new, outbox: url, order: .oldFirst)
///     try writer.enter(.bothOldRead)
///     try writer.write([.upsert(record), .delete(id)])
///
/// A batch in a phase that writes both stores:
/// 1. It is checked against the models, and durable in the outbox, before either store has any of it.
/// 2. What waits in the outbox goes before it: the stores get all batches in one order.
/// 3. The first store commits it, then the second one. Where the first one refuses, the batch is withdrawn; where the
///    second one fails, it waits, and so does what comes later.
/// 4. A process that dies in between leaves it in the outbox. The next
///    ``init(old:new:outbox:order:outboxLimit:)`` gives each store what it may lack: the caller had no answer, and a
///    batch that was in one is in both. To the store that is first, that is the newest batch alone; so what it shows
///    never goes back to what an older batch said.
///
/// Writes that reach a store by another way are not seen: ``Reconciler`` finds them.
///
/// Concurrency: any thread; one batch at a time. Unchecked: all that changes is read and set on `queue` alone.
public final class DoubleWriter: @unchecked Sendable {
    public let order: WriteOrder
    let queue = DispatchQueue(label: "migration.writer")
    let stores: StorePair
    private let outboxURL: URL
    private let outboxLimit: Int
    private var openOutbox: Outbox?
    /// The newest batch that the store that is first has for certain.
    private var reached = 0
    private var waitingSince: [Int: ContinuousClock.Instant] = [:]
    /// One reading at a time: each begins the list of what changes beside it anew.
    let readingQueue = DispatchQueue(label: "migration.reading")

    /// Opens the outbox, which is made where there is none, and writes what a dead process has left in it.
    ///
    /// What a store refuses then goes on waiting; ``waitingCount`` tells.
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
            if MigrationMistake.phaseForgotten.isPlanted {
                stores.phase = MigrationPhase(rawValue: stores.phase.rawValue - 1) ?? .old
            }
        #endif
        reached = 0
        // A store that fails now fails later, too, where a caller can be told.
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
    /// Seconds that the oldest of them has waited, 0 where none does. By the time of day, which may be set.
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
    /// Both get the values that both can keep: no sign of a zero, as many digits of a date as the coarser one has.
    /// When it throws nothing was written, but for `writeUnknown`.
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
        // What waits for the first store has to come before this batch.
        if let stuck, stuck.side == first {
            throw MigrationError(
                .writeRefused, "the \(first.rawValue) store still lacks earlier batches; mend it and call drain()",
                cause: stuck.error)
        }
        #if Zoo
            if MigrationMistake.outboxLate.isPlanted { try applyAlone(changes, to: first) }
        #endif
        let sequence = try stores.timed(\.secondsInOutbox) { try outbox.add(changes, first: first) }
        do { try stores.apply(changes, to: first) } catch {
            try afterFailure(of: first, changes, sequence, outbox, error)
        }
        reached = sequence
        #if Zoo
            if MigrationMistake.lostOutboxEntry.isPlanted { try outbox.withdraw(sequence) }
        #endif
        if let stuck { return wait(sequence, first.other, stuck.error) }
        do { try stores.apply(changes, to: first.other) } catch { return wait(sequence, first.other, error) }
        #if Zoo
            if MigrationMistake.lostOutboxEntry.isPlanted { return .done }
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
        of side: StoreSide, _ changes: [RecordChange], _ sequence: Int, _ outbox: Outbox, _ error: any Error
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

    /// A commit that failed may have reached the file: the store is asked, and where it does not answer it may.
    private func mayHold(_ changes: [RecordChange], _ side: StoreSide) -> Bool {
        do { return try holdsAny(changes, side) } catch { return true }
    }

    /// Whether a store has what some change of a batch asks for. That may have been so before: then the batch stays in
    /// the outbox without need, which harms nothing.
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

    /// To the one store that the phase writes.
    private func applyAlone(_ changes: [RecordChange], to side: StoreSide) throws {
        do { try stores.apply(changes, to: side) } catch {
            throw Self.failure(
                of: side, mayHold(changes, side), "write it again, which harms nothing", error)
        }
    }

    // MARK: What waits

    /// Writes what waits in the outbox, as far as the stores take it.
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

    /// Gives up what waits, where a store can take it never. The stores differ then, and a ``Reconciler`` finds where.
    /// - Returns: how many batches were given up.
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

    /// - Returns: the store that fails, and why.
    private func drainAll() throws -> (side: StoreSide, error: any Error)? {
        let outbox = try outbox()
        let all = try outbox.waiting()
        // The process that wrote it may have died before, or the store has failed and may have it all the same. Done
        // twice it is done once.
        if let newest = all.last, newest.sequence > reached {
            do { try stores.apply(newest.changes, to: newest.first) } catch { return (newest.first, error) }
            reached = newest.sequence
        }
        for waiting in all {
            let side = waiting.first.other
            do { try stores.apply(waiting.changes, to: side) } catch { return (side, error) }
            outbox.finish(waiting.sequence)
            // Else the next process would write it once more, over what came later.
            if all.count > 1 { try outbox.settle() }
            let since = waitingSince.removeValue(forKey: waiting.sequence)
            if let since {
                stores.count { $0.secondsWaitedMax = max($0.secondsWaitedMax, (ContinuousClock.now - since).inSeconds) }
            }
        }
        return nil
    }

    // MARK: Phases

    /// Goes a step on, or back. Going from ``MigrationPhase/bothNewRead`` back to ``MigrationPhase/old``, or from
    /// ``MigrationPhase/new`` on after ``retire()``, is no step.
    ///
    /// To read the new store, or to write it alone, both must have been compared and be equal; `unchecked` takes the
    /// caller's word for it. The way back from ``MigrationPhase/new`` first writes to the old store what was changed
    /// since the cut-over; a crash on the way leaves the phase, and it is done again.
    /// - Throws: `wrongPhase`, `notReconciled`, `retired`; what a store threw.
    public func enter(_ phase: MigrationPhase, unchecked: Bool = false) throws {
        try queue.sync {
            let outbox = try outbox()
            if phase == stores.phase { return }
            if try outbox.isRetired {
                throw MigrationError(
                    .retired, "the old store was retired: what was written since is in the new store alone")
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
            // What one store alone was given has no hash on the other side.
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

    /// What was changed since the cut-over, as it is now in the new store.
    private func writeBack(_ outbox: Outbox) throws {
        let ids = try outbox.noted(.changed)
        // Rows before links, which may lead to any of them.
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

    /// Gives up the way back: from now on what is changed is noted no more, and the old store may go.
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

    /// Lets go of both stores and the outbox, in any phase. What waits stays in the outbox.
    public func close() throws {
        try queue.sync {
            // An outbox that fails keeps the stores open no longer.
            #if Zoo
                if MigrationMistake.switchDropsWaiting.isPlanted { try openOutbox?.withdrawAll() }
            #endif
            let settled = Result { try openOutbox?.settle() }
            openOutbox = nil
            stores.hashes = nil
            try stores.old.close()
            try stores.new.close()
            try settled.get()
        }
    }

    /// Makes the files of the closed stores small.
    public func compact() throws {
        try queue.sync {
            guard openOutbox == nil else { throw MigrationError(.wrongPhase, "call close() before compact()") }
            #if Zoo
                if MigrationMistake.compactionNothing.isPlanted { return }
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

    /// Those that the writer deleted since the stores were last equal.
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
