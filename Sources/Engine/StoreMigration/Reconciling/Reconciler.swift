#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The result of a comparison.
public struct ReconcileReport: Sendable {
    public var recordsInOld = 0
    public var recordsInNew = 0
    /// The first 1 000 records that differed.
    public var divergences: [RecordID] = []
    public var found = 0
    public var mended = 0
    /// Records that still differ: the rule left them, their batches wait in the outbox, or a store cannot hold them.
    public var left = 0
    /// The reason for the first record that a store could not hold.
    public var firstRefusal: (any Error)?
    /// The number of examined sums and hashes.
    public var steps = 0
    public var seconds = 0.0
}

/// Finds the records that differ between two stores, and mends them by a rule.
///
///     let reconciler = try Reconciler(writer)
///     let report = try reconciler.mend(.newerWins(by: "changed", tie: .old, deletion: .deletionWins))
///
/// The hashes live in memory: a process reads each store once, and ``DoubleWriter`` keeps them current from then on.
/// The caller reports writes that bypass the writer by ``refresh(_:)`` or ``refresh(changesOfOldSince:)``.
///
/// Concurrency: any thread, beside writers. Reading does not block writers. Records written meanwhile are read again at
/// the end, while writers wait. Mending blocks writers for some hundred records at a time.
public final class Reconciler: Sendable {
    private let writer: DoubleWriter
    private static let recordsAtOnce = 500

    /// Reads each store once.
    /// - Complexity: O(records), of both stores.
    public init(_ writer: DoubleWriter) throws {
        self.writer = writer
        try read()
    }

    /// Reads both stores anew.
    public func read() throws { try writer.readingQueue.sync { try readBoth() } }

    private func readBoth() throws {
        let start = ContinuousClock.now
        try writer.queue.sync {
            writer.stores.hashes = nil
            writer.stores.changedWhileReading = []
            try writer.drainForComparing()
        }
        do {
            let models = writer.new.models
            let old = try Self.hashes(of: writer.old, models)
            let new = try Self.hashes(of: writer.new, models)
            try writer.queue.sync {
                var pair = HashPair(models, old: old, new: new)
                let changed = Array(writer.stores.changedWhileReading ?? [])
                for side in StoreSide.allCases { pair.take(changed, try writer.stores[side].records(changed), side) }
                writer.stores.hashes = pair
                writer.stores.changedWhileReading = nil
                writer.stores.count { $0.secondsReconciling += (ContinuousClock.now - start).inSeconds }
            }
        } catch {
            writer.queue.sync { writer.stores.changedWhileReading = nil }
            throw error
        }
    }

    private static func hashes(of store: any PrimaryStore, _ models: [RecordModel]) throws -> RangeHashes {
        var hashes = RangeHashes(models.map(\.name))
        for (place, model) in models.enumerated() {
            var hasher = RecordHash(model)
            try store.scan(model) { key, values in hashes.set(model: place, key, to: hasher.hash(values)) }
        }
        return hashes
    }

    /// Rereads these records of both stores, and updates their hashes.
    public func refresh(_ ids: [RecordID]) throws {
        writer.queue.sync { for side in StoreSide.allCases { writer.stores.refreshHashes(ids, side) } }
    }

    /// Rereads the records that others changed in the old store.
    /// - Returns: the moment for the next call, and whether the changes include deletions.
    @discardableResult
    public func refresh(changesOfOldSince token: ChangeToken?) throws -> (token: ChangeToken, knowsDeletions: Bool) {
        let changes = try writer.old.changes(since: token)
        try refresh(changes.changed + changes.deleted)
        return (changes.token, changes.knowsDeletions)
    }

    /// The records that differ now, without those whose batches wait in the outbox.
    /// - Complexity: O(differences × log records).
    public func divergences() throws -> [Divergence] {
        var steps = 0
        let ids = try differing(&steps)
        var found: [Divergence] = []
        for some in ids.chunked(Self.recordsAtOnce) {
            found += try writer.queue.sync { try writer.read(some, halfMade: writer.halfMade()) }
        }
        return found
    }

    /// Makes the stores equal by the rule.
    ///
    /// A rule with a closure is called while writers continue. A record that was changed after the rule saw it is left,
    /// and examined again. A record that a store cannot hold is left.
    public func mend(_ rule: MendRule) throws -> ReconcileReport {
        let start = ContinuousClock.now
        var report = ReconcileReport()
        var work = Mend(writer, rule, halfMade: try writer.queue.sync { try writer.halfMade() })
        var seen: Set<RecordID> = []
        for _ in 0..<Self.rounds {
            let open = try differing(&report.steps).filter { !work.left.contains($0) }
            if open.isEmpty { break }
            for id in open where seen.insert(id).inserted && report.divergences.count < 1_000 {
                report.divergences.append(id)
            }
            // Inserts rows before links, which may refer to any row.
            if writer.stores.hasLinks {
                for some in open.chunked(Self.recordsAtOnce) { try work.makeRows(some) }
            }
            for some in open.chunked(Self.recordsAtOnce) { try work.mend(some) }
        }
        return try writer.queue.sync {
            guard let differing = writer.stores.hashes?.differences(&report.steps) else {
                throw MigrationError(.notReconciled, "a store could not be read after a write; mend it, then try again")
            }
            let remaining = Set(differing)
            try work.finish(remaining)
            if remaining.isEmpty { try writer.forgetDeletions() }
            (report.recordsInOld, report.recordsInNew) = writer.stores.hashes?.counts ?? (0, 0)
            report.found = seen.count
            report.left = remaining.count
            report.mended = work.written.subtracting(remaining).count
            report.firstRefusal = work.firstRefusal
            report.seconds = (ContinuousClock.now - start).inSeconds
            writer.stores.count {
                $0.divergencesFound += report.found
                $0.divergencesMended += report.mended
                $0.secondsReconciling += report.seconds
            }
            return report
        }
    }

    private static let rounds = 8

    /// - Returns: the ids that differ, without those whose batches wait.
    private func differing(_ steps: inout Int) throws -> [RecordID] {
        if writer.queue.sync(execute: { writer.stores.hashes == nil }) { try read() }
        return try writer.queue.sync {
            try writer.drainForComparing()
            guard let ids = writer.stores.hashes?.differences(&steps) else {
                throw MigrationError(.notReconciled, "a store could not be read after a write; mend it, then try again")
            }
            let waiting = try writer.waitingIDs()
            return ids.filter { !waiting.contains($0) }
        }
    }
}
