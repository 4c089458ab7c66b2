import Harness
import RunRecords

extension ModelSession: KeyedRowSession {
    func prepareRows(_ rows: KeyedRows) throws(EngineError) { keyedRows = rows }

    /// Runs the body under the store's lock, with the indexes of table, columns and changed column.
    private func work<Output>(
        _ body: (inout ModelContent, Int, [Int], Int) throws(EngineError) -> Output
    ) throws(EngineError) -> Output {
        guard let own = keyedRows else { throw KeyedRows.notPrepared }
        return try store.content.withLock { content throws(EngineError) in
            let table = try content.position(own.table)
            var columns: [Int] = []
            for name in own.columns { columns.append(try content.tables[table].column(name)) }
            return try body(&content, table, columns, try content.tables[table].column(own.changed))
        }
    }

    func readRow(_ key: Int64) throws(EngineError) -> ReadDigest {
        try work { content, table, columns, _ throws(EngineError) in
            var digest = ReadDigest()
            try Self.read(key, columns, of: content.tables[table], into: &digest)
            return digest
        }
    }

    func readRows(_ keys: Range<Int64>) throws(EngineError) -> ReadDigest {
        try work { content, table, columns, _ throws(EngineError) in
            var digest = ReadDigest()
            for key in keys where content.tables[table].hasRow(key: key) {
                try Self.read(key, columns, of: content.tables[table], into: &digest)
            }
            return digest
        }
    }

    func setRow(_ key: Int64, to value: Int64) throws(EngineError) {
        try work { content, table, _, changed throws(EngineError) in
            let row = try content.tables[table].row(key: key)
            try content.set(table: table, column: changed, row: row, integer: value)
        }
    }

    func incrementRow(_ key: Int64) throws(EngineError) -> ReadDigest {
        try work { content, table, columns, changed throws(EngineError) in
            let row = try content.tables[table].row(key: key)
            var digest = ReadDigest()
            try Self.read(key, columns, of: content.tables[table], into: &digest)
            guard case .integer(let value) = content.tables[table].value(column: changed, row: row) else {
                throw EngineError(.refused, "column \(changed) holds no integers")
            }
            try content.set(table: table, column: changed, row: row, integer: value &+ 1)
            return digest
        }
    }
}
