import StrataStorage

/// Reads the content of a collection column for queries.
enum CollectionValues {
    /// The elements in order, of a map the requested part. In values of any type, a link to a deleted object is null.
    /// - Throws: `corrupt` if the layout of the collection is unknown.
    static func read(
        in view: ReadView, at location: RowLocation, key: Int64, property: BoundProperty,
        part: Predicate.MapPart = .values
    ) throws(StorageError) -> [_StoredValue] {
        guard let contents = try CollectionContents(view, at: location, key: key, property: property) else { return [] }
        // Reads all elements, so that invalid ones are found.
        if property.tag.type == .decimal128, part.isValues { return try contents.all().values }
        let values = try all(in: contents.reader, tag: property.tag, part: part, at: view)
        try view.confirm()
        return values
    }

    /// - Parameter view: the version of the collection.
    static func all(
        in reader: CollectionReader, tag: ColumnTag, part: Predicate.MapPart, at view: ReadView
    ) throws(StorageError) -> [_StoredValue] {
        var values: [_StoredValue] = []
        var hasNone = false
        try forEach(in: reader, tag: tag, part: part, shownBy: tag.type == .any ? view : nil) { value in
            // In a set, all members that read as null count as one.
            if !(tag.isSetOfAny && value.isNull && hasNone) { values.append(value) }
            if value.isNull { hasNone = true }
            return true
        }
        return values
    }

    /// The number of values.
    static func count(
        in reader: CollectionReader, tag: ColumnTag, part: Predicate.MapPart, at view: ReadView
    ) throws(StorageError) -> Int {
        if case .entry = part { return 1 }
        return tag.isSetOfAny ? try reader.shownCount(view) : reader.count
    }

    /// Passes the requested part of a collection to `body`, in order, until `body` returns false.
    /// - Parameter view: the version of the collection, if values of any type must be read so that a link whose object
    ///   is deleted is null.
    static func forEach(
        in reader: CollectionReader, tag: ColumnTag, part: Predicate.MapPart, shownBy view: ReadView?,
        _ body: (_StoredValue) -> Bool
    ) throws(StorageError) {
        func shown(_ value: _StoredValue) throws(StorageError) -> _StoredValue {
            try view?.shown(comparable: value) ?? value
        }
        if case .entry(let key) = part { return _ = body(try shown(try entry(key, reader, tag))) }
        let isKeys = !part.isValues
        try reader.forEachPart { (part) throws(StorageError) in
            for place in part.first..<part.end {
                let value: _StoredValue =
                    isKeys
                    ? .text(try part.text(at: place))
                    : try shown(comparable(try element(of: reader, part: part, at: place, tag: tag), tag))
                if !body(value) { return false }
            }
            return true
        }
    }

    /// An aggregate that storage computes over packed values. Nil if the values must be read one by one: doubles are
    /// added in the order of the elements, and the sum behind a mean must not wrap around.
    static func total(
        _ aggregate: Predicate.Aggregate, _ reader: CollectionReader, _ tag: ColumnTag
    ) throws(StorageError) -> _StoredValue? {
        switch (aggregate, tag.type) {
        case (.sum, .int), (.min, .int), (.max, .int):
            let totals = try reader.integerTotals()
            if aggregate == .sum { return .integer(totals.sum) }
            return totals.count == 0 ? .null : .integer(aggregate == .min ? totals.least : totals.most)
        case (.min, .double), (.max, .double), (.min, .float), (.max, .float), (.min, .date), (.max, .date):
            let totals = try reader.doubleTotals()
            if totals.least > totals.most { return .null }
            return .double(aggregate == .min ? totals.least : totals.most)
        default: return nil
        }
    }

    private static func entry(
        _ key: String, _ reader: CollectionReader, _ tag: ColumnTag
    ) throws(StorageError) -> _StoredValue {
        try Cell.withCopy(of: Array(key.utf8)) { (wanted) throws(StorageError) in
            let bytes = wanted.bytesValue
            let place = try reader.find(wanted) { $0.bytesValue.lexicographicallyPrecedes(bytes) }
            guard place < reader.count else { return .null }
            let part = try reader.part(at: place)
            let isThere = try part.key(at: place).bytesValue.elementsEqual(bytes)
            let value = isThere ? try element(of: reader, part: part, at: place, tag: tag) : .null
            try reader.confirm()
            return comparable(value, tag)
        }
    }

    private static func element(
        of reader: CollectionReader, part: CollectionPart, at place: Int, tag: ColumnTag
    ) throws(StorageError) -> _StoredValue {
        if tag.takesNested { return try reader.anyValue(part, place) }
        return tag.element(try part.value(at: place)) ?? .null
    }

    /// A value in the form that queries compare: one of any type is stored as bytes that hold its type.
    static func comparable(_ value: _StoredValue, _ tag: ColumnTag) -> _StoredValue {
        guard tag.type == .any, case .bytes(let bytes) = value else { return value }
        return bytes.withUnsafeBytes { AnyComparable.value($0) } ?? .null
    }
}
