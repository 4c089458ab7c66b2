extension TransactionChanges {
    /// Changes the schema to `new`; tables and columns are identified by their ids.
    ///
    /// Existing rows have the default in added columns; removed columns are dropped; renamed ones keep their values. An
    /// index is built or dropped by its kind. A column with the same id keeps its type. Afterwards positions of tables
    /// and columns are those of `new`.
    /// - Throws: `misuse(.wrongType)` if a column changes its type or target under the same id; `misuse(.notOptional)`
    ///   if one becomes required and still holds a null.
    /// - Complexity: O(1) per column; O(rows) for each index that is built, and for each column that becomes required.
    package func apply(schema new: StoreSchema) throws(StorageError) {
        if isEnded { throw .misuse(.transactionEnded) }
        if isFailed { throw .misuse(.transactionFailed) }
        let change = SchemaChange(to: new, view, workspace)
        try change.check()
        nodes.usesReserve = false
        do throws(StorageError) {
            try flushAll()
            try change.run()
            if !isReplay {
                let bytes = try SchemaCoding.encode(new)
                bytes.withUnsafeBytes { workspace.recorder.schema($0) }
            }
        } catch {
            throw noted(error)
        }
        plans = view.state.definitions.plans
        changes.rearrange(to: new.tables.map(\.id))
        schemaChanged = true
    }
}

/// Changes tables and columns in the open transaction: removed ones are dropped, existing ones kept, and new ones
/// built.
struct SchemaChange {
    private let new: StoreSchema
    private let view: ReadView
    private let workspace: WriterWorkspace
    private var nodes: TransactionNodes { workspace.nodes }

    /// - Parameter view: the transaction's.
    init(to new: StoreSchema, _ view: ReadView, _ workspace: WriterWorkspace) {
        self.new = new
        self.view = view
        self.workspace = workspace
    }

    /// Checks for misuse before any change.
    func check() throws(StorageError) {
        for definition in new.tables {
            if let before = view.state.schema.position(of: definition.id) {
                try check(before, definition)
            }
        }
        try SchemaCoding.check(new)
    }

    /// Changes the schema and tables of the view. No operation is pending in the workspace.
    func run() throws(StorageError) {
        let old = view.state.schema
        for table in old.tables where new.position(of: table.id) == nil {
            guard let position = old.position(of: table.id) else { continue }
            try TableNodes(of: position, view, workspace).giveUp()
        }
        var tables: [TableState] = []
        var unindexed: [(table: Int, column: Int)] = []
        for (position, definition) in new.tables.enumerated() {
            guard let before = old.position(of: definition.id) else {
                tables.append(Self.emptyState(definition))
                continue
            }
            let kept = old.tables[before]
            try dropLongValues(kept, definition, before)
            let (state, missing) = try carryOver(before, definition)
            tables.append(state)
            unindexed += missing.map { (position, $0) }
        }
        view.state.tables = tables
        view.state.schema = new
        view.layoutsChanged()
        workspace.prepare(view.state)
        view.generation &+= 1
        for (table, column) in unindexed { try buildIndex(table, column) }
    }

    private static func emptyState(_ definition: TableDefinition) -> TableState {
        TableState(id: definition.id, tree: .null, nextKey: 0, entries: definition.entryRoots)
    }

    private func check(_ table: Int, _ new: TableDefinition) throws(StorageError) {
        let old = view.state.schema.tables[table]
        for column in new.columns {
            guard let position = old.position(of: column.id) else { continue }
            let before = old.columns[position]
            guard before.type == column.type, before.target == column.target,
                before.collection.map({ $0.isKept(in: column.collection) }) ?? true
            else { throw .misuse(.wrongType) }
            if before.isOptional && !column.isOptional, try view.count(table, where: .null(position)) > 0 {
                throw .misuse(.notOptional)
            }
        }
    }

    /// The state of a table that stays, with the trees of columns that stay, and empty trees for new ones. Drops the
    /// other trees.
    /// - Returns: also the columns whose new index has to be built.
    private func carryOver(
        _ table: Int, _ new: TableDefinition
    ) throws(StorageError) -> (TableState, [Int]) {
        let state = view.state.tables[table]
        var result = TableState(id: state.id, tree: state.tree, nextKey: state.nextKey, entries: new.entryRoots)
        var missing: [Int] = []
        for index in result.entries.indices {
            let entry = result.entries[index]
            if let before = state.entryRoot(entry.column, entry.kind) {
                result.entries[index].root = state.entries[before].root
            } else if let column = new.position(of: entry.column), entry.kind != .backlinks {
                missing.append(column)
            }
        }
        for entry in state.entries where result.entryRoot(entry.column, entry.kind) == nil {
            try TableNodes(of: table, view, workspace).giveUp(entries: entry.root)
        }
        return (result, missing)
    }

    /// Drops the long values of removed columns.
    private func dropLongValues(
        _ old: TableDefinition, _ new: TableDefinition, _ table: Int
    ) throws(StorageError) {
        let gone = old.columns.indices.filter {
            new.position(of: old.columns[$0].id) == nil && SegmentKind(old.columns[$0].type) == .bytes
        }
        if gone.isEmpty { return }
        // Groups keep the bytes of a removed column until they are rebuilt, and a rebuild drops unknown columns without
        // reading them. So the column's long values are dropped now, with their descriptors.
        let trees = TableNodes(of: table, view, workspace)
        try forEachLong(table, gone) { (key, column, long) throws(StorageError) in
            try trees.giveUp(long, of: key, column)
            try workspace.editor(table, view).use { (editor) throws(StorageError) in
                try editor.set(
                    key, column, CellValue(.bytes(UnsafeRawBufferPointer(start: nil, count: 0))), keepsLong: true)
            }
        }
        try workspace.editor(table, view).use { (editor) throws(StorageError) in try editor.flush() }
    }

    private func forEachLong(
        _ table: Int, _ columns: [Int],
        _ body: (Int64, Int, LongValue) throws(StorageError) -> Void
    ) throws(StorageError) {
        let layout = view.state.layouts[table]
        var found: [(Int64, Int, LongValue)] = []
        try view.forEachGroup(table, from: .min) { (group) throws(StorageError) in
            var wanted: [Int] = []
            for column in columns.map({ $0 + RowSet.firstUserColumn })
            where try group.mayHaveLong(column, layout, view.reader) {
                wanted.append(column)
            }
            if wanted.isEmpty { return true }
            let rows = RowSet(layout)
            try group.decode(into: rows, layout, wanted: wanted, view.reader)
            for column in wanted where rows.columns[column].hasFlags {
                for row in 0..<rows.count where rows.columns[column].isLong(row) {
                    guard let base = rows.columns[column].bytes(row).baseAddress else { continue }
                    found.append((rows.key(row), column - RowSet.firstUserColumn, LongValue(base)))
                }
            }
            return true
        }
        for (key, column, long) in found { try body(key, column, long) }
    }

    /// Builds a new index from all rows of a table.
    private func buildIndex(_ table: Int, _ column: Int) throws(StorageError) {
        let definition = view.state.schema.tables[table].columns[column]
        let type = definition.type
        guard let kind = definition.index.rootKind,
            let tree = view.state.tables[table].entryRoot(definition.id, kind)
        else { return }
        try view.scan(table, columns: [column]) { (batch) throws(StorageError) in
            for row in 0..<batch.count {
                let cell: Cell =
                    if batch.isNull(0, row) {
                        .null
                    } else {
                        switch type {
                        case .integer, .link: .integer(batch.integers(0)[row])
                        case .double: .double(batch.doubles(0)[row])
                        case .bytes, .links: .bytes(batch.bytes(0, row))
                        }
                    }
                workspace.entries.note(
                    EntryOperation(high: IndexKey.high(cell, definition), low: batch.key(row).rawValue, delta: 1),
                    table, tree)
            }
            // The scan can continue: the entries are in other trees than the rows.
            try workspace.entries.applyIfMany(table, view)
            return true
        }
        try workspace.entries.apply(table, view)
    }
}
