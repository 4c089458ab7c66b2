/// Reads one version of the store, or a write transaction's own state.
///
/// Tables and columns are named by their position in ``schema``.
/// Concurrency: a version's view may be used from any thread as long as the version is pinned; a transaction's view
/// belongs to whoever has the transaction.
package final class ReadView: Sendable {
    /// Immutable in a version's view; guarded by the write lock in a transaction's.
    @exclusivity(unchecked) nonisolated(unsafe) var state: VersionState
    let reader: PageReader
    /// Set while a transaction is open, which takes itself out before it goes; flushes what it holds back before
    /// something is read. Guarded by the write lock.
    nonisolated(unsafe) unowned(unsafe) var writer: WriteTransaction?
    private let isWriter: Bool
    private let pin: Pin?
    /// Counts the writes of a transaction. Row locations from before the last one are void.
    @exclusivity(unchecked) package nonisolated(unsafe) internal(set) var generation: UInt64 = 0

    init(_ state: VersionState, _ reader: PageReader, isWriter: Bool = false, pin: Pin? = nil) {
        self.state = state
        self.reader = reader
        self.isWriter = isWriter
        self.pin = pin
    }

    package var version: TransactionID { TransactionID(state.version) }
    package var schema: StoreSchema { state.schema }

    @inline(__always)
    func prepareRows(_ table: Int) throws(StorageError) {
        if isWriter, let writer { try writer.flushRows(table) }
    }

    private func prepareEntries(_ table: Int) throws(StorageError) {
        if isWriter, let writer { try writer.flushEntries(table) }
    }

    /// Rows of a table. O(1): the root knows.
    package func rowCount(_ table: Int) throws(StorageError) -> Int {
        try prepareRows(table)
        let root = state.tables[table].tree
        return root.isNull ? 0 : Branch(try reader.node(root, .branch)).totalRows
    }

    // MARK: Finding rows

    /// The group that a key belongs to, or nil in an empty table.
    @inline(__always)
    func group(_ table: Int, _ key: Int64) throws(StorageError) -> Group? {
        var reference = state.tables[table].tree
        if reference.isNull { return nil }
        while reference.is(.branch) {
            let branch = Branch(try reader.node(reference, .branch))
            reference = branch.reference(branch.find(key))
        }
        return Group(try reader.node(reference, .group))
    }

    /// Where a row stands; nil when there is none with this key.
    /// - Complexity: O(log rows), without allocation.
    @inline(__always)
    package func locate(_ table: Int, _ key: RowKey) throws(StorageError) -> RowLocation? {
        try prepareRows(table)
        guard let group = try group(table, key.rawValue), let slot = try group.locate(key.rawValue, reader) else {
            return nil
        }
        return RowLocation(group, slot: slot, table: table)
    }

    /// The `ordinal`-th row in key order. O(log rows).
    package func key(at ordinal: Int, in table: Int) throws(StorageError) -> RowKey? {
        try prepareRows(table)
        var reference = state.tables[table].tree
        if reference.isNull || ordinal < 0 { return nil }
        var left = ordinal
        while reference.is(.branch) {
            let branch = Branch(try reader.node(reference, .branch))
            var index = 0
            while index < branch.count && left >= branch.rows(index) {
                left -= branch.rows(index)
                index += 1
            }
            if index == branch.count { return nil }
            reference = branch.reference(index)
        }
        let group = Group(try reader.node(reference, .group))
        guard let row = try group.select(left, reader) else { return nil }
        return RowKey(try group.key(row, reader))
    }

    /// How many rows come before a key. O(log rows).
    package func rank(of key: RowKey, in table: Int) throws(StorageError) -> Int {
        try prepareRows(table)
        var reference = state.tables[table].tree
        if reference.isNull { return 0 }
        var before = 0
        while reference.is(.branch) {
            let branch = Branch(try reader.node(reference, .branch))
            let index = branch.find(key.rawValue)
            for left in 0..<index { before += branch.rows(left) }
            reference = branch.reference(index)
        }
        return before + (try Group(try reader.node(reference, .group)).rank(of: key.rawValue, reader))
    }

    /// The place of a row in key order, or nil when it is not there. O(log rows).
    package func ordinal(of key: RowKey, in table: Int) throws(StorageError) -> Int? {
        try locate(table, key) == nil ? nil : try rank(of: key, in: table)
    }

    // MARK: Values

    @inline(__always)
    private func position(_ row: RowLocation, _ column: Int) -> Int? {
        Group(row.group).position(
            of: state.layouts[Int(row.table)].ids[column + RowSet.firstUserColumn],
            near: column + RowSet.firstUserColumn)
    }

    /// An integer, or the key that a link leads to; nil for null.
    @inline(__always)
    package func integer(_ row: RowLocation, _ column: Int) throws(StorageError) -> Int64? {
        guard let position = position(row, column) else {
            let cell = state.layouts[Int(row.table)].missing[column + RowSet.firstUserColumn]
            return cell.isNull ? nil : cell.integerValue
        }
        let (segment, index) = try Group(row.group).value(position, row.slot, .integer, reader)
        return segment.isNull(index) ? nil : segment.integer(index)
    }

    @inline(__always)
    package func double(_ row: RowLocation, _ column: Int) throws(StorageError) -> Double? {
        guard let position = position(row, column) else {
            let cell = state.layouts[Int(row.table)].missing[column + RowSet.firstUserColumn]
            return cell.isNull ? nil : cell.doubleValue
        }
        let (segment, index) = try Group(row.group).value(position, row.slot, .double, reader)
        return segment.isNull(index) ? nil : segment.double(index)
    }

    /// Text, data or a payload; nil for null. Borrowed from the version.
    @inline(__always)
    package func bytes(
        _ row: RowLocation, _ column: Int
    ) throws(StorageError) -> UnsafeRawBufferPointer? {
        guard let position = position(row, column) else {
            let cell = state.layouts[Int(row.table)].missing[column + RowSet.firstUserColumn]
            return cell.isNull ? nil : cell.bytesValue
        }
        let (segment, index) = try Group(row.group).value(position, row.slot, .bytes, reader)
        if segment.isNull(index) { return nil }
        let value = segment.bytes(index)
        return segment.isLong(index) ? try long(value) : value
    }

    /// Follows the descriptor of a value that is a node of its own.
    func long(_ descriptor: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer {
        guard let base = descriptor.baseAddress, descriptor.count == LongValue.size else {
            throw .corrupt(page: PageNumber(0), offset: 0, reason: .structure)
        }
        let long = LongValue(base)
        let node = try reader.node(long.reference, .value)
        guard long.count <= UInt64(long.reference.byteCount - Format.nodeHeaderSize) else {
            throw Group.structure(long.reference)
        }
        return UnsafeRawBufferPointer(start: node + Format.nodeHeaderSize, count: Int(long.count))
    }

    /// The descriptor of a value that is a node of its own, or nil.
    func longValue(_ row: RowLocation, _ column: Int) throws(StorageError) -> LongValue? {
        guard let position = position(row, column) else { return nil }
        let (segment, index) = try Group(row.group).value(position, row.slot, .bytes, reader)
        guard segment.isLong(index), let base = segment.bytes(index).baseAddress else { return nil }
        return LongValue(base)
    }

    /// The version that made the row: with table and key, its identity.
    package func creationVersion(_ row: RowLocation) throws(StorageError) -> TransactionID {
        let (segment, index) = try Group(row.group).value(RowSet.createdColumn, row.slot, .integer, reader)
        return TransactionID(UInt64(bitPattern: segment.integer(index)))
    }

    // MARK: Indexes and backlinks

    /// Rows that link to `key` by a link column of `table`, with the number of links of each, in key order.
    package func backlinks(
        to key: RowKey, of table: Int, _ column: Int,
        _ body: (_ origin: RowKey, _ count: Int) throws(StorageError) -> Bool
    ) throws(StorageError) {
        try prepareEntries(table)
        guard let root = entryRoot(table, column, .backlinks) else { return }
        try EntryTree.forEach(
            in: root, from: (key.rawValue, .min), through: (key.rawValue, .max), reading: reader
        ) { (_, low, count) throws(StorageError) in try body(RowKey(low), Int(count)) }
    }

    /// Links to `key` by a link column of `table`.
    package func backlinkCount(to key: RowKey, of table: Int, _ column: Int) throws(StorageError) -> Int {
        var total = 0
        try backlinks(to: key, of: table, column) { (_, count) throws(StorageError) in
            total += count
            return true
        }
        return total
    }

    /// Rows whose indexed column equals a value, in key order. The column has an index.
    package func rows(_ table: Int, _ column: Int, equalTo cell: Cell) throws(StorageError) -> [RowKey] {
        try prepareRows(table)
        try prepareEntries(table)
        let definition = state.schema.tables[table].columns[column]
        guard let kind = definition.index.rootKind, let root = entryRoot(table, column, kind) else {
            throw .misuse(.noSuchColumn)
        }
        let high = IndexKey.high(cell, definition)
        var candidates: [RowKey] = []
        try EntryTree.forEach(
            in: root, from: (high, .min), through: (high, .max), reading: reader
        ) { (_, low, _) throws(StorageError) in
            candidates.append(RowKey(low))
            return true
        }
        var found: [RowKey] = []
        for key in candidates {
            guard let group = try group(table, key.rawValue), let slot = try group.locate(key.rawValue, reader) else {
                throw .corrupt(page: PageNumber(root.page), offset: 0, reason: .structure)
            }
            let row = RowLocation(group, slot: slot, table: table)
            if try matches(row, column, definition.type, cell) { found.append(key) }
        }
        return found
    }

    /// Rows whose column, which has an ordered index, lies between two values, ends included.
    package func rows(
        _ table: Int, _ column: Int, from low: Cell, through high: Cell
    ) throws(StorageError) -> [RowKey] {
        try prepareRows(table)
        try prepareEntries(table)
        let definition = state.schema.tables[table].columns[column]
        guard definition.index == .ordered, let root = entryRoot(table, column, .ordered) else {
            throw .misuse(.noSuchColumn)
        }
        var found: [RowKey] = []
        try EntryTree.forEach(
            in: root, from: (IndexKey.high(low, definition), .min), through: (IndexKey.high(high, definition), .max),
            reading: reader
        ) { (_, low, _) throws(StorageError) in
            found.append(RowKey(low))
            return true
        }
        return found
    }

    private static func areEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard a.count == b.count else { return false }
        guard let first = a.baseAddress, let second = b.baseAddress else { return true }
        var at = 0
        while at + 8 <= a.count {
            if first.u64(at) != second.u64(at) { return false }
            at += 8
        }
        while at < a.count {
            if first.u8(at) != second.u8(at) { return false }
            at += 1
        }
        return true
    }

    private func matches(
        _ row: RowLocation, _ column: Int, _ type: ColumnType, _ cell: Cell
    ) throws(StorageError) -> Bool {
        switch type {
        case .integer, .link:
            let value = try integer(row, column)
            return cell.isNull ? value == nil : value == cell.integerValue
        case .double:
            let value = try double(row, column)
            return cell.isNull ? value == nil : value == cell.doubleValue
        case .bytes, .links:
            guard let value = try bytes(row, column) else { return cell.isNull }
            return !cell.isNull && Self.areEqual(value, cell.bytesValue)
        }
    }

    func entryRoot(_ table: Int, _ column: Int, _ kind: EntryRoot.Kind) -> NodeReference? {
        let id = state.schema.tables[table].columns[column].id
        guard let index = state.tables[table].entryRoot(id, kind) else { return nil }
        return state.tables[table].entries[index].root
    }
}
