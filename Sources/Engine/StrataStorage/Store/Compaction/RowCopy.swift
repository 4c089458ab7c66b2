internal import StrataFiles

/// Fills the tables of a copy row by row, as a program would: each value is checked, and indexes and backlinks are
/// built anew from the rows.
struct RowCopy {
    private let source: ReadView
    private let transaction: WriteTransaction
    private let met: MetNodes
    private let collections: CollectionCopy

    /// - Parameter met: the nodes of the source that the whole copy has visited.
    init(_ source: ReadView, _ transaction: WriteTransaction, _ met: MetNodes) {
        self.source = source
        self.transaction = transaction
        self.met = met
        collections = CollectionCopy(source, transaction, met)
    }

    func fill(_ table: Int) throws(StorageError) {
        let rows = RowSet(source.state.layouts[table])
        try source.forEachGroup(table, from: .min) { (group) throws(StorageError) in
            try met.meet(group.base)
            rows.removeAll()
            try group.decode(into: rows, source.state.layouts[table], source.reader)
            try insert(rows, table)
            return true
        }
    }

    /// Inserts decoded rows of the source, with their collections.
    func insert(_ rows: RowSet, _ table: Int) throws(StorageError) {
        let columns = source.schema.tables[table].columns
        var cells = [Cell](repeating: .null, count: columns.count)
        var trees: [Int] = []
        for row in 0..<rows.count {
            #if Zoo
                if row == rows.count - 1, PlantedMistake.compactionLosesRows.isPlanted { continue }
            #endif
            trees.removeAll(keepingCapacity: true)
            for column in columns.indices {
                let values = rows.columns[column + RowSet.firstUserColumn]
                if columns[column].collection != nil, values.isTree(row) {
                    // An empty collection, which is filled below.
                    cells[column] = .bytes(UnsafeRawBufferPointer(start: nil, count: 0))
                    trees.append(column)
                } else {
                    cells[column] = try source.cell(values, row)
                    try met.count(cells[column])
                }
            }
            try insert(
                table, RowKey(rows.key(row)), created: rows.columns[RowSet.createdColumn].words[row], cells: cells)
            for column in trees {
                let values = rows.columns[column + RowSet.firstUserColumn]
                try collections.copy(values.bytes(row), of: RowKey(rows.key(row)), table, column)
            }
            try transaction.spillIfLarge()
        }
        try source.reader.confirm()
    }

    private func insert(_ table: Int, _ key: RowKey, created: UInt64, cells: [Cell]) throws(StorageError) {
        var failure: StorageError?
        cells.withUnsafeBufferPointer { buffer in
            do throws(StorageError) { try transaction.insert(table, key: key, created: created, buffer) } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }
}

extension ReadView {
    /// A decoded value as a cell; a long value is read.
    fileprivate func cell(_ column: ColumnBuffer, _ row: Int) throws(StorageError) -> Cell {
        if column.isNull(row) { return .null }
        switch column.kind {
        case .integer: return .integer(column.integer(row))
        case .double: return .double(Double(bitPattern: column.words[row]))
        case .bytes:
            #if Zoo
                if column.isLong(row), PlantedMistake.compactionEmptiesTexts.isPlanted {
                    return .bytes(UnsafeRawBufferPointer(start: nil, count: 0))
                }
            #endif
            return .bytes(column.isLong(row) ? try long(column.bytes(row)) : column.bytes(row))
        }
    }
}
