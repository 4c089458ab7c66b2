/// Replays records in a transaction: those of a log, and those of guests' transactions.
struct ChangeReplay {
    private let transaction: TransactionChanges
    private var view: ReadView { transaction.view }

    init(in transaction: TransactionChanges) { self.transaction = transaction }

    /// Replays the records of consecutive commits.
    func apply(
        _ records: UnsafeRawBufferPointer, firstLSN: UInt64, lastLSN: UInt64
    ) throws(StorageError) {
        var records = RecordSequence(records, firstLSN: firstLSN, lastLSN: lastLSN)
        #if Zoo
            var left = PlantedMistake.groupEndLost.isPlanted && firstLSN < lastLSN ? lastLSN - firstLSN : .max
        #endif
        while let record = try records.next() {
            #if Zoo
                if left == 0 { return }
                left -= 1
            #endif
            try apply(record)
        }
    }

    /// Replays one record as the changes of this transaction: a guest's, or this transaction's own after a recovery.
    func apply(_ record: [UInt8]) throws(StorageError) {
        var failure: StorageError?
        record.withUnsafeBytes { bytes in
            do throws(StorageError) {
                try apply(bytes, firstLSN: transaction.version, lastLSN: transaction.version)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Applies the changes of one commit.
    private func apply(_ record: UnsafeRawBufferPointer) throws(StorageError) {
        var changes = try ChangeReader(record)
        let created = changes.lsn
        var collections = CollectionReplay(in: transaction)
        // Tables of consecutive `deleteAll` operations. They are cleared together: a link between two of them is not
        // removed one by one.
        var cleared: [Int] = []
        while let change = try changes.next() {
            if case .deleteAll = change {} else { try clear(&cleared) }
            do throws(StorageError) {
                if try collections.apply(change, &changes) { continue }
            } catch {
                // The record names something that does not exist, so it is damaged.
                if case .misuse = error { throw Self.unexpected }
                throw error
            }
            switch change {
            case .insert(let table, let key):
                let position = try position(table)
                let columns = view.state.schema.tables[position].columns
                guard columns.map(\.id) == changes.columns else { throw Self.unexpected }
                try transaction.insert(position, key: key, created: created, changes.cells)
            case .set(let table, let key, let column, let cell):
                #if Zoo
                    if PlantedMistake.guestUpdateLost.isPlanted, !transaction.isReplay { continue }
                #endif
                let position = try position(table)
                guard let index = view.state.schema.tables[position].position(of: column) else {
                    throw Self.unexpected
                }
                try transaction.set(position, key, column: index, to: cell)
            case .delete(let table, let key):
                #if Zoo
                    if PlantedMistake.deletionNotReplayed.isPlanted { continue }
                #endif
                try transaction.delete(try position(table), key)
            case .deleteAll(let table): cleared.append(try position(table))
            case .schema(let bytes): try transaction.apply(schema: try SchemaCoding.decode(bytes))
            case .nextKey(let table, let key):
                view.state.tables[try position(table)].nextKey = key.rawValue
                if !transaction.isReplay { transaction.workspace.recorder.nextKey(table, key) }
            case .collection, .insertElements, .removeElements, .setElements, .moveElements: throw Self.unexpected
            }
            // Memory must not grow with the log, nor with the groups that it touches.
            try transaction.spillIfLarge()
        }
        try clear(&cleared)
        // The recorded transaction did so at its end, too.
        try CollectionPlacing(transaction).putSmallInRows()
    }

    private func clear(_ tables: inout [Int]) throws(StorageError) {
        if tables.isEmpty { return }
        try transaction.deleteAll(tables)
        tables.removeAll()
    }

    private static var unexpected: StorageError {
        .corrupt(page: PageNumber(0), offset: 0, reason: .structure)
    }

    private func position(_ table: TableID) throws(StorageError) -> Int {
        guard let position = view.state.schema.position(of: table) else { throw Self.unexpected }
        return position
    }
}
