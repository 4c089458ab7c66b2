import CXXHash

/// Maps a value to its key in an index tree: an integer that is equal for equal values and, in ordered trees, has their
/// order.
enum IndexKey {
    /// The key of null.
    static let null = Int64.min

    static func high(_ cell: Cell, _ column: ColumnDefinition) -> Int64 {
        switch cell.kind {
        case .null: null
        case .integer: cell.integerValue
        case .double: ordered(cell.doubleValue)
        case .bytes: high(cell.bytesValue, isHashed: column.index == .hash)
        }
    }

    /// - Parameter isHashed: whether the column has a hash index.
    @inline(__always)
    static func high(_ bytes: UnsafeRawBufferPointer, isHashed: Bool) -> Int64 {
        isHashed ? Int64(bitPattern: hash(bytes)) : prefix(bytes)
    }

    private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 { XXH3_64bits(bytes.baseAddress, bytes.count) }

    /// The order of doubles as an order of integers; both zeros are equal.
    static func ordered(_ value: Double) -> Int64 {
        #if Zoo
            let isZero = value == 0 && !PlantedMistake.zerosDiffer.isPlanted
        #else
            let isZero = value == 0
        #endif
        let bits = Int64(bitPattern: (isZero ? 0.0 : value).bitPattern)
        return bits >= 0 ? bits : Int64.min &- bits &- 1
    }

    /// The first eight bytes, so that order is kept up to ties.
    static func prefix(_ bytes: UnsafeRawBufferPointer) -> Int64 {
        if bytes.count >= 8, let base = bytes.baseAddress {
            return Int64(bitPattern: UInt64(bigEndian: base.loadUnaligned(as: UInt64.self)) ^ 1 << 63)
        }
        var value: UInt64 = 0
        for index in 0..<8 { value = value << 8 | (index < bytes.count ? UInt64(bytes[index]) : 0) }
        return Int64(bitPattern: value ^ 1 << 63)
    }
}
