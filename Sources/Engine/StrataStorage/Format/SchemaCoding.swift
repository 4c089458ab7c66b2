/// Encoding of a schema, for the schema node and the log.
///
/// Layout, little-endian: version u8 (1), user version u64, next table id u32, next column id u16, table count u32,
/// tables. A table: id u32, tag u32, name, information, column count u16, columns. A column: id u16, type u8, index
/// u8, flags u8 (1 optional, 2 keeps places, 4 has a target, 8 has a default, 16 collections, 32 of values with keys,
/// 64 of values that ascend), tag u32, target u32 (if any), default u64 (if any), element u8 (of collections), name,
/// information. Name (UTF-8) and information: count u32, bytes.
package enum SchemaCoding {
    package static let version: UInt8 = 1

    enum ColumnFlag {
        static let optional: UInt8 = 1
        static let keepsPlaces: UInt8 = 2
        static let target: UInt8 = 4
        static let defaultValue: UInt8 = 8
        static let collection: UInt8 = 16
        static let keyed: UInt8 = 32
        static let sorted: UInt8 = 64
        static let all: UInt8 = 127
    }

    /// - Throws: as ``check(_:)``, so that only readable schemas are written.
    package static func encode(_ schema: StoreSchema) throws(StorageError) -> [UInt8] {
        try check(schema)
        var writer = SchemaWriter()
        writer.put(version)
        writer.put(schema.userVersion)
        writer.put(schema.nextTableID)
        writer.put(schema.nextColumnID)
        writer.put(UInt32(schema.tables.count))
        for table in schema.tables {
            writer.put(table.id.rawValue)
            writer.put(table.tag)
            writer.put(Array(table.name.utf8))
            writer.put(table.information)
            writer.put(UInt16(table.columns.count))
            for column in table.columns { writer.put(column) }
        }
        return writer.bytes
    }

    /// - Parameters:
    ///   - page: of the bytes, for the error.
    ///   - path: the store's file, for the error.
    /// - Throws: `unsupportedFormat` for another version; `corrupt` with `structure` for bytes that ``encode(_:)`` does
    ///   not produce.
    package static func decode(
        _ bytes: UnsafeRawBufferPointer, page: PageNumber = PageNumber(0), path: String = ""
    ) throws(StorageError) -> StoreSchema {
        var reader = SchemaReader(bytes, page: page)
        let found = try reader.get(UInt8.self)
        if found != version { throw .unsupportedFormat(path: path, version: UInt32(found)) }
        var schema = StoreSchema(userVersion: try reader.get())
        let nextTableID: UInt32 = try reader.get()
        let nextColumnID: UInt16 = try reader.get()
        let count: UInt32 = try reader.get()
        for _ in 0..<count { schema.tables.append(try reader.table()) }
        guard reader.isAtEnd else { throw reader.failure }
        // Incrementing the ids never overflows.
        guard nextTableID < .max else { throw reader.failure }
        // Greater than the ids of all tables and columns.
        let (tables, columns) = (schema.tables.map(\.id.rawValue), schema.tables.flatMap(\.columns).map(\.id.rawValue))
        schema.nextTableID = max(nextTableID, min(tables.max() ?? 0, .max - 2) + 1)
        schema.nextColumnID = max(1, nextColumnID, (columns.max() ?? 0) &+ 1)
        do throws(StorageError) { try check(schema) } catch { throw reader.failure }
        return schema
    }

    /// Checks that the schema is consistent: ids are unique; links, and only links, have a target, which exists; and
    /// columns of collections can hold them.
    ///
    /// - Throws: `misuse` with `noSuchTable` (a target), `wrongType` (a target without a link, or a link without one; a
    ///   collection that does not suit its column), `duplicateKey` (an id) or `noSuchColumn` (an id that no column may
    ///   have); `limit` with `columns`.
    package static func check(_ schema: StoreSchema) throws(StorageError) {
        let tables = Set(schema.tables.map(\.id))
        if tables.count != schema.tables.count { throw .misuse(.duplicateKey) }
        for table in schema.tables {
            if table.columns.count > Int(UInt16.max) { throw .limit(.columns) }
            if Set(table.columns.map(\.id)).count != table.columns.count { throw .misuse(.duplicateKey) }
            // Other ids would be taken for a row's key or creation version.
            guard table.columns.allSatisfy({ 1...StoreSchema.lastColumnID ~= $0.id.rawValue }) else {
                throw .misuse(.noSuchColumn)
            }
            for column in table.columns {
                if column.type.isLink != (column.target != nil) { throw .misuse(.wrongType) }
                if let target = column.target, !tables.contains(target) { throw .misuse(.noSuchTable) }
                if let collection = column.collection, !collection.suits(column) { throw .misuse(.wrongType) }
            }
        }
    }
}

private struct SchemaWriter {
    var bytes: [UInt8] = []

    mutating func put<Number: FixedWidthInteger>(_ value: Number) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func put(_ value: [UInt8]) {
        put(UInt32(value.count))
        bytes.append(contentsOf: value)
    }

    mutating func put(_ column: ColumnDefinition) {
        put(column.id.rawValue)
        put(column.type.rawValue)
        put(column.index.rawValue)
        var flags: UInt8 = 0
        if column.isOptional { flags |= SchemaCoding.ColumnFlag.optional }
        if column.keepsPlaces { flags |= SchemaCoding.ColumnFlag.keepsPlaces }
        if column.target != nil { flags |= SchemaCoding.ColumnFlag.target }
        if column.defaultBits != nil { flags |= SchemaCoding.ColumnFlag.defaultValue }
        if let collection = column.collection {
            flags |= SchemaCoding.ColumnFlag.collection
            if collection.isKeyed { flags |= SchemaCoding.ColumnFlag.keyed }
            if collection.isSorted { flags |= SchemaCoding.ColumnFlag.sorted }
        }
        put(flags)
        put(column.tag)
        if let target = column.target { put(target.rawValue) }
        if let bits = column.defaultBits { put(bits) }
        if let collection = column.collection { put(collection.elementCode) }
        put(Array(column.name.utf8))
        put(column.information)
    }
}

private struct SchemaReader {
    private let bytes: UnsafeRawBufferPointer
    private let page: PageNumber
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer, page: PageNumber) {
        self.bytes = bytes
        self.page = page
    }

    var isAtEnd: Bool { position == bytes.count }
    var failure: StorageError { .corrupt(page: page, offset: position, reason: .structure) }

    mutating func get<Number: FixedWidthInteger>(_: Number.Type = Number.self) throws(StorageError) -> Number {
        let size = Number.bitWidth / 8
        guard size <= bytes.count - position else { throw failure }
        defer { position += size }
        return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: Number.self))
    }

    mutating func run() throws(StorageError) -> [UInt8] {
        let count = Int(try get(UInt32.self))
        guard count <= bytes.count - position else { throw failure }
        defer { position += count }
        return Array(bytes[position..<position + count])
    }

    mutating func string() throws(StorageError) -> String {
        let text = try run()
        guard let value = String(validating: text, as: UTF8.self) else { throw failure }
        return value
    }

    mutating func table() throws(StorageError) -> TableDefinition {
        let id: UInt32 = try get()
        let tag: UInt32 = try get()
        let name = try string()
        let information = try run()
        let count: UInt16 = try get()
        var columns: [ColumnDefinition] = []
        for _ in 0..<count { columns.append(try column()) }
        return TableDefinition(id: TableID(id), name: name, columns: columns, tag: tag, information: information)
    }

    private mutating func column() throws(StorageError) -> ColumnDefinition {
        let id: UInt16 = try get()
        guard let type = ColumnType(rawValue: try get()), let index = IndexKind(rawValue: try get()) else {
            throw failure
        }
        let flags: UInt8 = try get()
        if flags & ~SchemaCoding.ColumnFlag.all != 0 { throw failure }
        let tag: UInt32 = try get()
        let target: UInt32? = flags & SchemaCoding.ColumnFlag.target != 0 ? try get() : nil
        let bits: UInt64? = flags & SchemaCoding.ColumnFlag.defaultValue != 0 ? try get() : nil
        let collection = try collection(flags)
        let name = try string()
        return ColumnDefinition(
            id: ColumnID(id), name: name, type: type,
            isOptional: flags & SchemaCoding.ColumnFlag.optional != 0, index: index,
            target: target.map(TableID.init), keepsPlaces: flags & SchemaCoding.ColumnFlag.keepsPlaces != 0,
            defaultBits: bits, collection: collection, tag: tag, information: try run())
    }

    private mutating func collection(_ flags: UInt8) throws(StorageError) -> CollectionColumn? {
        let isKeyed = flags & SchemaCoding.ColumnFlag.keyed != 0
        let isSorted = flags & SchemaCoding.ColumnFlag.sorted != 0
        guard flags & SchemaCoding.ColumnFlag.collection != 0 else {
            if isKeyed || isSorted { throw failure }
            return nil
        }
        guard let column = CollectionColumn(elementCode: try get(), isKeyed: isKeyed, isSorted: isSorted) else {
            throw failure
        }
        return column
    }
}
