import Files
import Harness
import Measuring
import PackedRows
import RunRecords

/// A thread's session on a store. Each call is one transaction, unless documented otherwise.
final class LibrarySession: TableSession {
    private let directory: String
    let store: LibraryStore
    private var isOpen = true
    private var catalogue: PackedCatalogue?
    let key = KeyBuffer()
    private var pinned: [SnapshotToken: LibraryTransaction] = [:]
    private var pinCount = 0
    /// Of `TransactionSession`.
    var running: LibraryTransaction?
    /// Of `KeyedRowSession`.
    var keyedRows: PackedKeyedRows?

    init(_ library: EngineLibrary, directory: String, _ durability: DurabilityClass) throws(EngineError) {
        self.directory = directory
        store = try LibraryStore.open.store(directory) { () throws(EngineError) in
            try LibraryStore(library, directory: directory, durability)
        }
    }

    /// Files that the engine removes meanwhile do not count.
    func sizes() throws(EngineError) -> SizePoint {
        let live = try store.liveBytes()
        var (data, log) = (0, 0)
        for file in LibraryEngine(store.library.description).files(at: DatabaseLocation(directory: directory)) {
            let size: Int
            do { size = try FileTree.size(file.path) } catch { continue }
            if file.role == .log { log += size } else { data += size }
        }
        return SizePoint(
            fileBytes: data, liveBytes: live ?? data, freeBytes: max(0, data - (live ?? data)), logBytes: log)
    }

    func close() throws(EngineError) {
        guard isOpen else { return }
        isOpen = false
        for transaction in pinned.values { transaction.abort() }
        pinned = [:]
        running?.abort()
        running = nil
        try LibraryStore.open.letGo(directory) { store throws(EngineError) in try store.close() }
    }

    // MARK: Tables

    /// The table as the database has it.
    func table(_ name: String) throws(EngineError) -> PackedTable {
        if let catalogue { return try catalogue.table(name) }
        if let known = PackedCatalogue.known(name) { return known }
        guard let catalogue = try store.read(Self.readCatalogue) else {
            throw EngineError(.untold, "there are no tables yet")
        }
        self.catalogue = catalogue
        return try catalogue.table(name)
    }

    private static func readCatalogue(_ transaction: LibraryTransaction) throws(EngineError) -> PackedCatalogue? {
        let read = try PackedCatalogue.catalogueBytes { key throws(EngineError) in try transaction.get(key) }
        guard let read else { return nil }
        return try PackedCatalogue(bytes: read)
    }

    func create(_ tables: TableSet) throws(EngineError) {
        try write(try PackedCatalogue(tables), rows: [])
    }

    func load(_ tables: TableSet) throws(EngineError) {
        try write(try PackedCatalogue(tables), rows: tables.tables)
    }

    private func write(_ catalogue: PackedCatalogue, rows: [Table]) throws(EngineError) {
        let key = key
        try store.write { transaction throws(EngineError) in
            guard try Self.readCatalogue(transaction) == nil else {
                throw EngineError(.refused, "there are tables already")
            }
            try PackedCatalogue.withKey { key throws(EngineError) in
                try catalogue.withBytes { bytes throws(EngineError) in try transaction.put(key, bytes) }
            }
            for (table, rows) in zip(catalogue.tables, rows) {
                try RowPacker.with(rows, as: table) { packer throws(EngineError) in
                    for row in 0..<rows.rowCount {
                        key.set(table.number, packer.key(row) ?? Int64(row))
                        try transaction.put(key, packer.pack(row))
                    }
                }
            }
        }
        self.catalogue = catalogue
    }

    func insertEach(_ rows: Table, latency: LatencyRecorder?) throws(EngineError) -> Int {
        let (store, key) = (store, key)
        try RowPacker.with(rows, as: try table(rows.name)) { packer throws(EngineError) in
            func insert(_ row: Int) throws(EngineError) {
                try store.write { transaction throws(EngineError) in
                    try Self.insert(row, packer, key: key, transaction: transaction, next: nil)
                }
            }
            for row in 0..<rows.rowCount {
                if let latency {
                    try latency.time { () throws(EngineError) in try insert(row) }
                } else {
                    try insert(row)
                }
            }
        }
        return rows.rowCount
    }

    func insertAll(_ rows: Table) throws(EngineError) {
        let (store, key) = (store, key)
        try RowPacker.with(rows, as: try table(rows.name)) { packer throws(EngineError) in
            try store.write { transaction throws(EngineError) in
                let first = try transaction.lastKey(packer.table).map { $0 + 1 } ?? 0
                for row in 0..<rows.rowCount {
                    try Self.insert(row, packer, key: key, transaction: transaction, next: first + Int64(row))
                }
            }
        }
    }

    /// - Parameter next: the key of a row without a key of its own; nil if it must be looked up.
    private static func insert(
        _ row: Int, _ packer: RowPacker, key: KeyBuffer, transaction: LibraryTransaction, next: Int64?
    ) throws(EngineError) {
        let table = packer.table
        if let own = packer.key(row) {
            key.set(table.number, own)
            guard try transaction.get(key) == nil else {
                throw EngineError(.refused, "table \(table.name) has a row \(own)")
            }
        } else if let next {
            key.set(table.number, next)
        } else {
            key.set(table.number, try transaction.lastKey(table).map { $0 + 1 } ?? 0)
        }
        try transaction.put(key, packer.pack(row))
    }

    func rowCount(table: String) throws(EngineError) -> Int {
        let table = try self.table(table)
        return try store.read { transaction throws(EngineError) in
            var count = 0
            try transaction.scan(table) { (_, _) throws(EngineError) in
                count += 1
                return true
            }
            return count
        }
    }

    /// In one transaction without retries: rows passed to the sink cannot be taken back.
    func readAll(_ schema: TableSet, into sink: any RowSink) throws(EngineError) {
        for wanted in schema.tables {
            let table = try table(wanted.name)
            var isWanted = true
            let transaction = try store.begin(store.snapshotKind)
            defer { transaction.abort() }
            try transaction.scan(table) { (key, value) throws(EngineError) in
                let values = try table.values(key, value)
                isWanted = sink.receive(table: table.name, row: Int(key), values: values)
                return isWanted
            }
            if !isWanted { return }
        }
    }

    // MARK: Pinned versions

    func pin() throws(EngineError) -> SnapshotToken {
        let transaction = try store.begin(.snapshot)
        pinCount += 1
        let token = SnapshotToken(number: pinCount)
        pinned[token] = transaction
        return token
    }

    func pinned(_ token: SnapshotToken) throws(EngineError) -> LibraryTransaction {
        guard let transaction = pinned[token] else { throw EngineError(.refused, "no such snapshot") }
        return transaction
    }

    func unpin(_ token: SnapshotToken) throws(EngineError) {
        try pinned(token).abort()
        pinned[token] = nil
    }
}

extension LibrarySession: CompactionSession {
    func compact() throws(EngineError) { try store.compact() }
}
