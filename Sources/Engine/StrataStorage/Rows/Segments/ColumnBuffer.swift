/// Decoded values of one column for a run of rows: groups are built from them, and scans return them.
///
/// Integers, doubles (as bits) and addresses of bytes share one array of words. Bytes are borrowed from their node, or
/// from ``heap`` for values that were appended as cells.
/// Concurrency: confined to its owner.
final class ColumnBuffer {
    /// Bits of `flags`.
    enum Flag {
        static let null: UInt8 = 1
        /// The bytes are a ``LongValue`` descriptor.
        static let long: UInt8 = 2
    }

    let kind: SegmentKind
    @exclusivity(unchecked) private(set) var count = 0
    @exclusivity(unchecked) private(set) var words: UnsafeMutablePointer<UInt64>
    @exclusivity(unchecked) private(set) var lengths: UnsafeMutablePointer<UInt32>
    @exclusivity(unchecked) private(set) var flags: UnsafeMutablePointer<UInt8>
    /// False until a value with a flag was added: so far every flag is zero.
    @exclusivity(unchecked) private(set) var hasFlags = false
    @exclusivity(unchecked) private var capacity: Int
    /// Empty until bytes are copied; nil if the kind has none.
    private let heap: ByteHeap?

    init(_ kind: SegmentKind, capacity: Int = 64) {
        self.kind = kind
        self.capacity = capacity
        heap = kind == .bytes ? ByteHeap() : nil
        words = .allocate(capacity: capacity)
        lengths = .allocate(capacity: kind == .bytes ? capacity : 1)
        flags = .allocate(capacity: capacity)
    }

    deinit {
        words.deallocate()
        lengths.deallocate()
        flags.deallocate()
    }

    func removeAll() {
        count = 0
        hasFlags = false
        heap?.removeAll()
    }

    @inline(__always)
    func reserve(_ more: Int) {
        if count + more > capacity { grow(count + more) }
    }

    @inline(never)
    private func grow(_ needed: Int) {
        let size = max(needed, capacity * 2)
        words = Self.moved(words, count, size)
        flags = Self.moved(flags, count, size)
        if kind == .bytes { lengths = Self.moved(lengths, count, size) }
        capacity = size
    }

    private static func moved<T: BitwiseCopyable>(
        _ old: UnsafeMutablePointer<T>, _ count: Int, _ capacity: Int
    ) -> UnsafeMutablePointer<T> {
        let new = UnsafeMutablePointer<T>.allocate(capacity: capacity)
        new.update(from: old, count: count)
        old.deallocate()
        return new
    }

    // MARK: Appending

    @inline(__always)
    func append(word: UInt64) {
        reserve(1)
        words[count] = word
        flags[count] = 0
        count += 1
    }

    /// Appends a copy of the cell.
    @inline(__always)
    func append(_ cell: Cell) {
        reserve(1)
        put(cell, at: count)
        count += 1
    }

    /// Appends bytes that are borrowed.
    @inline(__always)
    func append(borrowing base: UnsafeRawPointer?, length: Int, flag: UInt8) {
        reserve(1)
        words[count] = UInt64(UInt(bitPattern: base))
        lengths[count] = UInt32(truncatingIfNeeded: length)
        flags[count] = flag
        hasFlags = hasFlags || flag != 0
        count += 1
    }

    /// Extends the buffer by `more` values, which the caller fills in through ``words`` and ``flags``.
    func extend(by more: Int) -> Int {
        reserve(more)
        let start = count
        flags.advanced(by: start).update(repeating: 0, count: more)
        count += more
        return start
    }

    /// Appends rows of another buffer of the same kind; bytes are borrowed.
    func append(_ other: ColumnBuffer, _ range: Range<Int>) {
        let n = range.count
        if n == 0 { return }
        reserve(n)
        (words + count).update(from: other.words + range.lowerBound, count: n)
        (flags + count).update(from: other.flags + range.lowerBound, count: n)
        if kind == .bytes { (lengths + count).update(from: other.lengths + range.lowerBound, count: n) }
        hasFlags = hasFlags || other.hasFlags
        count += n
    }

    // MARK: Changing

    func insert(_ cell: Cell, at index: Int) {
        reserve(1)
        let n = count - index
        (words + index + 1).update(from: words + index, count: n)
        (flags + index + 1).update(from: flags + index, count: n)
        if kind == .bytes { (lengths + index + 1).update(from: lengths + index, count: n) }
        put(cell, at: index)
        count += 1
    }

    func set(_ index: Int, _ cell: Cell) { put(cell, at: index) }

    func setFlag(_ index: Int, _ flag: UInt8) {
        flags[index] = flag
        hasFlags = hasFlags || flag != 0
    }

    func copyValue(of other: ColumnBuffer, _ from: Int, to index: Int) {
        words[index] = other.words[from]
        flags[index] = other.flags[from]
        if kind == .bytes { lengths[index] = other.lengths[from] }
        hasFlags = hasFlags || other.flags[from] != 0
    }

    func remove(at index: Int) {
        let n = count - index - 1
        (words + index).update(from: words + index + 1, count: n)
        (flags + index).update(from: flags + index + 1, count: n)
        if kind == .bytes { (lengths + index).update(from: lengths + index + 1, count: n) }
        count -= 1
    }

    /// Keeps the rows whose bit is zero.
    /// - Parameter start: the row of the first bit; rows before it stay.
    func removeRows(marked bits: UnsafePointer<UInt64>, from start: Int = 0) {
        let n = count - start
        let left = Self.close(words + start, n, bits)
        if kind == .bytes { _ = Self.close(lengths + start, n, bits) }
        if hasFlags { _ = Self.close(flags + start, n, bits) }
        count = start + left
    }

    /// Removes the first `n` rows. Bytes that were copied for them are freed by ``removeAll()``.
    func removeFirst(_ n: Int) {
        let left = count - n
        words.update(from: words + n, count: left)
        flags.update(from: flags + n, count: left)
        if kind == .bytes { lengths.update(from: lengths + n, count: left) }
        count = left
    }

    /// Moves the values whose bit is zero together, over the others.
    /// - Returns: the number of values kept.
    private static func close<T: BitwiseCopyable>(
        _ values: UnsafeMutablePointer<T>, _ count: Int, _ bits: UnsafePointer<UInt64>
    ) -> Int {
        var write = 0
        var start = 0
        while start < count {
            let n = min(64, count - start)
            var kept = ~bits[start >> 6]
            if n < 64 { kept &= 1 << UInt64(n) - 1 }
            if kept == .max {
                if write != start { (values + write).update(from: values + start, count: 64) }
                write += 64
            } else {
                while kept != 0 {
                    values[write] = values[start + kept.trailingZeroBitCount]
                    write += 1
                    kept &= kept - 1
                }
            }
            start += n
        }
        return write
    }

    func truncate(to n: Int) { count = min(count, n) }

    @inline(__always)
    private func put(_ cell: Cell, at index: Int) {
        if cell.isNull {
            words[index] = 0
            flags[index] = Flag.null
            hasFlags = true
            if kind == .bytes { lengths[index] = 0 }
            return
        }
        flags[index] = 0
        if kind == .bytes {
            lengths[index] = UInt32(truncatingIfNeeded: cell.count)
            words[index] = UInt64(UInt(bitPattern: copied(cell)))
        } else {
            words[index] = cell.bits
        }
    }

    /// Sets a long value by its descriptor.
    func setLong(_ index: Int, _ descriptor: LongValue) {
        withUnsafeTemporaryAllocation(byteCount: LongValue.size, alignment: 8) { buffer in
            guard let base = buffer.baseAddress else { return }
            descriptor.store(base)
            put(.bytes(UnsafeRawBufferPointer(buffer)), at: index)
        }
        setFlag(index, Flag.long)
    }

    @inline(__always)
    private func copied(_ cell: Cell) -> UnsafeRawPointer? {
        if cell.count == 0 { return nil }
        return heap?.copy(cell.bytesValue)
    }

    // MARK: Reading

    @inline(__always) func isNull(_ row: Int) -> Bool { hasFlags && flags[row] & Flag.null != 0 }
    @inline(__always) func isLong(_ row: Int) -> Bool { hasFlags && flags[row] & Flag.long != 0 }
    @inline(__always) func integer(_ row: Int) -> Int64 { Int64(bitPattern: words[row]) }
    @inline(__always) func bytes(_ row: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: UInt(words[row])), count: Int(lengths[row]))
    }
}
