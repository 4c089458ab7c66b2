/// Both stores, with the state that each batch updates: the hashes of their records, and the counts.
///
/// Concurrency: all but the constants is used on the queue of its ``DoubleWriter``.
final class StorePair {
    let old: any PrimaryStore
    let new: any PrimaryStore
    let models: [String: RecordModel]
    let hasLinks: Bool
    var phase = MigrationPhase.old
    private(set) var figures: [MigrationPhase: MigrationFigures] = [:]
    /// nil until a reconciler has built them, and after a store could not be read.
    var hashes: HashPair?
    /// While hashes are built, the records that changed since the reading began.
    var changedWhileReading: Set<RecordID>?

    /// - Throws: `invalidModel`.
    init(old: any PrimaryStore, new: any PrimaryStore) throws {
        self.old = old
        self.new = new
        models = Dictionary(new.models.map { ($0.name, $0) }, uniquingKeysWith: { a, _ in a })
        guard models == Dictionary(old.models.map { ($0.name, $0) }, uniquingKeysWith: { a, _ in a }) else {
            throw MigrationError(.invalidModel, "the stores have different models; give both the same")
        }
        hasLinks = models.values.contains { $0.fields.contains(where: \.kind.isLink) }
    }

    subscript(_ side: StoreSide) -> any PrimaryStore { side == .old ? old : new }

    /// A change that both stores can hold, with the values that both can keep.
    /// - Throws: `invalidChange`.
    func asKept(_ change: RecordChange) throws -> RecordChange {
        try change.check(models)
        let kept = try new.asKept(old.asKept(change))
        guard case .upsert(let record) = kept, let model = models[record.id.model] else { return kept }
        return .upsert(model.sorted(record))
    }

    /// Writes a batch to one store, and keeps the store's hashes current.
    func apply(_ changes: [RecordChange], to side: StoreSide) throws {
        // Noted before the write, since a failed batch may have been written.
        changedWhileReading?.formUnion(changes.map(\.id))
        let path = side == .old ? \MigrationFigures.secondsInOld : \MigrationFigures.secondsInNew
        defer { refreshHashes(changes.map(\.id), side, sent: changes) }
        try timed(path) { try self[side].apply(changes) }
    }

    /// Updates the hashes from the store. If it cannot be read, all hashes are dropped, and a reconciler reads both
    /// stores again.
    ///
    /// - Parameter sent: the batch that was just written.
    func refreshHashes(_ ids: [RecordID], _ side: StoreSide, sent: [RecordChange] = []) {
        guard hashes != nil else { return }
        do {
            var found = try self[side].records(ids)
            #if Zoo
                if PlantedMistake.hashStale.isMade { for change in sent { found = Self.overlaid(found, change) } }
            #endif
            hashes?.take(ids, found, side)
        } catch { hashes = nil }
    }

    #if Zoo
        /// The records as a store would have them, had it kept the sent values exactly.
        private static func overlaid(_ found: [RecordID: Record], _ change: RecordChange) -> [RecordID: Record] {
            var found = found
            switch change {
            case .delete(let id): found[id] = nil
            case .upsert(let record):
                found[record.id, default: Record(record.id, [:])].values.merge(record.values) { $1 }
            }
            return found
        }
    #endif

    func count(_ change: (inout MigrationFigures) -> Void) { change(&figures[phase, default: .init()]) }

    func timed<Output>(
        _ path: WritableKeyPath<MigrationFigures, Double>, _ body: () throws -> Output
    ) rethrows -> Output {
        let start = ContinuousClock.now
        defer { count { $0[keyPath: path] += (ContinuousClock.now - start).inSeconds } }
        return try body()
    }
}

extension Duration {
    var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}

extension Array {
    /// Chunks of a length, and the remainder.
    func chunked(_ length: Int) -> [[Element]] {
        stride(from: 0, to: count, by: length).map { Array(self[$0..<Swift.min($0 + length, count)]) }
    }
}
