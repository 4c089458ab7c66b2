/// Values of any type as queries compare and sorts order them.
///
/// Null, numbers and text are as a property of their own type has them. Everything else is bytes that begin with the
/// type, so that a date equals no number, a boolean no integer, and an object none of another class; behind the type
/// they stand so that the order of the bytes is that of the values.
enum AnyComparable {
    /// What a column holds; nil when the bytes are not of the layout.
    static func value(_ bytes: UnsafeRawBufferPointer) -> _StoredValue? {
        guard let first = bytes.first else { return .null }
        // Of no other type: nothing but itself equals it.
        if NestedEncoding.isKeyed(first) != nil { return .bytes(Array(bytes)) }
        guard let type = PropertyType(rawValue: first) else { return nil }
        if type == .object {
            guard bytes.count == 21 else { return nil }
            return link(
                table: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 17, as: UInt32.self)),
                key: Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: 1, as: Int64.self)),
                creation: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 9, as: UInt64.self)))
        }
        return AnyEncoding.plain(bytes).map { value($0, type) }
    }

    /// A value of a known type. Where none is known, the value tells.
    static func value(_ plain: _StoredValue, _ type: PropertyType?) -> _StoredValue {
        switch (type, plain) {
        case (.bool, .integer(let value)): return .bytes([PropertyType.bool.rawValue, value == 0 ? 0 : 1])
        case (.date, .double(let value)): return tagged(.date, bigEndian(value.orderedBits))
        case (.data, .bytes(let bytes)), (nil, .bytes(let bytes)): return tagged(.data, bytes)
        case (.objectId, .bytes(let bytes)): return tagged(.objectId, bytes)
        case (.UUID, .bytes(let bytes)): return tagged(.UUID, bytes)
        default: return plain
        }
    }

    static func link(table: UInt32, key: Int64, creation: UInt64) -> _StoredValue {
        tagged(
            .object, bigEndian(UInt64(table)) + bigEndian(UInt64(bitPattern: key) ^ 1 << 63) + bigEndian(creation))
    }

    private static func tagged(_ type: PropertyType, _ bytes: [UInt8]) -> _StoredValue {
        .bytes([type.rawValue] + bytes)
    }

    private static func bigEndian(_ bits: UInt64) -> [UInt8] { withUnsafeBytes(of: bits.bigEndian) { Array($0) } }
}
