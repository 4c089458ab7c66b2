/// The one open transaction that changes the store.
///
/// It works on copies in the arena; readers see nothing of it until ``commit()`` has returned.
/// Concurrency: one thread at a time; it may be handed from thread to thread. The write lock belongs to the
/// transaction, not to a thread.
package final class WriteTransaction {
    /// Reads what the transaction has made of the store so far.
    package let view: ReadView
    let store: Store
    let nodes: TransactionNodes
    /// What ``view`` was based on.
    @exclusivity(unchecked) private(set) var base: VersionState
    /// The version to be, and the creation version of rows that it inserts.
    @exclusivity(unchecked) var version: UInt64
    let workspace: WriterWorkspace
    @exclusivity(unchecked) var plans: [TablePlan]
    @exclusivity(unchecked) var changes: ChangeCollector
    @exclusivity(unchecked) var schemaChanged = false
    @exclusivity(unchecked) var isEnded = false
    /// An operation threw after it had begun to change something: only a rollback is possible.
    @exclusivity(unchecked) var isFailed = false
    /// In a process that does not own writing: what its owner lent for this transaction.
    @exclusivity(unchecked) var grant: Grant?
    /// Replay fills version numbers in by itself and records nothing.
    let isReplay: Bool

    /// - Parameter workspace: begun for this transaction.
    init(store: Store, base: VersionState, workspace: WriterWorkspace, isReplay: Bool = false) {
        self.store = store
        self.base = base
        self.workspace = workspace
        nodes = workspace.nodes
        self.isReplay = isReplay
        version = base.version + 1
        view = ReadView(base, nodes.reader, isWriter: true)
        plans = base.definitions.plans
        changes = ChangeCollector(base.definitions.unchanged, limit: nodes.limits.listedChanges)
        view.writer = self
    }

    deinit { if !isEnded { rollback() } }

    /// Starts again on the same version, which came back from other pages. What was done is to be done again.
    func rebase(_ base: VersionState) {
        self.base = base
        view.state = base
        view.layoutsChanged()
        view.generation &+= 1
        plans = base.definitions.plans
        changes = ChangeCollector(base.definitions.unchanged)
        schemaChanged = false
        nodes.arena.reset()
        workspace.begin(base, recordLimit: Store.guestRecordBytes)
    }

    /// The workspace keeps it; valid until the schema changes.
    @inline(__always) func editor(_ table: Int) -> Borrowed<TableEditor> { workspace.editor(table, view) }

    /// Marks the transaction when the error may have come after the first change. Misuse is found before.
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

    /// The next key that was never used in a table.
    package func nextKey(_ table: Int) -> RowKey { RowKey(view.state.tables[table].nextKey) }

    /// Adds a row with a cell per column, in the order of the schema.
    /// - Throws: `misuse(.duplicateKey)`, `misuse(.wrongType)`, `misuse(.notOptional)`, `noSpace`.
    /// - Complexity: amortised O(columns) when keys ascend, else O(log rows) and the size of one group's node.
    package func insert(
        _ table: Int, key: RowKey, _ cells: UnsafeBufferPointer<Cell>
    ) throws(StorageError) {
        try check(table)
        if grant != nil { try prepareAsGuest(cells) }
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
            let hasLong = try plan.check(cells, inlineBytes: nodes.limits.inlineBytes)
            try editor(table).use { (editor) throws(StorageError) in
                if hasLong {
                    try insertLong(editor, table, key, created, cells)
                } else {
                    try editor.insert(key.rawValue, created: created, cells, nil)
                }
            }
            try noteInsert(plan, table, key, cells)
        }
    }

    @inline(__always)
    private func noteInsert(
        _ plan: TablePlan, _ table: Int, _ key: RowKey, _ cells: UnsafeBufferPointer<Cell>
    ) throws(StorageError) {
        view.generation &+= 1
        if !plan.entered.isEmpty {
            for column in plan.entered { try addEntry(table, key, column, cells[column], delta: 1) }
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
        _ editor: TableEditor, _ table: Int, _ key: RowKey, _ created: UInt64, _ cells: UnsafeBufferPointer<Cell>
    ) throws(StorageError) {
        var values: [CellValue] = []
        for cell in cells { values.append(try prepared(table, cell)) }
        let short = values.map { $0.long == nil ? $0.cell : .null }
        var failure: StorageError?
        short.withUnsafeBufferPointer { buffer in
            do throws(StorageError) {
                try editor.insert(key.rawValue, created: created, buffer, values)
            } catch {
                failure = error
            }
        }
        guard let failure else { return }
        // The row is not there, so neither are its long values.
        for value in values { if let long = value.long { nodes.drop(long.reference) } }
        throw failure
    }

    /// Gives a long value its own node.
    private func prepared(_ table: Int, _ cell: Cell) throws(StorageError) -> CellValue {
        guard cell.kind == .bytes, cell.count > nodes.limits.inlineBytes else { return CellValue(cell) }
        let table = view.state.schema.tables[table].id.rawValue
        return CellValue(cell, long: try nodes.makeLong(cell.bytesValue, table: table))
    }

    /// Changes one value of a row.
    /// - Throws: `misuse(.noSuchRow)` and as ``insert(_:key:_:)``.
    package func set(_ table: Int, _ key: RowKey, _ column: Int, _ cell: Cell) throws(StorageError) {
        try check(table)
        if grant != nil { try prepareAsGuest(cell) }
        nodes.usesReserve = false
        do throws(StorageError) {
            try change(table, key, column, cell)
            try spillIfLarge()
        } catch {
            throw noted(error)
        }
    }

    private func change(_ table: Int, _ key: RowKey, _ column: Int, _ cell: Cell) throws(StorageError) {
        try Borrowed(plans[table]).use { (plan) throws(StorageError) in try change(plan, table, key, column, cell) }
    }

    @inline(__always)
    private func change(
        _ plan: TablePlan, _ table: Int, _ key: RowKey, _ column: Int, _ cell: Cell
    ) throws(StorageError) {
        guard column >= 0 && column < plan.columns.count else { throw .misuse(.noSuchColumn) }
        try plan.check(cell, column)
        let isEntered = plan.isEntered[column]
        if isEntered {
            guard let row = try view.locate(table, key) else { throw .misuse(.noSuchRow) }
            try removeEntries(table, key, column, row)
        }
        let isLong = cell.kind == .bytes && cell.count > nodes.limits.inlineBytes
        let value = isLong ? try prepared(table, cell) : CellValue(cell)
        do throws(StorageError) {
            try editor(table).use { (editor) throws(StorageError) in try editor.set(key.rawValue, column, value) }
        } catch {
            // Without the row nothing has changed, and nothing leads to the value.
            if case .misuse = error, let long = value.long { nodes.drop(long.reference) }
            throw error
        }
        view.generation &+= 1
        if isEntered { try addEntry(table, key, column, cell, delta: 1) }
        if !isReplay {
            workspace.recorder.set(plan.id, key, plan.ids[column], cell)
            changes.modified(table, key.rawValue, plan.ids[column].rawValue)
        }
    }

    /// Takes a row out, and every link that leads to it.
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
            if !isReplay && !plan.linking.isEmpty { try nullifyLinks(to: key, in: table) }
            try editor(table).use { (editor) throws(StorageError) in try remove(plan, editor, table, key) }
        }
    }

    @inline(__always)
    private func remove(
        _ plan: TablePlan, _ editor: TableEditor, _ table: Int, _ key: RowKey
    ) throws(StorageError) {
        let row = try editor.locateForDelete(key.rawValue)
        if !plan.entered.isEmpty {
            for column in plan.entered { try removeEntries(table, key, column, row) }
        }
        if editor.mayDeleteLong {
            for column in plan.bytesColumns {
                if let long = try view.longValue(row, column) { nodes.drop(long.reference) }
            }
        }
        editor.delete(row)
        view.generation &+= 1
        if !isReplay {
            workspace.recorder.delete(plan.id, key)
            changes.deleted(table, key.rawValue)
        }
    }

    private static let deletedAtOnce = 1 << 16

    /// Takes all rows of a table out, and every link that leads to one.
    package func deleteAll(_ table: Int) throws(StorageError) {
        try check(table)
        while true {
            // In pieces: a list of all keys could be larger than the memory budget.
            let keys = try view.keys(table, atMost: Self.deletedAtOnce)
            for key in keys { try delete(table, RowKey(key)) }
            if keys.count < Self.deletedAtOnce { return }
        }
    }

    // MARK: Links

    /// Takes out the links that lead to a row, in all tables.
    private func nullifyLinks(to key: RowKey, in table: Int) throws(StorageError) {
        for (origin, column) in plans[table].linking { try unlink(origin, column, from: key) }
    }

    /// Takes out the links of one column that lead to a row.
    func unlink(_ origin: Int, _ column: Int, from key: RowKey) throws(StorageError) {
        var origins: [RowKey] = []
        try view.backlinks(to: key, of: origin, column) { (row, _) throws(StorageError) in
            origins.append(row)
            return true
        }
        for row in origins {
            try unlink(origin, row, column, plans[origin].columns[column], key)
            try spillIfLarge()
        }
    }

    private func unlink(
        _ table: Int, _ key: RowKey, _ column: Int, _ definition: ColumnDefinition, _ target: RowKey
    ) throws(StorageError) {
        if definition.type == .link {
            try change(table, key, column, .null)
            return
        }
        guard let row = try view.locate(table, key), let bytes = try view.bytes(row, column),
            let reader = LinkPayload.Reader(bytes)
        else { throw .corrupt(page: PageNumber(0), offset: 0, reason: .structure) }
        let links = reader.links
        let kept =
            definition.keepsPlaces
            ? links.map { $0 == target.rawValue ? LinkPayload.null : $0 } : links.filter { $0 != target.rawValue }
        let payload = LinkPayload.encode(kept, extra: Array(reader.extra))
        try Cell.withCopy(of: payload) { (cell) throws(StorageError) in try change(table, key, column, cell) }
    }

    // MARK: End

    /// Makes the changes a version. Returns when it is durable, as the store's durability has it, and visible.
    ///
    /// A transaction that changed nothing makes no version; it returns when its base is durable.
    /// - Throws: `noSpace` when the disk is full: the transaction is rolled back, nothing else has happened.
    ///   `commitOutcomeUnknown` when a sync failed; `misuse(.transactionEnded)`.
    /// - Complexity: one run of pages and one sync that all waiting commits share.
    @discardableResult
    package func commit() throws(StorageError) -> TransactionID {
        if try finishesEmpty() { return TransactionID(base.version) }
        return try store.commit(self).version
    }

    /// Applies what waits; gives a transaction that changed nothing up, when its base is durable.
    /// - Returns: whether it did.
    /// - Throws: `commitOutcomeUnknown` when what it is based on may be lost.
    func finishesEmpty() throws(StorageError) -> Bool {
        if isEnded { throw .misuse(.transactionEnded) }
        do throws(StorageError) {
            if isFailed { throw .misuse(.transactionFailed) }
            try flushAll()
        } catch {
            rollback()
            throw error
        }
        guard workspace.recorder.isEmpty && !schemaChanged && changes.isEmpty else { return false }
        isEnded = true
        view.writer = nil
        if !store.rolledBack(self) { throw .commitOutcomeUnknown(TransactionID(base.version)) }
        return true
    }

    /// Gives everything back.
    package func rollback() {
        if isEnded { return }
        isEnded = true
        view.writer = nil
        _ = store.rolledBack(self)
    }

    func flushRows(_ table: Int) throws(StorageError) {
        guard let editor = workspace.editors[table], editor.hasPending else { return }
        do throws(StorageError) { try editor.flush() } catch { throw noted(error) }
    }

    func flushAll() throws(StorageError) {
        for table in view.state.tables.indices {
            try flushRows(table)
            try flushEntries(table)
        }
    }
}
