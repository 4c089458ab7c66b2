/// Values of any type in the form that queries compare and sorts order.
///
/// Null, numbers and text have the form of a property of their own type. Every other value is bytes that begin with its
/// type, so that a date equals no number, a boolean no integer, and an object none of another class. The bytes behind
/// the type order as the values do.
enum AnyComparable {
    /// The comparable form of the bytes of a column; nil if they do not have the layout of ``AnyEncoding``.
    static func value(_ bytes: UnsafeRawBufferPointer) -> _StoredValue? {
        guard let first = bytes.first else { return .null }
        // A list or a map: no other value's bytes begin as its do, so that it equals only a collection of equal bytes.
        if NestedEncoding.isKeyed(first) != nil { return .bytes(Array(bytes)) }
        guard let type = PropertyType(rawValue: first) else { return nil }
        if type == .object {
            return AnyEncoding.link(bytes).map { link(table: $0.table, key: $0.key, creation: $0.creation) }
        }
        return AnyEncoding.plain(bytes).map { value($0, type) }
    }

    /// The comparable form of a value of `type`. Without a type, the value's own case decides: bytes count as data.
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

    /// The link in bytes from ``link(table:key:creation:)``; nil for others.
    static func link(_ bytes: [UInt8]) -> AnyEncoding.Link? {
        guard bytes.count == 25, bytes[0] == PropertyType.object.rawValue else { return nil }
        return bytes.withUnsafeBytes { bytes in
            func word(_ offset: Int) -> UInt64 {
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            }
            return AnyEncoding.Link(
                table: UInt32(truncatingIfNeeded: word(1)), key: Int64(bitPattern: word(9) ^ 1 << 63),
                creation: word(17))
        }
    }

    private static func tagged(_ type: PropertyType, _ bytes: [UInt8]) -> _StoredValue {
        .bytes([type.rawValue] + bytes)
    }

    private static func bigEndian(_ bits: UInt64) -> [UInt8] { withUnsafeBytes(of: bits.bigEndian) { Array($0) } }
}

extension _StoredValue {
    /// Decodes the bytes of a column to the form that queries compare.
    init(_ bytes: UnsafeRawBufferPointer, _ tag: ColumnTag) {
        switch tag.collection == .none ? tag.type : .data {
        case .string: self = .text(String(decoding: bytes, as: UTF8.self))
        case .decimal128: self = Decimal128(bytes: bytes).map { .decimal($0) } ?? .null
        case .any: self = AnyComparable.value(bytes) ?? .null
        default: self = .bytes(Array(bytes))
        }
    }
}
