/// A view of a list of plain values, valid as long as its bytes are. docs/file-format-objects.md draws the layout.
///
/// Layout: kind (1 byte), flags (1 byte, bit 0: a null bitmap follows the count), count (4 bytes, little-endian), the
/// bitmap (a bit per element, set when null), then by kind:
/// - integers: 1, 2, 3, 4 for 1, 2, 4, 8 bytes each, signed, little-endian
/// - doubles: 5, 8 bytes each
/// - text 6, data 7: count + 1 offsets (4 bytes each) into the bytes behind them
/// A null element holds zero, or no bytes. An empty list is no bytes at all.
package struct ValueList {
    /// The type of all elements of a list.
    package enum Kind: UInt8, Sendable {
        case integer8 = 1
        case integer16, integer32, integer64, double, text, data

        /// Bytes of an element; of texts and data, of an offset.
        package var width: Int {
            switch self {
            case .integer8: 1
            case .integer16: 2
            case .integer32, .text, .data: 4
            case .integer64, .double: 8
            }
        }

        /// The elements have individual lengths.
        package var hasOffsets: Bool { self == .text || self == .data }
    }

    package let kind: Kind
    package let count: Int
    private let bytes: UnsafeRawBufferPointer
    private let hasNulls: Bool
    /// Start of the elements, or of their offsets.
    private let start: Int

    private static let headSize = 6

    /// Nil if the bytes do not have this layout, so that every access to a list is safe.
    /// - Complexity: O(1); of texts and data O(count).
    package init?(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        if bytes.isEmpty {
            (kind, count, hasNulls, start) = (.integer8, 0, false, 0)
            return
        }
        guard bytes.count >= Self.headSize, let kind = Kind(rawValue: bytes[0]), bytes[1] <= 1 else { return nil }
        self.kind = kind
        count = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt32.self)))
        hasNulls = bytes[1] == 1
        start = Self.headSize + (hasNulls ? (count + 7) / 8 : 0)
        let elements = kind.hasOffsets ? count + 1 : count
        guard start <= bytes.count, elements <= (bytes.count - start) / kind.width else { return nil }
        if !kind.hasOffsets {
            if start + count * kind.width != bytes.count { return nil }
            return
        }
        var last = 0
        for index in 0...count {
            let next = offset(index)
            if next < last || index == 0 && next != 0 { return nil }
            last = next
        }
        if contents + last != bytes.count { return nil }
    }

    private var contents: Int { start + 4 * (count + 1) }

    private func offset(_ index: Int) -> Int {
        Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: start + 4 * index, as: UInt32.self)))
    }

    package func isNull(_ index: Int) -> Bool {
        precondition(index >= 0 && index < count)
        return hasNulls && bytes[Self.headSize + index / 8] >> UInt8(index % 8) & 1 == 1
    }

    /// An element of a list of integers.
    package func integer(_ index: Int) -> Int64 {
        precondition(index >= 0 && index < count)
        let at = start + index * kind.width
        switch kind {
        case .integer8: return Int64(Int8(bitPattern: bytes[at]))
        case .integer16: return Int64(Int16(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: Int16.self)))
        case .integer32: return Int64(Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: Int32.self)))
        case .integer64, .double:
            return Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: Int64.self))
        case .text, .data: return 0
        }
    }

    /// An element of a list of doubles.
    package func double(_ index: Int) -> Double { Double(bitPattern: UInt64(bitPattern: integer(index))) }

    /// An element of a list of texts or data.
    package func element(_ index: Int) -> UnsafeRawBufferPointer {
        precondition(index >= 0 && index < count && kind.hasOffsets)
        let low = offset(index)
        // Offsets descend, or leave the bytes, only if the page was lost or overwritten meanwhile.
        let high = min(max(offset(index + 1), low), bytes.count - contents)
        if low > high { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(rebasing: bytes[(contents + low)..<(contents + high)])
    }
}
