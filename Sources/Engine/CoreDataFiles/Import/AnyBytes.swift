/// A value of any type as the object layer keeps it (docs/file-format-objects.md).
package enum AnyBytes {
    package static func bytes(_ value: KeyedArchive.Plain) -> [UInt8] {
        switch value {
        case .null: []
        case .integer(let number): [0] + Self.bytes(of: UInt64(bitPattern: number))
        case .bool(let flag): [1, flag ? 1 : 0]
        case .string(let text): [2] + Array(text.utf8)
        case .data(let bytes): [3] + bytes
        case .date(let seconds): [4] + Self.bytes(of: seconds.bitPattern)
        case .real(let number): [6] + Self.bytes(of: number.bitPattern)
        case .uuid(let bytes): [12] + bytes
        case .array(let values): [13] + (values.isEmpty ? [] : list(values.map(Self.bytes)))
        case .dictionary(let members): [14] + map(members)
        }
    }

    private static func bytes(of value: UInt64) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }

    private static func put(_ value: Int, _ bytes: inout [UInt8]) {
        withUnsafeBytes(of: UInt32(clamping: value).littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// A list of values: data (kind 7) or text (kind 6); with a bitmap of the absent elements, if there are any.
    private static func list(_ elements: [[UInt8]], kind: UInt8 = 7) -> [UInt8] {
        let hasNulls = kind == 7 && elements.contains { $0.isEmpty }
        var bytes: [UInt8] = [kind, hasNulls ? 1 : 0]
        put(elements.count, &bytes)
        if hasNulls {
            var bitmap = [UInt8](repeating: 0, count: (elements.count + 7) / 8)
            for (index, element) in elements.enumerated() where element.isEmpty {
                bitmap[index / 8] |= 1 << UInt8(index % 8)
            }
            bytes += bitmap
        }
        var offset = 0
        put(0, &bytes)
        for element in elements {
            offset += element.count
            put(offset, &bytes)
        }
        for element in elements { bytes += element }
        return bytes
    }

    private static func map(_ members: [String: KeyedArchive.Plain]) -> [UInt8] {
        if members.isEmpty { return [] }
        let sorted = members.map { (Array($0.key.utf8), $0.value) }.sorted { $0.0.lexicographicallyPrecedes($1.0) }
        let keys = list(sorted.map(\.0), kind: 6)
        var bytes: [UInt8] = []
        put(keys.count, &bytes)
        return bytes + keys + list(sorted.map { Self.bytes($0.1) })
    }
}
