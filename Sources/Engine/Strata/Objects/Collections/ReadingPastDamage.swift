import StrataStorage

extension ReadableElements {
    /// Reads the collection without its lost elements, and reports them.
    /// - Parameter place: elements before it are skipped.
    /// - Complexity: O(elements and their bytes).
    init(
        _ column: _CollectionColumn, _ found: CollectionContents, from place: Int = 0, isWhole: Bool,
        in instance: RealmInstance
    ) {
        self.init(
            stamp: instance.stamp, row: column.owner._key, table: column.owner._access.table,
            position: column.position)
        let lost = instance.failures.loss(column.owner, column: column.property.column)
        func failed(_ error: StorageError) { instance.failures.note(error, in: column.owner._access, lost) }
        let isMap = found.tag.collection == .map
        found.reader.forEachReadablePart(from: place) { part in
            for at in max(part.first, place)..<part.end {
                do throws(StorageError) {
                    let value = isWhole ? try found.whole(part, at) : try found.element(part, at)
                    let key = isMap ? try part.text(at: at) : nil
                    try found.view.confirm()
                    contents.values.append(value)
                    if let key { contents.keys.append(key) }
                    places.append(at)
                } catch {
                    failed(error)
                }
            }
        } failed: {
            failed($0)
        }
        leaveOutLostRows(column, instance)
        if found.tag.isSetOfAny { makeGoneMembersOne(found.view) }
    }

    /// Members of a set that link to deleted objects become a single null, which is the first.
    private mutating func makeGoneMembersOne(_ view: ReadView) {
        var shown: [_StoredValue] = []
        var shownPlaces: [Int] = []
        for (index, value) in contents.values.enumerated() {
            var value = value
            // A link that cannot be checked stays.
            do throws(StorageError) { value = try view.shown(value) } catch {}
            let isNone = value == .bytes([])
            if isNone, shown.first == value { continue }
            shown.insert(value, at: isNone ? 0 : shown.count)
            shownPlaces.insert(places[index], at: isNone ? 0 : shownPlaces.count)
        }
        (contents.values, places) = (shown, shownPlaces)
    }

    /// A link to an unreadable row is skipped; in a map its key stays, with null.
    private mutating func leaveOutLostRows(_ column: _CollectionColumn, _ instance: RealmInstance) {
        guard column.leadsToObjects, column.nested == nil,
            let target = column.owner._access.target(of: column.property), instance.failures.readableRows(target) != nil
        else { return }
        var kept = StoredCollection()
        var keptPlaces: [Int] = []
        for (index, value) in contents.values.enumerated() {
            let isLost = value.linkKey.map { instance.failures.cannotRead($0, target) } ?? false
            if isLost && contents.keys.isEmpty { continue }
            kept.values.append(isLost ? .null : value)
            if !contents.keys.isEmpty { kept.keys.append(contents.keys[index]) }
            keptPlaces.append(places[index])
        }
        (contents, places) = (kept, keptPlaces)
    }
}
