import StrataFiles
import StrataStorage

/// A small store in the object layer's form: two classes, every kind of column.
enum SampleStore {
    static let schema = StoreSchema(
        userVersion: 3,
        tables: [
            TableDefinition(
                id: TableID(1), name: "Person",
                columns: [
                    ColumnDefinition(
                        id: ColumnID(1), name: "name", type: .bytes, isOptional: true, index: .hash, tag: 2 | 1 << 12),
                    ColumnDefinition(id: ColumnID(2), name: "age", type: .integer, index: .ordered),
                    ColumnDefinition(id: ColumnID(3), name: "score", type: .double, tag: 6),
                    ColumnDefinition(id: ColumnID(4), name: "isMember", type: .integer, tag: 1),
                    ColumnDefinition(id: ColumnID(5), name: "photo", type: .bytes, tag: 3),
                    ColumnDefinition(id: ColumnID(6), name: "dog", type: .link, target: TableID(2), tag: 7),
                    ColumnDefinition(id: ColumnID(7), name: "dogs", type: .links, target: TableID(2), tag: 7 | 1 << 8),
                    ColumnDefinition(id: ColumnID(8), name: "uuid", type: .bytes, tag: 12),
                    ColumnDefinition(id: ColumnID(9), name: "marks", type: .bytes, tag: 0 | 1 << 8),
                ], tag: 1, information: Array("id".utf8)),
            TableDefinition(
                id: TableID(2), name: "Dog",
                columns: [ColumnDefinition(id: ColumnID(10), name: "name", type: .bytes, tag: 2)]),
        ])

    static let strange = "Zoë, \"the\r\nfirst\"\u{1}"

    /// - Parameter rows: persons with the keys 1 to `rows`; as many dogs, from 0.
    static func make(_ path: String, rows: Int = 300) throws {
        let store = try Store.open(path: path)
        let transaction = try store.beginWrite()
        try transaction.apply(schema: schema)
        for key in 0..<rows {
            let name = Array("dog \(key)".utf8)
            try name.withUnsafeBytes { bytes in
                try [Cell.bytes(bytes)].withUnsafeBufferPointer {
                    try transaction.insert(1, key: RowKey(Int64(key)), $0)
                }
            }
        }
        for key in 1...rows { try insertPerson(transaction, key) }
        try transaction.commit()
        try store.close()
    }

    private static func insertPerson(_ transaction: WriteTransaction, _ key: Int) throws {
        let name = Array((key == 1 ? strange : key == 3 ? "" : "person \(key)").utf8)
        let photo = (0..<(key == 4 ? 9000 : key % 5)).map { UInt8(truncatingIfNeeded: $0 * 37 + key) }
        let dogs = LinkPayload.encode([Int64(key - 1), 0])
        let uuid = (0..<16).map { UInt8($0 * 16 + $0) }
        let marks: [UInt8] = [1, 1, 3, 0, 0, 0, 0b010, 5, 0, 0xFE]
        try name.withUnsafeBytes { name in
            try photo.withUnsafeBytes { photo in
                try dogs.withUnsafeBytes { dogs in
                    try uuid.withUnsafeBytes { uuid in
                        try marks.withUnsafeBytes { marks in
                            let cells: [Cell] = [
                                key == 2 ? .null : .bytes(name), .integer(Int64(key % 90)),
                                .double(key == 1 ? 0.1 + 0.2 : Double(key) / 3), .integer(Int64(key % 2)),
                                .bytes(photo), key == 2 ? .null : .integer(Int64(key - 1)), .bytes(dogs), .bytes(uuid),
                                .bytes(marks),
                            ]
                            try cells.withUnsafeBufferPointer {
                                try transaction.insert(0, key: RowKey(Int64(key)), $0)
                            }
                        }
                    }
                }
            }
        }
    }
}
