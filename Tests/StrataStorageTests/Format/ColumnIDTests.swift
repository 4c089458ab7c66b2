import StrataFiles
import Testing

@testable import StrataStorage

/// Column ids are 16 bits wide, and the two greatest denote a row's key and creation version. They were once given to
/// columns, so that a store of 9 362 classes with seven properties was damaged from its first commit. Reused ids read
/// the values of removed columns.
@Suite struct ColumnIDTests {
    private static func schema(next: UInt16) -> StoreSchema {
        var schema = StoreSchema(
            table: "Things",
            [
                ColumnDefinition(id: ColumnID(1), name: "a", type: .integer),
                ColumnDefinition(id: ColumnID(2), name: "b", type: .integer),
            ])
        schema.nextColumnID = next
        return schema
    }

    @Test("ids end before those of the key and the creation version; then free ids of the table are used")
    func given() throws {
        var schema = Self.schema(next: 65_532)
        #expect(try schema.makeColumnID() == ColumnID(65_532))
        #expect(try schema.makeColumnID() == ColumnID(65_533))
        #expect(schema.hasGivenEveryColumnID)
        #expect(StoreSchema.lastColumnID == min(TableLayout.createdID, TableLayout.keyID) - 1)
        let columns = schema.tables[0].columns
        #expect(try schema.makeColumnID(beside: columns) == ColumnID(3))
        #expect(try schema.makeColumnID(beside: columns, held: [ColumnID(3), ColumnID(4)]) == ColumnID(5))
        let all = (1...UInt16(65_533)).map { ColumnDefinition(id: ColumnID($0), name: "", type: .integer) }
        #expect(throws: StorageError.limit(.columns)) { try schema.makeColumnID(beside: all) }
        for id in [0, 65_534, 65_535] as [UInt16] {
            var wrong = Self.schema(next: 3)
            wrong.tables[0].columns[0].id = ColumnID(id)
            #expect(throws: StorageError.misuse(.noSuchColumn)) { try SchemaCoding.check(wrong) }
        }
    }

    @Test(
        "new tables and columns get unused ids, whatever next ids a file claims",
        arguments: [0, 1, 2, 3, 65_530, 65_533, 65_534, 65_535] as [UInt16])
    func crafted(next: UInt16) throws {
        for nextTable in [0, 1, 2, .max - 3, .max - 2, .max - 1] as [UInt32] {
            var bytes = try SchemaCoding.encode(Self.schema(next: 3))
            // The next ids follow the versions of the layout (1 byte) and of the application (8 bytes).
            withUnsafeBytes(of: nextTable.littleEndian) { bytes.replaceSubrange(9..<13, with: $0) }
            withUnsafeBytes(of: next.littleEndian) { bytes.replaceSubrange(13..<15, with: $0) }
            var schema = try bytes.withUnsafeBytes { (bytes) throws(StorageError) in try SchemaCoding.decode(bytes) }
            for number in 0..<6 {
                let newTable = schema.makeTableID()
                schema.tables.append(TableDefinition(id: newTable, name: "table \(number)", columns: []))
                for table in [0, schema.tables.count - 1] {
                    let columns = schema.tables[table].columns
                    let id = try schema.makeColumnID(beside: columns)
                    schema.tables[table].columns.append(ColumnDefinition(id: id, name: "c", type: .integer))
                }
            }
            // Encoding checks that ids are unique, and the schema can be read again.
            let again = try SchemaCoding.encode(schema)
            let read = try again.withUnsafeBytes { (bytes) throws(StorageError) in try SchemaCoding.decode(bytes) }
            #expect(read.tables == schema.tables)
        }
    }

    @Test("a column added after all ids were used reads no value of a removed one")
    func comesAgain() throws {
        let path = "store"
        var options = StoreOptions()
        options.fileSystem = MemoryFileSystem()
        let store = try Store.open(path: path, options: options)
        var transaction = try store.beginWrite()
        try transaction.apply(schema: Self.schema(next: 65_534))
        for key in 0..<5_000 {
            try StoreHistory.withCells([.integer(Int64(key)), .integer(-7)]) {
                try transaction.insert(0, key: RowKey(Int64(key)), $0)
            }
        }
        try transaction.commit()
        for round in 0..<20 {
            transaction = try store.beginWrite()
            var schema = transaction.view.schema
            let gone = schema.tables[0].columns.removeLast()
            let held = try transaction.view.heldColumnIDs()[TableID(1)] ?? []
            #expect(held.contains(gone.id))
            let id = try schema.makeColumnID(beside: transaction.view.schema.tables[0].columns, held: held)
            schema.tables[0].columns.append(
                ColumnDefinition(id: id, name: "c\(round)", type: .integer, defaultBits: UInt64(round)))
            try transaction.apply(schema: schema)
            #expect(try transaction.view.count(0, where: .integer(1, Int64(round)...Int64(round))) == 5_000)
            for key in stride(from: 0, to: 5_000, by: 3) {
                try StoreHistory.withCells([.integer(-9)]) {
                    try transaction.set(0, RowKey(Int64(key)), column: 1, to: $0[0])
                }
            }
            try transaction.commit()
        }
        try store.close()
    }

    @Test("many tables: more columns than there are ids")
    func manyTables() throws {
        let path = "store"
        var options = StoreOptions()
        options.fileSystem = MemoryFileSystem()
        let store = try Store.open(path: path, options: options)
        var schema = StoreSchema()
        for number in 0..<9_400 {
            var table = TableDefinition(id: schema.makeTableID(), name: "table \(number)", columns: [])
            for column in 0..<7 {
                let id = try schema.makeColumnID(beside: table.columns)
                table.columns.append(ColumnDefinition(id: id, name: "c\(column)", type: .integer))
            }
            schema.tables.append(table)
        }
        let transaction = try store.beginWrite()
        try transaction.apply(schema: schema)
        for table in [0, 9_361, 9_399] {
            try StoreHistory.withCells((0..<7).map { .integer($0) }[...]) {
                try transaction.insert(table, key: RowKey(1), $0)
            }
        }
        try transaction.commit()
        let view = try store.snapshot().view
        for table in [0, 9_361, 9_399] {
            let row = try #require(try view.locate(table, RowKey(1)))
            #expect(try (0..<7).map { try view.integer(row, $0) } == (0..<7).map { Int64($0) })
        }
        try store.close()
    }
}
