import StrataFiles
import Testing

@testable import StrataStorage

/// Nulls in columns that require a value. A writer refuses them, so only a damaged or crafted file has one.
@Suite struct MissingValuesTests {
    /// The part of the row group that has the null: the main rows, a patch, or an inserted row.
    enum Place: CaseIterable, Sendable { case main, changed, inserted }

    private static let types: [ColumnType] = [.integer, .double, .bytes]
    private static let keys = (1...200).map { Int64(2 * $0) }

    private static func schema(isOptional: Bool) -> StoreSchema {
        let columns = types.enumerated().map { place, type in
            ColumnDefinition(
                id: ColumnID(UInt16(place + 1)), name: "column\(place)", type: type, isOptional: isOptional)
        }
        return StoreSchema(userVersion: 1, table: "Value", columns)
    }

    private static func values(_ key: Int64) -> [Value] {
        [.integer(key % 13), .double(Double(key).bitPattern), .bytes([UInt8(key % 7)])]
    }

    private static func insert(_ transaction: WriteTransaction, _ key: Int64, nullIn column: Int?) throws {
        var row = values(key)
        if let column { row[column] = .null }
        try StoreHistory.withCells(row[...]) { try transaction.insert(0, key: RowKey(key), $0) }
    }

    /// A store whose columns require values.
    /// - Returns: the store, and the key of the row that has a null.
    private static func make(_ place: Place, column: Int, _ limits: StoreLimits) throws -> (Store, Int64) {
        var options = FileImages.options
        options.limits = limits
        options.fileSystem = FileImages.Disk(capacity: 1 << 26)
        let store = try Store.open(path: FileImages.path, options: options)
        let key: Int64 = place == .inserted ? 101 : 100
        try write(store) { transaction in
            try transaction.apply(schema: schema(isOptional: true))
            for each in keys { try insert(transaction, each, nullIn: place == .main && each == key ? column : nil) }
        }
        if place == .changed { try write(store) { try $0.set(0, RowKey(key), column: column, to: .null) } }
        if place == .inserted { try write(store) { try insert($0, key, nullIn: column) } }
        // Makes the columns required as no program can: `apply(schema:)` searches for nulls and refuses the change.
        try write(store) { transaction in
            transaction.view.state.schema = schema(isOptional: false)
            transaction.view.layoutsChanged()
            transaction.workspace.prepare(transaction.view.state)
            transaction.schemaChanged = true
        }
        return (store, key)
    }

    private static func write(_ store: Store, _ body: (WriteTransaction) throws -> Void) throws {
        let transaction = try store.beginWrite()
        try body(transaction)
        try transaction.commit()
    }

    private static func copy(_ store: Store) throws -> StoreCopy.Way {
        let snapshot = try store.snapshot()
        return try StoreCopy(
            of: snapshot.view, as: snapshot.version.rawValue, store.path, beside: "copy", store.options
        ).run()
    }

    private static let sizes: [StoreLimits] = [.tiny, StoreLimits()]

    @Test("a check finds the null, and the error of a copy names the broken rule", arguments: Place.allCases, 0..<3)
    func found(_ place: Place, column: Int) throws {
        for limits in Self.sizes {
            let (store, key) = try Self.make(place, column: column, limits)
            let rule = "column\(column) of row \(key) is null"
            let violation = #expect(throws: InvariantViolation.self) { try store.checkInvariants() }
            #expect(violation?.description.contains(rule) == true, "\(violation?.description ?? "none")")
            do {
                try store.writeCopy(to: "made")
                Issue.record("a copy repeats the null")
            } catch StorageError.unsound(let path, let told) {
                #expect(path == store.path && told.contains(rule), "\(told)")
            }
            #expect(try store.options.fileSystem.status("made") == nil)
            try store.close()
        }
    }

    @Test("the check accepts a null of a deleted row, and a replaced null", arguments: Place.allCases, 0..<3)
    func leftBehind(_ place: Place, column: Int) throws {
        for limits in Self.sizes {
            for isDeleted in [true, false] {
                let (store, key) = try Self.make(place, column: column, limits)
                try Self.write(store) { transaction in
                    if isDeleted { return try transaction.delete(0, RowKey(key)) }
                    try StoreHistory.withCell(Self.values(key)[column]) {
                        try transaction.set(0, RowKey(key), column: column, to: $0)
                    }
                }
                try store.checkInvariants()
                #expect(try Self.copy(store) == .byColumns)
                let copy = try Store.open(path: "copy", options: store.options)
                #expect(try copy.snapshot().view.rowCount(0) == store.snapshot().view.rowCount(0))
                try copy.checkInvariants()
                try copy.close()
                try store.close()
            }
        }
    }

    @Test("a reader of the row sees no value") func read() throws {
        for place in Place.allCases {
            let (store, key) = try Self.make(place, column: 0, .tiny)
            let view = try store.snapshot().view
            let row = try #require(try view.locate(0, RowKey(key)))
            #expect(try view.integer(row, 0) == nil)
            #expect(try view.count(0, where: .null(0)) == 1)
            try store.close()
        }
    }
}
