import StrataFiles
import Testing

@testable import StrataStorage

/// Rows of one table and a model of them, changed together.
private struct EditedTable {
    let schema: StoreSchema
    let store: Store
    var random: SplitMix64
    var rows: [Int64: [Value]] = [:]

    init(_ columns: [ColumnDefinition], seed: UInt64, limits: StoreLimits = StoreLimits()) throws {
        schema = StoreSchema(userVersion: 1, table: "rows", columns)
        var options = StoreOptions(fileSystem: MemoryFileSystem(capacity: 1 << 30))
        options.mapReserve = 1 << 30
        options.limits = limits
        store = try Store.open(path: "store", options: options)
        random = SplitMix64(seed: seed)
        let transaction = try store.beginWrite()
        try transaction.apply(schema: schema)
        try transaction.commit()
    }

    static func column(_ id: Int, _ type: ColumnType, isOptional: Bool = false) -> ColumnDefinition {
        ColumnDefinition(id: ColumnID(UInt16(id)), name: "c\(id)", type: type, isOptional: isOptional)
    }

    var columns: [ColumnDefinition] { schema.tables[0].columns }

    mutating func commit(_ body: (inout EditedTable, WriteTransaction) throws -> Void) throws {
        let transaction = try store.beginWrite()
        try body(&self, transaction)
        try transaction.commit()
    }

    mutating func insert(_ transaction: WriteTransaction, _ key: Int64, _ values: [Value]) throws {
        try StoreHistory.withCells(values[...]) { try transaction.insert(0, key: RowKey(key), $0) }
        rows[key] = values
    }

    mutating func set(_ transaction: WriteTransaction, _ key: Int64, _ column: Int, _ value: Value) throws {
        try StoreHistory.withCell(value) { try transaction.set(0, RowKey(key), column: column, to: $0) }
        rows[key]?[column] = value
    }

    mutating func delete(_ transaction: WriteTransaction, _ key: Int64) throws {
        try transaction.delete(0, RowKey(key))
        rows[key] = nil
    }

    /// A value that mostly fits its neighbours' encoding, and sometimes does not.
    mutating func value(_ column: Int, longest: Int = 3000) -> Value {
        if columns[column].isOptional && random.below(8) == 0 { return .null }
        switch columns[column].type {
        case .double: return .double(Double(random.below(1000)).bitPattern)
        case .integer, .link:
            switch random.below(40) {
            case 0: return .integer(Int64(bitPattern: random.next()))
            case 1: return .integer(random.below(2) == 0 ? .min : .max)
            default: return .integer(Int64(random.below(100)))
            }
        case .bytes, .links:
            let count = random.below(60) == 0 ? Int(random.below(UInt64(longest))) : 5 + Int(random.below(20) / 17)
            let byte = UInt8(truncatingIfNeeded: random.next())
            return .bytes((0..<count).map { byte &+ UInt8(truncatingIfNeeded: $0) })
        }
    }

    mutating func row() -> [Value] { columns.indices.map { value($0) } }

    /// Compares every row by scan and by single reads, and checks the store's invariants.
    func check(_ comment: Comment? = nil) throws {
        try store.checkInvariants()
        let view = try store.snapshot().view
        var scanned: [Int64: [Value]] = [:]
        try view.scan(0, columns: Array(columns.indices)) { (batch) throws(StorageError) in
            for row in 0..<batch.count {
                scanned[batch.key(row).rawValue] = columns.indices.map { column in
                    if batch.isNull(column, row) { return .null }
                    switch columns[column].type {
                    case .integer, .link: return .integer(batch.integers(column)[row])
                    case .double: return .double(batch.doubles(column)[row].bitPattern)
                    case .bytes, .links: return .bytes(Array(batch.bytes(column, row)))
                    }
                }
            }
            return true
        }
        #expect(scanned == rows, comment)
        for (key, values) in rows {
            let row = try #require(try view.locate(0, RowKey(key)))
            for column in columns.indices {
                let found: Value =
                    switch columns[column].type {
                    case .integer, .link: try view.integer(row, column).map { .integer($0) } ?? .null
                    case .double: try view.double(row, column).map { .double($0.bitPattern) } ?? .null
                    case .bytes, .links: try view.bytes(row, column).map { .bytes(Array($0)) } ?? .null
                    }
                #expect(found == values[column], comment)
            }
        }
    }

    /// The groups of the newest version.
    func groups() throws -> [Group] {
        var found: [Group] = []
        let view = try store.snapshot().view
        try view.forEachGroup(0, from: .min) { (group) throws(StorageError) in
            found.append(group)
            return true
        }
        return found
    }
}

@Suite struct GroupEditingTests {
    private static let narrow = [
        EditedTable.column(1, .integer), EditedTable.column(2, .bytes, isOptional: true),
        EditedTable.column(3, .double), EditedTable.column(4, .integer, isOptional: true),
    ]
    private static let wide = (1...70).map {
        EditedTable.column($0, [.integer, .bytes, .double][$0 % 3], isOptional: $0 % 4 == 0)
    }

    private static func filled(
        _ columns: [ColumnDefinition], _ count: Int, seed: UInt64 = 1, step: Int64 = 2,
        limits: StoreLimits = StoreLimits()
    ) throws -> EditedTable {
        var table = try EditedTable(columns, seed: seed, limits: limits)
        try table.commit { table, transaction in
            for index in 0..<count { try table.insert(transaction, Int64(index) * step, table.row()) }
        }
        return table
    }

    @Test(
        "random edits of wide groups equal their model",
        arguments: [(narrow, 3000, 1), (narrow, 700, 2), (wide, 260, 3), (wide, 40, 4)]
            as [([ColumnDefinition], Int, UInt64)])
    private func randomEdits(columns: [ColumnDefinition], count: Int, seed: UInt64) throws {
        var table = try Self.filled(columns, count, seed: seed)
        for round in 0..<25 {
            let before = table.rows
            let transaction = try table.store.beginWrite()
            var keys = table.rows.keys.sorted()
            for _ in 0..<Int(table.random.below(round % 5 == 0 ? 400 : 40)) {
                let place = Int(table.random.below(UInt64(keys.count)))
                switch table.random.below(12) {
                case 0:
                    let key = Int64(table.random.below(UInt64(2 * count + 20))) - 10
                    if table.rows[key] == nil { try table.insert(transaction, key, table.row()) }
                case 1:
                    if keys.count < 10 { continue }
                    try table.delete(transaction, keys.remove(at: place))
                case 2: try table.insert(transaction, (table.rows.keys.max() ?? 0) + 1, table.row())
                default:
                    let column = Int(table.random.below(UInt64(columns.count)))
                    try table.set(transaction, keys[place], column, table.value(column))
                }
            }
            if round % 7 == 6 {
                transaction.rollback()
                table.rows = before
            } else {
                try transaction.commit()
            }
            try table.check("seed \(seed) round \(round)")
        }
    }

    @Test("a changed value is patched, and a patch is changed in place") func patches() throws {
        var table = try Self.filled(Self.narrow, 1000)
        for value in [7, 90, 8] as [Int64] {
            try table.commit { table, transaction in
                for key in [10, 500, 12, 1998] as [Int64] { try table.set(transaction, key, 0, .integer(value)) }
            }
            let group = try #require(try table.groups().first)
            #expect(group.patched == 1)
            #expect(group.patch(0).count == 4)
            #expect(GroupDraft.isPacked(group))
        }
        try table.check()
    }

    @Test("a full delta area folds one segment and keeps the other patches") func folding() throws {
        var table = try Self.filled(Self.narrow, 4000)
        for round in 0..<40 {
            try table.commit { table, transaction in
                for index in 0..<60 {
                    let key = Int64((index * 67 + round * 31) % 4000) * 2
                    try table.set(transaction, key, 2, .double(Double(round * 1000 + index).bitPattern))
                }
            }
            let groups = try table.groups()
            #expect(groups.allSatisfy { $0.patched <= 1 && $0.size <= 4096 && GroupDraft.isPacked($0) })
        }
        try table.check()
    }

    @Test("values that no longer fit their segment's node split it again") func recutting() throws {
        var table = try Self.filled(Self.narrow, 2000)
        let nodes = try table.groups().reduce(0) { $0 + $1.nodes }
        for round in 0..<30 {
            try table.commit { table, transaction in
                for index in 0..<40 {
                    let key = Int64((index * 13 + round * 97) % 600) * 2
                    try table.set(transaction, key, 1, .bytes(Array(repeating: UInt8(round), count: 60 + index)))
                }
            }
        }
        #expect(try table.groups().reduce(0) { $0 + $1.nodes } > nodes)
        try table.check()
    }

    @Test("a value larger than the delta area goes into its segment") func largeValues() throws {
        var table = try Self.filled(Self.narrow, 2000)
        for key in stride(from: Int64(0), to: 200, by: 20) {
            try table.commit { table, transaction in
                try table.set(transaction, key, 1, .bytes(Array(repeating: UInt8(key & 0x7F), count: 2000)))
                try table.set(transaction, key, 1, .bytes(Array(repeating: UInt8(key & 0x3F), count: 1999)))
            }
        }
        try table.check()
    }

    @Test("inserted rows stay beside the main rows until the group is rebuilt or split") func inserting() throws {
        var table = try Self.filled(Self.narrow, 4000)
        var most = 0
        for round in 0..<12 {
            try table.commit { table, transaction in
                for index in 0..<15 {
                    let key = Int64((index * 271 + round * 37) % 4000) * 2 + 1
                    if table.rows[key] == nil { try table.insert(transaction, key, table.row()) }
                }
            }
            most = max(most, try table.groups().map(\.inserted).max() ?? 0)
        }
        #expect(most > 0)
        try table.check()
        // Rows are inserted at one place until the row group exceeds its limit.
        try table.commit { table, transaction in
            for key in 8001..<8400 { try table.insert(transaction, Int64(key), table.row()) }
        }
        try table.check()
    }

    @Test("one row per transaction fills the last small group in place", arguments: [1, 3] as [Int64])
    func appending(step: Int64) throws {
        var table = try Self.filled(Self.narrow, 3)
        for index in 0..<300 {
            let last = table.rows.keys.max() ?? 0
            try table.commit { table, transaction in
                try table.insert(transaction, last + (index == 100 ? 50 : step), table.row())
            }
        }
        try table.check()
        let small = try table.groups().filter(\.isSmall)
        #expect(small.count <= 12)
    }

    @Test("a small group inserts rows anywhere and changes values in place") func smallGroups() throws {
        var table = try Self.filled(Self.narrow, 20, step: 10)
        for key in [-5, 5, 7, 195, 1, -100, 300] as [Int64] {
            try table.commit { table, transaction in
                try table.insert(transaction, key, table.row())
                for column in 0..<4 { try table.set(transaction, 50, column, table.value(column)) }
            }
        }
        #expect(try table.groups().count == 1)
        try table.check()
    }

    @Test("deleted rows are noted beside the main rows until they are many") func deleting() throws {
        var table = try Self.filled(Self.narrow, 8000)
        try table.commit { table, transaction in
            for key in [1, 3, 5] as [Int64] { try table.insert(transaction, key, table.row()) }
        }
        try table.commit { table, transaction in
            for key in [4, 3, 2, 9000] as [Int64] { try table.delete(transaction, key) }
        }
        #expect(try table.groups().map(\.deleted).reduce(0, +) == 3)
        try table.check()
        let before = try table.groups().count
        try table.commit { table, transaction in
            for key in table.rows.keys.sorted() where key % 4 == 0 { try table.delete(transaction, key) }
        }
        try table.check()
        #expect(try table.groups().count < before)
        try table.commit { table, transaction in
            for key in table.rows.keys.sorted().dropFirst() { try table.delete(transaction, key) }
        }
        try table.check()
    }

    @Test("tables of many columns take large rows and large changes", arguments: [64, 240, 320])
    func manyColumns(count: Int) throws {
        let columns = (1...count).map { EditedTable.column($0, $0 % 2 == 0 ? .bytes : .integer) }
        var table = try EditedTable(columns, seed: 9)
        try table.commit { table, transaction in
            for key in 0..<(count > 100 ? 12 : 40) {
                let values = (1...count).map { column -> Value in
                    column % 2 == 0
                        ? .bytes(Array(repeating: UInt8(key), count: 100 + (key * 37 + column * 11) % 900))
                        : .integer(Int64(key * column))
                }
                try table.insert(transaction, Int64(key * 2), values)
            }
        }
        try table.check()
        for round in 0..<8 {
            try table.commit { table, transaction in
                for column in stride(from: 1, to: count, by: 2) {
                    let value = Value.bytes(Array(repeating: UInt8(round), count: (column * 7 + round * 400) % 1900))
                    try table.set(transaction, Int64(round % 4 * 2), column, value)
                }
                let row = (1...count).map { column -> Value in
                    column % 2 == 0 ? .bytes(Array(repeating: 1, count: 700)) : .integer(1)
                }
                try table.insert(transaction, Int64(round * 2 + 1), row)
            }
            try table.check("round \(round)")
        }
    }
}
