import Harness
import Measuring
import RunRecords

/// A thread's session on a store. Every call holds the store's lock, and works on its tables directly.
final class ModelSession: TableSession {
    let store: ModelStore
    var pinned: [SnapshotToken: ModelContent] = [:]
    var pinCount = 0
    /// Of `KeyedRowSession`.
    var keyedRows: KeyedRows?
    var held: (table: StoredTable, rows: [Int])?
    /// Of `TransactionSession`.
    var running: ModelTransaction?
    #if Zoo
        /// The planted mistake of its transactions, whether they wait to be interleaved, and the number of the session.
        var planted: IsolationMistake?
        var pauses = false
        var number = 0
    #endif

    init(_ store: ModelStore) {
        self.store = store
    }

    func sizes() throws(EngineError) -> SizePoint {
        SizePoint(fileBytes: 0)
    }

    func close() throws(EngineError) {
        pinned = [:]
        held = nil
        if running != nil { try rollback() }
    }

    func create(_ tables: TableSet) throws(EngineError) {
        try store.content.withLock { content throws(EngineError) in
            for table in tables.tables { try content.create(table) }
        }
    }

    func load(_ tables: TableSet) throws(EngineError) {
        try store.content.withLock { content throws(EngineError) in
            for table in tables.tables { try content.create(table) }
            for table in tables.tables { try content.append(table) }
        }
    }

    func insertEach(_ rows: Table, latency: LatencyRecorder?) throws(EngineError) -> Int {
        for row in 0..<rows.rowCount {
            if let latency {
                try latency.time { () throws(EngineError) in try insert(rows, row: row) }
            } else {
                try insert(rows, row: row)
            }
        }
        return rows.rowCount
    }

    func insertAll(_ rows: Table) throws(EngineError) {
        try store.content.withLock { content throws(EngineError) in try content.append(rows) }
    }

    private func insert(_ rows: Table, row: Int) throws(EngineError) {
        try store.content.withLock { content throws(EngineError) in try content.append(rows, row: row) }
    }

    func readPoints(_ reads: PointReads, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest {
        try store.content.withLock { content throws(EngineError) in
            try Self.read(reads, from: content, latency: latency)
        }
    }

    static func read(
        _ reads: PointReads, from content: ModelContent, latency: LatencyRecorder?
    ) throws(EngineError) -> ReadDigest {
        let table = try content.table(reads.table)
        var columns: [Int] = []
        for name in reads.columns { columns.append(try table.column(name)) }
        var digest = ReadDigest()
        for (index, key) in reads.keys.enumerated() {
            guard let latency else {
                try read(key, columns, of: table, into: &digest)
                continue
            }
            try latency.timeSampled(index) { () throws(EngineError) in
                try read(key, columns, of: table, into: &digest)
            }
        }
        return digest
    }

    @inline(__always)
    static func read(
        _ key: Int64, _ columns: [Int], of table: StoredTable, into digest: inout ReadDigest
    ) throws(EngineError) {
        let row = try table.row(key: key)
        for column in columns { table.add(column: column, row: row, to: &digest) }
    }

    func rowCount(table: String) throws(EngineError) -> Int {
        try store.content.withLock { content throws(EngineError) in try content.table(table).liveCount }
    }

    func readAll(_ schema: TableSet, into sink: any RowSink) throws(EngineError) {
        let content = store.content.withLock { $0 }
        for wanted in schema.tables {
            let table = try content.table(wanted.name)
            var columns: [Int] = []
            for column in wanted.columns { columns.append(try table.column(column.name)) }
            // Rows inserted out of key order are returned in key order.
            var places = (0..<table.rowCount).filter { table.isLive[$0] }.map { (number: $0, row: $0) }
            if case .integer(let keys)? = wanted.keyColumn?.values, let name = wanted.key {
                let numbers = Dictionary(keys.enumerated().map { ($0.element, $0.offset) }) { first, _ in first }
                let column = try table.column(name)
                places = places.map { place in
                    guard case .integer(let key) = table.value(column: column, row: place.row) else { return place }
                    return (numbers[key] ?? place.number, place.row)
                }
                places.sort { $0.number < $1.number }
            }
            for place in places {
                let values = columns.map { table.value(column: $0, row: place.row) }
                guard sink.receive(table: wanted.name, row: place.number, values: values) else { return }
            }
        }
    }
}

extension StoredTable {
    @inline(__always)
    func add(column: Int, row: Int, to digest: inout ReadDigest) {
        switch columns[column].values {
        case .integer(let values): digest.add(integer: values[row])
        case .real(let values): digest.add(real: values[row])
        case .text(let values): digest.add(text: values[row])
        case .link, .links: digest.add(value(column: column, row: row))
        }
    }
}
