/// Encoding of a segment's values.
package enum SegmentKind: UInt8, Sendable {
    case integer = 1
    case double = 2
    case bytes = 3

    init(_ type: ColumnType) {
        switch type {
        case .integer, .link: self = .integer
        case .double: self = .double
        case .bytes, .links: self = .bytes
        }
    }
}

/// A segment: values of one column for a run of slots.
///
/// Only made for bytes that ``validatedSize(_:available:takesTrees:)`` accepts, so that reading needs no check except
/// of the slot.
///
/// Layout: kind u8, flags u8 (1 nulls, 2 exceptions or long values, 4 equal lengths), rows u16, width u8, zero u8,
/// auxiliary u16 (exceptions; or the equal length). Then, by kind:
/// - integer: base i64, rows x width of offsets from it, null bits, exception slots u16 each, exception values i64 each
/// - double: rows x 8, null bits
/// - bytes: null bits, long bits, then equal lengths: the bytes; else rows + 1 offsets u16 and the bytes
///
/// Each part starts at a multiple of 8, except the bytes behind offsets.
package struct Segment {
    /// Offsets of the head's fields, from the segment's start.
    enum Field {
        static let kind = 0
        static let flags = 1
        static let rows = 2
        static let width = 4
        static let auxiliary = 6
        /// Only for integers: the base of their offsets.
        static let integerBase = 8
    }

    static let headSize = 8
    /// Bytes before the packed integers: the head and their base.
    static let integersOffset = 16
    static let hasNulls = 1
    static let hasExceptions = 2
    static let hasLong = 2
    static let equalLength = 4

    let base: UnsafeRawPointer

    @inline(__always) package init(_ base: UnsafeRawPointer) { self.base = base }

    @inline(__always) package var kind: SegmentKind? { SegmentKind(rawValue: base.load(as: UInt8.self)) }
    @inline(__always) package var kindCode: UInt8 { base.load(as: UInt8.self) }
    @inline(__always) var flags: Int { base.u8(Field.flags) }
    @inline(__always) package var rows: Int { base.u16(Field.rows) }
    @inline(__always) var width: Int { base.u8(Field.width) }
    @inline(__always) var auxiliary: Int { base.u16(Field.auxiliary) }

    @inline(__always) static func bitBytes(_ rows: Int) -> Int { aligned8((rows + 7) >> 3) }

    @inline(__always)
    private func bit(_ offset: Int, _ slot: Int) -> Bool { base.u8(offset + slot >> 3) >> (slot & 7) & 1 != 0 }

    /// Offset of the null bits; meaningful only if there are any.
    @inline(__always)
    var nullOffset: Int {
        switch kindCode {
        case SegmentKind.integer.rawValue: Self.integersOffset + aligned8(rows * width)
        case SegmentKind.double.rawValue: Self.headSize + rows * 8
        default: Self.headSize
        }
    }

    @inline(__always)
    package func isNull(_ slot: Int) -> Bool {
        flags & Self.hasNulls != 0 && base.u8(nullOffset + slot >> 3) >> (slot & 7) & 1 != 0
    }

    /// Whether null bits are set without a row; filters would take them for rows of the next segment.
    var hasNullsBehindRows: Bool {
        guard flags & Self.hasNulls != 0 else { return false }
        return (rows..<(8 * Self.bitBytes(rows))).contains { isNull($0) }
    }

    // MARK: Integers

    @inline(__always) var integerBase: Int64 { base.i64(Field.integerBase) }
    @inline(__always) var integerValues: UnsafeRawPointer { base + Self.integersOffset }

    @inline(__always)
    package func integer(_ slot: Int) -> Int64 {
        let delta: UInt64
        switch width {
        case 0: delta = 0
        case 1: delta = UInt64(base.load(fromByteOffset: Self.integersOffset + slot, as: UInt8.self))
        case 2: delta = UInt64(base.u16(Self.integersOffset + slot * 2))
        case 4: delta = UInt64(base.u32(Self.integersOffset + slot * 4))
        default: delta = base.u64(Self.integersOffset + slot * 8)
        }
        if flags & Self.hasExceptions != 0, let value = exception(slot) { return value }
        return Int64(bitPattern: UInt64(bitPattern: integerBase) &+ delta)
    }

    var exceptionOffset: Int { nullOffset + (flags & Self.hasNulls != 0 ? Self.bitBytes(rows) : 0) }

    @inline(never)
    func exception(_ slot: Int) -> Int64? {
        let start = exceptionOffset
        let n = auxiliary
        var low = 0
        var left = n
        while left > 0 {
            let half = left >> 1
            if base.u16(start + 2 * (low + half)) < slot {
                low += half + 1
                left -= half + 1
            } else {
                left = half
            }
        }
        guard low < n, base.u16(start + 2 * low) == slot else { return nil }
        return base.i64(start + aligned8(2 * n) + 8 * low)
    }

    /// Whether integers may lie in a range, judged by base and width.
    func mayHave(_ range: ClosedRange<Int64>) -> Bool {
        if kindCode != SegmentKind.integer.rawValue || flags & Self.hasExceptions != 0 || width == 8 { return true }
        let (end, overflow) = integerBase.addingReportingOverflow((1 << Int64(8 * width)) - 1)
        return range.upperBound >= integerBase && (overflow || range.lowerBound <= end)
    }

    // MARK: Doubles and bytes

    @inline(__always) package func double(_ slot: Int) -> Double {
        Double(bitPattern: base.u64(Self.headSize + slot * 8))
    }

    @inline(__always) var bytesOffset: Int {
        var offset = Self.headSize
        if flags & Self.hasNulls != 0 { offset += Self.bitBytes(rows) }
        if flags & Self.hasLong != 0 { offset += Self.bitBytes(rows) }
        return offset
    }

    @inline(__always)
    package func isLong(_ slot: Int) -> Bool {
        if flags & Self.hasLong == 0 { return false }
        return bit(Self.headSize + (flags & Self.hasNulls != 0 ? Self.bitBytes(rows) : 0), slot)
    }

    @inline(__always)
    package func bytes(_ slot: Int) -> UnsafeRawBufferPointer {
        let start = bytesOffset
        if flags & Self.equalLength != 0 {
            let length = auxiliary
            return UnsafeRawBufferPointer(start: base + (start + slot * length), count: length)
        }
        let first = base.u16(start + 2 * slot)
        let last = base.u16(start + 2 * slot + 2)
        // Offsets of a validated segment descend only if the mapping has lost the page since.
        return UnsafeRawBufferPointer(start: base + (start + 2 * (rows + 1) + first), count: max(last - first, 0))
    }

    // MARK: Validation

    /// Whether the segment can hold keys or creation versions.
    var isSystem: Bool { kindCode == SegmentKind.integer.rawValue && flags & Self.hasNulls == 0 }

    /// - Throws: `corrupt` if the values are of another kind.
    @inline(__always)
    func require(_ kind: SegmentKind, _ pages: PageReader) throws(StorageError) {
        if kindCode != kind.rawValue { throw pages.damage(at: base) }
    }

    /// The size in bytes of the segment at `base`; nil if it is none that fits `available` bytes.
    /// - Parameter takesTrees: long values may be trees of elements. The reader, which knows the column, checks
    ///   whether it may have such values.
    static func validatedSize(_ base: UnsafeRawPointer, available: Int, takesTrees: Bool = true) -> Int? {
        guard available >= headSize, let kind = SegmentKind(rawValue: base.load(as: UInt8.self)) else { return nil }
        let segment = Segment(base)
        guard segment.flags & ~(hasNulls | hasLong | equalLength) == 0 else { return nil }
        let rows = segment.rows
        let nulls = segment.flags & hasNulls != 0 ? bitBytes(rows) : 0
        switch kind {
        case .integer:
            guard [0, 1, 2, 4, 8].contains(segment.width) else { return nil }
            let exceptions = segment.flags & hasExceptions != 0 ? segment.auxiliary : 0
            let size = 16 + aligned8(rows * segment.width) + nulls + aligned8(2 * exceptions) + 8 * exceptions
            guard size <= available else { return nil }
            return segment.exceptionsAreOrdered(exceptions) ? size : nil
        case .double:
            let size = 8 + rows * 8 + nulls
            return size <= available ? size : nil
        case .bytes:
            return segment.validatedBytesSize(available, takesTrees)
        }
    }

    private func exceptionsAreOrdered(_ count: Int) -> Bool {
        var last = -1
        let start = exceptionOffset
        for index in 0..<count {
            let slot = base.u16(start + 2 * index)
            if slot <= last || slot >= rows { return false }
            last = slot
        }
        return true
    }

    private func validatedBytesSize(_ available: Int, _ takesTrees: Bool) -> Int? {
        let start = bytesOffset
        guard start <= available else { return nil }
        if flags & Self.equalLength != 0 {
            let size = start + rows * auxiliary
            guard size <= available else { return nil }
        } else {
            guard start + 2 * (rows + 1) <= available, base.u16(start) == 0 else { return nil }
            let room = available - start - 2 * (rows + 1)
            var last = 0
            for row in 1..<(rows + 1) {
                let next = base.u16(start + 2 * row)
                if next < last || next > room { return nil }
                last = next
            }
        }
        if flags & Self.hasLong != 0 {
            for row in 0..<rows where isLong(row) {
                guard bytes(row).count == LongValue.size, let value = bytes(row).baseAddress,
                    LongValue(value).isPlausible(takesTrees: takesTrees)
                else { return nil }
            }
        }
        return start + (flags & Self.equalLength != 0 ? rows * auxiliary : 2 * (rows + 1) + base.u16(start + 2 * rows))
    }
}
