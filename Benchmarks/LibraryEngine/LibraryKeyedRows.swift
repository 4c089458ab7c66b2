import Harness
import PackedRows

extension LibrarySession: KeyedRowSession {
    func prepareRows(_ rows: KeyedRows) throws(EngineError) {
        keyedRows = try PackedKeyedRows(rows, try table(rows.table))
    }

    private func prepared() throws(EngineError) -> PackedKeyedRows {
        guard let keyedRows else { throw KeyedRows.notPrepared }
        return keyedRows
    }

    func readRow(_ key: Int64) throws(EngineError) -> ReadDigest {
        let rows = try prepared()
        let transaction = try store.begin(.read)
        defer { transaction.abort() }
        var digest = ReadDigest()
        self.key.set(rows.table.number, key)
        if let row = try transaction.get(self.key) { try rows.add(key, row, to: &digest) }
        return digest
    }

    func readRows(_ keys: Range<Int64>) throws(EngineError) -> ReadDigest {
        let rows = try prepared()
        return try store.read { transaction throws(EngineError) in
            var digest = ReadDigest()
            try transaction.scan(rows.table, from: keys.lowerBound, before: keys.upperBound) {
                (key, row) throws(EngineError) in
                try rows.add(key, row, to: &digest)
                return true
            }
            return digest
        }
    }

    func setRow(_ key: Int64, to value: Int64) throws(EngineError) {
        let rows = try prepared()
        let buffer = self.key
        try store.write { transaction throws(EngineError) in
            buffer.set(rows.table.number, key)
            guard let old = try transaction.get(buffer) else { throw rows.missing(key) }
            try transaction.put(buffer, try rows.set(old, to: value))
        }
    }

    func incrementRow(_ key: Int64) throws(EngineError) -> ReadDigest {
        let rows = try prepared()
        let buffer = self.key
        return try store.write { transaction throws(EngineError) in
            buffer.set(rows.table.number, key)
            guard let old = try transaction.get(buffer) else { throw rows.missing(key) }
            var digest = ReadDigest()
            try rows.add(key, old, to: &digest)
            try transaction.put(buffer, try rows.increment(key, old))
            return digest
        }
    }
}
