import StrataStorage

/// Finds the inner collections of a property of any type, and finds them again in a later version.
struct NestedReading {
    let view: ReadView
    /// Of the property, which is a single value of any type, or a collection of such values.
    let tag: ColumnTag

    /// The outermost collection: the property itself if it is one, else the list or map that is its value. Nil if the
    /// value is no collection.
    func root(_ row: RowLocation, _ key: Int64, _ column: Int) throws(StorageError) -> CollectionReader? {
        if let elements = tag.elements {
            return try CollectionReader(view, row: row, key: RowKey(key), column: column, as: elements, isLinks: false)
        }
        guard let bytes = try view.bytes(row, column) else { return nil }
        let reader = try CollectionReader(view, value: bytes)
        try view.confirm()
        return reader
    }

    /// The steps to an inner collection in a later version; nil if it is gone. In a list, one whose contents changed
    /// counts as the same as long as its neighbours tell which one it is: see ``NestedMatch``.
    /// - Parameter standing: the steps in the earlier version.
    static func followed(
        _ standing: NestedSteps, _ earlier: CollectionReader, _ later: CollectionReader
    ) throws(StorageError) -> NestedSteps? {
        var (old, new) = (earlier, later)
        var made: [NestedSteps.Step] = []
        for step in standing.steps {
            guard old.column.isKeyed == new.column.isKeyed, let place = try old.place(of: step) else { return nil }
            var now: Int?
            switch step {
            case .key:
                now = try new.place(of: step)
                made.append(step)
            case .index:
                now = try NestedMatch(old, new).newPlace(of: place)
                if let now { made.append(.index(now)) }
            }
            guard let now, let before = try old.nested(at: place), let after = try new.nested(at: now) else {
                return nil
            }
            (old, new) = (before, after)
        }
        return new.column.isKeyed == standing.isKeyed ? NestedSteps(steps: made, isKeyed: standing.isKeyed) : nil
    }
}

/// Tells which inner collection in the elements of a list is which between two versions. An inner collection has no
/// identity of its own.
struct NestedMatch {
    private let old: CollectionReader
    private let new: CollectionReader
    private let difference: CollectionDifference

    init(_ old: CollectionReader, _ new: CollectionReader) throws(StorageError) {
        self.init(old, new, try CollectionDifference(from: old, to: new))
    }

    init(_ old: CollectionReader, _ new: CollectionReader, _ difference: CollectionDifference) {
        self.old = old
        self.new = new
        self.difference = difference
    }

    func newPlace(of place: Int) throws(StorageError) -> Int? {
        if let kept = difference.newPlace(of: place) { return kept }
        return try changed().first { $0.old == place }?.new
    }

    /// Old and new places of inner collections that changed in place. Where elements between two kept ones were
    /// replaced, the lists among the old ones and among the new ones are paired in order, if there are as many of both;
    /// and the maps likewise.
    func changed() throws(StorageError) -> [(old: Int, new: Int)] {
        var pairs: [(old: Int, new: Int)] = []
        var (gone, come) = (0, 0)
        var insertions = difference.insertions[...]
        for range in difference.deletions {
            while let next = insertions.first, next.lowerBound < range.lowerBound - gone + come {
                come += next.count
                insertions = insertions.dropFirst()
            }
            let start = range.lowerBound - gone + come
            gone += range.count
            guard let next = insertions.first, next.lowerBound == start else { continue }
            come += next.count
            insertions = insertions.dropFirst()
            let (before, after) = (try Self.nested(old, range), try Self.nested(new, next))
            pairs += Self.pairs(before, after)
        }
        return pairs
    }

    private static func pairs(
        _ before: [(place: Int, isKeyed: Bool)], _ after: [(place: Int, isKeyed: Bool)]
    ) -> [(old: Int, new: Int)] {
        var pairs: [(old: Int, new: Int)] = []
        for isKeyed in [false, true] {
            let old = before.filter { $0.isKeyed == isKeyed }
            let new = after.filter { $0.isKeyed == isKeyed }
            if old.count == new.count { pairs += zip(old, new).map { ($0.place, $1.place) } }
        }
        pairs.sort { $0.old < $1.old }
        // If a list and a map would swap places, they did not change in place.
        let ascend = zip(pairs, pairs.dropFirst()).allSatisfy { $0.new < $1.new }
        return ascend ? pairs : []
    }

    private static func nested(
        _ reader: CollectionReader, _ range: Range<Int>
    ) throws(StorageError) -> [(place: Int, isKeyed: Bool)] {
        var found: [(place: Int, isKeyed: Bool)] = []
        for place in range {
            if let inner = try reader.nested(at: place) { found.append((place, inner.column.isKeyed)) }
        }
        return found
    }
}

extension CollectionReader {
    /// The place of the element that a step leads to; nil if there is none.
    func place(of step: NestedSteps.Step) throws(StorageError) -> Int? {
        switch step {
        case .index(let place): return !column.isKeyed && place >= 0 && place < count ? place : nil
        case .key(let key):
            guard column.isKeyed else { return nil }
            let (place, isThere) = try self.place(ofKey: key)
            return isThere ? place : nil
        }
    }

    /// The inner collection at the end of steps, and the places of the elements along them; nil if there is none of
    /// this kind.
    func found(_ standing: NestedSteps) throws(StorageError) -> (reader: CollectionReader, path: [Int])? {
        var reader = self
        var path: [Int] = []
        for step in standing.steps {
            guard let place = try reader.place(of: step), let inner = try reader.nested(at: place) else { return nil }
            path.append(place)
            reader = inner
        }
        return reader.column.isKeyed == standing.isKeyed ? (reader, path) : nil
    }

    /// The place of a map's key, or the place to insert it.
    /// - Complexity: O(log keys).
    func place(ofKey key: String) throws(StorageError) -> (place: Int, isThere: Bool) {
        try Cell.withCopy(of: Array(key.utf8)) { (wanted) throws(StorageError) in
            let bytes = wanted.bytesValue
            let place = try find(wanted) { $0.bytesValue.lexicographicallyPrecedes(bytes) }
            guard place < count else { return (place, false) }
            let isThere = try part(at: place).key(at: place).bytesValue.elementsEqual(bytes)
            try confirm()
            return (place, isThere)
        }
    }

    /// An inner collection with its contents as bytes, also if it is stored as a tree; nil if the element is none.
    /// - Complexity: O(elements and their bytes).
    func encodedNested(at place: Int) throws(StorageError) -> [UInt8]? {
        guard let inner = try nested(at: place) else { return nil }
        var contents = StoredCollection()
        try inner.forEachPart { (part) throws(StorageError) in
            for place in part.first..<part.end {
                contents.values.append(try inner.anyValue(part, place))
                if inner.column.isKeyed { contents.keys.append(try part.text(at: place)) }
            }
            return true
        }
        return NestedEncoding.encode(contents, isKeyed: inner.column.isKeyed)
    }

    /// An element of any type, with the contents of inner collections.
    func anyValue(_ part: CollectionPart, _ place: Int) throws(StorageError) -> _StoredValue {
        if part.isTree(at: place), let bytes = try encodedNested(at: place) { return .bytes(bytes) }
        let cell = try part.value(at: place)
        let value = cell.kind == .bytes ? _StoredValue.bytes(Array(cell.bytesValue)) : .null
        try confirm()
        return value
    }
}
