import CStrataShim

/// Reads one version of the store, or a write transaction's own state.
///
/// Tables and columns are named by their position in ``schema``.
/// Concurrency: a version's view may be used from any thread while the version is pinned; a transaction's view by the
/// thread that has the transaction.
package final class ReadView: Sendable {
    /// Immutable in a version's view; guarded by the write gate in a transaction's.
    @exclusivity(unchecked) nonisolated(unsafe) var state: VersionState
    /// Owned by `state`.
    @exclusivity(unchecked) private nonisolated(unsafe) var columnIDs: UnsafeMutablePointer<ColumnIDs.Table>
    @exclusivity(unchecked) private nonisolated(unsafe) var tableCount: Int
    let reader: PageReader
    /// What the open transaction holds back, which sets this to nil at its end. A read first applies what is pending.
    /// Guarded by the write gate.
    nonisolated(unsafe) unowned(unsafe) var heldBack: (any HeldBackChanges)?
    private let isWriter: Bool
    /// Keeps the version readable; nil if the view's creator does that.
    private let pin: Pin?
    /// Counts the writes of a transaction. Row locations from before the last write are invalid.
    @exclusivity(unchecked) package nonisolated(unsafe) internal(set) var generation: UInt64 = 0

    init(
        _ state: VersionState, _ reader: PageReader, isWriter: Bool = false, pin: consuming Pin? = nil
    ) {
        self.state = state
        columnIDs = state.definitions.columnIDs.tables
        tableCount = state.definitions.columnIDs.count
        self.reader = reader
        self.isWriter = isWriter
        self.pin = pin
    }

    /// Adopts the transaction's new schema.
    func layoutsChanged() {
        columnIDs = state.definitions.columnIDs.tables
        tableCount = state.definitions.columnIDs.count
    }

    package var version: TransactionID { TransactionID(state.version) }
    package var schema: StoreSchema { state.schema }

    @inline(__always)
    func prepareRows(_ table: Int) throws(StorageError) {
        if isWriter { try openChanges().flushRows(table) }
    }

    func prepareEntries(_ table: Int) throws(StorageError) {
        if isWriter { try openChanges().flushEntries(table) }
    }

    /// What the transaction of this view holds back. After the transaction's end the view cannot be read: the arena has
    /// the next transaction's nodes.
    private func openChanges() throws(StorageError) -> any HeldBackChanges {
        guard let heldBack else { throw .misuse(.transactionEnded) }
        return heldBack
    }

    /// Number of rows of a table. O(1): the root has the count.
    package func rowCount(_ table: Int) throws(StorageError) -> Int {
        try prepareRows(table)
        return try RowOrder(state.tables[table].tree, reader).count()
    }

    /// The group of a key; nil in an empty table.
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

    /// The location of a row; nil if there is none with this key.
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
        return try RowOrder(state.tables[table].tree, reader).key(at: ordinal).map(RowKey.init)
    }

    /// Number of rows before a key. O(log rows).
    package func rank(of key: RowKey, in table: Int) throws(StorageError) -> Int {
        try prepareRows(table)
        return try RowOrder(state.tables[table].tree, reader).rank(of: key.rawValue)
    }

    /// The position of a row in key order; nil if there is no such row. O(log rows).
    package func ordinal(of key: RowKey, in table: Int) throws(StorageError) -> Int? {
        try locate(table, key) == nil ? nil : try rank(of: key, in: table)
    }

    // MARK: Values

    @inline(__always)
    func position(_ row: RowLocation, _ column: Int) throws(StorageError) -> Int? {
        if isWriter { _ = try openChanges() }
        let table = Int(row.table)
        let wanted = column + RowSet.firstUserColumn
        precondition(table < tableCount && wanted >= 0 && wanted < columnIDs[table].count, "no such column")
        return Group(row.group).position(of: columnIDs[table].ids[wanted], near: wanted)
    }

    /// A window of values around a row, which is read without the view; nil if they are not plain: a null, a patch or
    /// an exception is near, or the row was inserted later.
    /// - Complexity: O(patched columns); worthwhile if a row is read more than once.
    package func window(
        _ row: RowLocation, _ column: Int, _ kind: SegmentKind
    ) throws(StorageError) -> ColumnWindow? {
        guard row.slot >= 0, let position = try position(row, column) else { return nil }
        let group = Group(row.group)
        for index in 0..<group.patched where group.patch(index).column == position { return nil }
        let number = group.segmentIndex(position, Int(row.slot))
        let first = group.descriptor(number).firstSlot
        return ColumnWindow(
            row.group, try group.segment(number, reader), kind: kind, firstSlot: first, damage: reader.damage)
    }

    // A group on a page that the mapping has lost reads as zeros, without columns. So a column counts as missing only
    // after a check of the mapping.

    /// An integer, or the key that a link leads to; nil for null.
    @inline(__always)
    package func integer(_ row: RowLocation, _ column: Int) throws(StorageError) -> Int64? {
        guard let position = try position(row, column) else {
            try confirm()
            let cell = state.layouts[Int(row.table)].missing[column + RowSet.firstUserColumn]
            return cell.isNull ? nil : cell.integerValue
        }
        let (segment, index) = try Group(row.group).value(position, at: row.slot, kind: .integer, from: reader)
        let value = segment.isNull(index) ? nil : segment.integer(index)
        try reader.confirm()
        return value
    }

    @inline(__always)
    package func double(_ row: RowLocation, _ column: Int) throws(StorageError) -> Double? {
        guard let position = try position(row, column) else {
            try confirm()
            let cell = state.layouts[Int(row.table)].missing[column + RowSet.firstUserColumn]
            return cell.isNull ? nil : cell.doubleValue
        }
        let (segment, index) = try Group(row.group).value(position, at: row.slot, kind: .double, from: reader)
        let value = segment.isNull(index) ? nil : segment.double(index)
        try reader.confirm()
        return value
    }

    /// Text, data or a payload; nil for null. Borrowed from the version: after a copy, ``confirm()`` tells whether all
    /// pages were readable.
    /// - Throws: `misuse(.wrongType)` if it is a collection with a tree, which a ``CollectionReader`` reads.
    @inline(__always)
    package func bytes(
        _ row: RowLocation, _ column: Int
    ) throws(StorageError) -> UnsafeRawBufferPointer? {
        guard let position = try position(row, column) else {
            try confirm()
            let cell = state.layouts[Int(row.table)].missing[column + RowSet.firstUserColumn]
            return cell.isNull ? nil : cell.bytesValue
        }
        let (segment, index) = try Group(row.group).value(position, at: row.slot, kind: .bytes, from: reader)
        let value = segment.isNull(index) ? nil : segment.bytes(index)
        let isLong = segment.isLong(index)
        try reader.confirm()
        guard let value else { return nil }
        if !isLong { return value }
        let isCollection = state.layouts[Int(row.table)].isCollection[column + RowSet.firstUserColumn]
        return isCollection ? try CollectionCell.bytes(value, reader) : try reader.long(value)
    }

    /// Callers that read borrowed bytes call this before they use the result.
    /// - Throws: `corrupt` with `unreadable` if any page of the file could not be read; lost pages read as zeros.
    @inline(__always)
    package func confirm() throws(StorageError) { try reader.confirm() }

    /// Error for a row or value that is malformed for its table.
    package func damage(at row: RowLocation) -> StorageError { reader.damage(at: row.group) }

    /// Error for a missing row that an index, a link or another row references; it names the table's root.
    package func missingRow(in table: Int) -> StorageError { .structure(state.tables[table].tree) }

    /// Reads a long value by its descriptor.
    func long(_ descriptor: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer {
        try reader.long(descriptor)
    }

    /// The descriptor of a long value; nil for another value.
    func longValue(_ row: RowLocation, _ column: Int) throws(StorageError) -> LongValue? {
        guard let position = try position(row, column) else {
            try confirm()
            return nil
        }
        let (segment, index) = try Group(row.group).value(position, at: row.slot, kind: .bytes, from: reader)
        guard segment.isLong(index), let base = segment.bytes(index).baseAddress else { return nil }
        return LongValue(base)
    }

    /// The version that created the row: with table and key, its identity.
    package func creationVersion(_ row: RowLocation) throws(StorageError) -> TransactionID {
        if isWriter { _ = try openChanges() }
        let (segment, index) = try Group(row.group).value(
            RowSet.createdColumn, at: row.slot, kind: .integer, from: reader)
        let version = segment.integer(index)
        try reader.confirm()
        return TransactionID(UInt64(bitPattern: version))
    }

    // MARK: Scans

    /// Visits the groups of a table in key order, from that of `key` on, until `body` returns false.
    func forEachGroup(
        _ table: Int, from key: Int64, _ body: (Group) throws(StorageError) -> Bool
    ) throws(StorageError) {
        var walk = GroupWalk(state.tables[table].tree, from: key, reader)
        var goesOn = true
        while goesOn, let group = try walk.next() {
            goesOn = try body(group)
            try reader.confirm()
        }
    }

    /// Calls `body`, which must not write to the table, with all rows from `from` on, in key order, until it returns
    /// false. Throws as ``confirm()`` if `body` may have read a lost page: its results mean nothing then.
    /// - Parameter met: of a walk over the whole version, in which a group that is visited twice is damage.
    package func scan(
        _ table: Int, columns: [Int], from: RowKey? = nil, meeting met: MetNodes? = nil,
        _ body: (RowBatch) throws(StorageError) -> Bool
    ) throws(StorageError) {
        try prepareRows(table)
        let wanted = columns.map { $0 + RowSet.firstUserColumn }
        let decoder = GroupDecoder(state.layouts[table], wanted: wanted, reader: reader, met: met)
        try forEachGroup(table, from: from?.rawValue ?? .min) { (group) throws(StorageError) in
            try decoder.decode(group, from: from)
            strata_note_steps(decoder.rows.count)
            return decoder.rows.count == 0 ? true : try body(RowBatch(rows: decoder.rows, wanted: wanted))
        }
    }

    /// All keys of a table in order. O(rows).
    package func keys(_ table: Int) throws(StorageError) -> [Int64] {
        var all: [Int64] = []
        all.reserveCapacity(min(try rowCount(table), 1 << 24))
        try scan(table, columns: []) { (batch) throws(StorageError) in
            all.append(contentsOf: UnsafeBufferPointer(start: batch.keys, count: batch.count))
            return true
        }
        return all
    }

    /// The first `count` keys from a key on, ascending, and at most a batch more; fewer if there are no more.
    func keys(_ table: Int, from key: Int64, atMost count: Int) throws(StorageError) -> [Int64] {
        var first: [Int64] = []
        try scan(table, columns: [], from: RowKey(key)) { (batch) throws(StorageError) in
            first.append(contentsOf: UnsafeBufferPointer(start: batch.keys, count: batch.count))
            return first.count < count
        }
        return first
    }

    // MARK: Filters

    /// Number of rows that pass.
    /// - Throws: `misuse` if the filter does not fit the table.
    /// - Complexity: O(rows), on the packed values of the filter's columns.
    package func count(_ table: Int, where filter: RowFilter) throws(StorageError) -> Int {
        try FilteredRows(self, table, filter).count()
    }

    /// The keys of the rows that pass, ascending.
    /// - Throws: `misuse` if the filter does not fit the table.
    package func keys(_ table: Int, where filter: RowFilter) throws(StorageError) -> [Int64] {
        try FilteredRows(self, table, filter).keys()
    }

    /// The wrapping sum of an integer column, and the number of non-null values.
    /// - Throws: `misuse` if the column does not fit.
    /// - Complexity: O(rows), on the packed values of the column.
    package func sum(_ table: Int, _ column: Int) throws(StorageError) -> (sum: Int64, count: Int) {
        try FilteredRows(self, table, .everything).plainSum(column)
    }

    /// The rows of a table that differ from those in `old`, an earlier version of the same store. Deleted and inserted
    /// keys ascend; a row that was deleted and created again under its key is both.
    ///
    /// Columns that only one version has count as unchanged. `isComplete` is always true.
    /// - Throws: `misuse(.transactionOpen)` for a transaction's view: it is no version yet, and rows do not reference
    ///   its open collections.
    /// - Complexity: O(groups), and the rows of groups that are not shared.
    package func changes(of table: TableID, since old: ReadView) throws(StorageError) -> TableChanges {
        if isWriter || old.isWriter { throw .misuse(.transactionOpen) }
        return try VersionComparison(earlier: old, later: self).changes(of: table)
    }

    // MARK: Indexes and backlinks

    /// Calls `body` with the rows that link to `key` by a link column of `table`, and the number of links of each, in
    /// key order.
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

    /// Number of links to `key` by a link column of `table`.
    package func backlinkCount(to key: RowKey, of table: Int, _ column: Int) throws(StorageError) -> Int {
        try BacklinkReader(to: key, of: table, column, in: self).count()
    }

    /// Number of rows that link to `key` by a link column of `table`.
    /// - Complexity: O(log links).
    package func backlinkOrigins(to key: RowKey, of table: Int, _ column: Int) throws(StorageError) -> Int {
        try BacklinkReader(to: key, of: table, column, in: self).originCount()
    }

    /// Rows whose indexed column equals a value, in key order.
    /// - Throws: `misuse` if the column has no index.
    package func rows(_ table: Int, _ column: Int, equalTo cell: Cell) throws(StorageError) -> [RowKey] {
        try IndexReader(self, table: table, column: column).rows(equalTo: cell) ?? []
    }

    /// As ``rows(_:_:equalTo:)``; nil if the index has more than `limit` entries for the value.
    package func rows(
        _ table: Int, _ column: Int, equalTo cell: Cell, limit: Int
    ) throws(StorageError) -> [RowKey]? {
        try IndexReader(self, table: table, column: column).rows(equalTo: cell, limit: limit)
    }

    /// Rows whose column lies between two values, both included. Null comes before all values.
    ///
    /// In the order of the index: by value, then by key; text and data by their first eight bytes, then by key.
    /// - Throws: `misuse` if the column has no ordered index.
    package func rows(
        _ table: Int, _ column: Int, from low: Cell, through high: Cell
    ) throws(StorageError) -> [RowKey] {
        try IndexReader(self, table: table, column: column, kind: .ordered).rows(from: low, through: high)
    }

    /// Number of index entries for a value. Text and data count as equal to the value if they have its hash, in an
    /// ordered index its first eight bytes; integers and doubles are counted exactly, but null and the smallest integer
    /// together.
    /// - Throws: `misuse` if the column has no index.
    /// - Complexity: O(log rows).
    package func indexedCount(_ table: Int, _ column: Int, equalTo cell: Cell) throws(StorageError) -> Int {
        try IndexReader(self, table: table, column: column).count(from: cell, through: cell)
    }

    /// Number of entries of an ordered index between two values, both included.
    /// - Throws: `misuse` if the column has no ordered index.
    /// - Complexity: O(log rows).
    package func indexedCount(
        _ table: Int, _ column: Int, from low: Cell, through high: Cell
    ) throws(StorageError) -> Int {
        try IndexReader(self, table: table, column: column, kind: .ordered).count(from: low, through: high)
    }

    /// Finds values of an indexed column that occur more than once; null counts as a value.
    /// - Parameter limit: number of wanted examples.
    /// - Throws: `misuse` if the column has no index.
    /// - Complexity: O(rows), along the index, without memory for the rows. Rows with the same entry key are compared
    ///   with each other.
    package func duplicates(_ table: Int, _ column: Int, limit: Int) throws(StorageError) -> DuplicateValues {
        try DuplicateSearch(self, table, column, limit: limit).found()
    }
}

extension ReadView: TreeRoots {
    func tree(of table: Int) -> NodeReference { state.tables[table].tree }
    func setTree(_ root: NodeReference, of table: Int) { state.tables[table].tree = root }
}
