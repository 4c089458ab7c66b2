import Harness
import Measuring
import PackedRows
import RunRecords
import StrataStorage

/// A thread's session on a store. A call that reads takes the newest version, one that writes is one transaction.
final class StorageSession: TableSession {
    static let open = OpenStores<Store>()

    private let path: String
    private let options: StoreOptions
    private(set) var store: Store
    private let isShared: Bool
    private var isOpen = true
    var pinned: [SnapshotToken: Snapshot] = [:]
    var pinCount = 0
    /// Of `KeyedRowSession`.
    var keyedRows: StorageKeyedRows?
    /// Of `TransactionSession`.
    var running: Running?

    /// `isShared`: whether the sessions of this process share the store; not on a simulated disk, where an equal path
    /// is another file.
    init(path: String, options: StoreOptions, isShared: Bool = true) throws(EngineError) {
        self.path = path
        self.options = options
        self.isShared = isShared
        func open() throws(EngineError) -> Store {
            let store: Store
            do throws(StorageError) {
                store = try Store.open(path: path, options: options)
            } catch {
                throw EngineError(error)
            }
            if store.damage.startedEmpty {
                throw EngineError(.damaged, "\(path) had no byte in it, and is a new store now")
            }
            return store
        }
        store = isShared ? try Self.open.store(path, open: open) : try open()
    }

    /// Runs the body, and converts its errors into those of the harness.
    func checked<Output>(_ body: () throws(StorageError) -> Output) throws(EngineError) -> Output {
        do throws(StorageError) { return try body() } catch { throw EngineError(error) }
    }

    /// Runs the body in a transaction, and rolls back when it throws.
    func write<Output>(
        _ body: (WriteTransaction) throws(StorageError) -> Output
    ) throws(StorageError) -> Output {
        let transaction = try store.beginWrite()
        do throws(StorageError) {
            let output = try body(transaction)
            _ = try transaction.commit()
            return output
        } catch {
            // Does nothing if the commit itself failed.
            transaction.rollback()
            throw error
        }
    }

    func sizes() throws(EngineError) -> SizePoint {
        try checked { () throws(StorageError) in
            let space = try store.space()
            return SizePoint(
                fileBytes: space.fileBytes, liveBytes: space.liveBytes, freeBytes: space.freeBytes,
                logBytes: space.logBytes, oldestPinnedVersion: Int(space.oldestProtected.rawValue))
        }
    }

    func close() throws(EngineError) {
        guard isOpen else { return }
        isOpen = false
        pinned = [:]
        running?.writer?.rollback()
        running = nil
        func close(_ store: Store) throws(EngineError) {
            do throws(StorageError) { try store.close() } catch { throw EngineError(error) }
        }
        if isShared { try Self.open.letGo(path, close: close) } else { try close(store) }
    }

    // MARK: Tables

    func create(_ tables: TableSet) throws(EngineError) {
        let schema = try StoreSchema(tables)
        try checked { () throws(StorageError) in
            try write { transaction throws(StorageError) in try transaction.apply(schema: schema) }
        }
    }

    func load(_ tables: TableSet) throws(EngineError) {
        let schema = try StoreSchema(tables)
        var writers: [Table] = []
        for table in tables.tables { writers.append(table) }
        try checked { () throws(StorageError) in
            try write { transaction throws(StorageError) in
                try transaction.apply(schema: schema)
                for (number, rows) in writers.enumerated() {
                    let definition = schema.tables[number]
                    try CellWriter.with(rows, definition) { writer throws(StorageError) in
                        for row in 0..<rows.rowCount {
                            try writer.insert(row, at: number, as: writer.key(row) ?? Int64(row), in: transaction)
                        }
                    }
                }
            }
        }
    }

    func insertEach(_ rows: Table, latency: LatencyRecorder?) throws(EngineError) -> Int {
        let number = try table(rows.name)
        return try checked { () throws(StorageError) in
            let definition = try store.snapshot().view.schema.tables[number]
            try CellWriter.with(rows, definition) { writer throws(StorageError) in
                func insert(_ row: Int) throws(StorageError) {
                    try write { transaction throws(StorageError) in
                        let key = writer.key(row) ?? transaction.nextKey(number).rawValue
                        try writer.insert(row, at: number, as: key, in: transaction)
                    }
                }
                for row in 0..<rows.rowCount {
                    if let latency {
                        try latency.time { () throws(StorageError) in try insert(row) }
                    } else {
                        try insert(row)
                    }
                }
            }
            return rows.rowCount
        }
    }

    func insertAll(_ rows: Table) throws(EngineError) {
        let number = try table(rows.name)
        try checked { () throws(StorageError) in
            let definition = try store.snapshot().view.schema.tables[number]
            try CellWriter.with(rows, definition) { writer throws(StorageError) in
                try write { transaction throws(StorageError) in
                    for row in 0..<rows.rowCount {
                        let key = writer.key(row) ?? transaction.nextKey(number).rawValue
                        try writer.insert(row, at: number, as: key, in: transaction)
                    }
                }
            }
        }
    }

    /// The position of a table.
    func table(_ name: String) throws(EngineError) -> Int {
        let view = try view()
        guard let number = view.schema.tables.firstIndex(where: { $0.name == name }) else {
            throw EngineError(.refused, "no table \(name)")
        }
        return number
    }

    /// The position of a column that holds values of that type.
    func column(_ name: String, _ type: ColumnType, of table: Int) throws(EngineError) -> Int {
        let definition = try view().schema.tables[table]
        guard let number = definition.position(named: name), definition.columns[number].type == type else {
            throw EngineError(.refused, "\(definition.name) has no such column \(name)")
        }
        return number
    }

    /// The newest version, pinned for as long as the view is held.
    func view() throws(EngineError) -> ReadView {
        try checked { () throws(StorageError) in try store.snapshot().view }
    }

    func rowCount(table: String) throws(EngineError) -> Int {
        let number = try self.table(table)
        let view = try view()
        return try checked { () throws(StorageError) in try view.rowCount(number) }
    }
}

extension StorageSession: SettingsSession {
    func observedSettings() throws(EngineError) -> [EngineSetting] { store.observedSettings }
}

extension Store {
    /// The settings of the open store, which another session may have opened.
    var observedSettings: [EngineSetting] {
        let durability: DurabilityClass =
            switch options.durability {
            case .full: .full
            case .periodic: .periodic
            case .none: .none
            }
        return [
            EngineSetting("durability", durability.rawValue),
            EngineSetting("growth", options.growth == .standard ? StorageEngine.standardGrowth : "another"),
        ]
    }
}

extension StorageSession: CompactionSession {
    /// Rewrites the file. Other processes must not have it open.
    func compact() throws(EngineError) {
        let (path, options) = (path, options)
        let reopened = try Self.open.reopen(path) { old throws(EngineError) in
            do throws(StorageError) {
                try old.close()
                try Store.compact(path: path, options: options)
                return try Store.open(path: path, options: options)
            } catch {
                throw EngineError(error)
            }
        }
        guard let reopened else { throw EngineError(.refused, "the store is in use by another session") }
        store = reopened
    }
}

extension StoreSchema {
    /// The table's information names the column of its key, where that is the row's key.
    init(_ set: TableSet) throws(EngineError) {
        var tables: [TableDefinition] = []
        var columnCount: UInt16 = 0
        let numbers = Dictionary(
            set.tables.enumerated().map { ($0.element.name, TableID(UInt32($0.offset + 1))) }
        ) { first, _ in first }
        for (index, table) in set.tables.enumerated() {
            let key = PackedTable(table, number: 1).keyColumn?.name
            var columns: [ColumnDefinition] = []
            for column in table.columns where column.name != key {
                let (type, target): (ColumnType, String?) =
                    switch column.values {
                    case .integer: (.integer, nil)
                    case .real: (.double, nil)
                    case .text: (.bytes, nil)
                    case .link(let target, _): (.link, target)
                    case .links(let target, _): (.links, target)
                    }
                let isText = type == .bytes
                columnCount += 1
                columns.append(
                    ColumnDefinition(
                        id: ColumnID(columnCount), name: column.name, type: type,
                        isOptional: type == .link, index: column.isIndexed ? (isText ? .hash : .ordered) : .none,
                        target: target.flatMap { numbers[$0] }))
            }
            tables.append(
                TableDefinition(
                    id: TableID(UInt32(index + 1)), name: table.name, columns: columns,
                    information: Array((key ?? "").utf8)))
        }
        self.init(userVersion: 1, tables: tables)
    }
}
