/// Values that several rows of an indexed column share.
package struct DuplicateValues: Sendable, Equatable {
    /// Number of values that occur more than once.
    package var values = 0
    /// Number of rows with such a value.
    package var rows = 0
    /// One row for each of the first few values.
    package var examples: [RowKey] = []
}

/// Finds the values that several rows share, by a walk of the column's index.
struct DuplicateSearch {
    private let view: ReadView
    private let column: Int
    private let type: ColumnType
    private let index: IndexReader
    /// Number of wanted examples.
    private let limit: Int
    private var duplicates = DuplicateValues()

    /// - Throws: `misuse` if the column has no index.
    init(_ view: ReadView, _ table: Int, _ column: Int, limit: Int) throws(StorageError) {
        self.view = view
        self.column = column
        self.limit = limit
        type = view.state.schema.tables[table].columns[column].type
        index = try IndexReader(view, table: table, column: column)
    }

    consuming func found() throws(StorageError) -> DuplicateValues {
        // Rows with one entry key, which the index cannot distinguish.
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

    /// Compares the values of rows under one entry key, and counts equal ones.
    private mutating func count(_ rows: [RowKey]) throws(StorageError) {
        if rows.count < 2 { return }
        // Few different values share an entry key: null and the smallest value, or bytes with equal hashes. In an
        // ordered index all bytes that start with the same eight do. The loop compares each row with all of them.
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
            // Both zeros are equal.
            return try view.double(row, column).map { .word(($0 == 0 ? 0 : $0).bitPattern) } ?? .null
        case .bytes, .links:
            let value = try view.bytes(row, column).map { ComparedValue.bytes(Array($0)) } ?? .null
            try view.confirm()
            return value
        }
    }
}
