import Harness
import RunRecords
import Synchronization

/// The stores of this process by location: a later session must find a database in memory again.
final class ModelStores: Sendable {
    static let shared = ModelStores()
    private let stores = Mutex<[DatabaseLocation: ModelStore]>([:])

    func store(at location: DatabaseLocation) -> ModelStore {
        stores.withLock { stores in
            if let store = stores[location] { return store }
            let store = ModelStore()
            stores[location] = store
            return store
        }
    }
}

/// One database in memory. A transaction holds the lock as long as it runs.
final class ModelStore: Sendable {
    let content = Mutex(ModelContent())
    /// Held by an open writing transaction of `TransactionSession`.
    let writer = WriterLock()
    #if Zoo
        let planted = Mutex(PlantedState())
    #endif
}

/// All tables of a database. A value: a snapshot is a copy, whose columns are shared until one of them changes.
struct ModelContent: Sendable {
    private(set) var tables: [StoredTable] = []
    private var positions: [String: Int] = [:]

    mutating func create(_ table: Table) throws(EngineError) {
        guard positions[table.name] == nil else { throw EngineError(.refused, "table \(table.name) exists") }
        positions[table.name] = tables.count
        tables.append(StoredTable(like: table))
    }

    func position(_ name: String) throws(EngineError) -> Int {
        guard let position = positions[name] else { throw EngineError(.refused, "no table \(name)") }
        return position
    }

    func table(_ name: String) throws(EngineError) -> StoredTable {
        tables[try position(name)]
    }

    mutating func append(_ rows: Table, row: Int) throws(EngineError) {
        try tables[try position(rows.name)].append(rows, row: row)
    }

    mutating func append(_ rows: Table) throws(EngineError) {
        let position = try position(rows.name)
        for row in 0..<rows.rowCount { try tables[position].append(rows, row: row) }
    }

    mutating func set(table: Int, column: Int, row: Int, integer: Int64) throws(EngineError) {
        try tables[table].set(column: column, row: row, integer: integer)
    }

    mutating func set(table: Int, column: Int, row: Int, text: String) throws(EngineError) {
        try tables[table].set(column: column, row: row, text: text)
    }

    /// Deletes the row, and removes all links to it. Complexity: O(links to the table).
    mutating func delete(table: Int, row: Int) {
        let name = tables[table].name
        tables[table].delete(row: row)
        for index in tables.indices { tables[index].removeLinks(to: Int32(row), of: name) }
    }
}
