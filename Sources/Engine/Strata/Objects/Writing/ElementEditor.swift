import StrataStorage

/// Changes elements of one managed list, set or map in a write, in place.
///
/// An unfinished iteration over the collection is told before each change, and goes on with the elements of its start.
struct ElementEditor {
    private let column: _CollectionColumn
    private let instance: RealmInstance
    private let access: ClassAccess
    private let write: RunningWrite
    private let property: BoundProperty
    private let elements: CollectionColumn

    private var owner: ObjectBase { column.owner }

    /// Nil, with the write failed, if the collection cannot be changed. Stops the program outside a write.
    init?(_ column: _CollectionColumn) {
        guard let instance = column.owner._instance else { return nil }
        let access = column.owner._access
        guard let write = instance.requireWrite(access.name) else { return nil }
        if column.owner._stamp != instance.stamp, let error = access.tryRelocate(column.owner) {
            write.fail(error)
            return nil
        }
        guard write.failure == nil else { return nil }
        let property = column.property
        if column.nested != nil, column.isInvalidated {
            write.fail(column.replacedError)
            return nil
        }
        guard property.column >= 0, let elements = column.nested == nil ? property.elements : column.tag.elements
        else {
            write.fail(RealmError(.invalidInput, "a property of '\(access.name)' that the file does not keep"))
            return nil
        }
        self.column = column
        self.instance = instance
        self.access = access
        self.write = write
        self.property = property
        self.elements = elements
        storeShownMembers()
    }

    /// Writes a set of values of any type as the program sees it, before the program changes it: links to deleted
    /// objects become one null.
    private func storeShownMembers() {
        guard property.tag.isSetOfAny,
            let shown = look({ (contents) throws(StorageError) in try contents.shownMembers() }) ?? nil
        else { return }
        assign(shown.contents)
    }

    /// Converts elements to stored values. That may add unmanaged objects, so the caller converts before it reads the
    /// collection.
    var context: _ElementContext { column.context }

    /// Whether the write has not failed.
    var goesOn: Bool { write.failure == nil }

    /// Assigns a new value to a collection that is stored as a tree, by changing the elements that differ.
    /// - Returns: false if the column has no tree: the caller then stores the value.
    static func update(_ object: ObjectBase, access: ClassAccess, column: Int, to value: _StoredValue) -> Bool {
        guard case .bytes(let bytes) = value,
            let place = access.place(ofColumn: column), access.properties[place].isCollection,
            let editor = ElementEditor(_CollectionColumn(object, place)), editor.look({ $0.isTree }) == true,
            let contents = bytes.withUnsafeBytes({ StoredCollection($0, access.properties[place].tag) })
        else { return false }
        editor.assign(contents)
        return true
    }

    // MARK: Reading

    /// Reads the present collection; nil, with the write failed, if it cannot be read.
    func look<Value>(_ body: (CollectionContents) throws(StorageError) -> Value) -> Value? {
        if owner._stamp != instance.stamp, let error = access.tryRelocate(owner) {
            write.fail(error)
            return nil
        }
        guard let location = owner._location else { return nil }
        do throws(StorageError) {
            guard let contents = try column.contents(write.transaction.view, location) else { return nil }
            return try body(contents)
        } catch {
            write.fail(RealmError(error))
            return nil
        }
    }

    var count: Int { look { $0.count } ?? 0 }

    /// Whether these places exist. If not, that is reported, and the write fails, since it lacks a change.
    /// - Parameter kind: what messages call the collection.
    func has(_ places: NeededPlaces, _ kind: String) -> Bool {
        let count = count
        guard goesOn else { return false }
        guard let place = places.missing(in: 0..<count) else { return true }
        _GoneAccess(column, kind).tell(place: place, count: count)
        write.fail(
            RealmError(
                .invalidInput,
                "'\(access.name).\(property.name)' has \(count) elements; the element at \(place) cannot be changed"))
        return false
    }

    // MARK: Changing

    /// Inserts elements before the one at `place`; `count` is the end. For a set or a map, a search has found `place`.
    /// - Parameter keys: one per value, for a map.
    func insert(_ values: [_StoredValue], keys: [String] = [], at place: Int) {
        exchange(0..<0, for: values) { insertNow(values, keys, at: place) }
    }

    /// Replaces the elements of a range.
    func replace(_ range: Range<Int>, with values: [_StoredValue]) {
        exchange(range, for: values) {
            let kept = min(range.count, values.count)
            if kept > 0 { setNow(Array(values[..<kept]), at: range.lowerBound) }
            let end = range.lowerBound + kept
            if end < range.upperBound { removeNow(end..<range.upperBound) }
            if kept < values.count { insertNow(Array(values[kept...]), [], at: end) }
        }
    }

    func remove(_ range: Range<Int>) {
        if range.isEmpty { return }
        #if Zoo
            let isShifted = PlantedMistake.listRemovesNeighbour.isPlanted && isList && range.lowerBound > 0
            let range = isShifted ? range.lowerBound - 1..<range.upperBound - 1 : range
        #endif
        exchange(range, for: []) { removeNow(range) }
    }

    /// Moves elements of a list; `target` is the place of the first one afterwards.
    func move(_ range: Range<Int>, to target: Int) {
        #if Zoo
            let isFar = max(range.lowerBound, target) > 1_000 && target > 0
            let target = PlantedMistake.farMoveShort.isPlanted && isFar ? target - 1 : target
        #endif
        perform(
            .moved(range, to: target),
            { contents in
                let moved = contents.values[range]
                contents.values.removeSubrange(range)
                contents.values.insert(contentsOf: moved, at: target)
            }
        ) { (collections, table, key, place) throws(StorageError) in
            try collections.move(table, key, column: place, range: range, to: target)
        }
    }

    func swap(_ a: Int, _ b: Int) {
        guard a != b,
            let (first, second) = look({ (contents) throws(StorageError) in
                let (first, second) = (
                    try contents.whole(contents.part(at: a), a), try contents.whole(contents.part(at: b), b)
                )
                try contents.view.confirm()
                return (first, second)
            })
        else { return }
        if NestedEncoding.isKeyed(first) != nil || NestedEncoding.isKeyed(second) != nil {
            // Moved and not set, so that inner collections stay the same ones at their new places.
            let (low, high) = (Swift.min(a, b), Swift.max(a, b))
            move(low..<(low + 1), to: high)
            return move((high - 1)..<high, to: low)
        }
        setNow([second], at: a)
        setNow([first], at: b)
    }

    /// Sets the collection to `contents`. Equal elements at its beginning and its end are not written.
    func assign(_ contents: StoredCollection) {
        exchange(nil, for: contents.values) {
            perform(.everything, { $0 = contents }) { (collections, table, key, place) throws(StorageError) in
                try collections.assign(table, key, column: place, elements: cells(contents.values, contents.keys))
            }
        }
    }

    // MARK: Sets and maps

    /// - Returns: false if it is a member already.
    @discardableResult
    func insertMember(_ value: _StoredValue) -> Bool {
        guard goesOn,
            let (place, isThere) = look({ (contents) throws(StorageError) in try contents.place(ofMember: value) }),
            !isThere
        else { return false }
        insert([SetOrder.normal(value)], at: place)
        return true
    }

    func setValue(_ value: _StoredValue, forKey key: String) {
        guard goesOn,
            let (place, isThere) = look({ (contents) throws(StorageError) in try contents.place(ofKey: key) })
        else { return }
        if isThere {
            noteInner(.entry(key))
            replace(place..<(place + 1), with: [value])
        } else {
            insert([value], keys: [key], at: place)
        }
    }

    func removeValue(forKey key: String) {
        guard goesOn,
            let (place, isThere) = look({ (contents) throws(StorageError) in try contents.place(ofKey: key) }), isThere
        else { return }
        noteInner(.entry(key))
        remove(place..<(place + 1))
    }

    // MARK: Storage operations

    private func insertNow(_ values: [_StoredValue], _ keys: [String], at first: Int) {
        #if Zoo
            let isBehind = PlantedMistake.listInsertsBehind.isPlanted && isList && first < count
            let first = isBehind ? first + 1 : first
        #endif
        perform(
            .inserted(at: first, count: values.count),
            { contents in
                contents.values.insert(contentsOf: values, at: first)
                // A list has no keys.
                if !keys.isEmpty { contents.keys.insert(contentsOf: keys, at: first) }
            }
        ) { (collections, table, key, place) throws(StorageError) in
            if let value = values.first, values.count == 1, keys.isEmpty {
                return try value.withCell { (cell) throws(StorageError) in
                    try collections.insert(table, key, column: place, one: cell, at: first)
                }
            }
            try collections.insert(table, key, column: place, elements: cells(values, keys), at: first)
        }
    }

    private func setNow(_ values: [_StoredValue], at first: Int) {
        let range = first..<(first + values.count)
        perform(.replaced(range), { $0.values.replaceSubrange(range, with: values) }) {
            (collections, table, key, place) throws(StorageError) in
            if let value = values.first, values.count == 1 {
                return try value.withCell { (cell) throws(StorageError) in
                    try collections.set(table, key, column: place, one: cell, at: first)
                }
            }
            try collections.set(table, key, column: place, elements: cells(values, []), at: first)
        }
    }

    private func removeNow(_ range: Range<Int>) {
        let isMap = elements.isKeyed
        // For a map the caller has noted the key that is removed, unless it removes all entries.
        let isAll = isMap && range.count == count
        perform(
            isAll ? .everything : .removed(range),
            { contents in
                contents.values.removeSubrange(range)
                if isMap { contents.keys.removeSubrange(range) }
            }
        ) { (collections, table, key, place) throws(StorageError) in
            try collections.remove(table, key, column: place, range: range)
        }
    }

    #if Zoo
        private var isList: Bool { property.tag.collection == .list }
    #endif

    private func cells(_ values: [_StoredValue], _ keys: [String]) -> CollectionElements {
        let made = CollectionElements(elements)
        for (index, value) in values.enumerated() {
            value.withCell { value in
                if keys.isEmpty { return made.append(value) }
                Cell.withCopy(of: Array(keys[index].utf8)) { made.append(key: $0, value) }
            }
        }
        return made
    }

    /// Makes one change of the collection, and marks it.
    /// - Parameters:
    ///   - change: what it means for inner collections in use.
    ///   - rewrite: makes the change if the collection is part of a single value, which is written anew.
    ///   - body: makes the change if the property is a collection, whose elements change in place.
    private func perform(
        _ change: NestedChange, _ rewrite: (inout StoredCollection) -> Void,
        _ body: (CollectionWriter, _ table: Int, RowKey, _ column: Int) throws(StorageError) -> Void
    ) {
        guard goesOn else { return }
        write.walks.settle(access.table, owner._key, property.column)
        guard let path = column.nested == nil ? [] : look({ $0.path }) else { return }
        instance.shown.marks.markSet(
            table: access.table, column: property.column, key: owner._key, stamp: instance.stamp &+ 1)
        noteInner(change)
        let isHere = owner._stamp == instance.stamp && property.isCollection
        let generation = write.transaction.view.generation
        do throws(StorageError) {
            let key = RowKey(owner._key)
            if property.isCollection {
                try body(write.transaction.collections(at: path), access.table, key, property.column)
            } else {
                try write.transaction.rewrite(
                    table: access.table, key: key, column: property.column, at: path, with: rewrite)
            }
        } catch {
            write.fail(RealmError(error))
        }
        instance.invalidateMarked()
        // If the generation is the same, elements changed in place and no row has moved: the location stays valid.
        if isHere && write.transaction.view.generation == generation { owner._stamp = instance.stamp }
    }

    /// Adapts the inner collections in use among the elements to a change.
    private func noteInner(_ change: NestedChange) {
        guard property.tag.takesNested else { return }
        instance.noteNested(
            change, table: access.table, key: owner._key, column: property.column,
            outer: column.nested?.standing?.steps ?? [])
    }

    /// Whether values fit the property's type and the limit of nesting; if not, fails the write.
    private func mayStand(_ values: [_StoredValue]) -> Bool {
        if case .link? = values.first, property.tag.type != .object {
            let expected = "'\(access.name).\(property.name)' expects \(property.tag.expected(nil)), got an object"
            write.fail(RealmError(.invalidInput, expected))
            return false
        }
        guard property.tag.type == .any, values.contains(where: { NestedEncoding.isKeyed($0) != nil }) else {
            return true
        }
        let name = "'\(access.name).\(property.name)'"
        guard property.tag.takesNested else {
            write.fail(RealmError(.invalidInput, "\(name) is a set, which cannot hold lists or dictionaries"))
            return false
        }
        let outer = (column.nested?.standing?.steps.count ?? 0) + (property.isCollection ? 0 : 1)
        if values.contains(where: { NestedEncoding.isTooDeep($0, in: outer) }) {
            write.fail(NestedEncoding.tooDeep(name))
            return false
        }
        return true
    }

    // MARK: Embedded objects

    /// Runs a change of elements. If they are embedded objects, makes the inserted ones the owner's children before,
    /// and deletes the removed ones after.
    /// - Parameter range: the removed elements; nil for all.
    private func exchange(_ range: Range<Int>?, for values: [_StoredValue], _ body: () -> Void) {
        guard mayStand(values) else { return }
        guard let children = access.parental.isEmpty ? nil : access.parental[property.column],
            let target = access.target(of: children)
        else { return body() }
        let old = look { (contents) throws(StorageError) in
            var keys: [Int64] = []
            let range = range ?? 0..<contents.count
            if range.isEmpty { return keys }
            try contents.forEach(from: range.lowerBound) { place, value in
                if place < range.upperBound, let key = value.linkKey { keys.append(key) }
                return place + 1 < range.upperBound
            }
            return keys
        }
        guard let old, let orphans = write.adopt(values.compactMap(\.linkKey), over: old, target) else { return }
        body()
        write.deleteChildren(orphans, target)
    }
}
