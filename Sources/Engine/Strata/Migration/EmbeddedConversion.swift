import StrataStorage

/// Converts objects to embedded ones: an object without a link to it is deleted, and one with several links is copied
/// for each further link.
///
/// A copy has the original's links, and a deleted object has none any more: both change how many links lead to further
/// embedded objects. So all embedded classes are processed repeatedly until nothing changes. Objects that embed
/// themselves, directly or not, never reach that point, and ``EmbeddedCheck`` reports them.
struct EmbeddedConversion {
    private let transaction: WriteTransaction
    /// The most passes over all classes: more than the longest chain of embedded classes in any real schema.
    private static let passLimit = 64

    init(_ transaction: WriteTransaction) { self.transaction = transaction }

    /// A link column with a given target class.
    private struct Origin {
        var table: Int
        var column: Int
        var isMany: Bool
    }

    /// - Complexity: O(embedded objects and links to them) per pass; a pass for each class of the longest chain.
    func run() throws(StorageError) {
        for _ in 0..<Self.passLimit {
            var changes = 0
            for (position, table) in transaction.view.schema.tables.enumerated()
            where table.tag == TableTag.embedded {
                changes += try convert(position)
            }
            if changes == 0 { return }
        }
    }

    /// - Returns: how many objects were deleted or copied.
    private func convert(_ table: Int) throws(StorageError) -> Int {
        let view = transaction.view
        var origins: [Origin] = []
        for (origin, column) in view.linkColumns(to: table) {
            let type = view.schema.tables[origin].columns[column].type
            origins.append(Origin(table: origin, column: column, isMany: type == .links))
        }
        var changes = 0
        var from: Int64? = .min
        // Copies get keys after that of the last row. A copy has a single link, so it need not be processed.
        let end = transaction.nextKey(table).rawValue
        while let start = from {
            var keys: [Int64] = []
            try view.scan(table, columns: [], from: RowKey(start)) { (batch) throws(StorageError) in
                keys.append(contentsOf: UnsafeBufferPointer(start: batch.keys, count: batch.count))
                return keys.isEmpty
            }
            for key in keys where key < end { changes += try convert(RowKey(key), table, origins) }
            from = keys.last.flatMap { $0 >= end - 1 ? nil : $0 + 1 }
        }
        return changes
    }

    private func convert(_ key: RowKey, _ table: Int, _ origins: [Origin]) throws(StorageError) -> Int {
        var isOwned = false
        var changes = 0
        for origin in origins {
            var rows: [RowKey] = []
            try transaction.view.backlinks(to: key, of: origin.table, origin.column) { (row, _) throws(StorageError) in
                rows.append(row)
                return true
            }
            for row in rows { changes += try share(key, in: table, linkedFrom: origin, at: row, isOwned: &isOwned) }
        }
        if isOwned { return changes }
        try transaction.delete(table, key)
        return 1
    }

    /// Keeps the first link to an object, and gives every other link a copy.
    private func share(
        _ key: RowKey, in table: Int, linkedFrom origin: Origin, at row: RowKey, isOwned: inout Bool
    ) throws(StorageError) -> Int {
        if !origin.isMany {
            guard isOwned else {
                isOwned = true
                return 0
            }
            try transaction.set(origin.table, row, column: origin.column, to: .integer(try copy(key, table).rawValue))
            return 1
        }
        let reader = try CollectionReader(transaction.view, table: origin.table, key: row, column: origin.column)
        var places: [Int] = []
        while let place = try reader.firstPlace(of: .integer(key.rawValue), from: places.last.map { $0 + 1 } ?? 0) {
            places.append(place)
        }
        let spare = isOwned ? places[...] : places.dropFirst()
        isOwned = isOwned || !places.isEmpty
        guard let column = transaction.view.schema.tables[origin.table].columns[origin.column].collection else {
            throw .misuse(.wrongType)
        }
        for place in spare {
            let made = CollectionElements(column)
            made.append(.integer(try copy(key, table).rawValue))
            try transaction.collections.set(origin.table, row, column: origin.column, elements: made, at: place)
        }
        return spare.count
    }

    /// Inserts a copy of a row, with its collections.
    /// - Returns: the key of the copy.
    private func copy(_ key: RowKey, _ table: Int) throws(StorageError) -> RowKey {
        let view = transaction.view
        let columns = view.schema.tables[table].columns
        guard let place = try view.locate(table, key) else { throw .misuse(.noSuchRow) }
        var values: [_StoredValue] = []
        var collections: [(column: Int, elements: CollectionElements)] = []
        for (position, column) in columns.enumerated() {
            if column.collection != nil {
                collections.append(
                    (position, try CollectionReader(view, table: table, key: key, column: position).elements()))
                values.append(.null)
                continue
            }
            switch column.type {
            case .integer, .link: values.append(try view.integer(place, position).map { .integer($0) } ?? .null)
            case .double: values.append(try view.double(place, position).map { .double($0) } ?? .null)
            case .bytes, .links:
                values.append(try view.withBytes(place, column: position) { .bytes(Array($0)) } ?? .null)
            }
        }
        #if Zoo
            if PlantedMistake.copyLosesValue.isPlanted, !values.isEmpty { values[values.count - 1] = .null }
        #endif
        let made = transaction.nextKey(table)
        let cells = columns.map { column -> Cell in
            switch column.type {
            case .link: .null
            case _ where column.isOptional: .null
            case .integer: .integer(0)
            case .double: .double(0)
            case .bytes, .links: .bytes(UnsafeRawBufferPointer(start: nil, count: 0))
            }
        }
        let buffer = UnsafeMutableBufferPointer<Cell>.allocate(capacity: cells.count)
        defer { buffer.deallocate() }
        _ = buffer.initialize(from: cells)
        try transaction.insert(table, key: made, UnsafeBufferPointer(buffer))
        for (position, value) in values.enumerated() where !value.isNull {
            try value.withCell { (cell) throws(StorageError) in
                try transaction.set(table, made, column: position, to: cell)
            }
        }
        for (position, elements) in collections {
            try transaction.collections.assign(table, made, column: position, elements: elements)
        }
        return made
    }
}
