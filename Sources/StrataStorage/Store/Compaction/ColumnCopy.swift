internal import StrataFiles

/// Fills one table of a copy with what the source has: groups are encoded anew column by column, or copied segment by
/// segment, and entry trees are copied in their order. No row is made of cells, nothing is sorted, and nothing recorded.
///
/// 1. Keys are checked to ascend: groups of consecutive keys do not store them, so a disorder would change keys.
/// 2. Nothing else is checked, so what the source breaks the copy breaks. It is read back before it gets its name.
/// 3. What can only be inserted (a collection that was not a tree and is too long for its row) is left to ``RowCopy``.
///
/// Concurrency: confined to the copy.
final class ColumnCopy {
    private let source: ReadView
    private let transaction: WriteTransaction
    private let met: MetNodes
    private let table: Int
    private let layout: TableLayout
    private let collections: CollectionCopy
    private let segments: SegmentCopy
    /// Decoded rows that are not in a group yet.
    private let rows: RowSet
    /// The highest key of the copy's groups.
    private var lastKey: Int64?
    private var limits: StoreLimits { transaction.nodes.limits }

    /// A cell that leads to a tree of elements.
    private struct Tree {
        let key: RowKey
        let column: Int
        /// Borrowed from the source.
        let descriptor: UnsafeRawBufferPointer
    }

    /// - Parameter met: of the whole copy.
    init(of table: Int, _ source: ReadView, _ transaction: WriteTransaction, _ met: MetNodes) {
        self.table = table
        self.source = source
        self.transaction = transaction
        self.met = met
        layout = source.state.layouts[table]
        rows = RowSet(layout)
        collections = CollectionCopy(source, transaction, met)
        segments = SegmentCopy(layout, source.reader, transaction.nodes, met)
    }

    func run() throws(StorageError) {
        transaction.workspace.entries.areCopied = true
        try source.forEachGroup(table, from: .min) { (group) throws(StorageError) in
            try met.meet(group.base)
            if try !appendSegments(of: group) { try appendRows(of: group) }
            try transaction.spillIfLarge()
            return true
        }
        try appendGroups(all: true)
        for entry in source.state.tables[table].entries { try copy(entry) }
    }

    // MARK: Rows

    /// Copies a full group segment by segment, if no rows wait, or so many that their group is full enough.
    private func appendSegments(of group: Group) throws(StorageError) -> Bool {
        #if Zoo
            if PlantedMistake.compactionLosesRows.isPlanted { return false }
        #endif
        guard rows.count == 0 || 4 * rows.count >= 3 * limits.wideRows, try segments.takes(group) else { return false }
        try appendGroups(all: true)
        mark(.copiedSegments)
        let made = try segments.copy(group)
        try source.reader.confirm()
        try append([made.entry], made.keys)
        return true
    }

    private func appendRows(of group: Group) throws(StorageError) {
        let start = rows.count
        try group.decode(into: rows, layout, source.reader)
        #if Zoo
            if PlantedMistake.compactionLosesRows.isPlanted { rows.truncate(to: max(start, rows.count - 1)) }
        #endif
        var trees: [Tree] = []
        var isBound = false
        for column in layout.kinds.indices where layout.kinds[column] == .bytes {
            if try moveLong(column, from: start, &trees) { isBound = true }
        }
        // Descriptors are kept until all rows are in groups, and trees need their rows.
        try appendGroups(all: isBound || !trees.isEmpty)
        for tree in trees {
            try collections.copy(tree.descriptor, of: tree.key, table, tree.column)
            try transaction.spillIfLarge()
        }
    }

    /// Gives the long values of a column nodes in the copy, and empties the cells of trees.
    /// - Returns: whether a value got a node.
    private func moveLong(_ column: Int, from start: Int, _ trees: inout [Tree]) throws(StorageError) -> Bool {
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
                if layout.isCollection[column], values.isTree(row) {
                    trees.append(
                        Tree(
                            key: RowKey(rows.key(row)), column: column - RowSet.firstUserColumn, descriptor: bytes))
                    values.set(row, .bytes(UnsafeRawBufferPointer(start: nil, count: 0)))
                    continue
                }
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

    /// Builds groups of the rows.
    /// - Parameter all: false if rows that do not fill a group wait for others.
    private func appendGroups(all: Bool) throws(StorageError) {
        let count = all ? rows.count : rows.count / limits.wideRows * limits.wideRows
        if count == 0 { return }
        guard rows.isAscending(0..<count) else { throw .structure(source.state.tables[table].tree) }
        let keys = rows.key(0)...rows.key(count - 1)
        let made = try GroupBuilder(layout: layout, nodes: transaction.nodes).build(rows, 0..<count)
        try source.reader.confirm()
        try append(made, keys)
        if count == rows.count { rows.removeAll() } else { rows.removeFirst(count) }
    }

    private func append(_ groups: [BranchEntry], _ keys: ClosedRange<Int64>) throws(StorageError) {
        if let lastKey, keys.lowerBound <= lastKey { throw .structure(source.state.tables[table].tree) }
        lastKey = keys.upperBound
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
