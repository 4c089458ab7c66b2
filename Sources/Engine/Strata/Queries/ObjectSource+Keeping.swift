import StrataStorage

/// Inside a write: reuses the found keys as long as nothing changes that they depend on. If only some rows changed, it
/// moves these rows to their new places instead of repeating the query.
extension ObjectSource {
    /// The keys of the visible state, updated from those found before; nil if the query must be repeated.
    /// - Complexity: O(1) without relevant changes; else O(log n) row reads for each changed row, and a pass over the
    ///   keys.
    func keptKeys() -> [Int64]? {
        #if Zoo
            if PlantedMistake.listForgotten.isPlanted, case .list = base { return nil }
        #endif
        guard instance.isInWrite, !isDegraded else { return nil }
        let isNew = cache == nil
        if isNew { takeOver() }
        guard let stamp = cache?.stamp, stamp >= instance.shown.marks.everything, let dependencies = dependencies()
        else { return nil }
        if !dependencies.changed(since: stamp, instance.shown.marks) {
            cache?.stamp = instance.stamp
            if isNew { keepForOthers() }
            return cache?.keys
        }
        guard dependencies.isRowLocal, let view = instance.currentView,
            !dependencies.changedUnseen(since: stamp, instance.shown.marks),
            let rows = instance.shown.marks.rows(changedSince: stamp, in: access.table), rows.count <= 64,
            var keys = cache?.keys
        else { return nil }
        // Drops the cache's reference, so that the keys are changed in place unless an iteration holds them.
        if !isNew { _ = remembered?.take(self) }
        cache = nil
        let isDone = attempt { () throws(StorageError) in try patch(&keys, rows, view) }
        guard isDone == true else { return nil }
        cache = (instance.stamp, keys)
        keepForOthers()
        return keys
    }

    /// Continues with the result of the same query, cached by the write.
    private func takeOver() {
        guard !steps.isEmpty, let found = remembered?.take(self) else { return }
        (cache, knownDependencies) = (found.keys, found.dependencies)
    }

    private var remembered: KeptSources? { instance.write?.memory as? KeptSources }

    /// Caches the result for the next source with the same query.
    private func keepForOthers() {
        guard let write = instance.write, !steps.isEmpty, dependencies()?.isRowLocal == true else { return }
        let kept = remembered ?? KeptSources()
        write.memory = kept
        kept.keep(self)
    }

    /// Starts to record the changes that ``keptKeys()`` needs.
    func followChanges() {
        guard instance.isInWrite, dependencies()?.isRowLocal == true else { return }
        instance.shown.marks.follow(access.table, from: instance.stamp)
        keepForOthers()
    }

    /// Whether it is cheaper to keep all keys than to query again after the next change.
    var isWorthKeeping: Bool { instance.isInWrite && dependencies()?.isRowLocal == true }

    private func dependencies() -> ResultDependencies? {
        if let known = knownDependencies, known.stamp >= instance.shown.marks.everything { return known.dependencies }
        let made = ResultDependencies(self)
        knownDependencies = (instance.stamp, made)
        return made
    }

    /// - Returns: false if the query must be repeated.
    private func patch(
        _ keys: inout [Int64], _ rows: [Int64], _ view: ReadView
    ) throws(StorageError) -> Bool {
        WorkSteps.note(rows.count)
        var filters: [PredicateEvaluator] = []
        var sorts: [RowSort] = []
        for step in steps {
            switch step {
            case .filter(let predicate): filters.append(PredicateEvaluator(instance, access, predicate))
            case .sort(let descriptors): sorts.append(RowSort(instance, access, descriptors))
            case .distinct, .limit: break
            }
        }
        if case .list(let owner, let property) = base {
            return try patch(
                &keys, with: rows, in: view, owner: owner, column: owner._access.properties[property].column,
                filters: filters, isSorted: !sorts.isEmpty)
        }
        // Removes all changed rows first: they may be misplaced, and the binary search needs sorted keys.
        for row in rows {
            if sorts.isEmpty {
                let place = Self.place(of: row, keys)
                if place < keys.count, keys[place] == row { keys.remove(at: place) }
            } else if let place = keys.firstIndex(of: row) {
                keys.remove(at: place)
            }
        }
        for row in rows where try view.locate(access.table, RowKey(row)) != nil {
            var isIn = true
            for filter in filters where isIn { isIn = try filter.matches(RowKey(row), view) }
            guard isIn else { continue }
            keys.insert(row, at: sorts.isEmpty ? Self.place(of: row, keys) : try place(of: row, keys, sorts, view))
        }
        return true
    }

    /// Removes the rows that no longer match from the keys of a list that is unchanged apart from deleted elements. For
    /// a row that matches now the query must be repeated: its place in the list is unknown.
    private func patch(
        _ keys: inout [Int64], with rows: [Int64], in view: ReadView, owner: ObjectBase, column: Int,
        filters: [PredicateEvaluator], isSorted: Bool
    ) throws(StorageError) -> Bool {
        if owner.isInvalidated { return false }
        for row in rows {
            var isIn = try view.locate(access.table, RowKey(row)) != nil
            for filter in filters where isIn { isIn = try filter.matches(RowKey(row), view) }
            // A row that was deleted and created again is no longer an element.
            if isIn {
                let table = owner._access.table
                isIn = try view.linkCount(from: RowKey(owner._key), to: RowKey(row), of: table, column) > 0
            }
            let known = keys.firstIndex(of: row)
            if isIn {
                if known == nil || isSorted { return false }
            } else if let known {
                keys.remove(at: known)
                // A list may hold a row several times.
                if keys[known...].contains(row) { keys.removeAll { $0 == row } }
            }
        }
        return true
    }

    private static func place(of key: Int64, _ keys: [Int64]) -> Int {
        var (low, high) = (0, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func place(
        of key: Int64, _ keys: [Int64], _ sorts: [RowSort], _ view: ReadView
    ) throws(StorageError) -> Int {
        var (low, high) = (0, keys.count)
        while low < high {
            let middle = (low + high) / 2
            var pair = keys[middle] < key ? [keys[middle], key] : [key, keys[middle]]
            for sort in sorts { pair = try sort.sorted(pair, view) }
            if pair[0] == keys[middle] { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
