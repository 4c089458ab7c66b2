import Foundation
import StrataFiles
import Testing

@testable import StrataStorage
@testable import StrataStorageTests
@testable import StrataTool

/// Collections in a dump, equal for inline collections and trees.
@Suite struct CollectionTextTests {
    private static let schema = StoreSchema(
        table: "Owner",
        [
            column(1, "numbers", CollectionColumn(.integer, allowsNulls: true), 0),
            column(2, "flags", CollectionColumn(.integer), 1),
            column(3, "names", CollectionColumn(.text, isSorted: true), 2),
            column(4, "ids", CollectionColumn(.data), 12),
            column(5, "ages", CollectionColumn(.double, isKeyed: true), 6),
            ColumnDefinition(
                id: ColumnID(6), name: "others", type: .links, target: TableID(1),
                collection: CollectionColumn(.integer)),
        ])

    private static func column(
        _ id: UInt16, _ name: String, _ collection: CollectionColumn, _ tag: UInt32
    ) -> ColumnDefinition {
        ColumnDefinition(id: ColumnID(id), name: name, type: .bytes, collection: collection, tag: tag | 1 << 8)
    }

    /// - Parameter inline: the bytes of an inline collection.
    private static func dump(_ format: DumpCommand.Format, inline: Int) throws -> String {
        let disk = MemoryFileSystem(capacity: 1 << 24)
        var options = StoreOptions(fileSystem: disk)
        options.limits = .tiny
        options.limits.inlineBytes = inline
        options.mapReserve = 1 << 24
        let store = try Store.open(path: "store", options: options)
        let transaction = try store.beginWrite()
        try transaction.apply(schema: schema)
        for key in 1...2 as ClosedRange<Int64> {
            let cells = [Cell](repeating: .bytes(UnsafeRawBufferPointer(start: nil, count: 0)), count: 6)
            try cells.withUnsafeBufferPointer { try transaction.insert(0, key: RowKey(key), $0) }
        }
        func fill(_ column: Int, _ cells: [(key: [UInt8], value: Cell)]) throws {
            let elements = CollectionElements(try #require(schema.tables[0].columns[column].collection))
            for cell in cells { cell.key.withUnsafeBytes { elements.append(key: .bytes($0), cell.value) } }
            try transaction.collections.insert(0, RowKey(1), column: column, elements: elements, at: 0)
        }
        let texts = ["a\"b", "c,d", "e\nf", "gggg", "hhhhhhhh", "i", "jjjjj"].map { Array($0.utf8) }
        try fill(0, (0..<9).map { ([], $0 == 4 ? .null : .integer($0 * 7)) })
        try fill(1, (0..<9).map { ([], .integer($0 % 2)) })
        let ids = CollectionElements(CollectionColumn(.data))
        for byte in 0..<2 as Range<UInt8> {
            [UInt8](repeating: byte, count: 16).withUnsafeBytes { ids.append(.bytes($0)) }
        }
        try transaction.collections.insert(0, RowKey(1), column: 3, elements: ids, at: 0)
        try fill(4, texts.enumerated().map { ($1, .double(Double($0) / 2)) })
        try fill(5, (0..<8).map { ([], .integer(1 + $0 % 2)) })
        let names = CollectionElements(CollectionColumn(.text, isSorted: true))
        for text in texts { text.withUnsafeBytes { names.append(.bytes($0)) } }
        try transaction.collections.insert(0, RowKey(1), column: 2, elements: names, at: 0)
        try transaction.commit()
        try store.checkInvariants()
        let file = try disk.open("out", .createNew)
        let view = try store.snapshot().view
        try RowText(view, 0, format: format, met: view.nothingMet, sink: ByteSink(file), namesClass: format == .jsonl)
            .write()
        var bytes = [UInt8](repeating: 0, count: Int(try file.size()))
        _ = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        try store.close()
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("a line has each collection as an array or an object", arguments: [30, 4000])
    func lines(inline: Int) throws {
        let lines = try Self.dump(.jsonl, inline: inline).split(separator: "\n").map(String.init)
        #expect(
            lines == [
                #"{"_class":"Owner","_key":1,"numbers":[0,7,14,21,null,35,42,49,56],"#
                    + #""flags":[false,true,false,true,false,true,false,true,false],"#
                    + #""names":["a\"b","c,d","e\nf","gggg","hhhhhhhh","i","jjjjj"],"#
                    + #""ids":["00000000-0000-0000-0000-000000000000","01010101-0101-0101-0101-010101010101"],"#
                    + #""ages":{"a\"b":0.0,"c,d":0.5,"e\nf":1.0,"gggg":1.5,"hhhhhhhh":2.0,"i":2.5,"jjjjj":3.0},"#
                    + #""others":[1,2,1,2,1,2,1,2]}"#,
                #"{"_class":"Owner","_key":2,"numbers":[],"flags":[],"names":[],"ids":[],"ages":{},"others":[]}"#,
            ])
        for line in lines { _ = try JSONSerialization.jsonObject(with: Data(line.utf8)) }
    }

    @Test("in CSV a collection is its JSON text, within quotes", arguments: [30, 4000])
    func fields(inline: Int) throws {
        let text = try Self.dump(.csv, inline: inline)
        #expect(
            text.hasPrefix("_key,numbers,flags,names,ids,ages,others\r\n1,\"[0,7,14,21,null,35,42,49,56]\",\"[false"))
        #expect(text.contains(#","[""a\""b"",""c,d"",""e\nf"",""gggg"",""hhhhhhhh"",""i"",""jjjjj""]","#))
        #expect(text.hasSuffix("2,\"[]\",\"[]\",\"[]\",\"[]\",\"{}\",\"[]\"\r\n"))
    }

    @Test("a nested collection is written in its element's place", arguments: [30, 4000])
    func nested(inline: Int) throws {
        let disk = MemoryFileSystem(capacity: 1 << 24)
        var options = StoreOptions(fileSystem: disk)
        options.limits = .tiny
        options.limits.inlineBytes = inline
        options.mapReserve = 1 << 24
        let store = try Store.open(path: "store", options: options)
        let transaction = try store.beginWrite()
        let values = CollectionColumn(.any, allowsNulls: true)
        try transaction.apply(
            schema: StoreSchema(table: "Owner", [Self.column(1, "values", values, 9)]))
        let cells = [Cell.bytes(UnsafeRawBufferPointer(start: nil, count: 0))]
        try cells.withUnsafeBufferPointer { try transaction.insert(0, key: RowKey(1), $0) }
        func put(_ bytes: [UInt8]?, key: String = "", at path: [Int], _ place: Int) throws {
            try Array(key.utf8).withUnsafeBytes { key in
                try (bytes ?? []).withUnsafeBytes { value in
                    try transaction.collections(at: path).insert(
                        0, RowKey(1), column: 0, one: bytes == nil ? .null : .bytes(value), mapKey: .bytes(key),
                        at: place)
                }
            }
        }
        try put(nil, at: [], 0)
        try put([NestedCollection.listType], at: [], 1)
        try put([NestedCollection.mapType], at: [], 2)
        for place in 0..<9 { try put([2, 97], at: [1], place) }
        try put([NestedCollection.listType], at: [1], 9)
        try put(nil, key: "k", at: [2], 0)
        try transaction.commit()
        try store.checkInvariants()
        let file = try disk.open("out", .createNew)
        let view = try store.snapshot().view
        try RowText(view, 0, format: .jsonl, met: view.nothingMet, sink: ByteSink(file), namesClass: true).write()
        var bytes = [UInt8](repeating: 0, count: Int(try file.size()))
        _ = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        try store.close()
        let inner = repeatElement(#""AmE=""#, count: 9).joined(separator: ",")
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{"_class":"Owner","_key":1,"values":[null,["# + inner + #",[]],{"k":null}]}"# + "\n")
    }
}
