import StrataStorage

extension ColumnTag {
    /// Decodes a cell as an element, or as a map's value. The cell's kind decides; the tag only tells apart types of
    /// the same kind. Nil for a decimal that has neither 0 nor 16 bytes.
    @inline(__always)
    func element(_ cell: Cell) -> _StoredValue? {
        switch cell.kind {
        case .null: return .null
        case .integer: return type == .object ? .link(cell.integerValue) : .integer(cell.integerValue)
        case .double: return .double(cell.doubleValue)
        case .bytes:
            switch type {
            case .string: return .text(SmallString.make(cell.bytesValue))
            case .decimal128: return Decimal128(bytes: cell.bytesValue).map { .decimal($0) }
            default: return .bytes(Array(cell.bytesValue))
            }
        }
    }
}

extension CollectionPart {
    /// The element at a place, or a map's value.
    /// - Parameter row: of the collection's owner, which an error names.
    /// - Throws: `corrupt` if the cell does not decode under the tag, or its node cannot be read; `misuse(.noSuchRow)`
    ///   instead of the former without `row`.
    @inline(__always)
    func element(at place: Int, _ tag: ColumnTag, _ view: ReadView, _ row: RowLocation?) throws(StorageError)
        -> _StoredValue
    {
        if let value = tag.element(try value(at: place)) { return value }
        throw row.map(view.damage) ?? .misuse(.noSuchRow)
    }

    /// The key at a place of a map.
    func text(at place: Int) throws(StorageError) -> String { SmallString.make(try key(at: place).bytesValue) }
}

extension ElementBatch {
    /// Appends the elements, or a map's values, of a range of the batch.
    /// - Returns: false if one does not decode under the tag; those before it are appended.
    func append(_ range: Range<Int>, _ tag: ColumnTag, to values: inout [_StoredValue]) throws(StorageError) -> Bool {
        values.reserveCapacity(values.count + range.count)
        switch tag.elements?.element {
        case .integer?:
            let isLink = tag.type == .object
            for index in range {
                values.append(isNull(index) ? .null : isLink ? .link(integers[index]) : .integer(integers[index]))
            }
        case .double?: for index in range { values.append(isNull(index) ? .null : .double(doubles[index])) }
        default:
            for index in range {
                if isNull(index) {
                    values.append(.null)
                } else if let value = tag.element(.bytes(try bytes(index))) {
                    values.append(value)
                } else {
                    return false
                }
            }
        }
        return true
    }
}

/// Reads one list, set or map: in a pinned version, or with the changes of the running write.
struct CollectionContents {
    let view: ReadView
    let tag: ColumnTag
    let reader: CollectionReader
    private let row: RowLocation
    private let key: Int64
    private let column: Int
    /// For an inner collection the places of the elements that contain it, from the property inwards; else empty.
    let path: [Int]

    /// - Throws: `corrupt` if the bytes in the column do not have the layout of such a collection.
    init(
        _ view: ReadView, at row: RowLocation, key: Int64, column: Int, tag: ColumnTag, elements: CollectionColumn
    ) throws(StorageError) {
        self.view = view
        self.tag = tag
        self.row = row
        self.key = key
        self.column = column
        path = []
        reader = try CollectionReader(
            view, row: row, key: RowKey(key), column: column, as: elements, isLinks: tag.type == .object)
    }

    /// An inner collection of a property of any type; nil if the steps lead to none.
    /// - Parameters:
    ///   - tag: of the property, not of the inner collection.
    ///   - standing: the steps from the property's value to the inner collection.
    init?(
        _ view: ReadView, at row: RowLocation, key: Int64, column: Int, tag: ColumnTag, standing: NestedSteps
    ) throws(StorageError) {
        guard column >= 0,
            let (reader, path) = try NestedReading(view: view, tag: tag).root(row, key, column)?.found(standing)
        else { return nil }
        self.view = view
        self.tag = .nested(isKeyed: standing.isKeyed)
        self.row = row
        self.key = key
        self.column = column
        self.path = path
        self.reader = reader
    }

    /// The collection of a property; nil if the property is no collection, or the file has no column for it.
    init?(
        _ view: ReadView, at row: RowLocation, key: Int64, property: BoundProperty
    ) throws(StorageError) {
        guard let elements = property.elements, property.column >= 0 else { return nil }
        try self.init(view, at: row, key: key, column: property.column, tag: property.tag, elements: elements)
    }

    var count: Int { reader.count }

    /// The leaf that has the element at a place, or the whole collection if it is stored in its row.
    /// - Complexity: O(log count).
    func part(at place: Int) throws(StorageError) -> CollectionPart { try reader.part(at: place) }

    /// The element at a place of a part. An inner collection that has a tree of its own is given as an empty list or
    /// map: its elements are not read.
    @inline(__always)
    func element(_ part: CollectionPart, _ place: Int) throws(StorageError) -> _StoredValue {
        if tag.takesNested, part.isTree(at: place), let inner = try reader.nested(at: place) {
            return .bytes(NestedEncoding.encode(StoredCollection(), isKeyed: inner.column.isKeyed))
        }
        return try part.element(at: place, tag, view, row)
    }

    /// The element at a place of a part, with the contents of an inner collection.
    func whole(_ part: CollectionPart, _ place: Int) throws(StorageError) -> _StoredValue {
        tag.takesNested ? try reader.anyValue(part, place) : try part.element(at: place, tag, view, row)
    }

    /// Calls `body` with elements, or a map's values, in order, until it returns false. `body` must not change the
    /// collection.
    func forEach(
        from place: Int = 0, _ body: (_ place: Int, _ value: _StoredValue) throws(StorageError) -> Bool
    ) throws(StorageError) {
        try reader.forEachPart(from: place) { (part) throws(StorageError) in
            for at in max(part.first, place)..<part.end {
                let value = try element(part, at)
                try view.confirm()
                if try !body(at, value) { return false }
            }
            return true
        }
        try view.confirm()
    }

    /// Appends elements, or a map's entries, from a place to the end of its leaf, but at most `count`: a caller that
    /// wants more calls again.
    /// - Parameter isWhole: whether to read the contents of inner collections that have trees; otherwise they are
    ///   empty.
    func append(
        from place: Int, atMost count: Int, to contents: inout StoredCollection, isWhole: Bool = true
    ) throws(StorageError) {
        if isTree && !tag.takesNested {
            try reader.forEachBatch(from: place) { (batch) throws(StorageError) in
                try append(batch, min(batch.count, count), to: &contents)
                return false
            }
        } else if place < self.count {
            try append(try part(at: place), from: place, atMost: count, to: &contents, isWhole)
        }
    }

    /// Whether the elements have a tree of their own. For a collection that is stored in its row, decoding into the
    /// buffers of an ``ElementBatch`` is not worthwhile.
    var isTree: Bool {
        if case .tree = reader.cell { return true }
        return false
    }

    private func append(
        _ batch: ElementBatch, _ count: Int, to contents: inout StoredCollection
    ) throws(StorageError) {
        guard try batch.append(0..<count, tag, to: &contents.values) else { throw view.damage(at: row) }
        if tag.collection == .map {
            for index in 0..<count { contents.keys.append(SmallString.make(try batch.key(index))) }
        }
        try view.confirm()
    }

    private func append(
        _ part: CollectionPart, from place: Int, atMost count: Int, to contents: inout StoredCollection,
        _ isWhole: Bool
    ) throws(StorageError) {
        let end = min(part.end, count < part.end - place ? place + count : part.end)
        contents.values.reserveCapacity(contents.values.count + end - place)
        for at in place..<end {
            contents.values.append(isWhole ? try whole(part, at) : try element(part, at))
            if tag.collection == .map { contents.keys.append(try part.text(at: at)) }
        }
        try view.confirm()
    }

    /// All elements, or a map's entries, with the contents of inner collections.
    /// - Complexity: O(elements and their bytes).
    func all() throws(StorageError) -> StoredCollection {
        var contents = StoredCollection()
        if isTree && !tag.takesNested {
            try reader.forEachBatch { (batch) throws(StorageError) in
                try append(batch, batch.count, to: &contents)
                return true
            }
        } else {
            while contents.values.count < count {
                try append(from: contents.values.count, atMost: count, to: &contents)
            }
        }
        return contents
    }

    /// The keys of the linked rows, in the collection's order, of a collection of links; null links are skipped.
    func links() throws(StorageError) -> [Int64] {
        var keys: [Int64] = []
        if isTree {
            try reader.forEachBatch { (batch) throws(StorageError) in
                for index in 0..<batch.count where !batch.isNull(index) { keys.append(batch.integers[index]) }
                return true
            }
        } else {
            try reader.forEachPart { (part) throws(StorageError) in
                for place in part.first..<part.end {
                    let cell = try part.value(at: place)
                    if cell.kind == .integer { keys.append(cell.integerValue) }
                }
                return true
            }
        }
        try view.confirm()
        return keys
    }

    /// The rows of `targets` that the collection links to, found by their backlinks.
    /// - Complexity: O(log links) for each of `targets`.
    func linked(of targets: Set<Int64>) throws(StorageError) -> Set<Int64> {
        var found: Set<Int64> = []
        for target in targets {
            let links = try view.linkCount(from: RowKey(key), to: RowKey(target), of: Int(row.table), column)
            if links > 0 { found.insert(target) }
        }
        return found
    }

    /// The place of a map's key, or the place to insert it.
    /// - Complexity: O(log keys).
    func place(ofKey key: String) throws(StorageError) -> (place: Int, isThere: Bool) {
        let found = try reader.place(ofKey: key)
        try view.confirm()
        return found
    }

    /// The place of a set's member, or the place to insert it.
    /// - Complexity: O(log values).
    func place(ofMember value: _StoredValue) throws(StorageError) -> (place: Int, isThere: Bool) {
        let value = SetOrder.normal(value)
        let tag = tag
        return try value.withCell { (wanted) throws(StorageError) in
            let place = try reader.find(wanted) { cell in SetOrder.precedes(tag.element(cell) ?? .null, value) }
            guard place < count else { return (place, false) }
            let found = try element(reader.part(at: place), place)
            try view.confirm()
            return (place, !SetOrder.precedes(value, found))
        }
    }
}

extension ReadView {
    /// The keys of the rows that a collection of links leads to; null links are skipped.
    func links(_ row: RowLocation, _ key: Int64, _ property: BoundProperty) throws(StorageError) -> [Int64] {
        try CollectionContents(self, at: row, key: key, property: property)?.links() ?? []
    }

    /// As ``links(_:_:_:)``, for a column whose property the caller does not have.
    func links(_ row: RowLocation, _ key: Int64, column: Int) throws(StorageError) -> [Int64] {
        let table = Int(row.table)
        guard let tag = ColumnTag(rawValue: schema.tables[table].columns[column].tag), let elements = tag.elements
        else { return [] }
        return try CollectionContents(self, at: row, key: key, column: column, tag: tag, elements: elements).links()
    }
}
