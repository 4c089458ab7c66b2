import StrataStorage

/// The bytes of a list of plain values, in the layout of ``ValueList``. It is permanent: docs/file-format-objects.md.
enum ListEncoding {
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

    /// Nil if the bytes are not of this layout.
    /// - Complexity: O(values and their bytes).
    static func decode(_ bytes: UnsafeRawBufferPointer) -> [_StoredValue]? {
        guard let list = ValueList(bytes) else { return nil }
        return (0..<list.count).map { value(list, $0) }
    }

    static func value(_ list: ValueList, _ place: Int) -> _StoredValue {
        if list.isNull(place) { return .null }
        switch list.kind {
        case .integer8, .integer16, .integer32, .integer64: return .integer(list.integer(place))
        case .double: return .double(list.double(place))
        case .text: return .text(String(decoding: list.element(place), as: UTF8.self))
        case .data: return .bytes(Array(list.element(place)))
        }
    }

    private static func kind(of values: [_StoredValue]) -> ValueList.Kind {
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
