import StrataStorage

/// What the column of a collection holds, for queries.
enum CollectionValues {
    /// Elements in order, of a map what is asked of it; values of any type as the version shows them.
    /// - Throws: `corrupt` when the collection is of no known layout.
    static func read(
        _ view: ReadView, _ location: RowLocation, _ key: Int64, _ property: BoundProperty,
        _ part: Predicate.MapPart = .values
    ) throws(StorageError) -> [_StoredValue] {
        guard let contents = try CollectionContents(view, location, key, property) else { return [] }
        // So that what no element may be is found.
        if property.tag.type == .decimal128, part.isValues { return try contents.all().values }
        let values = try all(contents.reader, property.tag, part, view)
        try view.confirm()
        return values
    }

    /// - Parameter view: the version that the collection is of.
    static func all(
        _ reader: CollectionReader, _ tag: ColumnTag, _ part: Predicate.MapPart, _ view: ReadView
    ) throws(StorageError) -> [_StoredValue] {
        var values: [_StoredValue] = []
        var hasNone = false
        try forEach(reader, tag, part, shownBy: tag.type == .any ? view : nil) { value in
            // Members of a set that are none are one.
            if !(tag.isSetOfAny && value.isNull && hasNone) { values.append(value) }
            if value.isNull { hasNone = true }
            return true
        }
        return values
    }

    /// How many there are.
    static func count(
        _ reader: CollectionReader, _ tag: ColumnTag, _ part: Predicate.MapPart, _ view: ReadView
    ) throws(StorageError) -> Int {
        if case .entry = part { return 1 }
        return tag.isSetOfAny ? try reader.shownCount(view) : reader.count
    }

    /// Hands out what is asked of a collection, in order, until `body` returns false.
    /// - Parameter view: the version that the collection is of, for values of any type where it makes a difference that
    ///   a link is none without its object.
    static func forEach(
        _ reader: CollectionReader, _ tag: ColumnTag, _ part: Predicate.MapPart, shownBy view: ReadView?,
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
                    : try shown(comparable(try element(reader, part, place, tag), tag))
                if !body(value) { return false }
            }
            return true
        }
    }

    /// What storage can say of numbers over packed values; nil where they are looked at one by one: doubles are added
    /// in their order, and a mean does not wrap around.
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
            guard try part.key(at: place).bytesValue.elementsEqual(bytes) else { return .null }
            return comparable(try element(reader, part, place, tag), tag)
        }
    }

    private static func element(
        _ reader: CollectionReader, _ part: CollectionPart, _ place: Int, _ tag: ColumnTag
    ) throws(StorageError) -> _StoredValue {
        if tag.takesNested { return try reader.anyValue(part, place) }
        return tag.element(try part.value(at: place)) ?? .null
    }

    /// A value as queries compare it: one of any type is kept as bytes that say which.
    static func comparable(_ value: _StoredValue, _ tag: ColumnTag) -> _StoredValue {
        guard tag.type == .any, case .bytes(let bytes) = value else { return value }
        return bytes.withUnsafeBytes { AnyComparable.value($0) } ?? .null
    }
}
