import StrataFiles

@testable import StrataStorage

/// A small store with every kind of node, and every kind of change beside a row group's main rows.
enum CheckedStore {
    static let schema = StoreSchema(
        userVersion: 1,
        tables: [
            TableDefinition(
                id: TableID(1), name: "Wide",
                columns: [
                    ColumnDefinition(id: ColumnID(1), name: "a", type: .integer, index: .ordered),
                    ColumnDefinition(id: ColumnID(2), name: "b", type: .integer, isOptional: true),
                    ColumnDefinition(id: ColumnID(3), name: "text", type: .bytes, index: .hash),
                    ColumnDefinition(id: ColumnID(4), name: "number", type: .double),
                ]),
            TableDefinition(
                id: TableID(2), name: "Few",
                columns: [
                    ColumnDefinition(id: ColumnID(11), name: "value", type: .integer, index: .ordered),
                    ColumnDefinition(id: ColumnID(12), name: "friend", type: .link, target: TableID(1)),
                    ColumnDefinition(id: ColumnID(13), name: "friends", type: .links, target: TableID(1)),
                    ColumnDefinition(id: ColumnID(14), name: "list", type: .bytes, tag: 0 | 1 << 8),
                    ColumnDefinition(id: ColumnID(15), name: "texts", type: .bytes, tag: 2 | 1 << 8),
                    ColumnDefinition(id: ColumnID(16), name: "set", type: .bytes, tag: 0 | 2 << 8),
                    ColumnDefinition(id: ColumnID(17), name: "map", type: .bytes, tag: 0 | 3 << 8),
                    ColumnDefinition(
                        id: ColumnID(18), name: "members", type: .links, target: TableID(1), tag: 7 | 2 << 8),
                    ColumnDefinition(
                        id: ColumnID(19), name: "named", type: .links, target: TableID(1), keepsPlaces: true,
                        tag: 7 | 3 << 8),
                ]),
        ])

    static let wide = 0
    static let few = 1
    static let rows = 300

    /// The bytes of lists, as the object layer writes them.
    enum Bytes {
        static let list: [UInt8] = [1, 0, 3, 0, 0, 0, 101, 102, 103]
        static let texts: [UInt8] = [6, 0, 2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0] + Array("pqr".utf8)
        static let set: [UInt8] = [1, 0, 3, 0, 0, 0, 111, 112, 113]
        static let keys: [UInt8] = [6, 0, 2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0] + Array("k1k2".utf8)
        static let map: [UInt8] = [UInt8(keys.count), 0, 0, 0] + keys + [1, 0, 2, 0, 0, 0, 121, 122]
    }

    /// The same store for every caller in a process: making it takes longer than most checks of it.
    static func make() throws -> CraftedFile { try made.get() }

    private static let made = Result { try build() }

    private static func build() throws -> CraftedFile {
        let disk = FileImages.Disk()
        var options = FileImages.options(on: disk)
        // Consecutive changes must leave patches here, not rewritten columns.
        options.limits.changesBeforeHeld = .max
        let store = try Store.open(path: FileImages.path, options: options)
        var transaction = try store.beginWrite()
        try transaction.apply(schema: schema)
        for row in 0..<rows { try insert(transaction, Int64(row * 10)) }
        for row in 0..<3 { try insertFew(transaction, Int64(row + 1)) }
        try transaction.commit()
        // Changes that stay beside the main rows of their row groups: patches, inserted rows, deleted slots.
        for start in [400, 1500] as [Int64] {
            transaction = try store.beginWrite()
            for key in [start, start + 40] {
                try transaction.set(wide, RowKey(key), column: 0, to: .integer(7000 + key))
                try transaction.set(wide, RowKey(key), column: 1, to: .integer(9000 + key))
            }
            try insert(transaction, start + 55)
            try insert(transaction, start + 57)
            try transaction.delete(wide, RowKey(start + 20))
            try transaction.delete(wide, RowKey(start + 30))
            try transaction.commit()
        }
        try store.close()
        return CraftedFile(try disk.bytes(FileImages.path) ?? [])
    }

    private static func insert(_ transaction: WriteTransaction, _ key: Int64) throws {
        let text = Value.bytes([UInt8](repeating: UInt8(truncatingIfNeeded: key), count: key % 70 == 0 ? 5000 : 5))
        let values: [Value] = [
            .integer(key % 90), key % 4 == 0 ? .null : .integer(key), text, .double(Double(key).bitPattern),
        ]
        try StoreHistory.withCells(values[...]) { try transaction.insert(wide, key: RowKey(key), $0) }
    }

    private static func insertFew(_ transaction: WriteTransaction, _ key: Int64) throws {
        let named = LinkPayload.encode([30, LinkPayload.null], extra: Bytes.keys)
        let values: [Value] = [
            .integer(key * 5), .integer(10), .links([10, 20, 20]), .bytes(Bytes.list), .bytes(Bytes.texts),
            .bytes(Bytes.set), .bytes(Bytes.map), .links([40, 50]), .bytes(named),
        ]
        try StoreHistory.withCells(values[...]) { try transaction.insert(few, key: RowKey(key), $0) }
    }
}

extension CraftedFile {
    /// The error of opening and checking a store of these bytes; nil if there is none.
    func finding() -> String? {
        do {
            let disk = FileImages.Disk()
            try disk.put(bytes, at: FileImages.path)
            let store = try FileImages.open(disk)
            defer { do { try store.close() } catch { Self.ignore(error) } }
            try store.checkInvariants()
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// The close may fail after damage; the check has reported it.
    private static func ignore(_ error: any Error) {}

    /// The first node of a kind, and of a table if one is named, that satisfies the condition.
    func node(
        _ kind: NodeKind, of table: UInt32? = nil, where fits: (UnsafeRawPointer) -> Bool = { _ in true }
    ) -> Int? {
        bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return nil }
            return nodes.firstIndex { node in
                node.reference.is(kind) && (table == nil || base.u32(node.start + 4) == table)
                    && fits(base + node.start)
            }
        }
    }

    /// Changes a node through a pointer to its start.
    mutating func edit(_ node: Int?, _ body: (UnsafeMutableRawPointer) -> Void) -> Bool {
        guard let node else { return false }
        change(node) { bytes in
            if let base = bytes.baseAddress { body(base - Format.nodeHeaderSize) }
        }
        return true
    }

    /// Replaces the first occurrence of bytes after a node's header, in the first node of the kind that contains them.
    mutating func replace(_ old: [UInt8], by new: [UInt8], in kind: NodeKind = .group) -> Bool {
        for (index, node) in nodes.enumerated() where node.reference.is(kind) {
            let area = bytes[(node.start + Format.nodeHeaderSize)..<(node.start + node.reference.byteCount)]
            guard let range = area.firstRange(of: old) else { continue }
            let offset = range.lowerBound - node.start - Format.nodeHeaderSize
            change(index) { target in for (place, byte) in new.enumerated() { target[offset + place] = byte } }
            return true
        }
        return false
    }
}
