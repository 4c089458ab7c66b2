extension CommitNotice {
    /// The notice of a transaction, for when it is committed and visible.
    init(of transaction: TransactionChanges) {
        self.init(
            version: TransactionID(transaction.version), changes: transaction.changes.result,
            schemaChanged: transaction.schemaChanged)
    }
}

/// Lists what a transaction changes, for the notice to observers of its commit.
struct ChangeCollector {
    private let limit: Int
    private var tables: [TableChanges]
    /// The last range of inserted keys, which is not in `tables` yet; the table is -1 if there is none.
    private var run: (table: Int, low: Int64, high: Int64) = (-1, 0, 0)

    /// - Parameters:
    ///   - tables: without changes.
    ///   - limit: most changes of each kind that are listed per table.
    init(_ tables: [TableChanges], limit: Int = 1 << 20) {
        self.tables = tables
        self.limit = limit
    }

    /// Adopts the schema's order of tables; removed tables are dropped.
    mutating func rearrange(to ids: [TableID]) {
        endRun()
        let old = Dictionary(tables.map { ($0.table, $0) }, uniquingKeysWith: { first, _ in first })
        tables = ids.map { old[$0] ?? TableChanges(table: $0) }
    }

    @inline(__always)
    mutating func inserted(_ table: Int, _ key: Int64) {
        if table == run.table, key != .min, run.high == key &- 1 {
            run.high = key
        } else {
            endRun()
            run = (table, key, key)
        }
    }

    @inline(never)
    private mutating func endRun() {
        let (table, low, high) = run
        if table < 0 { return }
        run.table = -1
        let last = tables[table].inserted.count - 1
        if last >= 0, low != .min, tables[table].inserted[last].upperBound == low &- 1 {
            tables[table].inserted[last] = tables[table].inserted[last].lowerBound...high
        } else if last < limit {
            tables[table].inserted.append(low...high)
        } else {
            tables[table].isComplete = false
        }
    }

    @inline(__always)
    mutating func deleted(_ table: Int, _ key: Int64) {
        if tables[table].deleted.count < limit {
            tables[table].deleted.append(key)
        } else {
            tables[table].isComplete = false
        }
    }

    /// Notes deleted rows of one table.
    /// - Returns: whether further rows can be listed.
    mutating func deleted(_ table: Int, _ keys: UnsafeBufferPointer<Int64>) -> Bool {
        let room = limit - tables[table].deleted.count
        tables[table].deleted.append(contentsOf: keys.prefix(room))
        if keys.count > room { tables[table].isComplete = false }
        return tables[table].isComplete
    }

    @inline(__always)
    mutating func modified(_ table: Int, _ key: Int64, _ column: UInt16) {
        if tables[table].modified.count < limit {
            tables[table].modified.append((key, column))
        } else {
            tables[table].isComplete = false
        }
    }

    var isEmpty: Bool { run.table < 0 && tables.allSatisfy(\.isEmpty) }

    /// The tables that changed.
    var result: [TableChanges] {
        var whole = self
        whole.endRun()
        return whole.tables.filter { !$0.isEmpty }
    }
}
