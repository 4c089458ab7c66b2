/// Pending changes of index and backlink trees in the open transaction, so that each tree is changed for many of them
/// at once. They keep these trees equal to their columns (invariant 7).
///
/// Guarded by the write gate.
struct WaitingEntries {
    private let nodes: TransactionNodes
    /// By table and tree.
    private var operations: [[[EntryOperation]]] = []
    /// A ``ColumnCopy`` copies the trees from another store, so changes of rows are not noted.
    var areCopied = false

    init(_ nodes: TransactionNodes) { self.nodes = nodes }

    /// Prepares for the trees of a state; no change is pending afterwards.
    mutating func begin(_ tables: [TableState]) {
        operations = tables.map { $0.entries.map { _ in [] } }
        areCopied = false
    }

    /// Drops pending changes, for a new transaction with the same tables and trees.
    mutating func removeAll() {
        areCopied = false
        for table in operations.indices {
            for tree in operations[table].indices where !operations[table][tree].isEmpty {
                operations[table][tree].removeAll(keepingCapacity: true)
            }
        }
    }

    /// Drops pending changes of a table whose trees are dropped.
    mutating func forget(_ table: Int) {
        for tree in operations[table].indices { operations[table][tree].removeAll(keepingCapacity: true) }
    }

    // MARK: Collecting

    /// Adds a row's value to the trees of its column, or removes it.
    /// - Parameter delta: 1 or -1.
    mutating func note(
        _ cell: Cell, of key: RowKey, table: Int, column: ColumnDefinition, in view: ReadView, delta: Int32
    ) throws(StorageError) {
        if areCopied { return }
        if column.type == .links && column.index == .none && cell.count == 0 { return }
        if let kind = column.index.rootKind, isTold(cell, delta) {
            try note(
                IndexKey.high(cell, column), key: key, table: table, root: (column.id, kind), in: view, delta: delta)
        }
        switch column.type {
        case .link:
            if !cell.isNull {
                try note(
                    cell.integerValue, key: key, table: table, root: (column.id, .backlinks), in: view, delta: delta)
            }
        case .links:
            if cell.isNull { return }
            guard let reader = LinkPayload.Reader(cell.bytesValue) else { throw .misuse(.wrongType) }
            for index in 0..<reader.count where reader[index] != LinkPayload.null {
                try note(reader[index], key: key, table: table, root: (column.id, .backlinks), in: view, delta: delta)
            }
        case .integer, .double, .bytes: break
        }
    }

    private func isTold(_ cell: Cell, _ delta: Int32) -> Bool {
        #if Zoo
            if cell.isNull, delta > 0, PlantedMistake.nullUntold.isPlanted { return false }
        #endif
        return true
    }

    /// Removes a row's present value from the trees of its column.
    /// - Parameter position: of the column.
    mutating func noteRemoval(
        of key: RowKey, at row: RowLocation, position: Int, table: Int, column: ColumnDefinition, in view: ReadView
    ) throws(StorageError) {
        if column.collection != nil, column.type == .links {
            return try noteRemoval(ofLinksOf: key, at: row, position: position, table: table, column: column, in: view)
        }
        // Bytes are borrowed from the view.
        let cell: Cell =
            switch column.type {
            case .integer, .link: try view.integer(row, position).map { .integer($0) } ?? .null
            case .double: try view.double(row, position).map { .double($0) } ?? .null
            case .bytes, .links: try view.bytes(row, position).map { .bytes($0) } ?? .null
            }
        try note(cell, of: key, table: table, column: column, in: view, delta: -1)
    }

    /// Removes the links of a collection.
    private mutating func noteRemoval(
        ofLinksOf key: RowKey, at row: RowLocation, position: Int, table: Int, column: ColumnDefinition,
        in view: ReadView
    ) throws(StorageError) {
        let cell: CollectionCell
        if let open = view.heldBack?.openCollection(table, key, column: position) {
            cell = open
        } else {
            cell = try view.collectionCell(row, position)
        }
        let reader = try CollectionReader(cell, in: view, table: table, key: key, column: position)
        try reader.forEachPart { (part) throws(StorageError) in
            for place in part.first..<part.end {
                try noteLink(try part.value(at: place), of: key, table: table, column: column.id, in: view, delta: -1)
            }
            return true
        }
    }

    /// Adds a link of a collection, or removes it.
    mutating func noteLink(
        _ link: Cell, of key: RowKey, table: Int, column: ColumnID, in view: ReadView, delta: Int32
    ) throws(StorageError) {
        if areCopied || link.isNull { return }
        try note(link.integerValue, key: key, table: table, root: (column, .backlinks), in: view, delta: delta)
    }

    /// Removes an entry of the backlinks, with all links that it counts.
    mutating func noteGone(
        _ links: EntryOperation, table: Int, column: ColumnID, in view: ReadView
    ) throws(StorageError) {
        try note(
            links.high, key: RowKey(links.low), table: table, root: (column, .backlinks), in: view,
            delta: 0 &- links.delta)
    }

    private mutating func note(
        _ high: Int64, key: RowKey, table: Int, root: (column: ColumnID, kind: EntryRoot.Kind), in view: ReadView,
        delta: Int32
    ) throws(StorageError) {
        guard let tree = view.state.tables[table].entryRoot(root.column, root.kind) else {
            throw .corrupt(page: PageNumber(view.state.root.page), offset: 0, reason: .structure)
        }
        note(EntryOperation(high: high, low: key.rawValue, delta: delta), table, tree)
        if operations[table][tree].count >= nodes.limits.waitingEntries { try apply(table, view) }
    }

    /// Notes a change of one tree, whatever the number that is pending. The caller calls ``applyIfMany(_:_:)`` at
    /// intervals.
    mutating func note(_ operation: EntryOperation, _ table: Int, _ tree: Int) {
        operations[table][tree].append(operation)
    }

    // MARK: Applying

    /// Applies the changes of a table's trees if too many are pending.
    mutating func applyIfMany(_ table: Int, _ view: ReadView) throws(StorageError) {
        if operations[table].contains(where: { $0.count >= nodes.limits.waitingEntries }) { try apply(table, view) }
    }

    /// Applies the changes of a table's trees.
    mutating func apply(_ table: Int, _ view: ReadView) throws(StorageError) {
        for tree in operations[table].indices where !operations[table][tree].isEmpty {
            var root = view.state.tables[table].entries[tree].root
            try nodes.apply(&operations[table][tree], to: &root, of: view.state.layouts[table].table)
            operations[table][tree].removeAll(keepingCapacity: true)
            view.state.tables[table].entries[tree].root = root
        }
    }
}

extension TransactionNodes {
    /// Applies changes of one tree, in pieces whose leaves fit the memory budget.
    fileprivate func apply(
        _ operations: inout [EntryOperation], to root: inout NodeReference, of table: UInt32
    ) throws(StorageError) {
        let piece = max(64, limits.memoryBudget / Format.pageSize)
        if operations.count <= piece {
            return try EntryTree.apply(&operations, to: &root, table: table, writing: self, limits: limits)
        }
        try EntryOperation.prepare(&operations)
        var done = 0
        while done < operations.count {
            var part = Array(operations[done..<min(done + piece, operations.count)])
            done += part.count
            try EntryTree.apply(&part, to: &root, table: table, writing: self, limits: limits)
            if arena.livePages * Format.pageSize > limits.memoryBudget {
                root = try spill(entries: root)
            }
        }
    }
}
