/// Keeping index and backlink trees equal to the columns that they are made from (invariant 7).
extension WriteTransaction {
    /// Enters one value, or takes it out.
    func addEntry(
        _ table: Int, _ key: RowKey, _ column: Int, _ cell: Cell, delta: Int32
    ) throws(StorageError) {
        let definition = plans[table].columns[column]
        if definition.type == .links && definition.index == .none && cell.count == 0 { return }
        if let kind = definition.index.rootKind {
            try add(table, definition.id, kind, IndexKey.high(cell, definition), key, delta)
        }
        switch definition.type {
        case .link:
            if !cell.isNull { try add(table, definition.id, .backlinks, cell.integerValue, key, delta) }
        case .links:
            if cell.isNull { return }
            guard let reader = LinkPayload.Reader(cell.bytesValue) else { throw .misuse(.wrongType) }
            for index in 0..<reader.count where reader[index] != LinkPayload.null {
                try add(table, definition.id, .backlinks, reader[index], key, delta)
            }
        case .integer, .double, .bytes: break
        }
    }

    /// Takes the entries of a row's present value out.
    func removeEntries(_ table: Int, _ key: RowKey, _ column: Int, _ row: RowLocation) throws(StorageError) {
        let plan = plans[table]
        if !plan.isEntered[column] { return }
        try addEntry(table, key, column, try cell(row, column, plan.columns[column].type), delta: -1)
    }

    /// A row's value as a cell; bytes are borrowed from the view.
    func cell(_ row: RowLocation, _ column: Int, _ type: ColumnType) throws(StorageError) -> Cell {
        switch type {
        case .integer, .link: return try view.integer(row, column).map { .integer($0) } ?? .null
        case .double: return try view.double(row, column).map { .double($0) } ?? .null
        case .bytes, .links: return try view.bytes(row, column).map { .bytes($0) } ?? .null
        }
    }

    private func add(
        _ table: Int, _ column: ColumnID, _ kind: EntryRoot.Kind, _ high: Int64, _ key: RowKey, _ delta: Int32
    ) throws(StorageError) {
        guard let tree = view.state.tables[table].entryRoot(column, kind) else {
            throw .corrupt(page: PageNumber(view.state.root.page), offset: 0, reason: .structure)
        }
        workspace.entryOperations[table][tree].append(EntryOperation(high: high, low: key.rawValue, delta: delta))
        if workspace.entryOperations[table][tree].count >= nodes.limits.waitingEntries { try flushEntries(table) }
    }
}
