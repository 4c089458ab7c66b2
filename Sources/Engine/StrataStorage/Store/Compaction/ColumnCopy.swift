internal import StrataFiles

/// Fills one table of a copy with what the source has: groups are encoded anew column by column, or copied segment by
/// segment, and entry trees are copied in their order. Nothing is sorted, and nothing recorded. The rows of a group
/// that has trees of elements are inserted by a ``RowCopy``.
///
/// 1. Keys are checked to ascend: groups of consecutive keys do not store them, so a disorder would change keys.
/// 2. Nothing else is checked: a rule that the source breaks the copy breaks, too. ``StoreCopy`` checks the copy before
///    it gets its name.
/// 3. A collection that is too long for its row, and is no tree in the source, can only be inserted: it makes this copy
///    fail as damaged, and ``StoreCopy`` makes another one by ``RowCopy``.
///
/// Concurrency: confined to the copy.
final class ColumnCopy {
    private let source: ReadView
    private let transaction: WriteTransaction
    private let met: MetNodes
    private let table: Int
    private let layout: TableLayout
    private let byRows: RowCopy
    private let segments: SegmentCopy
    /// Decoded rows that are not in a group yet.
    private let rows: RowSet
    /// The highest key of the copy's groups.
    private var lastKey: Int64?
    private var limits: StoreLimits { transaction.nodes.limits }

    /// - Parameter met: the nodes of the source that the whole copy has visited.
    init(of table: Int, _ source: ReadView, _ transaction: WriteTransaction, _ met: MetNodes) {
        self.table = table
        self.source = source
        self.transaction = transaction
        self.met = met
        layout = source.state.layouts[table]
        rows = RowSet(layout)
        byRows = RowCopy(source, transaction, met)
        segments = SegmentCopy(layout, reader: source.reader, nodes: transaction.nodes, met: met)
    }

    func run() throws(StorageError) {
        transaction.workspace.entries.areCopied = true
        try source.forEachGroup(table, from: .min) { (group) throws(StorageError) in
            try met.meet(group.base)
            if try !appendSegments(of: group) { try appendRows(of: group) }
            try transaction.spillIfLarge()
            return true
        }
        try appendGroups(of: rows.count)
        for entry in source.state.tables[table].entries { try copy(entry) }
    }

    // MARK: Rows

    /// Copies a group segment by segment, if it is full, and no rows wait before it, or enough for a group of their
    /// own.
    /// - Returns: whether it did.
    private func appendSegments(of group: Group) throws(StorageError) -> Bool {
        #if Zoo
            if PlantedMistake.compactionLosesRows.isPlanted { return false }
        #endif
        guard rows.count == 0 || 4 * rows.count >= 3 * limits.wideRows, try segments.takes(group) else { return false }
        try appendGroups(of: rows.count)
        mark(.copiedSegments)
        let made = try segments.copy(group)
        try source.reader.confirm()
        try note(made.keys)
        try append([made.entry])
        return true
    }

    /// Decodes the rows of a group. They wait until they fill a group of the copy.
    private func appendRows(of group: Group) throws(StorageError) {
        let start = rows.count
        try group.decode(into: rows, layout, source.reader)
        #if Zoo
            if PlantedMistake.compactionLosesRows.isPlanted { rows.truncate(to: max(start, rows.count - 1)) }
        #endif
        if hasTrees(from: start) {
            try appendGroups(of: start)
            try note(0..<rows.count)
            try byRows.insert(rows, table)
            return rows.removeAll()
        }
        var isBound = false
        for column in layout.kinds.indices where layout.kinds[column] == .bytes {
            if try moveLong(column, from: start) { isBound = true }
        }
        // The buffers free the descriptors of long values only when no rows wait, so such rows do not wait.
        try appendGroups(of: isBound ? rows.count : rows.count / limits.wideRows * limits.wideRows)
    }

    /// Whether a row from `start` on has a collection that is a tree. Such a row is inserted first, and its tree is
    /// built afterwards.
    private func hasTrees(from start: Int) -> Bool {
        for column in layout.kinds.indices where layout.isCollection[column] && rows.columns[column].hasFlags {
            for row in start..<rows.count where rows.columns[column].isTree(row) { return true }
        }
        return false
    }

    /// Writes the long values of a column to nodes of the copy, and sets their descriptors.
    /// - Returns: whether a value got a node.
    private func moveLong(_ column: Int, from start: Int) throws(StorageError) -> Bool {
        let values = rows.columns[column]
        var total = 0
        var longest: UInt32 = 0
        for row in start..<rows.count {
            total += Int(values.lengths[row])
            longest = max(longest, values.lengths[row])
        }
        try met.count(bytes: total)
        if !values.hasFlags && longest <= limits.inlineBytes { return false }
        var isMoved = false
        for row in start..<rows.count where !values.isNull(row) {
            var bytes = values.bytes(row)
            if values.isLong(row) {
                bytes = try source.long(bytes)
                try met.count(bytes: bytes.count)
                #if Zoo
                    if PlantedMistake.compactionEmptiesTexts.isPlanted {
                        bytes = UnsafeRawBufferPointer(start: nil, count: 0)
                    }
                #endif
                values.resolve(row, bytes)
            }
            if bytes.count <= limits.inlineBytes { continue }
            if layout.isCollection[column] { throw source.reader.damage(at: bytes.baseAddress ?? PageReader.zeros) }
            values.setLong(row, try transaction.nodes.makeLong(bytes, table: layout.table))
            isMoved = true
        }
        return isMoved
    }

    /// Builds groups of the first `count` rows that wait.
    private func appendGroups(of count: Int) throws(StorageError) {
        if count == 0 { return }
        try note(0..<count)
        let made = try GroupBuilder(layout: layout, nodes: transaction.nodes).build(rows, 0..<count)
        try source.reader.confirm()
        try append(made)
        if count == rows.count { rows.removeAll() } else { rows.removeFirst(count) }
    }

    /// Checks that keys ascend, and notes the highest one.
    private func note(_ range: Range<Int>) throws(StorageError) {
        if range.isEmpty { return }
        guard rows.isAscending(range) else { throw .structure(source.state.tables[table].tree) }
        try note(rows.key(range.lowerBound)...rows.key(range.upperBound - 1))
    }

    private func note(_ keys: ClosedRange<Int64>) throws(StorageError) {
        if let lastKey, keys.lowerBound <= lastKey { throw .structure(source.state.tables[table].tree) }
        lastKey = keys.upperBound
    }

    private func append(_ groups: [BranchEntry]) throws(StorageError) {
        try transaction.editor(table).use { (editor) throws(StorageError) in try editor.append(groups) }
        transaction.view.generation &+= 1
    }

    // MARK: Entries

    private func copy(_ entry: EntryRoot) throws(StorageError) {
        guard let place = transaction.view.state.tables[table].entryRoot(entry.column, entry.kind) else {
            throw .structure(entry.root)
        }
        let builder = EntryTreeBuilder(transaction.nodes, table: layout.table)
        try EntryTree.forEachLeaf(entry.root, reading: source.reader) { (leaf, node) throws(StorageError) in
            try builder.append(leaf, node)
        }
        let root = try builder.finish()
        try source.reader.confirm()
        transaction.view.state.tables[table].entries[place].root = root
        try transaction.spillIfLarge()
    }
}
