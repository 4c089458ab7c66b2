import Harness
import RunRecords

// The layout of tables in a key-value engine.
//
// key    byte 0: number of the table, from 1; bytes 1 to 8: the row's key, sign bit flipped, big-endian, so that bytes
//        order as keys do. The key 0x00 alone leads to the catalogue.
// value  8 bytes, little-endian, for each integer, real and single link (-1: none), in the order of the columns; then
//        4 bytes for each text and list of links but the last: where it ends in what follows; then the bytes of texts
//        and the 4-byte row indexes of lists. A row of (name, age, score) takes 16 bytes and its name.

/// A column, with the place of its values in a packed row.
@usableFromInline
package struct PackedColumn: Sendable, Hashable {
    @usableFromInline
    package enum Kind: String, Sendable {
        case integer, real, text, link, links
    }

    package var name: String
    package var kind: Kind
    /// The other table of a link or a list of links.
    package var target: String?
    /// For a fixed column: byte offset in the value. For another: its index among the variable ones.
    @usableFromInline
    package var place: Int
    /// The values are the rows' keys, and are stored in the keys only.
    @usableFromInline
    package var isKey: Bool

    package var isFixed: Bool { kind != .text && kind != .links }
}

/// A table in a key-value engine.
@usableFromInline
package struct PackedTable: Sendable, Hashable {
    @usableFromInline
    package let name: String
    @usableFromInline
    package let number: UInt8
    package let columns: [PackedColumn]
    /// Bytes of the fixed columns.
    @usableFromInline
    package let fixedBytes: Int
    @usableFromInline
    package let variableCount: Int

    /// Bytes before those of texts and lists.
    @inlinable
    package var headBytes: Int { fixedBytes + max(0, variableCount - 1) * 4 }

    /// The column whose values are the keys; nil where keys are row indexes.
    package var keyColumn: PackedColumn? { columns.first { $0.isKey } }

    /// The key column is the row's key only if its values are the row indexes; any other key is an ordinary column.
    package init(_ table: Table, number: UInt8) {
        var isKeyed = false
        if case .integer(let keys)? = table.keyColumn?.values {
            isKeyed = keys.enumerated().allSatisfy { Int64($0.offset) == $0.element }
        }
        let columns = table.columns.map { column in
            let (kind, target): (PackedColumn.Kind, String?) =
                switch column.values {
                case .integer: (.integer, nil)
                case .real: (.real, nil)
                case .text: (.text, nil)
                case .link(let target, _): (.link, target)
                case .links(let target, _): (.links, target)
                }
            return PackedColumn(
                name: column.name, kind: kind, target: target, place: 0, isKey: isKeyed && column.name == table.key)
        }
        self.init(name: table.name, number: number, columns: columns)
    }

    /// Assigns places to the columns.
    package init(name: String, number: UInt8, columns: [PackedColumn]) {
        self.name = name
        self.number = number
        var fixed = 0
        var variable = 0
        self.columns = columns.map { column in
            var column = column
            if column.isKey { return column }
            if column.isFixed {
                column.place = fixed
                fixed += 8
            } else {
                column.place = variable
                variable += 1
            }
            return column
        }
        fixedBytes = fixed
        variableCount = variable
    }

    package func column(_ name: String) throws(EngineError) -> PackedColumn {
        guard let column = columns.first(where: { $0.name == name }) else {
            throw EngineError(.refused, "table \(self.name) has no column \(name)")
        }
        return column
    }

    @usableFromInline
    package func column(_ name: String, _ kind: PackedColumn.Kind) throws(EngineError) -> PackedColumn {
        let column = try column(name)
        guard column.kind == kind else {
            throw EngineError(.refused, "column \(name) of \(self.name) is no \(kind.rawValue)")
        }
        return column
    }

    /// The error of an application that finds a value too short for its columns.
    @usableFromInline
    package static func tooShort(_ bytes: Int) -> EngineError {
        EngineError(.untold, "a row of \(bytes) bytes is too short for its columns")
    }

    /// The bytes of a text or a list of a row.
    @inlinable
    package func bytes(
        _ column: PackedColumn, _ value: UnsafeRawBufferPointer
    ) throws(EngineError) -> UnsafeRawBufferPointer {
        let head = headBytes
        guard value.count >= head else { throw Self.tooShort(value.count) }
        let ends = fixedBytes
        let start =
            column.place == 0
            ? 0
            : Int(
                UInt32(littleEndian: value.loadUnaligned(fromByteOffset: ends + column.place * 4 - 4, as: UInt32.self)))
        let end =
            column.place == variableCount - 1
            ? value.count - head
            : Int(UInt32(littleEndian: value.loadUnaligned(fromByteOffset: ends + column.place * 4, as: UInt32.self)))
        guard start <= end, end <= value.count - head else { throw Self.tooShort(value.count) }
        return UnsafeRawBufferPointer(rebasing: value[(head + start)..<(head + end)])
    }

    /// The word of a fixed column; the key itself for the key column.
    @inlinable
    package func word(
        _ column: PackedColumn, _ key: Int64, _ value: UnsafeRawBufferPointer
    ) throws(EngineError) -> UInt64 {
        if column.isKey { return UInt64(bitPattern: key) }
        guard value.count >= headBytes else { throw Self.tooShort(value.count) }
        return UInt64(littleEndian: value.loadUnaligned(fromByteOffset: column.place, as: UInt64.self))
    }

    /// A value in the form of data sets.
    package func value(
        _ column: PackedColumn, _ key: Int64, _ value: UnsafeRawBufferPointer
    ) throws(EngineError) -> Value {
        switch column.kind {
        case .integer: return .integer(Int64(bitPattern: try word(column, key, value)))
        case .real: return .real(Double(bitPattern: try word(column, key, value)))
        case .link:
            let row = Int64(bitPattern: try word(column, key, value))
            return row < 0 ? .null : .link(Int(row))
        case .text: return .text(String(decoding: try bytes(column, value), as: UTF8.self))
        case .links:
            let bytes = try bytes(column, value)
            return .links(
                stride(from: 0, to: bytes.count & ~3, by: 4).map {
                    Int(Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: Int32.self)))
                })
        }
    }

    /// All values of a row in the order of the columns.
    @usableFromInline
    package func values(_ key: Int64, _ bytes: UnsafeRawBufferPointer) throws(EngineError) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(columns.count)
        for column in columns { values.append(try value(column, key, bytes)) }
        return values
    }
}
