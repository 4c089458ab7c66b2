/// Changes a segment in place if its encoding permits; if not, the caller encodes it anew.
///
/// Only for segments in the arena. Freed bytes are zeroed, so that equal contents have equal bytes.
enum SegmentEdit {
    /// Whether the segment can take one more such value: it has no nulls, exceptions or long values, and the value fits
    /// its width or common length.
    @inline(__always)
    static func takes(_ segment: Segment, _ value: CellValue) -> Bool {
        let cell = value.cell
        switch segment.kindCode {
        case SegmentKind.integer.rawValue:
            return segment.flags == 0 && cell.kind == .integer && fits(segment, cell.bits)
        case SegmentKind.double.rawValue: return segment.flags == 0 && cell.kind == .double
        default:
            return segment.flags & (Segment.hasNulls | Segment.hasLong) == 0 && cell.kind == .bytes
                && value.long == nil && (segment.flags == 0 || cell.count == segment.auxiliary)
        }
    }

    @inline(__always)
    private static func fits(_ segment: Segment, _ bits: UInt64) -> Bool {
        let width = segment.width
        return width == 8 || (bits &- UInt64(bitPattern: segment.integerBase)) >> UInt64(8 * width) == 0
    }

    // MARK: Replacing a value

    /// Replaces a value.
    /// - Parameter room: bytes behind the segment into which it may grow; 0 if it must keep its size.
    /// - Returns: false, with the segment unchanged, if the encoding does not take it.
    static func set(_ base: UnsafeMutableRawPointer, _ index: Int, _ value: CellValue, room: Int = 0) -> Bool {
        let segment = Segment(base)
        let cell = value.cell
        guard index < segment.rows, value.long == nil else { return false }
        if cell.isNull {
            guard segment.flags & Segment.hasNulls != 0, segment.kindCode != SegmentKind.bytes.rawValue else {
                return false
            }
            setNull(base, index, true)
            return true
        }
        switch segment.kindCode {
        case SegmentKind.integer.rawValue:
            guard cell.kind == .integer, fits(segment, cell.bits),
                segment.flags & Segment.hasExceptions == 0 || segment.exception(index) == nil
            else { return false }
            put(
                base + Segment.integersOffset, width: segment.width, at: index,
                cell.bits &- UInt64(bitPattern: segment.integerBase))
        case SegmentKind.double.rawValue:
            guard cell.kind == .double else { return false }
            base.put64(Segment.headSize + 8 * index, cell.bits)
        default: return setBytes(base, at: index, to: cell, room: room)
        }
        if segment.flags & Segment.hasNulls != 0 { setNull(base, index, false) }
        return true
    }

    private static func setNull(_ base: UnsafeMutableRawPointer, _ index: Int, _ isNull: Bool) {
        let at = Segment(base).nullOffset + index >> 3
        let bit = 1 << (index & 7)
        let old = UnsafeRawPointer(base).u8(at)
        base.put8(at, isNull ? old | bit : old & ~bit)
    }

    @inline(__always)
    static func put(_ values: UnsafeMutableRawPointer, width: Int, at index: Int, _ delta: UInt64) {
        switch width {
        case 0: break
        case 1: values.put8(index, Int(truncatingIfNeeded: delta))
        case 2: values.put16(2 * index, Int(truncatingIfNeeded: delta))
        case 4: values.put32(4 * index, UInt32(truncatingIfNeeded: delta))
        default: values.put64(8 * index, delta)
        }
    }

    private static func setBytes(_ base: UnsafeMutableRawPointer, at index: Int, to cell: Cell, room: Int) -> Bool {
        let segment = Segment(base)
        guard cell.kind == .bytes, !segment.isNull(index), !segment.isLong(index) else { return false }
        let old = segment.bytes(index)
        let change = cell.count - old.count
        if change != 0 {
            let rows = segment.rows
            guard segment.flags & Segment.equalLength == 0, room > 0, change <= room else { return false }
            let offsets = segment.bytesOffset
            let total = base.u16(offsets + 2 * rows)
            guard total + change <= Int(UInt16.max) else { return false }
            let end = base.u16(offsets + 2 * index + 2)
            let heap = base + (offsets + 2 * (rows + 1))
            (heap + (end + change)).copyMemory(from: heap + end, byteCount: total - end)
            if change < 0 { zero(heap + (total + change), -change) }
            for row in (index + 1)...rows { base.put16(offsets + 2 * row, base.u16(offsets + 2 * row) + change) }
        }
        if let source = cell.base, cell.count > 0 {
            let target = base + (UnsafeRawPointer(old.baseAddress ?? UnsafeRawPointer(base)) - UnsafeRawPointer(base))
            target.copyMemory(from: source, byteCount: cell.count)
        }
        return true
    }

    static func zero(_ start: UnsafeMutableRawPointer, _ count: Int) {
        start.initializeMemory(as: UInt8.self, repeating: 0, count: count)
    }

    // MARK: Inserting a value

    /// Size of the segment with one more value, which ``takes(_:_:)`` has accepted.
    @inline(__always)
    static func sizeWith(_ segment: Segment, _ value: CellValue) -> Int {
        switch segment.kindCode {
        case SegmentKind.integer.rawValue: Segment.integersOffset + aligned8((segment.rows + 1) * segment.width)
        case SegmentKind.double.rawValue: segment.size + 8
        default: segment.size + value.cell.count + (segment.flags == 0 ? 2 : 0)
        }
    }

    /// Inserts a value, which ``takes(_:_:)`` has accepted, before `index`. There must be space for ``sizeWith(_:_:)``.
    static func insert(_ base: UnsafeMutableRawPointer, _ index: Int, _ value: CellValue) {
        let segment = Segment(base)
        let rows = segment.rows
        let cell = value.cell
        switch segment.kindCode {
        case SegmentKind.integer.rawValue:
            let width = segment.width
            open(base + Segment.integersOffset, at: index * width, end: rows * width, count: width)
            put(
                base + Segment.integersOffset, width: width, at: index,
                cell.bits &- UInt64(bitPattern: segment.integerBase))
        case SegmentKind.double.rawValue:
            open(base + Segment.headSize, at: index * 8, end: rows * 8, count: 8)
            base.put64(Segment.headSize + 8 * index, cell.bits)
        default:
            if segment.flags & Segment.equalLength != 0 {
                open(base + Segment.headSize, at: index * cell.count, end: rows * cell.count, count: cell.count)
                copy(cell, to: base + (Segment.headSize + index * cell.count))
            } else {
                insertBytes(base, at: index, rows: rows, cell)
            }
        }
        base.put16(Segment.Field.rows, rows + 1)
    }

    /// Moves the bytes from `at` to `end` by `count`.
    @inline(__always)
    private static func open(_ start: UnsafeMutableRawPointer, at: Int, end: Int, count: Int) {
        if at < end { (start + (at + count)).copyMemory(from: start + at, byteCount: end - at) }
    }

    private static func copy(_ cell: Cell, to target: UnsafeMutableRawPointer) {
        if let source = cell.base, cell.count > 0 { target.copyMemory(from: source, byteCount: cell.count) }
    }

    private static func insertBytes(_ base: UnsafeMutableRawPointer, at index: Int, rows: Int, _ cell: Cell) {
        let offsets = base + Segment.headSize
        let at = offsets.u16(2 * index)
        let total = offsets.u16(2 * rows)
        let heap = offsets + 2 * (rows + 1)
        // From the end to the start, so that no bytes are overwritten before they moved.
        (heap + (2 + at + cell.count)).copyMemory(from: heap + at, byteCount: total - at)
        (heap + 2).copyMemory(from: heap, byteCount: at)
        copy(cell, to: heap + (2 + at))
        var row = rows
        while row >= index {
            offsets.put16(2 * (row + 1), offsets.u16(2 * row) + cell.count)
            row -= 1
        }
    }

    // MARK: Removing values

    /// Whether values can be removed without encoding the rest anew.
    static func isPlain(_ segment: Segment) -> Bool { segment.flags & ~Segment.equalLength == 0 }

    /// Removes values from a plain segment, and zeroes the freed bytes.
    static func remove(_ base: UnsafeMutableRawPointer, _ range: Range<Int>) {
        let segment = Segment(base)
        let old = segment.size
        let rows = segment.rows
        switch segment.kindCode {
        case SegmentKind.integer.rawValue: close(base + Segment.integersOffset, range, rows: rows, width: segment.width)
        case SegmentKind.double.rawValue: close(base + Segment.headSize, range, rows: rows, width: 8)
        default:
            if segment.flags & Segment.equalLength != 0 {
                close(base + Segment.headSize, range, rows: rows, width: segment.auxiliary)
            } else {
                removeBytes(base, range, rows)
            }
        }
        base.put16(Segment.Field.rows, rows - range.count)
        let new = Segment(base).size
        if new < old { zero(base + new, old - new) }
        if segment.kindCode == SegmentKind.integer.rawValue {
            let used = Segment.integersOffset + (rows - range.count) * segment.width
            zero(base + used, new - used)
        }
    }

    private static func close(_ start: UnsafeMutableRawPointer, _ range: Range<Int>, rows: Int, width: Int) {
        (start + range.lowerBound * width).copyMemory(
            from: start + range.upperBound * width, byteCount: (rows - range.upperBound) * width)
    }

    private static func removeBytes(_ base: UnsafeMutableRawPointer, _ range: Range<Int>, _ rows: Int) {
        let offsets = base + Segment.headSize
        let low = offsets.u16(2 * range.lowerBound)
        let high = offsets.u16(2 * range.upperBound)
        let total = offsets.u16(2 * rows)
        let heap = offsets + 2 * (rows + 1)
        for row in range.upperBound...rows {
            offsets.put16(2 * (row - range.count), offsets.u16(2 * row) - (high - low))
        }
        let newHeap = heap - 2 * range.count
        newHeap.copyMemory(from: heap, byteCount: low)
        (newHeap + low).copyMemory(from: heap + high, byteCount: total - high)
    }
}

extension Segment {
    /// Size of a segment that was validated, or encoded here. O(1).
    var size: Int {
        let nulls = flags & Self.hasNulls != 0 ? Self.bitBytes(rows) : 0
        switch kindCode {
        case SegmentKind.integer.rawValue:
            let exceptions = flags & Self.hasExceptions != 0 ? auxiliary : 0
            return Self.integersOffset + aligned8(rows * width) + nulls + aligned8(2 * exceptions) + 8 * exceptions
        case SegmentKind.double.rawValue: return Self.headSize + rows * 8 + nulls
        default:
            let start = bytesOffset
            if flags & Self.equalLength != 0 { return start + rows * auxiliary }
            return start + 2 * (rows + 1) + base.u16(start + 2 * rows)
        }
    }

    /// A value; its bytes are borrowed.
    func cellValue(_ slot: Int) -> CellValue {
        if isNull(slot) { return CellValue(.null) }
        switch kindCode {
        case SegmentKind.integer.rawValue: return CellValue(.integer(integer(slot)))
        case SegmentKind.double.rawValue: return CellValue(.double(double(slot)))
        default:
            let value = bytes(slot)
            guard isLong(slot), let descriptor = value.baseAddress else { return CellValue(.bytes(value)) }
            return CellValue(.null, long: LongValue(descriptor))
        }
    }
}

extension ColumnBuffer {
    /// A value; its bytes are borrowed.
    func cellValue(_ row: Int) -> CellValue {
        if isNull(row) { return CellValue(.null) }
        switch kind {
        case .integer: return CellValue(.integer(integer(row)))
        case .double: return CellValue(.double(Double(bitPattern: words[row])))
        case .bytes:
            let value = bytes(row)
            guard isLong(row), let descriptor = value.baseAddress else { return CellValue(.bytes(value)) }
            return CellValue(.null, long: LongValue(descriptor))
        }
    }
}
