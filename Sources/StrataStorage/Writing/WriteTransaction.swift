/// The open transaction that changes the store; there is one at a time.
///
/// It changes copies of nodes in the arena; no reader sees them before the commit's version is visible. Concurrency:
/// one thread at a time; it may change threads. The transaction holds the write gate, not a thread.
package final class WriteTransaction {
    /// Reads the store with the transaction's changes.
    package let view: ReadView
    let store: Store
    let nodes: TransactionNodes
    /// The version that ``view`` is based on.
    @exclusivity(unchecked) private(set) var base: VersionState
    /// The version that its commit makes, and the creation version of rows that it inserts.
    @exclusivity(unchecked) var version: UInt64
    let workspace: WriterWorkspace
    @exclusivity(unchecked) var plans: [TablePlan]
    @exclusivity(unchecked) var changes: ChangeCollector
    @exclusivity(unchecked) var schemaChanged = false
    @exclusivity(unchecked) private(set) var isEnded = false
    /// An operation failed after its first change: only a rollback is possible.
    @exclusivity(unchecked) var isFailed = false
    /// In a process that does not own writing: the owner's grant for this transaction.
    @exclusivity(unchecked) var guest: (any LentTurn)?
    /// Sets and maps must ascend. False while a salvage has placeholders for lost elements in them.
    @exclusivity(unchecked) var keepsOrder = true
    @exclusivity(unchecked) package var resultPin: ResultPin
    /// A replay sets version numbers itself, and records no changes.
    let isReplay: Bool
    /// The write gate, while the transaction holds it; nil from the beginning if its creator keeps the gate.
    @exclusivity(unchecked) private var permit: WritePermit?

    /// - Parameter workspace: begun for this transaction.
    init(
        store: Store, base: VersionState, workspace: WriterWorkspace, _ permit: consuming WritePermit?,
        isReplay: Bool = false
    ) {
        self.permit = permit
        self.store = store
        resultPin = ResultPin(store)
        self.base = base
        self.workspace = workspace
        nodes = workspace.nodes
        self.isReplay = isReplay
        version = base.version + 1
        view = ReadView(base, nodes.reader, isWriter: true)
        plans = base.definitions.plans
        // Without an observer, as in a migration at the open, no change is listed. An observer that is added before the
        // commit compares the versions.
        let listed = store.commits.wasObserved.load(ordering: .acquiring) ? nodes.limits.listedChanges : 0
        changes = ChangeCollector(base.definitions.unchanged, limit: listed)
        view.heldBack = self
    }

    deinit { if !isEnded { rollback() } }

    /// Restarts on the same version, which was recovered to other pages. The caller repeats its changes.
    func rebase(_ base: VersionState) {
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
    @inline(__always) func editor(_ table: Int) -> Borrowed<TableEditor> { workspace.editor(table, view) }

    /// Marks the transaction as failed if the error may have come after a first change. Misuse is detected before.
    func noted(_ error: StorageError) -> StorageError {
        if case .misuse = error { return error }
        isFailed = true
        return error
    }

    func check(_ table: Int) throws(StorageError) {
        if isEnded { throw .misuse(.transactionEnded) }
        if isFailed { throw .misuse(.transactionFailed) }
        if table < 0 || table >= view.state.tables.count { throw .misuse(.noSuchTable) }
    }

    // MARK: Rows

    /// The lowest key of a table that was never used.
    package func nextKey(_ table: Int) -> RowKey { RowKey(view.state.tables[table].nextKey) }

    /// Inserts a row with a cell per column, in the order of the schema.
    /// - Throws: `misuse(.duplicateKey)`, `misuse(.wrongType)`, `misuse(.notOptional)`, `noSpace`.
    /// - Complexity: amortised O(columns) if keys ascend, else O(log rows) and the size of one group's node.
    package func insert(
        _ table: Int, key: RowKey, _ cells: UnsafeBufferPointer<Cell>
    ) throws(StorageError) {
        try check(table)
        if guest != nil { try prepareAsGuest(cells) }
        nodes.usesReserve = false
        do throws(StorageError) {
            try insert(table, key: key, created: version, cells)
            try spillIfLarge()
        } catch {
            throw noted(error)
        }
    }

    func insert(
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
    package func set(_ table: Int, _ key: RowKey, column: Int, to cell: Cell) throws(StorageError) {
        try check(table)
        if guest != nil { try prepareAsGuest(cell) }
        nodes.usesReserve = false
        do throws(StorageError) {
            try change(table, key, column: column, to: cell)
            try spillIfLarge()
        } catch {
            throw noted(error)
        }
    }

    func change(_ table: Int, _ key: RowKey, column: Int, to cell: Cell) throws(StorageError) {
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
    func noteSet(_ plan: TablePlan, table: Int, key: RowKey, column: Int, to cell: Cell) {
        if isReplay { return }
        workspace.recorder.set(plan.id, key, column: plan.ids[column], to: cell)
        changes.modified(table, key.rawValue, plan.ids[column].rawValue)
    }

    /// Deletes a row, and every link to it.
    /// - Throws: `misuse(.noSuchRow)`.
    package func delete(_ table: Int, _ key: RowKey) throws(StorageError) {
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
    func remove(_ plan: TablePlan, editor: TableEditor, table: Int, key: RowKey) throws(StorageError) {
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
    func removeEntries(_ table: Int, _ key: RowKey, column: Int, at row: RowLocation) throws(StorageError) {
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

    // MARK: End

    /// Commits the changes. Returns when the version is durable, in the sense of the durability class, and visible.
    ///
    /// A transaction without changes makes no version; it returns when its base is durable.
    /// - Throws: `noSpace` on a full disk: the transaction is rolled back without further effect.
    ///   `commitOutcomeUnknown` if a sync failed; `misuse(.transactionEnded)`.
    /// - Complexity: one run of pages, and one sync that all waiting commits share.
    @discardableResult
    package func commit() throws(StorageError) -> TransactionID {
        if try finishesEmpty() { return TransactionID(base.version) }
        return try store.commit(self).version
    }

    /// Applies pending operations; ends a transaction without changes once its base is durable.
    /// - Returns: whether it ended the transaction.
    /// - Throws: `commitOutcomeUnknown` if its base may be lost.
    func finishesEmpty() throws(StorageError) -> Bool {
        if isEnded { throw .misuse(.transactionEnded) }
        do throws(StorageError) {
            try store.checkOrigin()
            if isFailed { throw .misuse(.transactionFailed) }
            try flushAll()
        } catch {
            rollback()
            throw error
        }
        guard workspace.recorder.isEmpty && !schemaChanged && changes.isEmpty else { return false }
        if !undo() { throw .commitOutcomeUnknown(TransactionID(base.version)) }
        return true
    }

    /// Rolls the transaction back.
    package func rollback() { if !isEnded { _ = undo() } }

    /// Rolls back, and waits until the base is durable, because the transaction's user has seen it.
    /// - Returns: false if the base may not be durable.
    private func undo() -> Bool {
        if !nodes.placed.isEmpty { mark(.rolledBackPlaced) }
        end(.undone)
        if isReplay { return true }
        if store.isForked {
            // In a forked child no thread waits at the gate; the permit must not outlive the gate's store.
            giveGateBack()
            return true
        }
        if let guest { return guest.rollBack(self) }
        giveGateBack()
        return store.commits.waitUntilDurable(base.version)
    }

    /// Outcome of a transaction.
    enum End {
        /// A version, here or in the process that owns writing: the written pages stay.
        case committed
        /// Rolled back: its pages are free again.
        case undone
    }

    /// Ends all use of the transaction. It keeps the write gate.
    func end(_ end: End) {
        if isEnded { return }
        isEnded = true
        view.heldBack = nil
        workspace.collections.removeAll()
        nodes.beforeFirstPage = nil
        // In a forked child none of the parent's state may be touched.
        if store.isForked { return }
        switch end {
        case .committed: nodes.discard(all: false)
        case .undone:
            nodes.allocator.giveBack(nodes.landed)
            nodes.discard(all: true)
        }
        nodes.arena.reset()
    }

    /// Releases the write gate, if the transaction holds it.
    func giveGateBack() { permit = nil }

    /// Takes the write gate away from this transaction, for the next one of its commit batch.
    func takePermit() -> WritePermit? { permit.take() }

    func flushRows(_ table: Int) throws(StorageError) {
        guard let editor = workspace.editors[table], editor.hasPending else { return }
        do throws(StorageError) { try editor.flush() } catch { throw noted(error) }
    }

    func flushEntries(_ table: Int) throws(StorageError) {
        do throws(StorageError) { try workspace.entries.apply(table, view) } catch { throw noted(error) }
    }

    func flushAll() throws(StorageError) {
        for table in view.state.tables.indices {
            try flushRows(table)
            try flushEntries(table)
        }
    }
}
