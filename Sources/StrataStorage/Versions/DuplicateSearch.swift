/// Values that several rows of an indexed column share.
package struct DuplicateValues: Sendable, Equatable {
    /// How many different values occur more than once.
    package var values = 0
    /// How many rows hold one of them.
    package var rows = 0
    /// A row of each of the first few.
    package var examples: [RowKey] = []
}

/// Goes along the index of a column and finds the values that several rows share.
struct DuplicateSearch {
    private let view: ReadView
    private let column: Int
    private let type: ColumnType
    private let index: IndexReader
    /// How many examples are wanted.
    private let limit: Int
    private var duplicates = DuplicateValues()

    /// - Throws: `misuse` when the column has no index.
    init(_ view: ReadView, _ table: Int, _ column: Int, limit: Int) throws(StorageError) {
        self.view = view
        self.column = column
        self.limit = limit
        type = view.state.schema.tables[table].columns[column].type
        index = try IndexReader(view, table, column)
    }

    consuming func found() throws(StorageError) -> DuplicateValues {
        // Neighbours in the index that it cannot tell apart.
        var run: (high: Int64, rows: [RowKey]) = (0, [])
        try index.forEach { (high, key) throws(StorageError) in
            if high != run.high {
                try count(run.rows)
                run = (high, [])
            }
            run.rows.append(key)
        }
        try count(run.rows)
        return duplicates
    }

    /// Tells rows apart that stand under one entry of the index, and counts what is equal.
    private mutating func count(_ rows: [RowKey]) throws(StorageError) {
        if rows.count < 2 { return }
        // Bytes that share a hash, and null, which shares the smallest value's entry, are few: one group for each.
        var groups: [(row: RowKey, value: ComparedValue, count: Int)] = []
        for row in rows {
            let value = try comparedValue(row)
            if let known = groups.firstIndex(where: { $0.value == value }) {
                groups[known].count += 1
            } else {
                groups.append((row, value, 1))
            }
        }
        for group in groups where group.count > 1 {
            duplicates.values += 1
            duplicates.rows += group.count
            if duplicates.examples.count < limit { duplicates.examples.append(group.row) }
        }
    }

    private enum ComparedValue: Equatable {
        case null
        case word(UInt64)
        case bytes([UInt8])
    }

    private func comparedValue(_ key: RowKey) throws(StorageError) -> ComparedValue {
        let row = try index.locate(key)
        switch type {
        case .integer, .link: return try view.integer(row, column).map { .word(UInt64(bitPattern: $0)) } ?? .null
        case .double:
            // Both zeros are one value.
            return try view.double(row, column).map { .word(($0 == 0 ? 0 : $0).bitPattern) } ?? .null
        case .bytes, .links: return try view.bytes(row, column).map { .bytes(Array($0)) } ?? .null
        }
    }
}
