import StrataStorage

/// The bytes of a list of plain values. The layout stays for ever: docs/file-format-objects.md.
///
/// Layout: kind (1 byte), flags (1 byte, bit 0: a null bitmap follows the count), count (4 bytes, little-endian), the
/// bitmap (a bit per element, set when null), then by kind:
/// - integers: 1, 2, 3, 4 for 1, 2, 4, 8 bytes each, signed, little-endian
/// - doubles: 5, 8 bytes each
/// - text 6, data 7: count + 1 offsets (4 bytes each) into the bytes behind them
/// A null element holds zero, or no bytes. An empty list is no bytes at all.
enum ListEncoding {
    private enum Kind: UInt8 {
        case integer8 = 1
        case integer16, integer32, integer64, double, text, data

        var width: Int {
            switch self {
            case .integer8: return 1
            case .integer16: return 2
            case .integer32: return 4
            default: return 8
            }
        }
    }

    /// - Complexity: O(values and their bytes).
    static func encode(_ values: [_StoredValue]) -> [UInt8] {
        guard !values.isEmpty else { return [] }
        let kind = kind(of: values)
        let hasNulls = values.contains { $0.isNull }
        var bytes: [UInt8] = [kind.rawValue, hasNulls ? 1 : 0]
        append(UInt32(values.count), 4, to: &bytes)
        if hasNulls {
            var bitmap = [UInt8](repeating: 0, count: (values.count + 7) / 8)
            for (index, value) in values.enumerated() where value.isNull { bitmap[index / 8] |= 1 << (index % 8) }
            bytes += bitmap
        }
        if kind == .text || kind == .data {
            var contents: [UInt8] = []
            append(UInt32(0), 4, to: &bytes)
            for value in values {
                switch value {
                case .text(let text): contents += Array(text.utf8)
                case .bytes(let data): contents += data
                case .decimal(let decimal): contents += decimal.storedBytes
                default: break
                }
                append(UInt32(truncatingIfNeeded: contents.count), 4, to: &bytes)
            }
            return bytes + contents
        }
        for value in values {
            switch value {
            case .integer(let integer): append(integer, kind.width, to: &bytes)
            case .double(let double): append(double.bitPattern, 8, to: &bytes)
            default: append(UInt64(0), kind.width, to: &bytes)
            }
        }
        return bytes
    }

    /// Nil when the bytes are too short for a head.
    static func count(_ bytes: UnsafeRawBufferPointer) -> Int? {
        if bytes.isEmpty { return 0 }
        guard bytes.count >= 6 else { return nil }
        let count = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt32.self)))
        return count <= bytes.count ? count : nil
    }

    /// Nil when the bytes are not of this layout.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> [_StoredValue]? {
        if bytes.isEmpty { return [] }
        guard bytes.count >= 6, let kind = Kind(rawValue: bytes[0]) else { return nil }
        let count = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt32.self)))
        let bitmap = bytes[1] & 1 == 1 ? (count + 7) / 8 : 0
        let start = 6 + bitmap
        func isNull(_ index: Int) -> Bool { bitmap > 0 && bytes[6 + index / 8] >> (index % 8) & 1 == 1 }
        guard count <= bytes.count, start <= bytes.count else { return nil }
        if kind == .text || kind == .data { return decodeContents(bytes, kind, start, count, isNull) }
        guard count * kind.width <= bytes.count - start else { return nil }
        return (0..<count).map { index in
            if isNull(index) { return .null }
            let at = start + index * kind.width
            switch kind {
            case .integer8: return .integer(Int64(Int8(bitPattern: bytes[at])))
            case .integer16:
                return .integer(Int64(Int16(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: Int16.self))))
            case .integer32:
                return .integer(Int64(Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: Int32.self))))
            case .double:
                let bits = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self))
                return .double(Double(bitPattern: bits))
            default: return .integer(Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: Int64.self)))
            }
        }
    }

    private static func decodeContents(
        _ bytes: UnsafeRawBufferPointer, _ kind: Kind, _ start: Int, _ count: Int, _ isNull: (Int) -> Bool
    ) -> [_StoredValue]? {
        let contents = start + 4 * (count + 1)
        guard contents <= bytes.count else { return nil }
        var values: [_StoredValue] = []
        values.reserveCapacity(count)
        var low = 0
        for index in 0..<count {
            let offset = start + 4 * (index + 1)
            let high = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
            guard high >= low, contents + high <= bytes.count else { return nil }
            let slice = UnsafeRawBufferPointer(rebasing: bytes[(contents + low)..<(contents + high)])
            if isNull(index) {
                values.append(.null)
            } else {
                values.append(kind == .text ? .text(String(decoding: slice, as: UTF8.self)) : .bytes(Array(slice)))
            }
            low = high
        }
        return values
    }

    private static func kind(of values: [_StoredValue]) -> Kind {
        var low: Int64 = 0
        var high: Int64 = 0
        for value in values {
            switch value {
            case .double: return .double
            case .text: return .text
            case .bytes, .decimal: return .data
            case .integer(let integer):
                low = min(low, integer)
                high = max(high, integer)
            default: break
            }
        }
        if Int8(exactly: low) != nil && Int8(exactly: high) != nil { return .integer8 }
        if Int16(exactly: low) != nil && Int16(exactly: high) != nil { return .integer16 }
        return Int32(exactly: low) != nil && Int32(exactly: high) != nil ? .integer32 : .integer64
    }

    private static func append(_ value: some FixedWidthInteger, _ width: Int, to bytes: inout [UInt8]) {
        for place in 0..<width { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * place))) }
    }
}
