import FaultModel
import Seeds
import SimulatedDisk
import StrataFiles
import Testing

@testable import StrataStorage

/// A column that changes in many consecutive rows is written as a column.
@Suite struct ColumnChangeTests {
    private typealias Rows = [Int64: [Value]]

    private static func column(_ id: Int, _ type: ColumnType, isOptional: Bool = false) -> ColumnDefinition {
        ColumnDefinition(id: ColumnID(UInt16(id)), name: "c\(id)", type: type, isOptional: isOptional)
    }

    private static let columns = [
        column(1, .integer), column(2, .bytes, isOptional: true), column(3, .double), column(4, .integer),
        column(5, .bytes),
    ]

    private static func schema(_ columns: [ColumnDefinition]) -> StoreSchema {
        StoreSchema(table: "rows", columns)
    }

    private static func open(_ limits: StoreLimits = StoreLimits()) throws -> Store {
        var options = StoreOptions(fileSystem: MemoryFileSystem(capacity: 1 << 30))
        options.mapReserve = 1 << 30
        options.limits = limits
        return try Store.open(path: "store", options: options)
    }

    private static func commit<Result>(_ store: Store, _ body: (WriteTransaction) throws -> Result) throws -> Result {
        let transaction = try store.beginWrite()
        let result = try body(transaction)
        try transaction.commit()
        return result
    }

    /// Mostly similar values, sometimes an outlier, or one long enough for its own node.
    private static func value(_ column: ColumnDefinition, _ random: inout SplitMix64, longest: Int) -> Value {
        if column.isOptional, random.below(6) == 0 { return .null }
        switch column.type {
        case .double: return .double(Double(random.below(500)).bitPattern)
        case .integer, .link: return .integer(random.below(50) == 0 ? .max : Int64(random.below(90)))
        case .bytes, .links:
            let length = random.below(90) == 0 ? random.below(UInt64(longest)) : 3 + random.below(12)
            return .bytes([UInt8](repeating: UInt8(random.below(256)), count: Int(length)))
        }
    }

    private static func filled(
        _ store: Store, _ count: Int, step: Int64, longest: Int, _ random: inout SplitMix64
    ) throws -> Rows {
        var rows: Rows = [:]
        try commit(store) { transaction in
            try transaction.apply(schema: schema(columns))
            for index in 0..<count {
                let values = columns.map { value($0, &random, longest: longest) }
                rows[Int64(index) * step] = values
                try StoreHistory.withCells(values[...]) {
                    try transaction.insert(0, key: RowKey(Int64(index) * step), $0)
                }
            }
        }
        return rows
    }

    private static func set(
        _ transaction: WriteTransaction, _ key: Int64, _ column: Int, _ value: Value, _ rows: inout Rows
    ) throws {
        try StoreHistory.withCell(value) { try transaction.set(0, RowKey(key), column: column, to: $0) }
        rows[key]?[column] = value
    }

    private static func value(_ view: ReadView, _ key: Int64, _ column: Int, _ type: ColumnType) throws -> Value? {
        guard let row = try view.locate(0, RowKey(key)) else { return nil }
        switch type {
        case .integer, .link: return try view.integer(row, column).map { .integer($0) } ?? .null
        case .double: return try view.double(row, column).map { .double($0.bitPattern) } ?? .null
        case .bytes, .links: return try view.bytes(row, column).map { .bytes(Array($0)) } ?? .null
        }
    }

    private static func all(_ view: ReadView, _ columns: [ColumnDefinition]) throws -> Rows {
        var found: Rows = [:]
        try view.scan(0, columns: Array(columns.indices)) { (batch) throws(StorageError) in
            for row in 0..<batch.count {
                found[batch.key(row).rawValue] = columns.indices.map { column in
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
        return found
    }

    private struct Shape {
        var rows: Int
        var step: Int64
        var longest: Int
        var limits = StoreLimits()
        var seed: UInt64
    }

    private static let shapes = [
        Shape(rows: 9_000, step: 1, longest: 1_500, seed: 11), Shape(rows: 5_000, step: 3, longest: 3_000, seed: 12),
        Shape(rows: 300, step: 2, longest: 60, limits: .tiny, seed: 13),
        Shape(rows: 90, step: 1, longest: 200, seed: 14),
    ]

    @Test("columns that change row after row equal their model", arguments: shapes.indices)
    private func rowAfterRow(number: Int) throws {
        let shape = Self.shapes[number]
        var random = SplitMix64(seed: shape.seed)
        let store = try Self.open(shape.limits)
        var rows = try Self.filled(store, shape.rows, step: shape.step, longest: shape.longest, &random)
        for round in 0..<12 {
            let before = rows
            let transaction = try store.beginWrite()
            let changed = Self.columns.indices.filter { _ in random.below(3) == 0 }
            // Other operations come in between, rarely or sometimes: reads, inserts, deletes, and repeated sets.
            let rarely: UInt64 = round % 3 == 0 ? 40 : 1_500
            for key in rows.keys.sorted() where random.below(50) != 0 {
                for column in changed {
                    let value = Self.value(Self.columns[column], &random, longest: shape.longest)
                    try Self.set(transaction, key, column, value, &rows)
                }
                if random.below(rarely) != 0 { continue }
                switch random.below(4) {
                case 0:
                    try transaction.delete(0, RowKey(key))
                    rows[key] = nil
                case 1:
                    let values = Self.columns.map { Self.value($0, &random, longest: shape.longest) }
                    let new = shape.step > 1 ? key + 1 : (rows.keys.max() ?? 0) + 1
                    if rows[new] != nil { continue }
                    try StoreHistory.withCells(values[...]) { try transaction.insert(0, key: RowKey(new), $0) }
                    rows[new] = values
                case 2:
                    for column in changed {
                        let value = Self.value(Self.columns[column], &random, longest: shape.longest)
                        try Self.set(transaction, key, column, value, &rows)
                    }
                default:
                    for (column, definition) in Self.columns.enumerated() {
                        let found = try Self.value(transaction.view, key, column, definition.type)
                        #expect(found == rows[key]?[column], "seed \(shape.seed), round \(round), row \(key)")
                    }
                }
            }
            if round % 4 == 3 {
                transaction.rollback()
                rows = before
            } else {
                try transaction.commit()
            }
            try store.checkInvariants()
            let found = try Self.all(try store.snapshot().view, Self.columns)
            #expect(found == rows, "seed \(shape.seed), round \(round)")
        }
        try store.close()
    }

    @Test("a missing row is misuse, also in the middle of a run") func missingRow() throws {
        var random = SplitMix64(seed: 3)
        let store = try Self.open()
        var rows = try Self.filled(store, 500, step: 2, longest: 20, &random)
        try Self.commit(store) { transaction in
            for key in stride(from: Int64(0), to: 400, by: 2) {
                try Self.set(transaction, key, 0, .integer(-key), &rows)
                #expect(throws: StorageError.misuse(.noSuchRow)) {
                    try transaction.set(0, RowKey(key + 1), column: 0, to: .integer(1))
                }
            }
        }
        #expect(try Self.all(try store.snapshot().view, Self.columns) == rows)
        try store.close()
    }

    @Test("unchanged columns are neither read nor rewritten") func othersStay() throws {
        var random = SplitMix64(seed: 5)
        let store = try Self.open()
        var rows = try Self.filled(store, 40_000, step: 1, longest: 20, &random)
        let before = try Self.nodes(store)
        let changing = try Self.nodes(store, of: 0)
        try Self.commit(store) { transaction in
            for key in rows.keys.sorted() { try Self.set(transaction, key, 0, .integer(key % 1_000), &rows) }
        }
        let after = try Self.nodes(store)
        #expect(before.count > 100)
        // The column now takes two pages of each row group; a node that it shared and the row group's own node are
        // rewritten, too.
        let groups = (40_000 + StoreLimits().wideRows - 1) / StoreLimits().wideRows
        #expect(after.subtracting(before).count <= groups * 4)
        #expect(before.subtracting(after).isSubset(of: changing))
        #expect(before.subtracting(changing).count > groups)
        #expect(try Self.all(try store.snapshot().view, Self.columns) == rows)
        try store.checkInvariants()
        try store.close()
    }

    /// The pages at which nodes of segments start.
    /// - Parameter column: only nodes with segments of the column.
    private static func nodes(_ store: Store, of column: Int? = nil) throws -> Set<UInt32> {
        var found: Set<UInt32> = []
        try store.snapshot().view.forEachGroup(0, from: .min) { (group) throws(StorageError) in
            let image = GroupImage(group)
            for (position, known) in image.columns.enumerated() {
                if let column, position != column + RowSet.firstUserColumn { continue }
                for segment in image.segments[known.first..<(known.first + known.count)]
                where segment.node != Group.inThisNode {
                    found.insert(image.references[segment.node].page)
                }
            }
            return true
        }
        return found
    }

    @Test("columns added and removed by the schema are filled and dropped as columns") func newColumns() throws {
        var random = SplitMix64(seed: 6)
        let store = try Self.open()
        var rows = try Self.filled(store, 9_000, step: 1, longest: 20, &random)
        let added = [Self.column(7, .bytes, isOptional: true), Self.column(8, .integer)]
        let columns = [Self.columns[1], added[0], Self.columns[2], Self.columns[4], added[1]]
        try Self.commit(store) { transaction in
            try transaction.apply(schema: Self.schema(columns))
            for key in rows.keys.sorted() {
                let old = rows[key] ?? []
                let text = Value.bytes(Array("row \(key)".utf8))
                rows[key] = [old[1], key % 3 == 0 ? text : .null, old[2], old[4], .integer(0)]
                if key % 3 == 0 { try Self.set(transaction, key, 1, text, &rows) }
                if key > 8_000 { try Self.set(transaction, key, 4, .integer(key * key), &rows) }
            }
        }
        try store.checkInvariants()
        #expect(try Self.all(try store.snapshot().view, columns) == rows)
        try store.close()
    }

    @Test("memory does not grow with the changed rows") func memory() throws {
        var limits = StoreLimits()
        limits.memoryBudget = 1 << 18
        var random = SplitMix64(seed: 8)
        let store = try Self.open(limits)
        var rows = try Self.filled(store, 120_000, step: 1, longest: 20, &random)
        var most = 0
        let transaction = try store.beginWrite()
        for key in rows.keys.sorted() {
            try Self.set(transaction, key, 1, .bytes(Array("a text of the row \(key)".utf8)), &rows)
            try Self.set(transaction, key, 2, .double(Double(key).bitPattern), &rows)
            most = max(most, transaction.nodes.arena.byteCount)
        }
        let written = transaction.nodes.placed.reduce(0) { $0 + Int($1.pages) } * Format.pageSize
        try transaction.commit()
        // The memory budget, both columns of one row group, and the path to it.
        #expect(most <= limits.memoryBudget + 100 * Format.pageSize)
        #expect(written > 10 * limits.memoryBudget)
        #expect(try Self.all(try store.snapshot().view, Self.columns) == rows)
        try store.checkInvariants()
        try store.close()
    }

    @Test("a crash leaves all of the columns or nothing") func crash() throws {
        let disk = SimulatedDisk(seed: Seed(4))
        var options = StoreOptions(fileSystem: disk, durability: .full)
        options.limits.memoryBudget = 1 << 18
        options.mapReserve = 1 << 28
        var random = SplitMix64(seed: 9)
        let store = try Store.open(path: "store", options: options)
        let before = try Self.filled(store, 30_000, step: 1, longest: 20, &random)
        var rows = before
        let transaction = try store.beginWrite()
        for key in rows.keys.sorted() {
            try Self.set(transaction, key, 1, .bytes(Array("a text of the row \(key)".utf8)), &rows)
        }
        options.fileSystem = disk.kill(healthy: true)
        let opened = try Store.open(path: "store", options: options)
        #expect(try Self.all(try opened.snapshot().view, Self.columns) == before)
        try opened.checkInvariants()
    }
}
