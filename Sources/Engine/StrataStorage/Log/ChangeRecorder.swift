/// Records the changes of a transaction, in the form in which the log takes them.
///
/// The buffer leaves space for a log batch's header before the record, for ``finishBatch(lsn:flags:)``. The recorder
/// gives a record up that exceeds `limit` bytes: its transaction commits by a checkpoint of its own.
/// Concurrency: only the holder of the write gate uses a recorder, which moves to another thread with the transaction.
/// - Complexity: amortised O(bytes written); no allocation per operation.
package struct ChangeRecorder: ~Copyable, @unchecked Sendable {  // the pointer is owned; guarded by the write gate
    /// Longest LEB128 number.
    private static let numberBytes = 10
    /// Longest cell without the contents of bytes: tag and number.
    private static let cellBytes = 11

    private var base: UnsafeMutableRawPointer
    private var capacity: Int
    private var used: Int
    /// Largest record in bytes, header included.
    package private(set) var limit: Int
    /// The record exceeded the limit, and was given up: it has no contents, and takes no more operations.
    package private(set) var isTooLarge = false
    private var rowTable: TableID?
    private var rowKey: Int64 = 0
    /// The collection that operations on elements apply to.
    private var collection: Collection?
    /// The last operation, if it changed a single element: the same operation on the next element extends it.
    private var run: ElementRun?

    private struct Collection: Equatable {
        var table: TableID
        var key: RowKey
        var column: ColumnID
        var path: [Int]
    }

    private struct ElementRun {
        var operation: ChangeRecord.Operation
        /// Offset of its count of elements.
        var countOffset: Int
        /// The place of an element that extends it.
        var next: Int
    }

    package init(limit: Int) {
        self.limit = limit
        capacity = 4096
        base = .allocate(byteCount: capacity, alignment: 64)
        used = Self.contentStart
    }

    deinit { base.deallocate() }

    private static var contentStart: Int { LogFormat.batchHeaderSize + ChangeRecord.headerSize }

    /// Whether nothing was recorded since the last ``reset(keep:)``.
    package var isEmpty: Bool { used == Self.contentStart && !isTooLarge }

    /// Bytes of the record so far, header included.
    package var byteCount: Int { used - LogFormat.batchHeaderSize }

    /// Starts a new record with another limit.
    mutating func reset(limit: Int) {
        self.limit = limit
        reset()
    }

    /// Starts a new record. A buffer of more than `keep` bytes is freed.
    package mutating func reset(keep: Int = 1 << 20) {
        if capacity > keep { reallocate(4096, keeping: 0) }
        used = Self.contentStart
        isTooLarge = false
        rowTable = nil
        rowKey = 0
        endCollection()
    }

    /// Completes the record and returns it, valid until the next mutating call. ``isTooLarge`` must be false.
    package mutating func finish(lsn: UInt64, flags: UInt32 = 0) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: finishBatch(lsn: lsn, flags: flags)[LogFormat.batchHeaderSize...])
    }

    /// As ``finish(lsn:flags:)``, with 64 bytes of space in front of the record for a log batch's header. ``LogFile``
    /// can write that batch without a copy; commits have their records copied, since they wait for a leader.
    package mutating func finishBatch(lsn: UInt64, flags: UInt32 = 0) -> UnsafeMutableRawBufferPointer {
        precondition(!isTooLarge, "a record that is too large has no contents")
        let record = base + LogFormat.batchHeaderSize
        record.put32(0, UInt32(byteCount))
        record.put32(4, flags)
        record.put64(8, lsn)
        return UnsafeMutableRawBufferPointer(start: base, count: used)
    }
}

// MARK: Operations

extension ChangeRecorder {
    /// Records a new row: a cell per column of its table, in the same order.
    package mutating func insert(
        _ table: TableID, columns: [ColumnDefinition], key: RowKey, cells: UnsafeBufferPointer<Cell>
    ) {
        if isTooLarge { return }
        precondition(cells.count == columns.count, "a cell per column")
        endCollection()
        if rowTable != table { begin(table, columns) }
        guard reserve(1 + Self.numberBytes) else { return }
        put(.row)
        number(ChangeRecord.zigzag(key.rawValue &- rowKey))
        for cell in cells { write(cell) }
        rowKey = key.rawValue
        checkLimit()
    }

    package mutating func set(_ table: TableID, _ key: RowKey, column: ColumnID, to cell: Cell) {
        guard start(.set, table) else { return }
        number(ChangeRecord.zigzag(key.rawValue))
        number(UInt64(column.rawValue))
        write(cell)
        checkLimit()
    }

    package mutating func delete(_ table: TableID, _ key: RowKey) {
        guard start(.delete, table) else { return }
        number(ChangeRecord.zigzag(key.rawValue))
        checkLimit()
    }

    package mutating func deleteAll(_ table: TableID) {
        guard start(.deleteAll, table) else { return }
        checkLimit()
    }

    /// - Parameter schema: encoded by ``SchemaCoding``.
    package mutating func schema(_ schema: UnsafeRawBufferPointer) {
        rowTable = nil
        endCollection()
        guard !isTooLarge, reserve(1) else { return }
        put(.schema)
        write(schema)
        checkLimit()
    }

    /// Records the table's next key: the smallest one that was never used.
    package mutating func nextKey(_ table: TableID, _ key: RowKey) {
        guard start(.nextKey, table) else { return }
        number(ChangeRecord.zigzag(key.rawValue))
        checkLimit()
    }

    private mutating func begin(_ table: TableID, _ columns: [ColumnDefinition]) {
        guard reserve(1 + Self.numberBytes * (2 + columns.count)) else { return }
        put(.columns)
        number(UInt64(table.rawValue))
        number(UInt64(columns.count))
        for column in columns { number(UInt64(column.id.rawValue)) }
        rowTable = table
        rowKey = 0
    }

    /// Writes the code and the table, and reserves space for five more numbers.
    /// - Returns: false if the record is too large.
    @inline(__always)
    private mutating func start(_ operation: ChangeRecord.Operation, _ table: TableID) -> Bool {
        if isTooLarge { return false }
        endCollection()
        guard reserve(1 + 6 * Self.numberBytes) else { return false }
        put(operation)
        number(UInt64(table.rawValue))
        return true
    }
}

// MARK: Elements of collections

extension ChangeRecorder {
    @inline(__always)
    private mutating func endCollection() {
        if collection == nil { return }
        collection = nil
        run = nil
    }

    /// Sets the collection that the following operations on elements apply to.
    /// - Parameters:
    ///   - cells: per element: 1, or 2 in a map.
    ///   - path: places of the elements that contain an inner collection, the outermost first; empty for the row's own.
    package mutating func collection(
        _ table: TableID, _ key: RowKey, _ column: ColumnID, cells: Int, path: [Int] = []
    ) {
        let wanted = Collection(table: table, key: key, column: column, path: path)
        if collection == wanted { return }
        guard start(.collection, table) else { return }
        number(ChangeRecord.zigzag(key.rawValue))
        number(UInt64(column.rawValue))
        number(UInt64(cells))
        number(UInt64(path.count))
        guard reserve(Self.numberBytes * path.count) else { return }
        for place in path { number(UInt64(place)) }
        collection = wanted
        checkLimit()
    }

    /// Inserts elements before `place`; their cells follow by ``element(_:)``.
    package mutating func insertElements(at place: Int, count: Int) {
        elements(.insertElements, place, count, next: place + count)
    }

    /// Sets values from `place` on; they follow by ``element(_:)``.
    package mutating func setElements(at place: Int, count: Int) {
        elements(.setElements, place, count, next: place + count)
    }

    package mutating func removeElements(at place: Int, count: Int) {
        elements(.removeElements, place, count, next: place)
        checkLimit()
    }

    package mutating func moveElements(at place: Int, count: Int, to target: Int) {
        run = nil
        guard !isTooLarge, reserve(1 + 3 * Self.numberBytes) else { return }
        put(.moveElements)
        number(UInt64(place))
        number(UInt64(count))
        number(UInt64(target))
        checkLimit()
    }

    /// Bytes that a cell takes at most.
    static func byteCount(of cell: Cell) -> Int {
        switch cell.kind {
        case .null: 1
        case .integer: 1 + (71 - ChangeRecord.zigzag(cell.integerValue).leadingZeroBitCount) >> 3
        case .double: 9
        case .bytes: cellBytes + cell.count
        }
    }

    /// Adds a cell of the last operation on elements.
    @inline(__always)
    package mutating func element(_ cell: Cell) {
        write(cell)
        checkLimit()
    }

    /// Writes an operation on elements, or extends the last one.
    /// - Parameter next: the place of an element that extends this operation.
    private mutating func elements(_ operation: ChangeRecord.Operation, _ place: Int, _ count: Int, next: Int) {
        if isTooLarge { return }
        if let run, count == 1, run.operation == operation, run.next == place {
            let sum = UnsafeRawPointer(base).u32(run.countOffset) &+ 1
            if sum & ChangeRecord.eachBit != 0 {
                base.put32(run.countOffset, sum)
                self.run?.next = next
                return
            }
        }
        run = nil
        guard count < ChangeRecord.eachBit else { return giveUp() }
        guard reserve(1 + Self.numberBytes + 4) else { return }
        put(operation)
        number(UInt64(place))
        if count == 1 { run = ElementRun(operation: operation, countOffset: used, next: next) }
        base.put32(used, UInt32(count) | (count == 1 ? ChangeRecord.eachBit : 0))
        used += 4
    }
}

// MARK: Bytes

extension ChangeRecorder {
    /// Reserves space in the buffer.
    /// - Returns: false if the record has become too large.
    @inline(__always)
    private mutating func reserve(_ count: Int) -> Bool {
        if capacity - used >= count { return true }
        return grow(count)
    }

    @inline(never)
    private mutating func grow(_ count: Int) -> Bool {
        checkLimit()
        if isTooLarge { return false }
        let (needed, overflow) = used.addingReportingOverflow(count)
        precondition(!overflow, "a record fits memory")
        reallocate(max(capacity * 2, needed), keeping: used)
        return true
    }

    private mutating func reallocate(_ size: Int, keeping count: Int) {
        let made = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 64)
        made.copyMemory(from: base, byteCount: count)
        base.deallocate()
        base = made
        capacity = size
    }

    @inline(__always)
    private mutating func checkLimit() { if byteCount > limit { giveUp() } }

    @inline(never)
    private mutating func giveUp() {
        isTooLarge = true
        endCollection()
        run = nil
        if capacity > 4096 { reallocate(4096, keeping: 0) }
        used = Self.contentStart
    }

    @inline(__always)
    private mutating func put(_ operation: ChangeRecord.Operation) {
        (base + used).storeBytes(of: operation.rawValue, as: UInt8.self)
        used += 1
    }

    /// Writes a number as LEB128. The caller has reserved the space.
    @inline(__always)
    private mutating func number(_ value: UInt64) {
        var rest = value
        var target = base + used
        while rest >= 0x80 {
            target.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 0x80, as: UInt8.self)
            target += 1
            rest >>= 7
        }
        target.storeBytes(of: UInt8(truncatingIfNeeded: rest), as: UInt8.self)
        used = target + 1 - base
    }

    /// Reserves space for a cell and writes it; has no effect if the record is too large.
    @inline(__always)
    private mutating func write(_ cell: Cell) {
        guard !isTooLarge, reserve(Self.cellBytes) else { return }
        let target = base + used
        switch cell.kind {
        case .null:
            target.storeBytes(of: ChangeRecord.CellTag.null, as: UInt8.self)
            used += 1
        case .integer:
            let value = ChangeRecord.zigzag(cell.integerValue)
            let size = (71 - value.leadingZeroBitCount) >> 3
            target.storeBytes(of: ChangeRecord.CellTag.integer + UInt8(size), as: UInt8.self)
            target.put64(1, value)
            used += 1 + size
        case .double:
            target.storeBytes(of: ChangeRecord.CellTag.double, as: UInt8.self)
            target.put64(1, cell.bits)
            used += 9
        case .bytes:
            target.storeBytes(of: ChangeRecord.CellTag.bytes, as: UInt8.self)
            used += 1
            write(cell.bytesValue)
        }
    }

    /// Writes count and bytes. Bytes that would exceed the limit are not copied; the record is given up instead.
    private mutating func write(_ bytes: UnsafeRawBufferPointer) {
        if byteCount + bytes.count > limit { return giveUp() }
        guard reserve(Self.numberBytes + bytes.count) else { return }
        number(UInt64(bytes.count))
        if let source = bytes.baseAddress { (base + used).copyMemory(from: source, byteCount: bytes.count) }
        used += bytes.count
    }
}
