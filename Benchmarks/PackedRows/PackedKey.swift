/// The bytes of a row's key.
@usableFromInline
package enum PackedKey {
    @inlinable
    package static var byteCount: Int { 9 }
    /// The key of the catalogue.
    package static let catalogue: UInt8 = 0

    @inlinable
    package static func write(_ table: UInt8, _ key: Int64, to bytes: UnsafeMutableRawPointer) {
        bytes.storeBytes(of: table, as: UInt8.self)
        let ordered = UInt64(bitPattern: key) ^ (1 << 63)
        bytes.storeBytes(of: ordered.bigEndian, toByteOffset: 1, as: UInt64.self)
    }

    /// nil when the bytes are not a key of that table.
    @inlinable
    package static func read(_ bytes: UnsafeRawBufferPointer, of table: UInt8) -> Int64? {
        guard bytes.count == byteCount, bytes[0] == table else { return nil }
        let ordered = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
        return Int64(bitPattern: ordered ^ (1 << 63))
    }
}

/// Memory for one key, owned by a session.
@usableFromInline
package final class KeyBuffer {
    @usableFromInline
    package let start = UnsafeMutableRawPointer.allocate(byteCount: PackedKey.byteCount, alignment: 8)

    package init() {}

    deinit { start.deallocate() }

    /// The key, in the buffer's own memory: valid while the buffer lives.
    @inlinable
    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: PackedKey.byteCount) }

    @inlinable
    package func set(_ table: UInt8, _ key: Int64) { PackedKey.write(table, key, to: start) }
}
