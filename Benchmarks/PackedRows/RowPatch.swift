import Harness
import Platform

/// Rewrites one integer of a packed row into a buffer of its own: engines need the whole value.
@usableFromInline
package final class RowPatch {
    private let table: PackedTable
    private let column: PackedColumn
    private var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 8)

    /// Throws: `refused` for the key, which does not change.
    @usableFromInline
    package init(_ table: PackedTable, _ column: PackedColumn) throws(EngineError) {
        guard !column.isKey else { throw EngineError(.refused, "column \(column.name) is the key of \(table.name)") }
        self.table = table
        self.column = column
    }

    deinit { buffer.deallocate() }

    /// Valid until the next call.
    @usableFromInline
    package func patched(
        _ row: UnsafeRawBufferPointer, with value: Int64
    ) throws(EngineError) -> UnsafeRawBufferPointer {
        guard row.count >= table.headBytes else { throw PackedTable.tooShort(row.count) }
        if row.count > buffer.count {
            buffer.deallocate()
            buffer = .allocate(byteCount: row.count * 2, alignment: 8)
        }
        buffer.copyMemory(from: row)
        buffer.storeBytes(of: value.littleEndian, toByteOffset: column.place, as: Int64.self)
        return UnsafeRawBufferPointer(rebasing: buffer[..<row.count])
    }
}

/// A text to compare with.
@usableFromInline
package final class PackedText {
    @usableFromInline let bytes: UnsafeMutableRawBufferPointer

    @usableFromInline
    package init(_ text: String) {
        let utf8 = Array(text.utf8)
        bytes = .allocate(byteCount: max(1, utf8.count), alignment: 8)
        bytes.copyBytes(from: utf8)
        count = utf8.count
    }

    @usableFromInline let count: Int

    deinit { bytes.deallocate() }

    @inlinable @inline(__always)
    package func equals(_ other: UnsafeRawBufferPointer) -> Bool {
        guard other.count == count else { return false }
        guard let start = other.baseAddress, let own = bytes.baseAddress else { return count == 0 }
        return memcmp(start, own, count) == 0
    }
}
