/// The changes of the open transaction: its operations, and the view that reads the store with them.
///
/// It changes copies of nodes in the arena; no reader sees them before the commit's version is visible. It knows no
/// store: ``WriteTransaction``, its only subclass, commits the changes or rolls them back. No member is overridden.
/// Concurrency: one thread at a time; it may change threads. Guarded by the write gate.
package class TransactionChanges {
    /// Reads the store with the transaction's changes.
    package final let view: ReadView
    final let nodes: TransactionNodes
    /// The version that ``view`` is based on.
    @exclusivity(unchecked) private(set) final var base: VersionState
    /// The version that its commit makes, and the creation version of rows that it inserts.
    @exclusivity(unchecked) final var version: UInt64
    final let workspace: WriterWorkspace
    final let pageWriter: any PageWriting
    @exclusivity(unchecked) final var plans: [TablePlan]
    @exclusivity(unchecked) final var changes: ChangeCollector
    @exclusivity(unchecked) final var schemaChanged = false
    @exclusivity(unchecked) private(set) final var isEnded = false
    /// An operation failed after its first change: only a rollback is possible.
    @exclusivity(unchecked) final var isFailed = false
    /// In a process that does not own writing: the turn that the owner lent for this transaction. An operation for
    /// which that does not suffice claims ownership, and sets this to nil.
    @exclusivity(unchecked) final var lentTurn: (any LentTurn)?
    /// Sets and maps must ascend. False while a salvage has placeholders for lost elements in them.
    @exclusivity(unchecked) final var keepsOrder = true
    /// A replay sets version numbers itself, and records no changes.
    final let isReplay: Bool

    /// - Parameters:
    ///   - workspace: begun for this transaction.
    ///   - listing: most changes of each kind that are listed per table.
    init(
        on base: VersionState, _ workspace: WriterWorkspace, pageWriter: any PageWriting, listing: Int,
        isReplay: Bool = false, lentTurn: (any LentTurn)? = nil
    ) {
        self.base = base
        self.workspace = workspace
        self.pageWriter = pageWriter
        self.isReplay = isReplay
        self.lentTurn = lentTurn
        nodes = workspace.nodes
        version = base.version + 1
        view = ReadView(base, nodes.reader, isWriter: true)
        plans = base.definitions.plans
        changes = ChangeCollector(base.definitions.unchanged, limit: listing)
        view.heldBack = self
        if lentTurn == nil { return }
        nodes.beforeFirstPage = { [unowned self] () throws(StorageError) in
            try self.lentTurn?.claim(self, canRepeat: false)
        }
    }

    /// Restarts on the same version, which was recovered to other pages. The caller repeats its changes.
    final func rebase(_ base: VersionState) {
        self.base = base
        view.state = base
        view.layoutsChanged()
        view.generation &+= 1
        plans = base.definitions.plans
        changes = ChangeCollector(base.definitions.unchanged)
        schemaChanged = false
        nodes.arena.reset()
        workspace.begin(base, recordLimit: Grants.recordLimit)
    }

    /// The editor of a table's rows, which the workspace owns. Valid until the schema changes.
    @inline(__always) final func editor(_ table: Int) -> Borrowed<TableEditor> { workspace.editor(table, view) }

    /// Marks the transaction as failed if the error may have come after a first change. Misuse is detected before.
    final func noted(_ error: StorageError) -> StorageError {
        if case .misuse = error { return error }
        isFailed = true
        return error
    }

    final func check(_ table: Int) throws(StorageError) {
        if isEnded { throw .misuse(.transactionEnded) }
        if isFailed { throw .misuse(.transactionFailed) }
        if table < 0 || table >= view.state.tables.count { throw .misuse(.noSuchTable) }
    }

    // MARK: Rows

    /// The lowest key of a table that was never used.
    package final func nextKey(_ table: Int) -> RowKey { RowKey(view.state.tables[table].nextKey) }

    /// Inserts a row with a cell per column, in the order of the schema.
    /// - Throws: `misuse(.duplicateKey)`, `misuse(.wrongType)`, `misuse(.notOptional)`, `noSpace`.
    /// - Complexity: amortised O(columns) if keys ascend, else O(log rows) and the size of one group's node.
    package final func insert(
        _ table: Int, key: RowKey, _ cells: UnsafeBufferPointer<Cell>
    ) throws(StorageError) {
        try check(table)
        if lentTurn != nil { try prepareAsGuest(cells) }
        nodes.usesReserve = false
        do throws(StorageError) {
            try insert(table, key: key, created: version, cells)
            try spillIfLarge()
        } catch {
            throw noted(error)
        }
    }

    final func insert(
        _ table: Int, key: RowKey, created: UInt64, _ cells: UnsafeBufferPointer<Cell>
    ) throws(StorageError) {
        try Borrowed(plans[table]).use { (plan) throws(StorageError) in
            let hasLong = try plan.check(cells, inlineBytes: nodes.limits.inlineBytes, keepsOrder: keepsOrder)
            try editor(table).use { (editor) throws(StorageError) in
                if hasLong {
                    try insertLong(editor, plan: plan, table: table, key: key, created: created, cells: cells)
                } else {
                    try editor.insert(key.rawValue, created: created, cells, nil)
                }
            }
            try noteInsert(plan, table: table, key: key, cells: cells)
        }
    }

    @inline(__always)
    private func noteInsert(
        _ plan: TablePlan, table: Int, key: RowKey, cells: UnsafeBufferPointer<Cell>
    ) throws(StorageError) {
        view.generation &+= 1
        if !plan.entered.isEmpty {
            for column in plan.entered where !plan.hasNoEntry(cells[column], column) {
                try addEntry(table, key, column: column, cell: cells[column])
            }
        }
        if view.state.tables[table].nextKey <= key.rawValue && key.rawValue < .max {
            view.state.tables[table].nextKey = key.rawValue + 1
        }
        if !isReplay {
            if !workspace.recorder.isTooLarge {
                workspace.recorder.insert(plan.id, columns: plan.columns, key: key, cells: cells)
            }
            changes.inserted(table, key.rawValue)
        }
    }

    private func insertLong(
        _ editor: TableEditor, plan: TablePlan, table: Int, key: RowKey, created: UInt64,
        cells: UnsafeBufferPointer<Cell>
    ) throws(StorageError) {
        var prepared = PreparedValues(self, table, key)
        for (column, cell) in cells.enumerated() { try prepared.add(cell, plan, column) }
        let values = prepared.values
        let short = values.map { $0.long == nil ? $0.cell : .null }
        var failure: StorageError?
        short.withUnsafeBufferPointer { buffer in
            do throws(StorageError) {
                try editor.insert(key.rawValue, created: created, buffer, values)
            } catch {
                failure = error
            }
        }
        guard let failure else { return try prepared.keep() }
        // The row was not inserted, so its long values are dropped.
        try prepared.giveUp()
        throw failure
    }

    /// Changes one value of a row.
    /// - Throws: `misuse(.noSuchRow)` and as ``insert(_:key:_:)``.
    package final func set(_ table: Int, _ key: RowKey, column: Int, to cell: Cell) throws(StorageError) {
        try check(table)
        if lentTurn != nil { try prepareAsGuest(cell) }
        nodes.usesReserve = false
        do throws(StorageError) {
            try change(table, key, column: column, to: cell)
            try spillIfLarge()
        } catch {
            throw noted(error)
        }
    }

    final func change(_ table: Int, _ key: RowKey, column: Int, to cell: Cell) throws(StorageError) {
        try Borrowed(plans[table]).use { (plan) throws(StorageError) in
            try change(plan, table: table, key: key, column: column, to: cell)
        }
    }

    @inline(__always)
    private func change(_ plan: TablePlan, table: Int, key: RowKey, column: Int, to cell: Cell) throws(StorageError) {
        guard column >= 0 && column < plan.columns.count else { throw .misuse(.noSuchColumn) }
        try plan.check(cell, column, keepsOrder: keepsOrder)
        if try !holds(plan, table: table, key: key, column: column, cell: cell) {
            try changeNow(plan, table: table, key: key, column: column, to: cell)
        }
        view.generation &+= 1
        if plan.isEntered[column] { try addEntry(table, key, column: column, cell: cell) }
        noteSet(plan, table: table, key: key, column: column, to: cell)
    }

    /// Has the editor hold back a change of a collection, if neither the old value nor the new one has nodes.
    /// - Returns: whether it did.
    private func holds(
        _ plan: TablePlan, table: Int, key: RowKey, column: Int, cell: Cell
    ) throws(StorageError) -> Bool {
        guard plan.isCollection[column], !plan.isEntered[column], cell.count <= nodes.limits.inlineBytes else {
            return false
        }
        return try editor(table).use { (editor) throws(StorageError) in try editor.hold(key.rawValue, column, cell) }
    }

    @inline(__always)
    private func changeNow(
        _ plan: TablePlan, table: Int, key: RowKey, column: Int, to cell: Cell
    ) throws(StorageError) {
        let isShort = cell.kind != .bytes || cell.count <= nodes.limits.inlineBytes
        let isPlain = isShort && !plan.isEntered[column] && !plan.isCollection[column]
        guard isPlain else {
            var prepared = PreparedValues(self, table, key)
            return try prepared.change(plan, column, cell)
        }
        try editor(table).use { (editor) throws(StorageError) in try editor.set(key.rawValue, column, CellValue(cell)) }
    }

    @inline(__always)
    final func noteSet(_ plan: TablePlan, table: Int, key: RowKey, column: Int, to cell: Cell) {
        if isReplay { return }
        workspace.recorder.set(plan.id, key, column: plan.ids[column], to: cell)
        changes.modified(table, key.rawValue, plan.ids[column].rawValue)
    }

    /// Deletes a row, and every link to it.
    /// - Throws: `misuse(.noSuchRow)`.
    package final func delete(_ table: Int, _ key: RowKey) throws(StorageError) {
        try check(table)
        do throws(StorageError) {
            try remove(table, key)
            try spillIfLarge()
        } catch {
            throw noted(error)
        }
    }

    private func remove(_ table: Int, _ key: RowKey) throws(StorageError) {
        try Borrowed(plans[table]).use { (plan) throws(StorageError) in
            if !isReplay && !plan.linking.isEmpty { try LinkRemoval(to: key, transaction: self).run(in: table) }
            try editor(table).use { (editor) throws(StorageError) in
                try remove(plan, editor: editor, table: table, key: key)
            }
        }
    }

    /// Deletes a row. No links lead to it, except from rows that will be deleted, too.
    @inline(__always)
    final func remove(_ plan: TablePlan, editor: TableEditor, table: Int, key: RowKey) throws(StorageError) {
        let row = try editor.locateForDelete(key.rawValue)
        if !plan.entered.isEmpty {
            for column in plan.entered where try !isEmpty(plan, row: row, key: key, column: column) {
                try removeEntries(table, key, column: column, at: row)
            }
        }
        if editor.mayDeleteLong {
            for column in plan.bytesColumns {
                if plan.isCollection[column] {
                    try CollectionOpening(self).giveUp(table, key, column: column, at: row)
                } else if let long = try view.longValue(row, column) {
                    nodes.drop(long.reference)
                }
            }
        }
        editor.delete(row)
        view.generation &+= 1
        if !isReplay {
            workspace.recorder.delete(plan.id, key)
            changes.deleted(table, key.rawValue)
        }
    }

    // MARK: Entries

    /// Adds a value to the indexes and backlinks of its column.
    private func addEntry(_ table: Int, _ key: RowKey, column: Int, cell: Cell) throws(StorageError) {
        do throws(StorageError) {
            try workspace.entries.note(
                cell, of: key, table: table, column: plans[table].columns[column], in: view, delta: 1)
        } catch {
            throw noted(error)
        }
    }

    /// Removes the entries of a row's present value.
    final func removeEntries(_ table: Int, _ key: RowKey, column: Int, at row: RowLocation) throws(StorageError) {
        let plan = plans[table]
        if !plan.isEntered[column] { return }
        do throws(StorageError) {
            try workspace.entries.noteRemoval(
                of: key, at: row, position: column, table: table, column: plan.columns[column], in: view)
        } catch {
            // The row's own value is malformed, not the caller's.
            if case .misuse = error { throw noted(view.damage(at: row)) }
            throw noted(error)
        }
    }

    // MARK: Pending operations

    final func flushRows(_ table: Int) throws(StorageError) {
        guard let editor = workspace.editors[table], editor.hasPending else { return }
        do throws(StorageError) { try editor.flush() } catch { throw noted(error) }
    }

    final func flushEntries(_ table: Int) throws(StorageError) {
        do throws(StorageError) { try workspace.entries.apply(table, view) } catch { throw noted(error) }
    }

    final func flushAll() throws(StorageError) {
        for table in view.state.tables.indices {
            try flushRows(table)
            try flushEntries(table)
        }
    }

    // MARK: End

    /// Whether the transaction has changed nothing. No operation is pending.
    final var isEmpty: Bool { workspace.recorder.isEmpty && !schemaChanged && changes.isEmpty }

    /// Outcome of a transaction.
    enum End {
        /// A version, here or in the process that owns writing: the written pages stay.
        case committed
        /// Rolled back: its pages are free again.
        case undone
        /// In a forked child process, where none of the parent's state may be touched.
        case forked
    }

    /// Ends all use of the changes and of their view.
    final func endUse(_ end: End) {
        if isEnded { return }
        isEnded = true
        view.heldBack = nil
        workspace.collections.removeAll()
        nodes.beforeFirstPage = nil
        switch end {
        case .forked: return
        case .committed: nodes.discard(all: false)
        case .undone:
            nodes.allocator.giveBack(nodes.landed)
            nodes.discard(all: true)
        }
        nodes.arena.reset()
    }
}
