#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a comparison found and did.
public struct ReconcileReport: Sendable {
    public var recordsInOld = 0
    public var recordsInNew = 0
    /// The records that differed, the first 1 000 of them.
    public var divergences: [RecordID] = []
    public var found = 0
    public var mended = 0
    /// The rule said so, or their batches wait in the outbox.
    public var left = 0
    /// Sums and hashes that the comparisons looked at.
    public var steps = 0
    public var seconds = 0.0
}

/// Finds the records in which two stores differ, and mends them by a rule.
///
///     let reconciler = try Reconciler(writer)
///     let report = try reconciler.mend(.newerWins(by: "changed", tie: .old, deletion: .deletionWins))
///
/// The hashes live in memory: a process reads each store once, and ``DoubleWriter`` keeps them current from then on.
/// What is written to a store by another way is told by ``refresh(_:)`` or ``refresh(changesOfOldSince:)``.
///
/// Concurrency: any thread, beside writers. Reading keeps no writer waiting; what was written meanwhile is read again
/// at its end, while writers wait. Mending keeps them waiting for some hundred records at a time.
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
    public func read() throws {
        let start = ContinuousClock.now
        try writer.queue.sync {
            writer.hashes = nil
            writer.changedWhileReading = []
            try writer.drainForComparing()
        }
        do {
            let models = writer.new.models
            let old = try Self.hashes(of: writer.old, models)
            let new = try Self.hashes(of: writer.new, models)
            try writer.queue.sync {
                var pair = HashPair(models, old: old, new: new)
                let changed = Array(writer.changedWhileReading ?? [])
                for side in StoreSide.allCases { pair.take(changed, try writer.store(side).records(changed), side) }
                writer.hashes = pair
                writer.changedWhileReading = nil
                writer.count { $0.secondsReconciling += (ContinuousClock.now - start).inSeconds }
            }
        } catch {
            writer.queue.sync { writer.changedWhileReading = nil }
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

    /// Reads these records of both stores again.
    public func refresh(_ ids: [RecordID]) throws {
        writer.queue.sync { for side in StoreSide.allCases { writer.refreshHashes(ids, side) } }
    }

    /// Reads again what others changed in the old store.
    /// - Returns: where to go on the next time, and whether deletions were among it.
    @discardableResult
    public func refresh(changesOfOldSince token: ChangeToken?) throws -> (token: ChangeToken, knowsDeletions: Bool) {
        let changes = try writer.old.changes(since: token)
        try refresh(changes.changed + changes.deleted)
        return (changes.token, changes.knowsDeletions)
    }

    /// The records that differ now, those aside whose batches wait in the outbox.
    /// - Complexity: O(differences × log records).
    public func divergences() throws -> [Divergence] {
        var steps = 0
        let (ids, _) = try differing(&steps)
        var found: [Divergence] = []
        for some in ids.chunked(Self.recordsAtOnce) { found += try writer.queue.sync { try read(some) } }
        return found
    }

    /// Makes the stores equal, as the rule says.
    ///
    /// A rule that asks is called while writers go on. A record that was changed after the rule saw it is left as it
    /// is, and looked at again.
    public func mend(_ rule: MendRule) throws -> ReconcileReport {
        let start = ContinuousClock.now
        var report = ReconcileReport()
        var seen: Set<RecordID> = []
        var leftByRule: Set<RecordID> = []
        for _ in 0..<Self.rounds {
            let (ids, waiting) = try differing(&report.steps)
            report.left = leftByRule.count + waiting
            let open = ids.filter { !leftByRule.contains($0) }
            if open.isEmpty { break }
            for id in open where seen.insert(id).inserted && report.divergences.count < 1_000 {
                report.divergences.append(id)
            }
            // Rows before links, which may lead to any of them.
            var chosen: [RecordID: StoreSide] = [:]
            if hasLinks {
                for some in open.chunked(Self.recordsAtOnce) { try makeRows(some, rule, &chosen, &leftByRule) }
            }
            for some in open.chunked(Self.recordsAtOnce) { try mend(some, rule, chosen, &report, &leftByRule) }
        }
        report.found = seen.count
        report.seconds = (ContinuousClock.now - start).inSeconds
        return try writer.queue.sync {
            let counts = writer.hashes?.counts ?? (0, 0)
            (report.recordsInOld, report.recordsInNew) = counts
            writer.count {
                $0.divergencesFound += report.found
                $0.divergencesMended += report.mended
                $0.secondsReconciling += report.seconds
            }
            var steps = 0
            if writer.hashes?.differences(&steps).isEmpty == true { try writer.forgetDeletions() }
            return report
        }
    }

    private static let rounds = 8

    /// - Returns: the ids that differ, and how many more do because their batches wait.
    private func differing(_ steps: inout Int) throws -> (ids: [RecordID], waiting: Int) {
        if writer.queue.sync(execute: { writer.hashes == nil }) { try read() }
        return try writer.queue.sync {
            try writer.drainForComparing()
            guard let ids = writer.hashes?.differences(&steps) else {
                throw MigrationError(.notReconciled, "a store could not be read after a write; mend it, then try again")
            }
            let waiting = try writer.waitingIDs()
            let open = ids.filter { !waiting.contains($0) }
            return (open, ids.count - open.count)
        }
    }

    /// On the writer's queue.
    private func read(_ ids: [RecordID]) throws -> [Divergence] {
        let old = try writer.old.records(ids)
        let new = try writer.new.records(ids)
        return try ids.map {
            Divergence(id: $0, old: old[$0], new: new[$0], isKnownDeletion: try writer.isKnownDeletion($0))
        }
    }

    private var hasLinks: Bool { writer.models.values.contains { $0.fields.contains(where: \.kind.isLink) } }

    /// Makes the records that are to come to a store, without their links.
    ///
    /// A row that another writer has made meanwhile is left to it.
    private func makeRows(
        _ ids: [RecordID], _ rule: MendRule, _ chosen: inout [RecordID: StoreSide], _ left: inout Set<RecordID>
    ) throws {
        let seen = try writer.queue.sync { try read(ids) }
        var made: [StoreSide: [RecordID]] = [:]
        for divergence in seen where (divergence.old == nil) != (divergence.new == nil) {
            switch try rule.mending(divergence) {
            case .take(let side):
                chosen[divergence.id] = side
                if (side == .old ? divergence.old : divergence.new) == nil { continue }
                made[side, default: []].append(divergence.id)
            case .leave: left.insert(divergence.id)
            }
        }
        for (side, ids) in made {
            try writer.queue.sync {
                let (source, target) = (try writer.store(side).records(ids), try writer.store(side.other).records(ids))
                let changes = ids.compactMap { id -> RecordChange? in
                    guard let record = source[id], target[id] == nil, let model = writer.models[id.model] else {
                        return nil
                    }
                    return .upsert(Record(id, record.values.filter { model[$0.key]?.kind.isLink == false }))
                }
                if !changes.isEmpty { try writer.apply(changes, to: side.other) }
            }
        }
    }

    private func mend(
        _ ids: [RecordID], _ rule: MendRule, _ known: [RecordID: StoreSide], _ report: inout ReconcileReport,
        _ left: inout Set<RecordID>
    ) throws {
        let seen = try writer.queue.sync { try read(ids) }
        var chosen: [(divergence: Divergence, side: StoreSide)] = []
        for divergence in seen where !left.contains(divergence.id) {
            if let side = known[divergence.id] {
                chosen.append((divergence, side))
                continue
            }
            switch try rule.mending(divergence) {
            case .take(let side): chosen.append((divergence, side))
            case .leave: left.insert(divergence.id)
            }
        }
        report.mended += try writer.queue.sync {
            let now = try read(chosen.map(\.divergence.id))
            var changes: [StoreSide: [RecordChange]] = [:]
            // A writer may have come in between: then the rule has not seen what would be written over.
            for ((before, side), now) in zip(chosen, now) where before.old == now.old && before.new == now.new {
                let right = side == .old ? now.old : now.new
                changes[side.other, default: []].append(right.map { RecordChange.upsert($0) } ?? .delete(now.id))
            }
            for (side, changes) in changes { try writer.apply(changes, to: side) }
            return changes.values.reduce(0) { $0 + $1.count }
        }
    }
}

extension Array {
    /// Pieces of a length, and what is left.
    func chunked(_ length: Int) -> [[Element]] {
        stride(from: 0, to: count, by: length).map { Array(self[$0..<Swift.min($0 + length, count)]) }
    }
}
