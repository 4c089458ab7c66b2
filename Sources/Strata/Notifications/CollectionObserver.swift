import StrataStorage

/// Tells how a collection of objects changed, in places.
final class CollectionObserver: Observer {
    struct Delta {
        var deletions: [Int] = []
        var insertions: [Int] = []
        var modifications: [Int] = []
        var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
    }

    let isActive = ActiveFlag()
    private let source: ObjectSource
    /// Columns whose change counts, by name; nil for all.
    private let properties: Set<String>?
    private let call: (Delta) -> Void
    /// What the collection was; nil for a whole class, where storage itself knows places.
    private var keys: [Int64]?

    init(_ source: ObjectSource, keyPaths: [String]?, _ call: @escaping (Delta) -> Void) {
        self.source = source
        properties = keyPaths.map { Set($0.map { $0.split(separator: ".").first.map(String.init) ?? $0 }) }
        self.call = call
        keys = source.isWholeTable ? nil : source.keys()
    }

    func update(_ batch: ChangeBatch) {
        let delta = source.attempt(Delta()) { () throws(StorageError) in try difference(batch) }
        if !delta.isEmpty && !batch.isSilenced { call(delta) }
    }

    private func difference(_ batch: ChangeBatch) throws(StorageError) -> Delta {
        guard let tables = batch.tables else { return try compared(batch) }
        let changes = tables[source.access.tableID]
        if keys == nil {
            guard let changes else { return Delta() }
            return try placed(changes, batch)
        }
        if tables.isEmpty { return Delta() }
        let old = keys ?? []
        let new = try newKeys(old, changes, batch)
        keys = new
        return delta(from: old, to: new, changes) { key in changes.map { isModified(key, $0) } ?? false }
    }

    /// The keys after the change: patched where the records tell which rows can have come or gone, else found again.
    private func newKeys(
        _ old: [Int64], _ changes: MergedChanges?, _ batch: ChangeBatch
    ) throws(StorageError) -> [Int64] {
        guard case .table = source.base, source.steps.count == 1, case .filter(let predicate) = source.steps[0],
            predicate.paths.allSatisfy({ $0.count == 1 && isPlain($0[0]) }), let view = source.instance.currentView
        else { return source.keys() }
        guard let changes else { return old }
        let limit = 64 + old.count / 8
        guard let inserted = changes.insertedKeys(limit: limit), changes.modified.count + changes.deleted.count < limit
        else { return source.keys() }
        let evaluator = PredicateEvaluator(source.instance, source.access, predicate)
        var candidates = Set(changes.modified.keys)
        candidates.formUnion(inserted)
        candidates.formUnion(changes.deleted)
        var present: [Int64] = []
        for key in candidates.sorted() {
            guard try view.locate(source.access.table, RowKey(key)) != nil else { continue }
            if try evaluator.matches(RowKey(key), view) { present.append(key) }
        }
        let patched = Self.merge(old.filter { !candidates.contains($0) }, present)
        source.seed(patched)
        return patched
    }

    private func isPlain(_ name: String) -> Bool {
        guard let property = source.access.property(name) else { return false }
        return !property.isLinkingObjects
    }

    private static func merge(_ a: [Int64], _ b: [Int64]) -> [Int64] {
        var merged: [Int64] = []
        merged.reserveCapacity(a.count + b.count)
        var place = 0
        for key in a {
            while place < b.count, b[place] < key {
                merged.append(b[place])
                place += 1
            }
            merged.append(key)
        }
        return merged + b[place...]
    }

    /// Places that differ, with rows that were deleted and made again under the same key as both.
    private func delta(
        from old: [Int64], to new: [Int64], _ changes: MergedChanges?, _ isModified: (Int64) -> Bool
    ) -> Delta {
        let difference = SequenceDifference(from: old, to: new)
        var delta = Delta(deletions: difference.deletions, insertions: difference.insertions)
        for (before, after) in difference.kept {
            let key = old[before]
            if let changes, changes.deleted.contains(key), changes.wasInserted(key) {
                delta.deletions.append(before)
                delta.insertions.append(after)
            } else if isModified(key) {
                delta.modifications.append(before)
            }
        }
        delta.deletions.sort()
        delta.insertions.sort()
        delta.modifications.sort()
        return delta
    }

    /// Without records: both versions are read.
    /// - Complexity: O(rows x columns).
    private func compared(_ batch: ChangeBatch) throws(StorageError) -> Delta {
        let table = source.access.tableID
        guard let before = batch.old.view.schema.position(of: table),
            let after = batch.new.view.schema.position(of: table)
        else { return Delta() }
        let old: [Int64]
        if let keys { old = keys } else { old = try batch.old.view.keys(before) }
        let new = source.keys()
        if keys != nil { keys = new }
        var modified: Set<Int64> = []
        var recreated = MergedChanges()
        for key in Set(old).intersection(new) {
            guard let a = try batch.old.view.locate(before, RowKey(key)),
                let b = try batch.new.view.locate(after, RowKey(key))
            else { continue }
            if try batch.old.view.creationVersion(a) != batch.new.view.creationVersion(b) {
                recreated.recreate(key)
            } else if try differs(batch, before, a, after, b) {
                modified.insert(key)
            }
        }
        return delta(from: old, to: new, recreated) { modified.contains($0) }
    }

    private func differs(
        _ batch: ChangeBatch, _ before: Int, _ old: RowLocation, _ after: Int, _ new: RowLocation
    ) throws(StorageError) -> Bool {
        let columns = batch.old.view.schema.tables[before].columns
        for (position, column) in columns.enumerated() where properties?.contains(column.name) ?? true {
            guard let tag = ColumnTag(rawValue: column.tag),
                let other = batch.new.view.schema.tables[after].position(of: column.id)
            else { continue }
            if try batch.old.view.value(old, position, tag) != batch.new.view.value(new, other, tag) { return true }
        }
        return false
    }

    /// A whole class: places come from the trees of the two versions.
    /// - Complexity: O(changes log rows).
    private func placed(_ changes: MergedChanges, _ batch: ChangeBatch) throws(StorageError) -> Delta {
        let table = source.access.tableID
        guard let before = batch.old.view.schema.position(of: table),
            let after = batch.new.view.schema.position(of: table)
        else { return Delta() }
        var delta = Delta()
        for key in changes.deleted {
            if let place = try batch.old.view.ordinal(of: RowKey(key), in: before) { delta.deletions.append(place) }
        }
        for range in changes.inserted {
            for key in range {
                if let place = try batch.new.view.ordinal(of: RowKey(key), in: after) { delta.insertions.append(place) }
            }
        }
        for (key, columns) in changes.modified
        where !changes.deleted.contains(key) && !changes.wasInserted(key) && counts(columns) {
            if let place = try batch.old.view.ordinal(of: RowKey(key), in: before) { delta.modifications.append(place) }
        }
        delta.deletions.sort()
        delta.insertions = Array(Set(delta.insertions)).sorted()
        delta.modifications.sort()
        return delta
    }

    /// Whether a change of these columns is one that the observer asked for.
    private func counts(_ columns: Set<UInt16>) -> Bool {
        guard let properties, let view = source.instance.currentView else { return true }
        let definitions = view.schema.tables[source.access.table].columns
        return definitions.contains { columns.contains($0.id.rawValue) && properties.contains($0.name) }
    }

    private func isModified(_ key: Int64, _ changes: MergedChanges) -> Bool {
        changes.modified[key].map { counts($0) } ?? false
    }
}
