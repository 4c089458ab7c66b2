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
        if definition.collection != nil { return try unlinkCollection(table, key, column, definition) }
        guard let bytes = try view.bytes(row, column), let reader = LinkPayload.Reader(bytes) else {
            throw view.damage(at: row)
        }
        let payload = reader.without(target.rawValue, keepsPlaces: definition.keepsPlaces)
        try Cell.withCopy(of: payload) { (cell) throws(StorageError) in
            try transaction.change(table, key, column, cell)
        }
    }

    private func unlinkCollection(
        _ table: Int, _ key: RowKey, _ column: Int, _ definition: ColumnDefinition
    ) throws(StorageError) {
        let shape = try view.collectionShape(table, key, column)
        let kept = CollectionElements(shape)
        try CollectionReader(view, table, key, column).forEachPart { (part) throws(StorageError) in
            for place in part.first..<part.end {
                let link = try part.value(at: place)
                let isGone = !link.isNull && link.integerValue == target.rawValue
                if isGone && !definition.keepsPlaces { continue }
                kept.append(key: try part.key(at: place), isGone ? .null : link)
            }
            return true
        }
        guard let collection = definition.collection else { return }
        let payload = CollectionEncoder(column: collection, isLinks: true).encode(kept)
        try Cell.withCopy(of: payload) { (cell) throws(StorageError) in
            try transaction.change(table, key, column, cell)
        }
    }
}
