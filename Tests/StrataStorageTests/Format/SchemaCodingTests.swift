import Testing

@testable import StrataStorage

@Suite struct SchemaCodingTests {
    private func decode(_ bytes: [UInt8]) throws(StorageError) -> StoreSchema {
        var result: Result<StoreSchema, StorageError>?
        bytes.withUnsafeBytes { buffer in
            do throws(StorageError) { result = .success(try SchemaCoding.decode(buffer, path: "p")) } catch {
                result = .failure(error)
            }
        }
        return try result!.get()
    }

    private func randomSchema(_ generator: inout SplitMix64) -> StoreSchema {
        let names = ["", "a", "Größe", "日本", String(repeating: "x", count: 300)]
        let ids = (1...20).map(UInt32.init).shuffled(using: &generator).prefix(Int.random(in: 0...6, using: &generator))
        var schema = StoreSchema(userVersion: .random(in: 0...(.max), using: &generator))
        for id in ids {
            var columns: [ColumnDefinition] = []
            for column in 0..<Int.random(in: 0...8, using: &generator) {
                let type = ColumnType(rawValue: .random(in: 1...5, using: &generator))!
                var definition = ColumnDefinition(
                    id: ColumnID(UInt16(column * 3 + 1)), name: names.randomElement(using: &generator)!, type: type,
                    isOptional: .random(using: &generator),
                    index: IndexKind(rawValue: .random(in: 0...2, using: &generator))!,
                    target: type.isLink ? TableID(ids.randomElement(using: &generator)!) : nil,
                    keepsPlaces: .random(using: &generator),
                    defaultBits: .random(using: &generator) ? generator.next() : nil,
                    tag: UInt32(truncatingIfNeeded: generator.next()),
                    information: (0..<Int.random(in: 0...9, using: &generator)).map { UInt8($0) })
                let collection = CollectionColumn(
                    CollectionColumn.Element(rawValue: .random(in: 1...5, using: &generator))!,
                    isKeyed: .random(using: &generator), isSorted: .random(using: &generator),
                    allowsNulls: .random(using: &generator))
                if collection.suits(definition) { definition.collection = collection }
                columns.append(definition)
            }
            schema.tables.append(
                TableDefinition(
                    id: TableID(id), name: names.randomElement(using: &generator)!, columns: columns,
                    tag: UInt32(truncatingIfNeeded: generator.next()), information: [1, 2, 3]))
        }
        schema.nextTableID = 21
        schema.nextColumnID = 77
        return schema
    }

    @Test("any schema reads back as it was written", arguments: 0..<200)
    func roundTrip(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let schema = randomSchema(&generator)
        #expect(try decode(try SchemaCoding.encode(schema)) == schema)
    }

    @Test("truncated bytes, and extra bytes, are corrupt") func cuts() throws {
        var generator = SplitMix64(seed: 3)
        let bytes = try SchemaCoding.encode(randomSchema(&generator))
        for count in 0..<bytes.count {
            #expect(throws: StorageError.self, "\(count) bytes") { try decode(Array(bytes[..<count])) }
        }
        #expect(throws: StorageError.corrupt(page: PageNumber(0), offset: bytes.count, reason: .structure)) {
            try decode(bytes + [0])
        }
    }

    @Test("any damage gives a schema that is sound or a typed error", arguments: 0..<20)
    func damage(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let bytes = try SchemaCoding.encode(randomSchema(&generator))
        for position in bytes.indices {
            var copy = bytes
            copy[position] ^= UInt8.random(in: 1...255, using: &generator)
            do { try SchemaCoding.check(decode(copy)) } catch {
                if position == 0 { #expect(error == .unsupportedFormat(path: "p", version: UInt32(copy[0]))) }
            }
        }
    }

    @Test("an inconsistent schema is not written") func misuse() {
        let id = ColumnID(1)
        func schema(_ columns: [ColumnDefinition]) -> StoreSchema {
            StoreSchema(table: "t", columns)
        }
        #expect(throws: StorageError.misuse(.noSuchTable)) {
            try SchemaCoding.encode(schema([ColumnDefinition(id: id, name: "l", type: .link, target: TableID(9))]))
        }
        #expect(throws: StorageError.misuse(.wrongType)) {
            try SchemaCoding.encode(schema([ColumnDefinition(id: id, name: "l", type: .link)]))
        }
        #expect(throws: StorageError.misuse(.wrongType)) {
            try SchemaCoding.encode(schema([ColumnDefinition(id: id, name: "i", type: .integer, target: TableID(1))]))
        }
        func collection(_ type: ColumnType, _ collection: CollectionColumn, index: IndexKind = .none) -> StoreSchema {
            schema([
                ColumnDefinition(
                    id: id, name: "c", type: type, index: index, target: type.isLink ? TableID(1) : nil,
                    collection: collection)
            ])
        }
        for refused in [
            collection(.integer, CollectionColumn(.integer)), collection(.bytes, CollectionColumn(.text), index: .hash),
            collection(.bytes, CollectionColumn(.text, isKeyed: true, isSorted: true)),
            collection(.links, CollectionColumn(.text)), collection(.links, CollectionColumn(.integer, isKeyed: true)),
        ] {
            #expect(throws: StorageError.misuse(.wrongType)) { try SchemaCoding.encode(refused) }
        }
        let column = ColumnDefinition(id: id, name: "i", type: .integer)
        #expect(throws: StorageError.misuse(.duplicateKey)) { try SchemaCoding.encode(schema([column, column])) }
    }
}
