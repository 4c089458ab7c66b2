/// The work of one call of ``Reconciler/mend(_:)``: it reads some hundred records at a time, asks the rule, and writes
/// them.
///
/// 1. A store is given exactly the record that the rule has seen. A record that a writer has changed since is left for
/// the next round.
/// 2. A new record is first inserted without its links and noted as incomplete, so that other records can link to it.
/// Until it is complete the store counts as not having it, even after a crash; otherwise a rule would compare the
/// incomplete record.
struct Mend {
    private let writer: DoubleWriter
    private let rule: MendRule
    private var halfMade: [StoreSide: Set<RecordID>]
    /// The rule's answers for records that only one store has.
    private var chosen: [RecordID: Choice] = [:]
    private(set) var left: Set<RecordID> = []
    private(set) var written: Set<RecordID> = []
    private(set) var firstRefusal: (any Error)?

    init(_ writer: DoubleWriter, _ rule: MendRule, halfMade: [StoreSide: Set<RecordID>]) {
        self.writer = writer
        self.rule = rule
        self.halfMade = halfMade
    }

    private mutating func leave(_ id: RecordID, _ error: any Error) {
        left.insert(id)
        if firstRefusal == nil { firstRefusal = error }
    }

    /// Inserts the new records of a store.
    mutating func makeRows(_ ids: [RecordID]) throws {
        let seen = try writer.queue.sync { try writer.read(ids, halfMade: halfMade) }
        var wanted: [StoreSide: [RecordID]] = [:]
        for divergence in seen where (divergence.old == nil) != (divergence.new == nil) {
            switch try rule.mending(divergence) {
            case .take(let side):
                chosen[divergence.id] = (divergence, side)
                if divergence[side] != nil { wanted[side.other, default: []].append(divergence.id) }
            case .leave: left.insert(divergence.id)
            }
        }
        for (side, ids) in wanted { try makeRows(ids, in: side) }
    }

    /// A row that a writer has inserted meanwhile is left as it is.
    private mutating func makeRows(_ ids: [RecordID], in side: StoreSide) throws {
        try writer.queue.sync {
            let (source, target) = (try writer.stores[side.other].records(ids), try writer.stores[side].records(ids))
            var rows: [RecordChange] = []
            for id in ids where target[id] == nil {
                guard let record = source[id], let model = writer.stores.models[id.model] else { continue }
                do {
                    guard case .upsert(let kept) = try writer.stores.asKept(.upsert(record)) else { continue }
                    rows.append(.upsert(model.withoutLinks(kept)))
                } catch { leave(id, error) }
            }
            if rows.isEmpty { return }
            try writer.noteHalfMade(rows.map(\.id), side)
            halfMade[side, default: []].formUnion(rows.map(\.id))
            try apply(rows, to: side)
        }
    }

    mutating func mend(_ ids: [RecordID]) throws {
        if rule.asks {
            let seen = try writer.queue.sync { try writer.read(ids, halfMade: halfMade) }
            let sides = try choose(seen)
            try writer.queue.sync {
                try write(sides, try writer.read(sides.map(\.divergence.id), halfMade: halfMade))
            }
        } else {
            try writer.queue.sync {
                let sides = try choose(try writer.read(ids, halfMade: halfMade))
                try write(sides, sides.map(\.divergence))
            }
        }
    }

    private typealias Choice = (divergence: Divergence, side: StoreSide)

    private mutating func choose(_ seen: [Divergence]) throws -> [Choice] {
        var sides: [Choice] = []
        for divergence in seen where !left.contains(divergence.id) {
            // The record is incomplete here, and was deleted from its store of origin.
            if divergence.old == nil, divergence.new == nil {
                sides.append((divergence, .old))
                continue
            }
            if let choice = chosen.removeValue(forKey: divergence.id), choice.divergence.old == divergence.old,
                choice.divergence.new == divergence.new
            {
                sides.append((divergence, choice.side))
                continue
            }
            switch try rule.mending(divergence) {
            case .take(let side): sides.append((divergence, side))
            case .leave: left.insert(divergence.id)
            }
        }
        return sides
    }

    /// - Parameter now: the present records of both stores.
    private mutating func write(_ sides: [Choice], _ now: [Divergence]) throws {
        var changes: [StoreSide: [RecordChange]] = [:]
        for ((before, side), now) in zip(sides, now) where before.old == now.old && before.new == now.new {
            guard let right = now[side] else {
                changes[side.other, default: []].append(.delete(now.id))
                if now[side.other] == nil { changes[side, default: []].append(.delete(now.id)) }
                continue
            }
            do {
                let kept = try writer.stores.asKept(.upsert(right))
                changes[side.other, default: []].append(kept)
                // A value that one store cannot represent is normalized in both.
                if kept != .upsert(right) { changes[side, default: []].append(kept) }
            } catch { leave(now.id, error) }
        }
        for (side, changes) in changes { try apply(changes, to: side) }
    }

    /// Retries one by one, if a store refuses them together.
    private mutating func apply(_ changes: [RecordChange], to side: StoreSide) throws {
        do {
            try writer.stores.apply(changes, to: side)
            written.formUnion(changes.map(\.id))
        } catch {
            var failures = 0
            for change in changes {
                do {
                    try writer.stores.apply([change], to: side)
                    written.insert(change.id)
                } catch {
                    leave(change.id, error)
                    if (error as? MigrationError)?.code != .invalidChange { failures += 1 }
                    // Three records failed for another reason than their values, so the cause is the store.
                    if failures == 3 { throw error }
                }
            }
        }
    }

    /// - Parameter remaining: records that still differ.
    func finish(_ remaining: Set<RecordID>) throws {
        if halfMade.values.allSatisfy(\.isEmpty) { return }
        try writer.setHalfMade(halfMade.mapValues { $0.intersection(remaining) })
    }
}

extension Divergence {
    subscript(_ side: StoreSide) -> Record? { side == .old ? old : new }
}

extension DoubleWriter {
    /// Runs on the writer's queue.
    func read(_ ids: [RecordID], halfMade: [StoreSide: Set<RecordID>]) throws -> [Divergence] {
        let (old, new) = (try stores.old.records(ids), try stores.new.records(ids))
        let (inOld, inNew) = (halfMade[.old] ?? [], halfMade[.new] ?? [])
        let deleted = try knownDeletions(ids)
        return ids.map { id in
            Divergence(
                id: id, old: inOld.contains(id) ? nil : old[id], new: inNew.contains(id) ? nil : new[id],
                isKnownDeletion: deleted.contains(id))
        }
    }
}
