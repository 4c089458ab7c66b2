import StrataStorage

/// Links in values of any type to objects that exist in one version and not in a later one: the values became nil
/// although their rows did not change.
///
/// Storage keeps no backlinks of such values, so all columns of values of any type are read. They are not if the class
/// has no such column, or if no row was deleted.
struct LostLinks {
    private let old: ReadView
    private let new: ReadView
    /// The tables, by their ids, from which rows may have been deleted.
    private let tables: Set<UInt32>

    /// Nil if no class lost an object.
    init?(from old: ReadView, to new: ReadView, _ tables: Set<UInt32>) {
        if tables.isEmpty { return nil }
        self.old = old
        self.new = new
        self.tables = tables
    }

    private func contains(_ link: AnyEncoding.Link) throws(StorageError) -> Bool {
        guard tables.contains(link.table) else { return false }
        if try new.holds(link) { return false }
        return try old.holds(link)
    }

    /// Whether a value, or a value in its inner collections, linked to an object that exists no longer.
    func led(_ value: UnsafeRawBufferPointer, depth: Int = 0) throws(StorageError) -> Bool {
        if let link = AnyEncoding.link(value) { return try contains(link) }
        guard NestedEncoding.isKeyed(value.first) != nil, depth < NestedEncoding.deepest,
            let (_, contents) = NestedEncoding.contents(value)
        else { return false }
        for case .bytes(let bytes) in contents.values {
            // The bytes are a copy, which outlives the call.
            if try Cell.withCopy(
                of: bytes, { (cell) throws(StorageError) in try led(cell.bytesValue, depth: depth + 1) })
            {
                return true
            }
        }
        return false
    }

    /// The places of the elements of a collection that linked to an object that exists no longer; for a map the places
    /// of their keys.
    /// - Parameter isFirstEnough: return only the first one.
    /// - Complexity: O(elements), and O(log rows) for each link among them.
    func places(
        in reader: CollectionReader, isFirstEnough: Bool = false, depth: Int = 0
    ) throws(StorageError) -> [Int] {
        var places: [Int] = []
        if depth >= NestedEncoding.deepest { return places }
        try reader.forEachPart { (part) throws(StorageError) in
            for place in part.first..<part.end {
                let isLost: Bool
                if part.isTree(at: place), let inner = try reader.nested(at: place) {
                    isLost = try !self.places(in: inner, isFirstEnough: true, depth: depth + 1).isEmpty
                } else {
                    let cell = try part.value(at: place)
                    isLost = cell.kind == .bytes ? try led(cell.bytesValue) : false
                }
                if isLost { places.append(place) }
                if isLost && isFirstEnough { return false }
            }
            return true
        }
        return places
    }

    /// The ids of a row's columns with a value that linked to a deleted object.
    func columns(of key: Int64, in table: TableID) throws(StorageError) -> Set<UInt16> {
        let columns = columns(of: table)
        guard !columns.isEmpty, let position = new.schema.position(of: table),
            let row = try new.locate(position, RowKey(key))
        else { return [] }
        var found: Set<UInt16> = []
        for column in columns where try led(row, key, column) { found.insert(column.id) }
        try new.confirm()
        return found
    }

    /// The rows of a class with values that linked to a deleted object, and the ids of the columns with these values.
    /// - Complexity: a pass over the columns that hold values of any type, and O(log rows) for each link in them.
    func rows(of table: TableID) throws(StorageError) -> [Int64: Set<UInt16>] {
        let columns = columns(of: table)
        var found: [Int64: Set<UInt16>] = [:]
        guard !columns.isEmpty, let position = new.schema.position(of: table) else { return found }
        try new.scan(position, columns: columns.map(\.place)) { (batch) throws(StorageError) in
            for row in 0..<batch.count {
                for (index, column) in columns.enumerated() where !batch.isNull(index, row) {
                    let isLost: Bool
                    if column.tag.collection == .none {
                        isLost = try led(batch.bytes(index, row))
                    } else if batch.isTree(index, row) || !batch.bytes(index, row).isEmpty {
                        guard let location = try new.locate(position, batch.key(row)) else { continue }
                        isLost = try led(location, batch.keys[row], column)
                    } else {
                        isLost = false
                    }
                    if isLost { found[batch.keys[row], default: []].insert(column.id) }
                }
            }
            return true
        }
        try new.confirm()
        return found
    }

    private func led(_ row: RowLocation, _ key: Int64, _ column: Column) throws(StorageError) -> Bool {
        guard let elements = column.tag.elements else {
            guard let value = try new.bytes(row, column.place) else { return false }
            return try led(value)
        }
        let reader = try CollectionReader(
            new, row: row, key: RowKey(key), column: column.place, as: elements, isLinks: false)
        return try !places(in: reader, isFirstEnough: true).isEmpty
    }

    private struct Column {
        let place: Int
        let id: UInt16
        let tag: ColumnTag
    }

    /// The columns of values of any type.
    private func columns(of table: TableID) -> [Column] {
        guard let position = new.schema.position(of: table) else { return [] }
        return new.schema.tables[position].columns.enumerated().compactMap { place, column in
            guard let tag = ColumnTag(rawValue: column.tag), tag.type == .any else { return nil }
            return Column(place: place, id: column.id.rawValue, tag: tag)
        }
    }
}
