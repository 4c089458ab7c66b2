/// A leaf of an entry tree: one page with three columns, each as wide as its values need.
///
/// Layout after the node header: number of entries u16, width of highs u8, of lows u8, of counts u8, zero u8 x 3, base
/// high i64, base low i64; from byte 48 on the columns without gaps: high - base high, low - base low, count - 1. A
/// width is 0 (the column has only zeros), 1, 2, 4 or 8 bytes; that of counts is at most 4. The rest of the page is
/// zero.
///
/// A parameter `limit` is the most entries of a leaf (``StoreLimits/entries``).
///
/// 1. A leaf has at least one entry.
/// 2. Entries ascend strictly by (high, low).
/// 3. The columns end within the page.
struct EntryLeaf {
    static let columnsOffset = 48
    /// Bytes for the columns.
    static let capacity = Format.pageSize - columnsOffset

    let count: Int
    let highWidth: Int
    let lowWidth: Int
    let countWidth: Int
    let baseHigh: Int64
    let baseLow: Int64
    let highs: UnsafeRawPointer
    let lows: UnsafeRawPointer
    let counts: UnsafeRawPointer

    /// - Parameter node: a node that passed ``validate(_:bytes:)``.
    @inline(__always)
    init(_ node: UnsafeRawPointer) {
        count = node.u16(24)
        highWidth = node.u8(26)
        lowWidth = node.u8(27)
        countWidth = node.u8(28)
        baseHigh = node.i64(32)
        baseLow = node.i64(40)
        highs = node + Self.columnsOffset
        lows = highs + count * highWidth
        counts = lows + count * lowWidth
    }

    @inline(__always) func high(_ i: Int) -> Int64 {
        baseHigh &+ Int64(bitPattern: Self.value(highs, highWidth, i))
    }
    @inline(__always) func low(_ i: Int) -> Int64 { baseLow &+ Int64(bitPattern: Self.value(lows, lowWidth, i)) }
    @inline(__always) func count(_ i: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: Self.value(counts, countWidth, i)) &+ 1
    }
    @inline(__always) func key(_ i: Int) -> EntryKey { (high(i), low(i)) }

    /// Bytes of one entry.
    @inline(__always) var entrySize: Int { highWidth + lowWidth + countWidth }
    /// Bytes of all columns.
    @inline(__always) var size: Int { count * entrySize }

    @inline(__always)
    static func value(_ column: UnsafeRawPointer, _ width: Int, _ i: Int) -> UInt64 {
        switch width {
        case 0: 0
        case 1: UInt64(column.u8(i))
        case 2: UInt64(column.u16(2 * i))
        case 4: UInt64(column.u32(4 * i))
        default: column.u64(8 * i)
        }
    }

    /// The index of the first entry that does not precede `key`; ``count`` if all do.
    @inline(__always)
    func lowerBound(_ key: EntryKey) -> Int {
        var start = 0
        var end = count
        while start < end {
            let middle = (start + end) >> 1
            if EntryOperation.precedes(self.key(middle), key) { start = middle + 1 } else { end = middle }
        }
        return start
    }

    /// The index of the first entry that follows `key`; ``count`` if none does.
    @inline(__always)
    func upperBound(_ key: EntryKey) -> Int {
        var start = 0
        var end = count
        while start < end {
            let middle = (start + end) >> 1
            if EntryOperation.precedes(key, self.key(middle)) { end = middle } else { start = middle + 1 }
        }
        return start
    }

    /// The sum of the counts of some entries. Complexity: O(1) if every count is 1, else O(entries).
    func sum(_ entries: Range<Int>) -> UInt64 {
        if countWidth == 0 { return UInt64(entries.count) }
        var sum: UInt64 = 0
        for i in entries { sum &+= UInt64(count(i)) }
        return sum
    }

    /// Whether the leaf uses less than a quarter of `limit` and of the page, so that it should join a neighbour.
    func isUnderfull(limit: Int) -> Bool { 4 * count < limit && 4 * size < Self.capacity }

    /// Whether `node` keeps the invariants above, so that reading it is memory-safe without further checks.
    ///
    /// Complexity: O(entries).
    static func validate(_ node: UnsafeRawPointer, bytes: Int) -> Bool {
        guard bytes == Format.pageSize else { return false }
        let leaf = EntryLeaf(node)
        guard leaf.count > 0, isWidth(leaf.highWidth), isWidth(leaf.lowWidth), isWidth(leaf.countWidth),
            leaf.countWidth <= 4, leaf.size <= capacity, node.u8(29) == 0, node.u16(30) == 0
        else { return false }
        var previous = leaf.key(0)
        // Where a base plus a difference overflows, the entry lies below the base or does not ascend.
        guard previous.high >= leaf.baseHigh else { return false }
        for i in 1..<max(leaf.count, 1) {
            let key = leaf.key(i)
            if !EntryOperation.precedes(previous, key) { return false }
            previous = key
        }
        if leaf.countWidth == 4 {
            for i in 0..<leaf.count where leaf.count(i) == 0 { return false }
        }
        return true
    }

    private static func isWidth(_ width: Int) -> Bool {
        width == 0 || width == 1 || width == 2 || width == 4 || width == 8
    }
}

extension EntryLeaf {
    /// Widths and bases for writing a run of entries as one leaf.
    struct Shape {
        var count = 0
        var highWidth = 0
        var lowWidth = 0
        var countWidth = 0
        var baseHigh: Int64 = 0
        var baseLow: Int64 = 0
    }

    /// Bytes that hold every value up to `span`.
    @inline(__always)
    static func width(_ span: UInt64) -> Int {
        if span == 0 { return 0 }
        if span < 1 << 8 { return 1 }
        if span < 1 << 16 { return 2 }
        return span < 1 << 32 ? 4 : 8
    }

    /// The shape of the first `limit` entries, or of all if there are fewer; nil if they do not fit one leaf.
    private static func shape(ofAll entries: UnsafeBufferPointer<EntryOperation>, limit: Int) -> Shape? {
        let count = min(entries.count, max(limit, 1))
        var minLow = entries[0].low
        var maxLow = minLow
        var maxCount: UInt32 = 0
        for i in 0..<count {
            minLow = min(minLow, entries[i].low)
            maxLow = max(maxLow, entries[i].low)
            maxCount |= entries[i].count &- 1
        }
        let shape = Shape(
            count: count, highWidth: width(UInt64(bitPattern: entries[count - 1].high &- entries[0].high)),
            lowWidth: width(UInt64(bitPattern: maxLow &- minLow)), countWidth: width(UInt64(maxCount)),
            baseHigh: entries[0].high, baseLow: minLow)
        return count * (shape.highWidth + shape.lowWidth + shape.countWidth) <= capacity ? shape : nil
    }

    /// The longest prefix of `entries` that fits one leaf of at most `limit` entries; it is never empty.
    static func shape(of entries: UnsafeBufferPointer<EntryOperation>, limit: Int) -> Shape {
        if let shape = shape(ofAll: entries, limit: limit) { return shape }
        var shape = Shape(baseHigh: entries[0].high, baseLow: entries[0].low)
        var maxLow = shape.baseLow
        for i in 0..<min(entries.count, max(limit, 1)) {
            let entry = entries[i]
            let minLow = min(shape.baseLow, entry.low)
            maxLow = max(maxLow, entry.low)
            let high = max(shape.highWidth, width(UInt64(bitPattern: entry.high &- shape.baseHigh)))
            let low = max(shape.lowWidth, width(UInt64(bitPattern: maxLow &- minLow)))
            let count = max(shape.countWidth, width(UInt64(entry.count &- 1)))
            if (i + 1) * (high + low + count) > capacity { break }
            shape.count = i + 1
            shape.highWidth = high
            shape.lowWidth = low
            shape.countWidth = count
            shape.baseLow = minLow
        }
        return shape
    }

    /// Shapes of the leaves that hold `entries`: with `even` about equally full, else full except the last, as appends
    /// need them.
    static func shapes(
        of entries: UnsafeBufferPointer<EntryOperation>, limit: Int, even: Bool
    ) -> [Shape] {
        if even && entries.count > limit && entries.count <= 2 * limit {
            // Most splits make two leaves: this computes them without computing full ones first.
            let shapes = evenShapes(of: entries, limit: limit, into: 2)
            if shapes.count == 2 { return shapes }
        }
        var shapes: [Shape] = []
        var rest = entries
        while !rest.isEmpty {
            let shape = shape(of: rest, limit: limit)
            shapes.append(shape)
            rest = UnsafeBufferPointer(rebasing: rest[shape.count...])
        }
        return even && shapes.count > 1 ? evenShapes(of: entries, limit: limit, into: shapes.count) : shapes
    }

    /// `parts` leaves with about equally many entries; more where the entries of a part do not fit one leaf.
    private static func evenShapes(
        of entries: UnsafeBufferPointer<EntryOperation>, limit: Int, into parts: Int
    ) -> [Shape] {
        var shapes: [Shape] = []
        var rest = entries
        var left = parts
        while !rest.isEmpty {
            let shape = shape(of: rest, limit: min(limit, (rest.count + left - 1) / left))
            shapes.append(shape)
            rest = UnsafeBufferPointer(rebasing: rest[shape.count...])
            left = max(left - 1, 1)
        }
        return shapes
    }

    /// Encodes the first `shape.count` of `entries` into a node that has its header.
    static func encode(
        _ entries: UnsafePointer<EntryOperation>, _ shape: Shape, into node: UnsafeMutableRawPointer
    ) {
        node.put16(24, shape.count)
        node.put8(26, shape.highWidth)
        node.put8(27, shape.lowWidth)
        node.put8(28, shape.countWidth)
        node.put8(29, 0)
        node.put16(30, 0)
        node.putI64(32, shape.baseHigh)
        node.putI64(40, shape.baseLow)
        var column = node + columnsOffset
        let count = shape.count
        put(column, width: shape.highWidth, count: count) { UInt64(bitPattern: entries[$0].high &- shape.baseHigh) }
        column += count * shape.highWidth
        put(column, width: shape.lowWidth, count: count) { UInt64(bitPattern: entries[$0].low &- shape.baseLow) }
        column += count * shape.lowWidth
        put(column, width: shape.countWidth, count: count) { UInt64(entries[$0].count &- 1) }
        column += count * shape.countWidth
        column.initializeMemory(as: UInt8.self, repeating: 0, count: node + Format.pageSize - column)
    }

    @inline(__always)
    private static func put(
        _ column: UnsafeMutableRawPointer, width: Int, count: Int, _ value: (Int) -> UInt64
    ) {
        switch width {
        case 0: break
        case 1: for i in 0..<count { column.put8(i, Int(truncatingIfNeeded: value(i))) }
        case 2: for i in 0..<count { column.put16(2 * i, Int(truncatingIfNeeded: value(i))) }
        case 4: for i in 0..<count { column.put32(4 * i, UInt32(truncatingIfNeeded: value(i))) }
        default: for i in 0..<count { column.put64(8 * i, value(i)) }
        }
    }

    /// Decodes all entries to `target`, which has space for ``count``.
    func decode(into target: UnsafeMutablePointer<EntryOperation>) {
        Self.get(highs, width: highWidth, count: count) { target[$0].high = baseHigh &+ Int64(bitPattern: $1) }
        Self.get(lows, width: lowWidth, count: count) { target[$0].low = baseLow &+ Int64(bitPattern: $1) }
        Self.get(counts, width: countWidth, count: count) { target[$0].delta = Int32(truncatingIfNeeded: $1) &+ 1 }
    }

    @inline(__always)
    private static func get(
        _ column: UnsafeRawPointer, width: Int, count: Int, _ take: (Int, UInt64) -> Void
    ) {
        switch width {
        case 0: for i in 0..<count { take(i, 0) }
        case 1: for i in 0..<count { take(i, UInt64(column.u8(i))) }
        case 2: for i in 0..<count { take(i, UInt64(column.u16(2 * i))) }
        case 4: for i in 0..<count { take(i, UInt64(column.u32(4 * i))) }
        default: for i in 0..<count { take(i, column.u64(8 * i)) }
        }
    }
}
