/// Reads one version of the store, or a write transaction's own state.
///
/// Tables and columns are named by their position in ``schema``.
/// Concurrency: a version's view may be used from any thread as long as the version is pinned; a transaction's view
/// belongs to whoever has the transaction.
package final class ReadView: Sendable {
    /// Immutable in a version's view; guarded by the write lock in a transaction's.
    @exclusivity(unchecked) nonisolated(unsafe) var state: VersionState
    /// Of `state`, which keeps them alive.
    @exclusivity(unchecked) private nonisolated(unsafe) var columnIDs: UnsafeMutablePointer<ColumnIDs.Table>
    @exclusivity(unchecked) private nonisolated(unsafe) var tableCount: Int
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
        columnIDs = state.definitions.columnIDs.tables
        tableCount = state.definitions.columnIDs.count
        self.reader = reader
        self.isWriter = isWriter
        self.pin = pin
    }

    /// The transaction has another schema from now on.
    func layoutsChanged() {
        columnIDs = state.definitions.columnIDs.tables
        tableCount = state.definitions.columnIDs.count
    }

    package var version: TransactionID { TransactionID(state.version) }
    package var schema: StoreSchema { state.schema }

    @inline(__always)
    func prepareRows(_ table: Int) throws(StorageError) {
        if isWriter { try openWriter().flushRows(table) }
    }

    func prepareEntries(_ table: Int) throws(StorageError) {
        if isWriter { try openWriter().flushEntries(table) }
    }

    /// The transaction that this view is of. Its nodes go with it: the next one has others in their place.
    private func openWriter() throws(StorageError) -> WriteTransaction {
        guard let writer else { throw .misuse(.transactionEnded) }
        return writer
    }

    /// Rows of a table. O(1): the root knows.
    package func rowCount(_ table: Int) throws(StorageError) -> Int {
        try prepareRows(table)
        let root = state.tables[table].tree
        let rows = root.isNull ? 0 : Branch(try reader.node(root, .branch)).totalRows
        try reader.confirm()
        return rows
    }

    // MARK: Finding rows

    /// The group that a key belongs to, or nil in an empty table.
    @inline(__always)
    func group(_ table: Int, _ key: Int64) throws(StorageError) -> Group? {
        var reference = state.tables[table].tree
        if reference.isNull { return nil }
        var level = Branch.maxLevel + 1
        while reference.is(.branch) {
            let branch = try reader.branch(reference, below: &level)
            reference = branch.reference(branch.find(key))
        }
        return Group(try reader.node(reference, .group))
    }

    /// Where a row stands; nil when there is none with this key.
    /// - Complexity: O(log rows), without allocation.
    @inline(__always)
    package func locate(_ table: Int, _ key: RowKey) throws(StorageError) -> RowLocation? {
        try prepareRows(table)
        let group = try group(table, key.rawValue)
        let slot = try group?.locate(key.rawValue, reader)
        try reader.confirm()
        guard let group, let slot else { return nil }
        return RowLocation(group, slot: slot, table: table)
    }

    /// The `ordinal`-th row in key order. O(log rows).
    package func key(at ordinal: Int, in table: Int) throws(StorageError) -> RowKey? {
        try prepareRows(table)
        var reference = state.tables[table].tree
        if reference.isNull || ordinal < 0 { return nil }
        var left = ordinal
        var level = Branch.maxLevel + 1
        while reference.is(.branch) {
            let branch = try reader.branch(reference, below: &level)
            var index = 0
            while index < branch.count && left >= branch.rows(index) {
                left -= branch.rows(index)
                index += 1
            }
            if index == branch.count {
                try reader.confirm()
                return nil
            }
            reference = branch.reference(index)
        }
        let group = Group(try reader.node(reference, .group))
        let key = try group.select(left, reader).map { (row) throws(StorageError) in try group.key(row, reader) }
        try reader.confirm()
        return key.map(RowKey.init)
    }

    /// How many rows come before a key. O(log rows).
    package func rank(of key: RowKey, in table: Int) throws(StorageError) -> Int {
        try prepareRows(table)
        var reference = state.tables[table].tree
        if reference.isNull { return 0 }
        var before = 0
        var level = Branch.maxLevel + 1
        while reference.is(.branch) {
            let branch = try reader.branch(reference, below: &level)
            let index = branch.find(key.rawValue)
            for left in 0..<index { before += branch.rows(left) }
            reference = branch.reference(index)
        }
        before += try Group(try reader.node(reference, .group)).rank(of: key.rawValue, reader)
        try reader.confirm()
        return before
    }

    /// The place of a row in key order, or nil when it is not there. O(log rows).
    package func ordinal(of key: RowKey, in table: Int) throws(StorageError) -> Int? {
        try locate(table, key) == nil ? nil : try rank(of: key, in: table)
    }

    // MARK: Values

    @inline(__always)
    private func position(_ row: RowLocation, _ column: Int) throws(StorageError) -> Int? {
        if isWriter { _ = try openWriter() }
        let table = Int(row.table)
        let wanted = column + RowSet.firstUserColumn
        precondition(table < tableCount && wanted >= 0 && wanted < columnIDs[table].count, "no such column")
        return Group(row.group).position(of: columnIDs[table].ids[wanted], near: wanted)
    }

    /// Values around a row that are read without asking the view again; nil where they do not stand plainly side by
    /// side: a null, a change or an exception is near, or the row was inserted later.
    /// - Complexity: O(patched columns); makes sense for a row that is read more than once.
    package func window(
        _ row: RowLocation, _ column: Int, _ kind: SegmentKind
    ) throws(StorageError) -> ColumnWindow? {
        guard row.slot >= 0, let position = try position(row, column) else { return nil }
        let group = Group(row.group)
        for index in 0..<group.patched where group.patch(index).column == position { return nil }
        let number = group.segmentIndex(position, Int(row.slot))
        let first = group.descriptor(number).firstSlot
        return ColumnWindow(row.group, try group.segment(number, reader), kind, firstSlot: first, reader.damage)
    }

    /// An integer, or the key that a link leads to; nil for null.
    @inline(__always)
    package func integer(_ row: RowLocation, _ column: Int) throws(StorageError) -> Int64? {
        guard let position = try position(row, column) else {
            let cell = state.layouts[Int(row.table)].missing[column + RowSet.firstUserColumn]
            return cell.isNull ? nil : cell.integerValue
        }
        let (segment, index) = try Group(row.group).value(position, row.slot, .integer, reader)
        let value = segment.isNull(index) ? nil : segment.integer(index)
        try reader.confirm()
        return value
    }

    @inline(__always)
    package func double(_ row: RowLocation, _ column: Int) throws(StorageError) -> Double? {
        guard let position = try position(row, column) else {
            let cell = state.layouts[Int(row.table)].missing[column + RowSet.firstUserColumn]
            return cell.isNull ? nil : cell.doubleValue
        }
        let (segment, index) = try Group(row.group).value(position, row.slot, .double, reader)
        let value = segment.isNull(index) ? nil : segment.double(index)
        try reader.confirm()
        return value
    }

    /// Text, data or a payload; nil for null. Borrowed from the version: after a copy, ``confirm()`` says whether all
    /// of it was there.
    @inline(__always)
    package func bytes(
        _ row: RowLocation, _ column: Int
    ) throws(StorageError) -> UnsafeRawBufferPointer? {
        guard let position = try position(row, column) else {
            let cell = state.layouts[Int(row.table)].missing[column + RowSet.firstUserColumn]
            return cell.isNull ? nil : cell.bytesValue
        }
        let (segment, index) = try Group(row.group).value(position, row.slot, .bytes, reader)
        let value = segment.isNull(index) ? nil : segment.bytes(index)
        let isLong = segment.isLong(index)
        try reader.confirm()
        guard let value else { return nil }
        return isLong ? try long(value) : value
    }

    /// Asked after borrowed bytes were used, before what was made of them is believed.
    /// - Throws: `corrupt` with `unreadable` when any page of the file could not be read; what was lost read as zeros.
    @inline(__always)
    package func confirm() throws(StorageError) { try reader.confirm() }

    /// Follows the descriptor of a value that is a node of its own.
    func long(_ descriptor: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer {
        try reader.long(descriptor)
    }

    /// The descriptor of a value that is a node of its own, or nil.
    func longValue(_ row: RowLocation, _ column: Int) throws(StorageError) -> LongValue? {
        guard let position = try position(row, column) else { return nil }
        let (segment, index) = try Group(row.group).value(position, row.slot, .bytes, reader)
        guard segment.isLong(index), let base = segment.bytes(index).baseAddress else { return nil }
        return LongValue(base)
    }

    /// The version that made the row: with table and key, its identity.
    package func creationVersion(_ row: RowLocation) throws(StorageError) -> TransactionID {
        if isWriter { _ = try openWriter() }
        let (segment, index) = try Group(row.group).value(RowSet.createdColumn, row.slot, .integer, reader)
        let version = segment.integer(index)
        try reader.confirm()
        return TransactionID(UInt64(bitPattern: version))
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
        ) { (_, low, count) throws(StorageError) in
            try reader.confirm()
            return try body(RowKey(low), Int(count))
        }
        try reader.confirm()
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
        try reader.confirm()
        return found
    }

    /// Rows whose column, which has an ordered index, lies between two values, ends included. Null comes before all
    /// values.
    ///
    /// In the order of the index: by value, then by key; text and data by their first eight bytes, then by key.
    package func rows(
        _ table: Int, _ column: Int, from low: Cell, through high: Cell
    ) throws(StorageError) -> [RowKey] {
        try prepareRows(table)
        try prepareEntries(table)
        let definition = state.schema.tables[table].columns[column]
        guard definition.index == .ordered, let root = entryRoot(table, column, .ordered) else {
            throw .misuse(.noSuchColumn)
        }
        let first = IndexKey.high(low, definition)
        let last = IndexKey.high(high, definition)
        let isPrefix = SegmentKind(definition.type) == .bytes
        var found: [RowKey] = []
        var doubtful: [Int] = []
        try EntryTree.forEach(
            in: root, from: (first, .min), through: (last, .max), reading: reader
        ) { (entry, key, _) throws(StorageError) in
            // Null shares its entry with the smallest value, and bytes with all that start alike.
            if entry == .min || isPrefix && (entry == first || entry == last) { doubtful.append(found.count) }
            found.append(RowKey(key))
            return true
        }
        try reader.confirm()
        if doubtful.isEmpty { return found }
        var kept: [RowKey] = []
        var next = 0
        for (place, key) in found.enumerated() {
            if next < doubtful.count && doubtful[next] == place {
                next += 1
                if try !liesBetween(key, table, column, definition.type, low, high) { continue }
            }
            kept.append(key)
        }
        return kept
    }

    private func liesBetween(
        _ key: RowKey, _ table: Int, _ column: Int, _ type: ColumnType, _ low: Cell, _ high: Cell
    ) throws(StorageError) -> Bool {
        guard let row = try locate(table, key) else {
            throw .corrupt(page: PageNumber(0), offset: 0, reason: .structure)
        }
        switch type {
        case .integer, .link:
            guard let value = try integer(row, column) else { return low.isNull }
            return (low.isNull || low.integerValue <= value) && !high.isNull && value <= high.integerValue
        case .double:
            guard let value = try double(row, column) else { return low.isNull }
            return (low.isNull || low.doubleValue <= value) && !high.isNull && value <= high.doubleValue
        case .bytes, .links:
            guard let value = try bytes(row, column) else { return low.isNull }
            return (low.isNull || RowFilter.BytesTest.order(value, low.bytesValue) >= 0)
                && !high.isNull && RowFilter.BytesTest.order(value, high.bytesValue) <= 0
        }
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
