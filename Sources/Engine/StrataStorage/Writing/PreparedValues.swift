/// Prepares the values of a row: long ones get nodes of their own, and long collections trees.
struct PreparedValues {
    private let transaction: TransactionChanges
    private let table: Int
    private let key: RowKey
    private(set) var values: [CellValue] = []
    private var collections: [OpenCollection] = []

    init(_ transaction: TransactionChanges, _ table: Int, _ key: RowKey) {
        self.transaction = transaction
        self.table = table
        self.key = key
    }

    /// - Parameter cell: of `column`, checked.
    mutating func add(_ cell: Cell, _ plan: TablePlan, _ column: Int) throws(StorageError) {
        let nodes = transaction.nodes
        guard cell.kind == .bytes, cell.count > nodes.limits.inlineBytes else { return values.append(CellValue(cell)) }
        if plan.isCollection[column] {
            let handle = CollectionCell.handle(birth: nodes.version)
            values.append(CellValue(.null, long: handle))
            collections.append(
                try CollectionOpening(transaction).build(cell.bytesValue, table: table, key: key, column: column))
        } else {
            let long = try nodes.makeLong(cell.bytesValue, table: plan.id.rawValue)
            values.append(CellValue(cell, long: long))
        }
    }

    /// Sets a value of the row that is long, is a collection, or has entries in an index or in backlinks.
    /// - Parameter cell: of `column`, checked.
    mutating func change(_ plan: TablePlan, _ column: Int, _ cell: Cell) throws(StorageError) {
        let isCollection = plan.isCollection[column]
        if plan.isEntered[column] || isCollection {
            guard let row = try transaction.view.locate(table, key) else { throw .misuse(.noSuchRow) }
            try transaction.removeEntries(table, key, column: column, at: row)
            if isCollection { try CollectionOpening(transaction).giveUp(table, key, column: column, at: row) }
        }
        if cell.kind == .bytes && cell.count > transaction.nodes.limits.inlineBytes { try add(cell, plan, column) }
        try put(column, cell, keepsLong: isCollection)
    }

    /// Sets the one prepared value in its row.
    /// - Parameter cell: the value, if it is short and was not added.
    private func put(_ column: Int, _ cell: Cell, keepsLong: Bool) throws(StorageError) {
        let value = values.first ?? CellValue(cell)
        do throws(StorageError) {
            try transaction.editor(table).use { (editor) throws(StorageError) in
                try editor.set(key.rawValue, column, value, keepsLong: keepsLong)
            }
        } catch {
            // If the row is missing, there was no change, and no reference to the value.
            if case .misuse = error { try giveUp() }
            throw error
        }
        try keep()
    }

    /// Completes the values after they were stored in their row.
    func keep() throws(StorageError) {
        for collection in collections { try CollectionOpening(transaction).add(collection) }
    }

    /// Drops the nodes of values that were not stored.
    func giveUp() throws(StorageError) {
        for value in values {
            if let long = value.long, !long.isTree { transaction.nodes.drop(long.reference) }
        }
        for collection in collections { try collection.editing().clear() }
    }
}
