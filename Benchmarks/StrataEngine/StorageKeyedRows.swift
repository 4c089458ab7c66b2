import Harness
import RunRecords
import StrataStorage

/// The indexes of the columns of `KeyedRowSession`.
struct StorageKeyedRows {
    let rows: KeyedRows
    let table: Int
    let columns: [StoredColumn]
    let changed: Int
}

extension StorageSession: KeyedRowSession {
    func prepareRows(_ rows: KeyedRows) throws(EngineError) {
        let table = try table(rows.table)
        let definition = try view().schema.tables[table]
        var columns: [StoredColumn] = []
        for name in rows.columns { columns.append(try StoredColumn(name, in: definition)) }
        keyedRows = StorageKeyedRows(
            rows: rows, table: table, columns: columns, changed: try column(rows.changed, .integer, of: table))
    }

    private func prepared() throws(EngineError) -> StorageKeyedRows {
        guard let keyedRows else { throw KeyedRows.notPrepared }
        return keyedRows
    }

    func readRow(_ key: Int64) throws(EngineError) -> ReadDigest {
        let own = try prepared()
        return try checked { () throws(StorageError) in
            var digest = ReadDigest()
            try Self.read(
                RowKey(key), own.table, columns: own.columns, view: try store.snapshot().view, digest: &digest)
            return digest
        }
    }

    /// Looks up the keys first: a batch of decoded columns has as many rows as a row group.
    func readRows(_ keys: Range<Int64>) throws(EngineError) -> ReadDigest {
        let own = try prepared()
        return try checked { () throws(StorageError) in
            var digest = ReadDigest()
            guard !keys.isEmpty else { return digest }
            let view = try store.snapshot().view
            for key in try view.keys(own.table, where: .key(keys.lowerBound...(keys.upperBound - 1))) {
                try Self.read(RowKey(key), own.table, columns: own.columns, view: view, digest: &digest)
            }
            return digest
        }
    }

    func setRow(_ key: Int64, to value: Int64) throws(EngineError) {
        let own = try prepared()
        try checked { () throws(StorageError) in
            try write { transaction throws(StorageError) in
                try transaction.set(own.table, RowKey(key), column: own.changed, to: .integer(value))
            }
        }
    }

    func incrementRow(_ key: Int64) throws(EngineError) -> ReadDigest {
        let own = try prepared()
        return try checked { () throws(StorageError) in
            try write { transaction throws(StorageError) in
                let view = transaction.view
                guard let row = try view.locate(own.table, RowKey(key)) else { throw .misuse(.noSuchRow) }
                var digest = ReadDigest()
                try Self.read(RowKey(key), own.table, columns: own.columns, view: view, digest: &digest)
                let value = try view.integer(row, own.changed) ?? 0
                try transaction.set(own.table, RowKey(key), column: own.changed, to: .integer(value &+ 1))
                return digest
            }
        }
    }
}
