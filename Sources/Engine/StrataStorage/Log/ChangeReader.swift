/// Decodes the operations of one record. Every length and code is checked before it is used.
///
/// Cells borrow their bytes from the record. ``cells`` and ``columns`` are those of the last insert that was read.
package struct ChangeReader: ~Copyable {
    package let lsn: UInt64
    package let flags: UInt32
    /// Columns of the inserted rows that follow, until the record names others.
    package private(set) var columns: [ColumnID] = []
    /// Increases whenever the record names a table and its columns, for callers that cache what they derive from them.
    package private(set) var columnsGeneration = 0

    private let bytes: UnsafeRawBufferPointer
    private var position = ChangeRecord.headerSize
    private var row: UnsafeMutableBufferPointer<Cell>
    private var rowTable: TableID?
    private var rowKey: Int64 = 0
    /// Cells per element of the collection that operations on elements apply to; 0 if there is none.
    private var elementCells = 0
    /// Cells of the last operation on elements that the caller has not read yet.
    private var cellsLeft = 0

    /// - Parameter record: one record, as ``RecordSequence`` returns it.
    /// - Throws: `corrupt` with the offset in the record.
    package init(_ record: UnsafeRawBufferPointer) throws(StorageError) {
        guard let base = record.baseAddress, record.count >= ChangeRecord.headerSize,
            base.u32(0) == UInt32(clamping: record.count)
        else { throw Self.damage(0) }
        bytes = record
        flags = base.u32(4)
        lsn = base.u64(8)
        row = .allocate(capacity: 0)
    }

    deinit { row.deallocate() }

    /// Cells of the last insert, in the order of ``columns``. Valid until the next call of ``next()``.
    package var cells: UnsafeBufferPointer<Cell> { UnsafeBufferPointer(rebasing: row[..<columns.count]) }

    /// The next operation; nil at the end.
    /// - Throws: `corrupt` with the offset in the record.
    package mutating func next() throws(StorageError) -> Change? {
        while try element() != nil {}
        while position < bytes.count {
            let start = position
            position += 1
            let operation = ChangeRecord.Operation(rawValue: bytes[start])
            if let operation, operation.isOfElements { return try readElements(operation) }
            elementCells = 0
            switch operation {
            case .columns: try readColumns()
            case .row: return try readRow()
            case .set:
                return .set(try table(), try key(), try column(), try cell())
            case .delete: return .delete(try table(), try key())
            case .deleteAll: return .deleteAll(try table())
            case .schema:
                rowTable = nil
                return .schema(try run())
            case .nextKey: return .nextKey(try table(), try key())
            case .collection: return try readCollection()
            case .insertElements, .removeElements, .setElements, .moveElements, nil: throw Self.damage(start)
            }
        }
        return nil
    }

    // MARK: Elements of collections

    /// Deepest nesting of collections that is accepted.
    private static let deepest: UInt64 = 100

    /// The next cell of the last operation on elements: values, and for new elements of a map the key before each. Nil
    /// at the end. ``next()`` skips cells that were not read.
    package mutating func element() throws(StorageError) -> Cell? {
        if cellsLeft == 0 { return nil }
        cellsLeft -= 1
        return try cell()
    }

    private mutating func readCollection() throws(StorageError) -> Change {
        let (table, key, column) = (try table(), try key(), try column())
        let start = position
        let cells = try number()
        let depth = try number()
        // Each place takes at least a byte.
        guard cells == 1 || cells == 2, depth <= Self.deepest, depth <= bytes.count - position else {
            throw Self.damage(start)
        }
        var path: [Int] = []
        for _ in 0..<Int(depth) { path.append(try place()) }
        elementCells = Int(cells)
        return .collection(table, key, column, cells: Int(cells), path: path)
    }

    private mutating func readElements(_ operation: ChangeRecord.Operation) throws(StorageError) -> Change {
        let start = position - 1
        guard elementCells > 0 else { throw Self.damage(start) }
        let place = try place()
        if operation == .moveElements { return .moveElements(at: place, count: try self.place(), to: try self.place()) }
        let word = UInt32(truncatingIfNeeded: try fixed(4))
        let isEach = word & ChangeRecord.eachBit != 0
        let count = Int(word & ~ChangeRecord.eachBit)
        switch operation {
        case .removeElements: return .removeElements(at: place, count: count, isEach: isEach)
        case .setElements:
            cellsLeft = count
        default:
            cellsLeft = count * elementCells
        }
        // Each element takes at least a byte.
        guard cellsLeft <= bytes.count - position else {
            cellsLeft = 0
            throw Self.damage(start)
        }
        return operation == .setElements
            ? .setElements(at: place, count: count, isEach: isEach)
            : .insertElements(at: place, count: count, isEach: isEach)
    }

    private mutating func place() throws(StorageError) -> Int {
        let start = position
        let value = try number()
        guard value <= LongValue.maxElements else { throw Self.damage(start) }
        return Int(value)
    }

    private mutating func readColumns() throws(StorageError) {
        rowTable = try table()
        rowKey = 0
        let count = try number()
        // Each id takes at least a byte.
        guard count <= UInt64(bytes.count - position) else { throw Self.damage(position) }
        columns.removeAll(keepingCapacity: true)
        for _ in 0..<Int(count) { columns.append(try column()) }
        columnsGeneration += 1
        if row.count < columns.count {
            row.deallocate()
            row = .allocate(capacity: columns.count)
        }
    }

    private mutating func readRow() throws(StorageError) -> Change {
        guard let rowTable else { throw Self.damage(position - 1) }
        rowKey &+= ChangeRecord.unzigzag(try number())
        for index in 0..<columns.count { row.initializeElement(at: index, to: try cell()) }
        return .insert(rowTable, RowKey(rowKey))
    }

    private static func damage(_ offset: Int) -> StorageError {
        .corrupt(page: PageNumber(0), offset: offset, reason: .structure)
    }

    @inline(__always)
    private mutating func byte() throws(StorageError) -> UInt8 {
        guard position < bytes.count else { throw Self.damage(position) }
        defer { position += 1 }
        return bytes[position]
    }

    @inline(__always)
    private mutating func number() throws(StorageError) -> UInt64 {
        let start = position
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let next = try byte()
            // The tenth byte holds a single bit.
            if shift == 63 && next > 1 { throw Self.damage(start) }
            value |= UInt64(next & 0x7F) &<< shift
            if next < 0x80 { return value }
            shift += 7
        }
    }

    private mutating func table() throws(StorageError) -> TableID {
        let start = position
        guard let value = UInt32(exactly: try number()) else { throw Self.damage(start) }
        return TableID(value)
    }

    private mutating func column() throws(StorageError) -> ColumnID {
        let start = position
        guard let value = UInt16(exactly: try number()) else { throw Self.damage(start) }
        return ColumnID(value)
    }

    private mutating func key() throws(StorageError) -> RowKey { RowKey(ChangeRecord.unzigzag(try number())) }

    private mutating func fixed(_ size: Int) throws(StorageError) -> UInt64 {
        guard size <= bytes.count - position else { throw Self.damage(position) }
        var value: UInt64 = 0
        for index in 0..<size { value |= UInt64(bytes[position + index]) << UInt64(8 * index) }
        position += size
        return value
    }

    private mutating func run() throws(StorageError) -> UnsafeRawBufferPointer {
        let start = position
        let count = try number()
        guard count <= UInt64(bytes.count - position) else { throw Self.damage(start) }
        defer { position += Int(count) }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<position + Int(count)])
    }

    private mutating func cell() throws(StorageError) -> Cell {
        let tag = try byte()
        switch tag {
        case ChangeRecord.CellTag.null: return .null
        case ChangeRecord.CellTag.double: return Cell(kind: .double, bits: try fixed(8))
        case ChangeRecord.CellTag.bytes: return .bytes(try run())
        case ChangeRecord.CellTag.integer...ChangeRecord.CellTag.integer + 8:
            return .integer(ChangeRecord.unzigzag(try fixed(Int(tag - ChangeRecord.CellTag.integer))))
        default: throw Self.damage(position - 1)
        }
    }
}

/// The records of a log batch's payload, one by one.
package struct RecordSequence {
    private let payload: UnsafeRawBufferPointer
    private var position = 0
    private var nextLSN: UInt64
    private let lastLSN: UInt64

    package init(_ payload: UnsafeRawBufferPointer, firstLSN: UInt64, lastLSN: UInt64) {
        self.payload = payload
        nextLSN = firstLSN
        self.lastLSN = lastLSN
    }

    /// The next record for a ``ChangeReader``; nil at the end.
    /// - Throws: `corrupt` with the offset in the payload if lengths or LSNs differ from the batch's header.
    package mutating func next() throws(StorageError) -> UnsafeRawBufferPointer? {
        let rest = payload.count - position
        let failure = StorageError.corrupt(page: PageNumber(0), offset: position, reason: .structure)
        if rest == 0 {
            if nextLSN != lastLSN &+ 1 { throw failure }
            return nil
        }
        guard rest >= ChangeRecord.headerSize, let base = payload.baseAddress else { throw failure }
        let count = Int((base + position).u32(0))
        guard count >= ChangeRecord.headerSize, count <= rest, (base + position).u64(8) == nextLSN,
            nextLSN <= lastLSN
        else { throw failure }
        defer {
            position += count
            nextLSN &+= 1
        }
        return UnsafeRawBufferPointer(start: base + position, count: count)
    }
}
