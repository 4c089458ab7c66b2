/// Takes out the links that lead to a row, which is to be deleted.
struct LinkRemoval {
    private let target: RowKey
    private let transaction: WriteTransaction
    private var view: ReadView { transaction.view }

    init(to target: RowKey, transaction: WriteTransaction) {
        self.target = target
        self.transaction = transaction
    }

    /// Takes them out of all tables.
    /// - Parameter table: the row's.
    func run(in table: Int) throws(StorageError) {
        for (origin, column) in transaction.plans[table].linking { try run(from: origin, column) }
    }

    /// Takes those of one column out.
    func run(from origin: Int, _ column: Int) throws(StorageError) {
        var origins: [RowKey] = []
        try view.backlinks(to: target, of: origin, column) { (row, _) throws(StorageError) in
            origins.append(row)
            return true
        }
        #if Zoo
            if PlantedMistake.linkLeft.isPlanted, origins.count > 1 { origins.removeLast() }
        #endif
        for row in origins {
            try unlink(origin, row, column, transaction.plans[origin].columns[column])
            try transaction.spillIfLarge()
        }
    }

    private func unlink(
        _ table: Int, _ key: RowKey, _ column: Int, _ definition: ColumnDefinition
    ) throws(StorageError) {
        if definition.type == .link {
            try transaction.change(table, key, column, .null)
            return
        }
        guard let row = try view.locate(table, key) else { throw view.missingRow(in: table) }
        guard let bytes = try view.bytes(row, column), let reader = LinkPayload.Reader(bytes) else {
            throw view.damage(at: row)
        }
        let payload = reader.without(target.rawValue, keepsPlaces: definition.keepsPlaces)
        try Cell.withCopy(of: payload) { (cell) throws(StorageError) in
            try transaction.change(table, key, column, cell)
        }
    }
}
