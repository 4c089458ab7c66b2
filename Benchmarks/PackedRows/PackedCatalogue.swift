import Harness
import JSONText
import RunRecords
import Synchronization

/// The tables of a key-value database: JSON under a reserved key.
@usableFromInline
package struct PackedCatalogue: Sendable {
    @usableFromInline
    package private(set) var tables: [PackedTable] = []

    package init() {}

    @usableFromInline
    package init(_ set: TableSet) throws(EngineError) {
        guard set.tables.count < 255 else { throw EngineError(.unsupported, "more than 254 tables") }
        for (index, table) in set.tables.enumerated() {
            tables.append(PackedTable(table, number: UInt8(index + 1)))
        }
    }

    /// The tables that this program knows at compile time, whatever database is open.
    private static let known = Mutex<[String: PackedTable]>([:])

    package static func learn(_ set: TableSet) {
        known.withLock { known in
            for (index, table) in set.tables.enumerated() {
                known[table.name] = PackedTable(table, number: UInt8(truncatingIfNeeded: index + 1))
            }
        }
        for table in set.tables { if let learnt = Self.known(table.name) { _ = cells(of: learnt) } }
        // The first copy of a table looks up the metadata of its columns' array.
        _ = String(describing: [PackedColumn].self)
    }

    /// The cells that a read of all columns uses, created early for the same reason.
    @inline(never)
    private static func cells(of table: PackedTable) -> [PackedCell] {
        var cells: [PackedCell] = []
        for column in table.columns { cells.append(PackedCell(column, of: table)) }
        return cells
    }

    @usableFromInline
    package static func known(_ name: String) -> PackedTable? { known.withLock { $0[name] } }

    @usableFromInline
    package func table(_ name: String) throws(EngineError) -> PackedTable {
        guard let table = tables.first(where: { $0.name == name }) else {
            throw EngineError(.refused, "no table \(name)")
        }
        return table
    }

    package var bytes: [UInt8] {
        JSONValue.array(
            tables.map { table in
                .object([
                    JSONMember("name", .string(table.name)),
                    JSONMember("columns", .array(table.columns.map(Self.json))),
                ])
            }
        ).bytes
    }

    private static func json(_ column: PackedColumn) -> JSONValue {
        .object([
            JSONMember("name", .string(column.name)), JSONMember("kind", .string(column.kind.rawValue)),
            JSONMember("target", .string(column.target ?? "")), JSONMember("key", .bool(column.isKey)),
        ])
    }

    /// Runs the body with the bytes of the catalogue's key.
    package static func withKey<Output>(
        _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Output
    ) throws(EngineError) -> Output {
        var key: UInt8 = PackedKey.catalogue
        return try withUnsafeBytes(of: &key, body)
    }

    /// Runs the body with the bytes as they are stored.
    package func withBytes<Output>(
        _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Output
    ) throws(EngineError) -> Output {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
        defer { buffer.deallocate() }
        buffer.copyBytes(from: bytes)
        return try body(UnsafeRawBufferPointer(buffer))
    }

    /// Throws: `untold` where the bytes are not a catalogue.
    package init(bytes: [UInt8]) throws(EngineError) {
        do {
            let read = try JSONReader.read(bytes)
            guard case .array(let entries) = read else { throw EngineError(.untold, "the catalogue is no list") }
            for (index, entry) in entries.enumerated() {
                let object = try JSONObjectReader(entry, path: "catalogue")
                let columns = try object.objects("columns").map { column in
                    guard let kind = PackedColumn.Kind(rawValue: try column.string("kind")) else {
                        throw EngineError(.untold, "the catalogue names an unknown kind")
                    }
                    let target = try column.string("target")
                    return PackedColumn(
                        name: try column.string("name"), kind: kind, target: target.isEmpty ? nil : target, place: 0,
                        isKey: try column.bool("key"))
                }
                tables.append(
                    PackedTable(
                        name: try object.string("name"), number: UInt8(truncatingIfNeeded: index + 1),
                        columns: columns))
            }
        } catch {
            throw EngineError(.untold, "the catalogue cannot be read: \(error)")
        }
    }
}
