/// How a segment will encode some rows of a column: its size is known before it is written.
///
/// Integers get a frame of reference and the narrowest width that fits; if only a few values would widen it, those
/// become exceptions.
struct SegmentPlan {
    let kind: SegmentKind
    let rows: Range<Int>
    /// In bytes.
    let size: Int
    let flags: Int
    let width: Int
    let base: Int64
    /// Number of exceptions, or the equal length.
    let auxiliary: Int

    /// Choice of the frame of reference for integers.
    enum Frame {
        /// The narrowest: it may leave out a few values, which become exceptions.
        case tight
        /// At least one byte wide, with the values in the middle, so that later values fit. No exceptions.
        case roomy
    }

    /// - Complexity: O(rows): one pass for bytes, at most four for integers.
    init(_ column: ColumnBuffer, _ rows: Range<Int>, _ frame: Frame = .tight) {
        switch column.kind {
        case .integer: self.init(integers: column, rows, frame)
        case .double:
            let nulls = Self.nullFlag(column, rows)
            let size = 8 + rows.count * 8 + (nulls != 0 ? Segment.bitBytes(rows.count) : 0)
            self.init(kind: .double, rows: rows, size: size, flags: nulls, width: 8)
        case .bytes: self.init(bytes: column, rows)
        }
    }

    private init(
        kind: SegmentKind, rows: Range<Int>, size: Int, flags: Int, width: Int = 0, base: Int64 = 0, auxiliary: Int = 0
    ) {
        self.kind = kind
        self.rows = rows
        self.size = size
        self.flags = flags
        self.width = width
        self.base = base
        self.auxiliary = auxiliary
    }

    private static func nullFlag(_ column: ColumnBuffer, _ rows: Range<Int>) -> Int {
        guard column.hasFlags else { return 0 }
        for row in rows where column.flags[row] & ColumnBuffer.Flag.null != 0 { return Segment.hasNulls }
        return 0
    }

    // MARK: Integers

    private init(integers column: ColumnBuffer, _ rows: Range<Int>, _ frame: Frame) {
        let nulls = Self.nullFlag(column, rows)
        let (low, high) = Self.bounds(column, rows, skippingNulls: nulls != 0)
        let span = UInt64(bitPattern: high) &- UInt64(bitPattern: low)
        let width = frame == .tight ? Self.width(of: span) : max(Self.width(of: span), 1)
        let nullSize = nulls != 0 ? Segment.bitBytes(rows.count) : 0
        let plain = Self(
            kind: .integer, rows: rows, size: 16 + aligned8(rows.count * width) + nullSize, flags: nulls,
            width: width, base: frame == .tight ? low : Self.middle(low, span, width))
        guard frame == .tight, width > 1, rows.count >= 64,
            let better = Self.withExceptions(
                column, rows, low: low, high: high, width: width, nulls: nulls, nullSize: nullSize),
            better.size < plain.size
        else {
            self = plain
            return
        }
        self = better
    }

    private static func bounds(
        _ column: ColumnBuffer, _ rows: Range<Int>, skippingNulls: Bool
    ) -> (low: Int64, high: Int64) {
        var low = Int64.max
        var high = Int64.min
        if skippingNulls {
            for row in rows where !column.isNull(row) {
                low = min(low, column.integer(row))
                high = max(high, column.integer(row))
            }
        } else {
            let words = column.words
            for row in rows {
                let value = Int64(bitPattern: words[row])
                low = value < low ? value : low
                high = value > high ? value : high
            }
        }
        return low > high ? (0, 0) : (low, high)
    }

    @inline(__always)
    static func width(of span: UInt64) -> Int {
        span == 0 ? 0 : span < 1 << 8 ? 1 : span < 1 << 16 ? 2 : span < 1 << 32 ? 4 : 8
    }

    /// The base with equal space below the lowest value and above the highest.
    private static func middle(_ low: Int64, _ span: UInt64, _ width: Int) -> Int64 {
        if width == 8 { return .min }
        let reach = Int64(1) << Int64(8 * width) - 1
        let half = (reach - Int64(truncatingIfNeeded: span)) / 2
        let (base, overflow) = low.subtractingReportingOverflow(half)
        return min(overflow ? .min : base, .max - reach)
    }

    /// A plan of half the width, for which at most one row in 64 is an exception: all above the frame, or all below it.
    private static func withExceptions(
        _ column: ColumnBuffer, _ rows: Range<Int>, low: Int64, high: Int64, width: Int, nulls: Int,
        nullSize: Int
    ) -> SegmentPlan? {
        let narrow = width == 8 ? 4 : width / 2
        let span = UInt64(1) << UInt64(8 * narrow) - 1
        let limit = rows.count / 64
        for fromTop in [false, true] {
            let base = fromTop ? Int64(bitPattern: UInt64(bitPattern: high) &- span) : low
            var outside = 0
            for row in rows {
                if nulls != 0 && column.isNull(row) { continue }
                if UInt64(bitPattern: column.integer(row)) &- UInt64(bitPattern: base) > span { outside += 1 }
                if outside > limit { break }
            }
            if outside <= limit {
                let size = 16 + aligned8(rows.count * narrow) + nullSize + aligned8(2 * outside) + 8 * outside
                return Self(
                    kind: .integer, rows: rows, size: size, flags: nulls | Segment.hasExceptions, width: narrow,
                    base: base, auxiliary: outside)
            }
        }
        return nil
    }

    // MARK: Bytes

    private init(bytes column: ColumnBuffer, _ rows: Range<Int>) {
        var total = 0
        var isEqual = true
        let first = rows.isEmpty ? 0 : Int(column.lengths[rows.lowerBound])
        var all: UInt8 = 0
        for row in rows {
            let length = Int(column.lengths[row])
            total += length
            isEqual = isEqual && length == first
            all |= column.flags[row]
        }
        var flags = isEqual ? Segment.equalLength : 0
        var size = Segment.headSize + (isEqual ? total : total + 2 * (rows.count + 1))
        if all & ColumnBuffer.Flag.null != 0 {
            flags |= Segment.hasNulls
            size += Segment.bitBytes(rows.count)
        }
        if all & ColumnBuffer.Flag.long != 0 {
            flags |= Segment.hasLong
            size += Segment.bitBytes(rows.count)
        }
        self.init(kind: .bytes, rows: rows, size: size, flags: flags, auxiliary: isEqual ? first : 0)
    }

    /// Number of rows from `start` that fit a segment of `capacity` bytes, at least one; with the plan of these rows,
    /// if one was made on the way.
    static func fitting(
        _ column: ColumnBuffer, from start: Int, to end: Int, capacity: Int
    ) -> (plan: SegmentPlan?, count: Int) {
        let n = end - start
        switch column.kind {
        case .integer:
            let whole = SegmentPlan(column, start..<end)
            if whole.size <= capacity { return (whole, n) }
            let bits = whole.width * 8 + (whole.flags & Segment.hasNulls) + 1
            return (nil, max(1, min(n, (capacity - 32) * 8 / bits)))
        case .double:
            let bits = column.hasFlags ? 65 : 64
            return (nil, max(1, min(n, (capacity - 24) * 8 / bits)))
        case .bytes:
            var used = Segment.headSize + 2 + 16
            let perRow = 2
            var row = start
            let bits = column.hasFlags ? 2 : 0
            while row < end {
                used += perRow + Int(column.lengths[row])
                if used + bits * ((row - start) / 8 + 1) > capacity { break }
                row += 1
            }
            let counted = row - start
            if counted < n, n > 1, let equal = equalFit(column, from: start, to: end, capacity: capacity),
                equal > counted
            {
                return (nil, equal)
            }
            return (nil, max(1, counted))
        }
    }

    private static func equalFit(_ column: ColumnBuffer, from start: Int, to end: Int, capacity: Int) -> Int? {
        let length = Int(column.lengths[start])
        if length == 0 || column.hasFlags { return nil }
        let most = min(end - start, (capacity - Segment.headSize) / length)
        var row = start
        while row < start + most && Int(column.lengths[row]) == length { row += 1 }
        return row - start
    }

    // MARK: Writing

    /// Encodes the segment to `size` zeroed or stale bytes; every byte of it is set.
    func write(_ column: ColumnBuffer, to target: UnsafeMutableRawPointer) {
        target.put64(0, 0)
        target.put8(Segment.Field.kind, Int(kind.rawValue))
        target.put8(Segment.Field.flags, flags)
        target.put16(Segment.Field.rows, rows.count)
        target.put8(Segment.Field.width, width)
        target.put16(Segment.Field.auxiliary, auxiliary)
        switch kind {
        case .integer: writeIntegers(column, target)
        case .double:
            (target + Segment.headSize).copyMemory(from: column.words + rows.lowerBound, byteCount: rows.count * 8)
            if flags & Segment.hasNulls != 0 {
                writeBits(column, ColumnBuffer.Flag.null, target + Segment.headSize + rows.count * 8)
            }
        case .bytes: writeBytes(column, target)
        }
    }

    private func writeBits(_ column: ColumnBuffer, _ flag: UInt8, _ target: UnsafeMutableRawPointer) {
        target.initializeMemory(as: UInt8.self, repeating: 0, count: Segment.bitBytes(rows.count))
        for (index, row) in rows.enumerated() where column.flags[row] & flag != 0 {
            let old = target.load(fromByteOffset: index >> 3, as: UInt8.self)
            target.storeBytes(of: old | 1 << UInt8(index & 7), toByteOffset: index >> 3, as: UInt8.self)
        }
    }

    private func writeIntegers(_ column: ColumnBuffer, _ target: UnsafeMutableRawPointer) {
        target.putI64(Segment.Field.integerBase, base)
        let values = target + Segment.integersOffset
        let words = column.words + rows.lowerBound
        let n = rows.count
        let frame = UInt64(bitPattern: base)
        let bytes = n * width
        if aligned8(bytes) != bytes { values.put64(bytes & ~7, 0) }
        switch width {
        case 1:
            for i in 0..<n {
                values.storeBytes(of: UInt8(truncatingIfNeeded: words[i] &- frame), toByteOffset: i, as: UInt8.self)
            }
        case 2: for i in 0..<n { values.put16(i * 2, Int(truncatingIfNeeded: words[i] &- frame)) }
        case 4: for i in 0..<n { values.put32(i * 4, UInt32(truncatingIfNeeded: words[i] &- frame)) }
        case 8: for i in 0..<n { values.put64(i * 8, words[i] &- frame) }
        default: break
        }
        var offset = 16 + aligned8(bytes)
        if flags & Segment.hasNulls != 0 {
            writeBits(column, ColumnBuffer.Flag.null, target + offset)
            offset += Segment.bitBytes(n)
        }
        if flags & Segment.hasExceptions != 0 { writeExceptions(column, target, offset) }
    }

    private func writeExceptions(_ column: ColumnBuffer, _ target: UnsafeMutableRawPointer, _ offset: Int) {
        let span = UInt64(1) << UInt64(8 * width) - 1
        let slots = aligned8(2 * auxiliary)
        if slots > 0 { target.put64(offset + slots - 8, 0) }
        var index = 0
        for (slot, row) in rows.enumerated() where !column.isNull(row) {
            if column.words[row] &- UInt64(bitPattern: base) > span {
                target.put16(offset + 2 * index, slot)
                target.put64(offset + slots + 8 * index, column.words[row])
                index += 1
            }
        }
    }

    private func writeBytes(_ column: ColumnBuffer, _ target: UnsafeMutableRawPointer) {
        var offset = Segment.headSize
        if flags & Segment.hasNulls != 0 {
            writeBits(column, ColumnBuffer.Flag.null, target + offset)
            offset += Segment.bitBytes(rows.count)
        }
        if flags & Segment.hasLong != 0 {
            writeBits(column, ColumnBuffer.Flag.long, target + offset)
            offset += Segment.bitBytes(rows.count)
        }
        var heap = target + offset
        if flags & Segment.equalLength == 0 {
            heap = target + (offset + 2 * (rows.count + 1))
            target.put16(offset, 0)
        }
        let isEqual = flags & Segment.equalLength != 0
        let (words, lengths) = (column.words, column.lengths)
        var used = 0
        var row = rows.lowerBound
        // Values that follow one another in memory, as in the segment that they come from, are copied together.
        while row < rows.upperBound {
            let start = words[row]
            var end = start
            repeat {
                end &+= UInt64(lengths[row])
                row += 1
                if !isEqual { target.put16(offset + 2 * (row - rows.lowerBound), used + Int(end &- start)) }
            } while row < rows.upperBound && words[row] == end
            let count = Int(end &- start)
            if count > 0, let source = UnsafeRawPointer(bitPattern: UInt(start)) {
                (heap + used).copyMemory(from: source, byteCount: count)
            }
            used += count
        }
    }
}
