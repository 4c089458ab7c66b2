import StrataStorage

// Links in values of any type
// 1. A value holds the identity of an object: its table, its key and its creation version. A deletion does not search
//    for values that link to the deleted object.
// 2. In a version without that object the link is null. Reads, queries, sorts, sets and observers all check the version
//    for it, so they agree.
// 3. Damaged is not deleted: a link to an unreadable row stays a link.

extension ReadView {
    /// Whether the object of a link exists, or cannot be read. False for an embedded object: it belongs to its parent,
    /// and no value links to it.
    /// - Complexity: O(log rows).
    func holds(_ link: AnyEncoding.Link) throws(StorageError) -> Bool {
        guard let table = schema.position(of: TableID(link.table)), schema.tables[table].tag != TableTag.embedded
        else { return false }
        do throws(StorageError) {
            guard let row = try locate(table, RowKey(link.key)) else { return false }
            return try creationVersion(row).rawValue == link.creation
        } catch {
            if error.isUnreadable { return true }
            throw error
        }
    }

    /// A value of any type as queries compare it: null for a link to a deleted object, else unchanged.
    @inline(__always)
    func shown(comparable value: _StoredValue) throws(StorageError) -> _StoredValue {
        guard case .bytes(let bytes) = value, bytes.first == PropertyType.object.rawValue else { return value }
        return try shown(link: value, AnyComparable.link(bytes))
    }

    @inline(never)
    private func shown(link value: _StoredValue, _ link: AnyEncoding.Link?) throws(StorageError) -> _StoredValue {
        guard let link else { return value }
        return try holds(link) ? value : .null
    }

    /// A stored value of any type in which each link to a deleted object, in inner collections, too, is replaced by
    /// null.
    /// - Complexity: O(log rows) per link; O(bytes) for lists and maps.
    func shown(_ value: _StoredValue, depth: Int = 0) throws(StorageError) -> _StoredValue {
        guard case .bytes(let bytes) = value, let type = bytes.first else { return value }
        if type == PropertyType.object.rawValue {
            guard let link = bytes.withUnsafeBytes({ AnyEncoding.link($0) }), try !holds(link) else { return value }
            return .bytes([])
        }
        guard NestedEncoding.isKeyed(type) != nil, depth < NestedEncoding.deepest,
            let (isKeyed, known) = bytes.withUnsafeBytes({ NestedEncoding.contents($0) })
        else { return value }
        var contents = known
        for (place, element) in known.values.enumerated() {
            contents.values[place] = try shown(element, depth: depth + 1)
        }
        return contents == known ? value : .bytes(NestedEncoding.encode(contents, isKeyed: isKeyed))
    }
}

extension CollectionReader {
    /// In a set of values of any type: the ascending places of links to deleted objects, and whether null is a member
    /// itself. In the set that a program sees, one null stands for all of these, as its first member.
    /// - Complexity: O(log members), and O(log rows) for each link among them.
    func goneMembers(_ view: ReadView) throws(StorageError) -> (places: [Int], hasNone: Bool) {
        if count == 0 { return ([], false) }
        // Members ascend by their bytes, which begin with their type: links are adjacent.
        let first = try place(ofType: PropertyType.object.rawValue)
        let end = try place(ofType: PropertyType.object.rawValue + 1)
        var gone: [Int] = []
        guard first < end else { return (gone, false) }
        try forEachPart(from: first) { (part) throws(StorageError) in
            for place in max(part.first, first)..<min(part.end, end) {
                let cell = try part.value(at: place)
                guard cell.kind == .bytes, let link = AnyEncoding.link(cell.bytesValue) else { continue }
                if try !view.holds(link) { gone.append(place) }
            }
            return part.end < end
        }
        if gone.isEmpty { return (gone, false) }
        let least = try part(at: 0).value(at: 0)
        let hasNone = least.kind == .bytes && least.bytesValue.isEmpty
        try confirm()
        return (gone, hasNone)
    }

    private func place(ofType type: UInt8) throws(StorageError) -> Int {
        try Cell.withCopy(of: [type]) { (wanted) throws(StorageError) in
            try find(wanted) { cell in
                cell.kind != .bytes || (cell.bytesValue.first ?? 0) < type || cell.bytesValue.isEmpty
            }
        }
    }

    /// The number of members that a program sees of a set of values of any type.
    func shownCount(_ view: ReadView) throws(StorageError) -> Int {
        let (gone, hasNone) = try goneMembers(view)
        return gone.isEmpty ? count : count - gone.count + (hasNone ? 0 : 1)
    }
}

extension CollectionContents {
    /// The members that a program sees of a set of values of any type, with their places in the stored set; nil for any
    /// other collection, and if all links lead to existing objects.
    /// - Complexity: as ``CollectionReader/goneMembers(_:)``; O(members) if the result is not nil.
    func shownMembers() throws(StorageError) -> (contents: StoredCollection, places: [Int])? {
        guard tag.isSetOfAny else { return nil }
        let (gone, hasNone) = try reader.goneMembers(view)
        guard let first = gone.first else { return nil }
        let all = try all()
        var shown = StoredCollection()
        var places: [Int] = []
        if !hasNone {
            shown.values.append(.bytes([]))
            places.append(first)
        }
        var next = gone[...]
        for (place, value) in all.values.enumerated() {
            if next.first == place {
                next.removeFirst()
                continue
            }
            shown.values.append(value)
            places.append(place)
        }
        return (shown, places)
    }
}

extension ColumnTag {
    var isSetOfAny: Bool { type == .any && collection == .set }
}
