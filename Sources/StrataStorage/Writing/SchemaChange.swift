extension WriteTransaction {
    /// Makes the schema `new`: tables and columns are told apart by their ids.
    ///
    /// Added columns read their default in rows that are there already; removed ones are forgotten; renamed ones keep
    /// their values. An index is built or dropped as its kind says. A column that keeps its id keeps its type.
    /// Positions of tables and columns are those of `new` afterwards.
    /// - Throws: `misuse(.wrongType)` when a column changes its type or target under the same id,
    ///   `misuse(.notOptional)` when one is to be required that still holds a null.
    /// - Complexity: O(1) per column, O(rows) for each index that is built and for each column that becomes required.
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

/// A change of what tables and columns there are, in the open transaction: what goes is given up, what stays is carried
/// over, and what is new is built.
struct SchemaChange {
    private let new: StoreSchema
    private let view: ReadView
    private let workspace: WriterWorkspace
    private var nodes: TransactionNodes { workspace.nodes }

    /// - Parameter view: what the transaction has made of the store so far.
    init(to new: StoreSchema, _ view: ReadView, _ workspace: WriterWorkspace) {
        self.new = new
        self.view = view
        self.workspace = workspace
    }

    /// Finds misuse, before anything is changed.
    func check() throws(StorageError) {
        for definition in new.tables {
            if let before = view.state.schema.position(of: definition.id) {
                try check(before, definition)
            }
        }
        try SchemaCoding.check(new)
    }

    /// Makes the view's schema the new one, and its tables those of the new one. Nothing waits in the workspace.
    func run() throws(StorageError) {
        let old = view.state.schema
        for table in old.tables where new.position(of: table.id) == nil {
            guard let position = old.position(of: table.id) else { continue }
            try forget(position)
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
            let (state, missing) = try carryOver(view.state.tables[before], kept, definition)
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

    /// The trees of a table that stays: those of columns that stay, and empty ones to be built.
    private func carryOver(
        _ state: TableState, _ old: TableDefinition, _ new: TableDefinition
    ) throws(StorageError) -> (TableState, [Int]) {
        var result = state
        var missing: [Int] = []
        result.entries = new.entryRoots
        for index in result.entries.indices {
            let entry = result.entries[index]
            if let before = state.entryRoot(entry.column, entry.kind) {
                result.entries[index].root = state.entries[before].root
            } else if let column = new.position(of: entry.column), entry.kind != .backlinks {
                missing.append(column)
            }
        }
        for entry in state.entries where result.entryRoot(entry.column, entry.kind) == nil {
            try dropTree(entry.root)
        }
        return (result, missing)
    }

    private func dropTree(_ root: NodeReference) throws(StorageError) {
        var found: [NodeReference] = []
        try EntryTree.walk(
            root, reading: nodes, visitNode: { (node) throws(StorageError) in found.append(node) },
            visitEntry: { (_, _, _) throws(StorageError) in })
        for node in found { nodes.drop(node) }
    }

    /// Gives up values in nodes of their own that belong to columns that go.
    private func dropLongValues(
        _ old: TableDefinition, _ new: TableDefinition, _ table: Int
    ) throws(StorageError) {
        let gone = old.columns.indices.filter {
            new.position(of: old.columns[$0].id) == nil && SegmentKind(old.columns[$0].type) == .bytes
        }
        if gone.isEmpty { return }
        // Groups keep the bytes of a column that is gone until they are rebuilt, and rebuilding drops what it does
        // not know; so its long values must go now, and their descriptors with them.
        try forEachLong(table, gone) { (key, column, long) throws(StorageError) in
            try giveUp(long, key, old, column)
            try workspace.editor(table, view).use { (editor) throws(StorageError) in
                try editor.set(
                    key, column, CellValue(.bytes(UnsafeRawBufferPointer(start: nil, count: 0))), keepsLong: true)
            }
        }
        try workspace.editor(table, view).use { (editor) throws(StorageError) in try editor.flush() }
    }

    /// Gives up a value that stands elsewhere.
    private func giveUp(
        _ long: LongValue, _ key: Int64, _ table: TableDefinition, _ column: Int
    ) throws(StorageError) {
        let definition = table.columns[column]
        guard let shape = CollectionShape(definition, table: table.id.rawValue, owner: key) else {
            return nodes.drop(long.reference)
        }
        try workspace.giveUp(CollectionPlace(table: table.id, key: key, column: definition.id), shape, long)
    }

    private func forEachLong(
        _ table: Int, _ columns: [Int],
        _ body: (Int64, Int, LongValue) throws(StorageError) -> Void
    ) throws(StorageError) {
        let layout = view.state.layouts[table]
        var found: [(Int64, Int, LongValue)] = []
        try view.forEachGroup(table, from: .min) { (group) throws(StorageError) in
            let rows = RowSet(layout)
            let wanted = columns.map { $0 + RowSet.firstUserColumn }
            try group.decode(into: rows, layout, wanted: wanted, view.reader)
            for (index, column) in wanted.enumerated() where rows.columns[column].hasFlags {
                for row in 0..<rows.count where rows.columns[column].isLong(row) {
                    guard let base = rows.columns[column].bytes(row).baseAddress else { continue }
                    found.append((rows.key(row), columns[index], LongValue(base)))
                }
            }
            return true
        }
        for (key, column, long) in found { try body(key, column, long) }
    }

    /// Gives up all nodes of a table that goes.
    private func forget(_ table: Int) throws(StorageError) {
        let definition = view.state.schema.tables[table]
        let columns = definition.columns.indices.filter { SegmentKind(definition.columns[$0].type) == .bytes }
        try forEachLong(table, Array(columns)) { (key, column, long) throws(StorageError) in
            try giveUp(long, key, definition, column)
        }
        for entry in view.state.tables[table].entries { try dropTree(entry.root) }
        try dropRows(view.state.tables[table].tree)
    }

    private func dropRows(_ reference: NodeReference) throws(StorageError) {
        if reference.isNull { return }
        if reference.is(.group) {
            let group = Group(try nodes.node(reference, .group))
            for index in 0..<group.nodes { nodes.drop(group.reference(index)) }
        } else {
            let branch = Branch(try nodes.node(reference, .branch))
            for index in 0..<branch.count { try dropRows(branch.reference(index)) }
        }
        nodes.drop(reference)
    }

    /// Enters all rows of a table into a new index.
    private func buildIndex(_ table: Int, _ column: Int) throws(StorageError) {
        let type = view.state.schema.tables[table].columns[column].type
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
                let definition = view.state.schema.tables[table].columns[column]
                guard let kind = definition.index.rootKind,
                    let tree = view.state.tables[table].entryRoot(definition.id, kind)
                else { continue }
                workspace.entries.note(
                    EntryOperation(high: IndexKey.high(cell, definition), low: batch.key(row).rawValue, delta: 1),
                    table, tree)
            }
            // Rows stay where they are meanwhile.
            try workspace.entries.applyIfMany(table, view)
            return true
        }
        try workspace.entries.apply(table, view)
    }
}
