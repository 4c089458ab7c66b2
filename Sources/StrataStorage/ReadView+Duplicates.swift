/// Values that several rows of an indexed column share.
package struct DuplicateValues: Sendable, Equatable {
    /// How many different values occur more than once.
    package var values = 0
    /// How many rows hold one of them.
    package var rows = 0
    /// A row of each of the first few.
    package var examples: [RowKey] = []
}

extension ReadView {
    /// Finds values that occur more than once; null counts as a value.
    ///
    /// - Parameter limit: how many examples are wanted.
    /// - Complexity: O(rows), along the index, so without memory for the rows. Rows that an entry of the index cannot
    ///   tell apart are compared with each other.
    package func duplicates(_ table: Int, _ column: Int, limit: Int) throws(StorageError) -> DuplicateValues {
        try prepareRows(table)
        try prepareEntries(table)
        guard let kind = state.schema.tables[table].columns[column].index.rootKind,
            let root = entryRoot(table, column, kind)
        else { throw .misuse(.noSuchColumn) }
        var found = DuplicateValues()
        var run: (high: Int64, rows: [RowKey]) = (0, [])
        try EntryTree.forEach(in: root, reading: reader) { (high, low, _) throws(StorageError) in
            if high != run.high {
                try settle(run.rows, table, column, limit, &found)
                run = (high, [])
            }
            run.rows.append(RowKey(low))
            return true
        }
        try settle(run.rows, table, column, limit, &found)
        try reader.confirm()
        return found
    }

    /// Tells rows apart that stand under one entry of an index.
    private func settle(
        _ rows: [RowKey], _ table: Int, _ column: Int, _ limit: Int, _ found: inout DuplicateValues
    ) throws(StorageError) {
        if rows.count < 2 { return }
        // Bytes that share a hash, and null, which shares the smallest value's entry, are few: one group for each.
        var groups: [(row: RowKey, value: ComparedValue, count: Int)] = []
        for row in rows {
            let value = try comparedValue(row, table, column)
            if let known = groups.firstIndex(where: { $0.value == value }) {
                groups[known].count += 1
            } else {
                groups.append((row, value, 1))
            }
        }
        for group in groups where group.count > 1 {
            found.values += 1
            found.rows += group.count
            if found.examples.count < limit { found.examples.append(group.row) }
        }
    }

    private enum ComparedValue: Equatable {
        case null
        case word(UInt64)
        case bytes([UInt8])
    }

    private func comparedValue(_ key: RowKey, _ table: Int, _ column: Int) throws(StorageError) -> ComparedValue {
        guard let row = try locate(table, key) else {
            throw .corrupt(page: PageNumber(0), offset: 0, reason: .structure)
        }
        switch state.schema.tables[table].columns[column].type {
        case .integer, .link: return try integer(row, column).map { .word(UInt64(bitPattern: $0)) } ?? .null
        case .double:
            // Both zeros are one value.
            return try double(row, column).map { .word(($0 == 0 ? 0 : $0).bitPattern) } ?? .null
        case .bytes, .links: return try bytes(row, column).map { .bytes(Array($0)) } ?? .null
        }
    }
}
