import CStrataShim
import Testing

@testable import StrataStorage

/// A file of 10 000 classes once took 12 seconds to open and 13 to check, since every table was found by a linear
/// search.
@Suite struct ManyTablesTests {
    /// The lookups of definitions in each phase of a store, as steps of the calling thread.
    private static func steps(tables count: Int) throws -> [String: Int] {
        var steps: [String: Int] = [:]
        func counting(_ name: String, _ body: () throws -> Void) rethrows {
            let start = strata_steps_taken()
            try body()
            steps[name] = Int(strata_steps_taken() - start)
        }
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let options = StoreOptions()
        var schema = StoreSchema()
        for number in 0..<count {
            var table = TableDefinition(id: schema.makeTableID(), name: "table \(number)", columns: [])
            for name in ["a", "b"] {
                table.columns.append(ColumnDefinition(id: try schema.makeColumnID(), name: name, type: .integer))
            }
            table.columns[0].index = .ordered
            table.columns.append(
                ColumnDefinition(
                    id: try schema.makeColumnID(), name: "next", type: .link, isOptional: true,
                    target: TableID(UInt32((number + 1) % count + 1))))
            schema.tables.append(table)
        }
        var store = try Store.open(path: path, options: options)
        try counting("create") {
            let transaction = try store.beginWrite()
            try transaction.apply(schema: schema)
            try transaction.commit()
        }
        try counting("change") {
            let transaction = try store.beginWrite()
            var changed = transaction.view.schema
            changed.tables.remove(at: count / 2 - 1)
            for place in changed.tables.indices {
                changed.tables[place].columns.removeAll { $0.target == TableID(UInt32(count / 2)) }
            }
            changed.tables[0].columns[0].name = "renamed"
            try transaction.apply(schema: changed)
            try transaction.commit()
        }
        try counting("commit") {
            let transaction = try store.beginWrite()
            for table in [1, count - 2] {
                try StoreHistory.withCells([.integer(1), .integer(2), .null]) {
                    try transaction.insert(table, key: RowKey(1), $0)
                }
            }
            try transaction.commit()
        }
        try store.close()
        try counting("open") { store = try Store.open(path: path, options: options) }
        try counting("check") { try store.checkInvariants() }
        #expect(try store.snapshot().view.schema.tables.count == count - 1)
        try store.close()
        return steps
    }

    @Test("lookups grow linearly with the tables, and a commit makes none")
    func linear() throws {
        let small = try Self.steps(tables: 500)
        let large = try Self.steps(tables: 2_000)
        for (name, steps) in large {
            let before = try #require(small[name])
            #expect(steps <= 4 * before + 64, "\(name): \(before) steps for 500 tables, \(steps) for 2000")
            #expect(steps <= 20 * 2_000, "\(name): \(steps) steps for 2000 tables")
        }
        #expect(try #require(large["commit"]) < 64)
    }

    @Test("tables with many indexes find the tree of each")
    func manyIndexes() throws {
        let count = 300
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let options = StoreOptions()
        var schema = StoreSchema()
        var table = TableDefinition(id: schema.makeTableID(), name: "wide", columns: [])
        for number in 0..<count {
            table.columns.append(
                ColumnDefinition(
                    id: try schema.makeColumnID(), name: "c\(number)", type: .integer,
                    index: number % 2 == 0 ? .ordered : .hash))
        }
        schema.tables.append(table)
        var store = try Store.open(path: path, options: options)
        var transaction = try store.beginWrite()
        try transaction.apply(schema: schema)
        for key in 0..<3 {
            try StoreHistory.withCells((0..<count).map { .integer(Int64($0 * 10 + key)) }[...]) {
                try transaction.insert(0, key: RowKey(Int64(key)), $0)
            }
        }
        try transaction.commit()
        // Columns in another order, without every third one: trees follow their columns.
        transaction = try store.beginWrite()
        schema.tables[0].columns = schema.tables[0].columns.reversed().filter { $0.id.rawValue % 3 != 0 }
        try transaction.apply(schema: schema)
        try transaction.commit()
        try store.close()
        store = try Store.open(path: path, options: options)
        try store.checkInvariants()
        let view = try store.snapshot().view
        for (place, column) in view.schema.tables[0].columns.enumerated() {
            let value = Int64(column.id.rawValue - 1) * 10 + 2
            #expect(try view.rows(0, place, equalTo: .integer(value)).map(\.rawValue) == [2])
        }
        try store.close()
    }
}
