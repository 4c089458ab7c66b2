import Harness
import RunRecords

/// The place of a column's value in a packed row, for loops over many rows.
///
/// Holds only numbers: a column contains its name, and Swift would retain and release that for every row that is read,
/// which costs a quarter of LMDB's time to find the row.
@usableFromInline
package struct PackedCell: Sendable {
    @usableFromInline let kind: PackedColumn.Kind
    @usableFromInline let isKey: Bool
    @usableFromInline let place: Int
    @usableFromInline let fixedBytes: Int
    @usableFromInline let headBytes: Int
    @usableFromInline let isLast: Bool

    @usableFromInline
    package init(_ column: PackedColumn, of table: PackedTable) {
        kind = column.kind
        isKey = column.isKey
        place = column.place
        fixedBytes = table.fixedBytes
        headBytes = table.headBytes
        isLast = column.place == table.variableCount - 1
    }

    /// The word of a fixed column; the key itself for the key column.
    @inlinable @inline(__always)
    package func word(_ key: Int64, _ row: UnsafeRawBufferPointer) throws(EngineError) -> UInt64 {
        if isKey { return UInt64(bitPattern: key) }
        guard row.count >= headBytes else { throw PackedTable.tooShort(row.count) }
        return UInt64(littleEndian: row.loadUnaligned(fromByteOffset: place, as: UInt64.self))
    }

    /// Whether the value is in the row: only the key's value is not.
    @inlinable
    package var isInRow: Bool { !isKey }

    /// As ``word(_:_:)``, for a column in the row, without a check for the key.
    @inlinable @inline(__always)
    package func word(in row: UnsafeRawBufferPointer) throws(EngineError) -> UInt64 {
        guard row.count >= headBytes else { throw PackedTable.tooShort(row.count) }
        return UInt64(littleEndian: row.loadUnaligned(fromByteOffset: place, as: UInt64.self))
    }

    /// The bytes of a text or a list.
    @inlinable @inline(__always)
    package func bytes(_ row: UnsafeRawBufferPointer) throws(EngineError) -> UnsafeRawBufferPointer {
        guard row.count >= headBytes else { throw PackedTable.tooShort(row.count) }
        let start = place == 0 ? 0 : end(of: place - 1, row)
        let end = isLast ? row.count - headBytes : end(of: place, row)
        guard start <= end, end <= row.count - headBytes else { throw PackedTable.tooShort(row.count) }
        return UnsafeRawBufferPointer(rebasing: row[(headBytes + start)..<(headBytes + end)])
    }

    @usableFromInline @inline(__always)
    func end(of place: Int, _ row: UnsafeRawBufferPointer) -> Int {
        Int(UInt32(littleEndian: row.loadUnaligned(fromByteOffset: fixedBytes + place * 4, as: UInt32.self)))
    }

    @inlinable @inline(__always)
    package func add(
        _ key: Int64, _ row: UnsafeRawBufferPointer, to digest: inout ReadDigest
    ) throws(EngineError) {
        switch kind {
        case .integer: digest.add(integer: Int64(bitPattern: try word(key, row)))
        case .real: digest.add(real: Double(bitPattern: try word(key, row)))
        case .text: digest.add(utf8: try bytes(row).bindMemory(to: UInt8.self))
        case .link:
            let target = Int64(bitPattern: try word(key, row))
            digest.add(target < 0 ? .null : .link(Int(target)))
        case .links:
            let targets = try bytes(row)
            for place in stride(from: 0, to: targets.count & ~3, by: 4) {
                let target = targets.loadUnaligned(fromByteOffset: place, as: Int32.self)
                digest.add(integer: Int64(Int32(littleEndian: target)))
            }
        }
    }
}
