/// Changes the row tree of one table within a transaction.
///
/// It holds appended rows, consecutive deletes, and many consecutive changes of one group back, to apply them group by
/// group; every other operation applies them first. The path of branches to the current group is in the arena.
///
/// Concurrency: confined to the write transaction.
final class TableEditor {
    let table: Int
    let layout: TableLayout
    /// Where the open transaction keeps the roots of its trees. Used only while ``isOpen``, when the transaction lives.
    @exclusivity(unchecked) private unowned(unsafe) var roots: (any TreeRoots)?
    @exclusivity(unchecked) private(set) var isOpen = false
    @exclusivity(unchecked) private var tree = NodeReference.null
    let nodes: TransactionNodes

    struct Step {
        var node: UnsafeMutableRawPointer
        var reference: NodeReference
        var index: Int
    }

    /// The branches from the root to the one above the current group, each with the index of the child on the path.
    @exclusivity(unchecked) var path: [Step] = []
    /// Keys of the group at the end of the path; nil if the path is invalid.
    @exclusivity(unchecked) var reach: KeyReach?
    /// Rows to be appended, with keys above all others; or the one row that is being inserted.
    private let appended: RowSet
    /// The highest key of the table, with rows held back; nil if it is unknown, or there is no row.
    @exclusivity(unchecked) private var lastKey: Int64?
    @exclusivity(unchecked) private var isLastKeyKnown = false
    @exclusivity(unchecked) private var deletion = PendingDeletion()
    private let changes: PendingChanges

    /// A range of keys, possibly without an end.
    struct KeyReach {
        var low: Int64
        var high: Int64?

        @inline(__always)
        func contains(_ key: Int64) -> Bool {
            guard key >= low else { return false }
            guard let high else { return true }
            return key < high
        }
    }

    init(_ table: Int, _ layout: TableLayout, _ nodes: TransactionNodes) {
        self.table = table
        self.nodes = nodes
        self.layout = layout
        appended = RowSet(layout, capacity: 16)
        changes = PendingChanges(layout)
    }

    /// Starts with the table's state in a transaction.
    func begin(_ roots: any TreeRoots) {
        self.roots = roots
        isOpen = true
        tree = roots.tree(of: table)
    }

    /// Forgets the transaction, and all operations that were held back.
    func end() {
        if !isOpen { return }
        isOpen = false
        roots = nil
        path.removeAll(keepingCapacity: true)
        reach = nil
        appended.removeAll()
        isLastKeyKnown = false
        deletion = PendingDeletion()
        changes.end()
    }

    /// Root of the row tree; it is also stored in the transaction's view.
    var root: NodeReference {
        @inline(__always) get { tree }
        set {
            tree = newValue
            roots?.setTree(newValue, of: table)
        }
    }

    @inline(__always) var hasPending: Bool { appended.count > 0 || isDeleting || changes.count > 0 }

    /// Whether the editor has looked a group up for a deletion. The group must not change before the deletion, even if
    /// none of its rows is held back yet.
    @inline(__always) private var isDeleting: Bool { deletion.reach != nil }

    // MARK: Operations

    /// Adds a row.
    /// - Throws: `misuse(.duplicateKey)`.
    @inline(__always)
    func insert(
        _ key: Int64, created: UInt64, _ cells: UnsafeBufferPointer<Cell>, _ values: [CellValue]?
    ) throws(StorageError) {
        if isDeleting || changes.count > 0 { try flush() }
        if !isLastKeyKnown { try findLastKey() }
        if key > lastKey ?? .min || (lastKey == nil && appended.count == 0) {
            append(key, created: created, cells: cells, values: values)
            lastKey = key
            if appended.count >= nodes.limits.wideRows { try flush() }
            return
        }
        try insertBetween(key, created: created, cells: cells, values: values)
    }

    @inline(never)
    private func insertBetween(
        _ key: Int64, created: UInt64, cells: UnsafeBufferPointer<Cell>, values: [CellValue]?
    ) throws(StorageError) {
        try flush()
        let group = try seek(key)
        if try group.locate(key, nodes.reader) != nil { throw .misuse(.duplicateKey) }
        append(key, created: created, cells: cells, values: values)
        defer { appended.removeAll() }
        var editor = try groupEditor()
        let made = try editor.insert(appended, 0)
        try finish(editor, made)
    }

    private func append(_ key: Int64, created: UInt64, cells: UnsafeBufferPointer<Cell>, values: [CellValue]?) {
        appended.append(key: key, created: created, cells)
        guard let values else { return }
        let row = appended.count - 1
        for (index, value) in values.enumerated() where value.long != nil {
            value.set(appended.columns[index + RowSet.firstUserColumn], row)
        }
    }

    /// Changes one column of a row. The node of a replaced long value is dropped.
    /// - Parameter keepsLong: that node is not dropped: the caller has dropped it, or it is still in use.
    /// - Throws: `misuse(.noSuchRow)`.
    func set(_ key: Int64, _ column: Int, _ value: CellValue, keepsLong: Bool = false) throws(StorageError) {
        if value.long == nil, changes.mayWait(nodes.limits) {
            if try hold(key, column, value.cell, keepsLong: keepsLong) { return }
            if hasPending { try flush() }
            return try setNow(
                try seek(key), key: key, column: column + RowSet.firstUserColumn, to: value, keepsLong: keepsLong)
        }
        if hasPending { try flush() }
        let group = try seek(key)
        if let reach { changes.note(reach, nodes.limits) }
        try setNow(group, key: key, column: column + RowSet.firstUserColumn, to: value, keepsLong: keepsLong)
    }

    /// Holds a change of a short value back, after enough consecutive ones.
    /// - Returns: false if it has to be made at once, or must first drop a long value.
    /// - Throws: `misuse(.noSuchRow)`.
    func hold(_ key: Int64, _ column: Int, _ cell: Cell, keepsLong: Bool = false) throws(StorageError) -> Bool {
        if !changes.mayWait(nodes.limits) { return false }
        if appended.count > 0 || isDeleting || !changes.takes(key, nodes.limits) { try flush() }
        if root.isNull { throw .misuse(.noSuchRow) }
        let group = try seek(key)
        guard let reach else { return false }
        changes.note(reach, nodes.limits)
        guard let slot = try group.locate(key, nodes.reader) else { throw .misuse(.noSuchRow) }
        let column = column + RowSet.firstUserColumn
        return try changes.hold(
            group, slot: slot, key: key, column: column, to: cell, keepsLong: keepsLong, reader: nodes.reader)
    }

    @inline(__always)
    private func setNow(
        _ group: Group, key: Int64, column: Int, to value: CellValue, keepsLong: Bool
    ) throws(StorageError) {
        guard let slot = try group.locate(key, nodes.reader) else { throw .misuse(.noSuchRow) }
        if layout.kinds[column] == .bytes, !keepsLong { try dropLong(group, slot, column) }
        var editor = try groupEditor()
        let made = try editor.set(slot, key, column: column, value)
        try finish(editor, made)
    }

    /// How many of the ascending keys belong to the group of the first one, and the number of that group's rows.
    func run(of keys: ArraySlice<Int64>) throws(StorageError) -> (count: Int, rows: Int) {
        if hasPending { try flush() }
        guard let first = keys.first, !root.isNull else { throw .misuse(.noSuchRow) }
        let group = try seek(first)
        guard let high = reach?.high else { return (keys.count, group.liveRows) }
        return (keys.prefix { $0 < high }.count, group.liveRows)
    }

    /// Sets other values of one column in rows of one group.
    /// - Parameters:
    ///   - keys: ascending, of existing rows.
    ///   - change: may set the value at an index of the column buffer, for the key at an index.
    func rewrite(
        _ keys: ArraySlice<Int64>, _ column: Int, _ change: (ColumnBuffer, Int, Int) throws(StorageError) -> Void
    ) throws(StorageError) {
        guard let first = keys.first else { return }
        _ = try seek(first)
        var editor = try groupEditor(changing: false)
        try replaceGroup(with: try editor.rewrite(keys, column + RowSet.firstUserColumn, change))
    }

    private func dropLong(_ group: Group, _ slot: Int32, _ column: Int) throws(StorageError) {
        guard let position = group.position(of: layout.ids[column], near: column) else { return }
        let (segment, index) = try group.value(position, at: slot, kind: .bytes, from: nodes.reader)
        guard segment.isLong(index), let descriptor = segment.bytes(index).baseAddress else { return }
        nodes.drop(LongValue(descriptor).reference)
    }

    /// The row to be deleted, located without applying pending deletes in the same group.
    func locateForDelete(_ key: Int64) throws(StorageError) -> RowLocation {
        if appended.count > 0 || changes.count > 0 { try flush() }
        if let reach = deletion.reach, !reach.contains(key) { try flush() }
        if deletion.reach == nil {
            if root.isNull { throw .misuse(.noSuchRow) }
            let group = try seek(key)
            deletion = PendingDeletion(from: group, reach)
        }
        if deletion.count == PendingDeletion.rowsBeforeGroup, let group = deletion.group {
            deletion.mayHaveLong = try group.mayHaveLong(layout, nodes.reader)
        }
        guard let group = deletion.group, let slot = try group.locate(key, nodes.reader), !deletion.contains(slot)
        else {
            throw .misuse(.noSuchRow)
        }
        return RowLocation(group, slot: slot, table: table)
    }

    /// Whether the row just located may have long values.
    @inline(__always) var mayDeleteLong: Bool { deletion.mayHaveLong }

    /// Deletes a row that ``locateForDelete(_:)`` just found.
    @inline(__always)
    func delete(_ row: RowLocation) {
        deletion.add(row.slot)
        isLastKeyKnown = false
    }

    // MARK: Pending operations

    /// Applies all pending operations.
    func flush() throws(StorageError) {
        if deletion.reach != nil {
            let pending = deletion
            deletion = PendingDeletion()
            if pending.count > 0 { try delete(pending) }
        }
        if appended.count > 0 { try flushAppended() }
        if changes.count > 0 { try flushChanges() }
    }

    private func flushChanges() throws(StorageError) {
        defer { changes.removeAll() }
        let group = try seek(changes.low)
        if changes.areFew(in: group) {
            do throws(StorageError) {
                return try changes.forEach { (key, column, value) throws(StorageError) in
                    try setNow(try seek(key), key: key, column: column, to: value, keepsLong: true)
                }
            } catch {
                // The row existed when the change was held back. As `misuse` its loss would look like a mistake of the
                // operation that caused this flush.
                if case .misuse = error { throw .structure(root) }
                throw error
            }
        }
        let editor = try groupEditor(changing: false)
        if let made = try ColumnRewriter(group, entry: editor.entry, layout: layout, nodes: nodes).rewritten(changes) {
            return try replaceGroup(with: [made])
        }
        try replaceGroup(
            with: try editor.rebuild { (rows) throws(StorageError) in
                guard changes.apply(to: rows) else { throw nodes.reader.damage(at: group.base) }
            })
    }

    private func flushAppended() throws(StorageError) {
        defer { appended.removeAll() }
        if root.isNull {
            let builder = GroupBuilder(layout: layout, nodes: nodes)
            try startTree(try builder.build(appended, 0..<appended.count))
            return
        }
        var group = try seek(.max)
        let done = group.isSmall && group.rows < nodes.limits.smallRows ? try appendInPlace() : 0
        if done == appended.count { return }
        let builder = GroupBuilder(layout: layout, nodes: nodes)
        group = try seek(.max)
        guard let leaf = path.last else { return }
        let isJoined =
            done == 0 && group.isSmall && group.liveRows + min(appended.count, 1) <= nodes.limits.smallRows
            && group.size < Format.pageSize * 3 / 4
        if !isJoined { return try putBehind(try builder.build(appended, done..<appended.count)) }
        let entry = Branch(UnsafeRawPointer(leaf.node)).entry(leaf.index)
        let rows = RowSet(layout, capacity: group.liveRows + appended.count)
        try group.decode(into: rows, layout, nodes.reader)
        rows.append(appended, 0..<appended.count)
        var made = try builder.build(rows, 0..<rows.count)
        made[0].key = min(made[0].key, entry.key)
        try replace(path.count - 1, leaf.index..<(leaf.index + 1), with: made)
        nodes.drop(entry.reference)
        if made.count > 1 { try promote(atKey: entry.key) }
    }

    /// Appends finished groups, with keys above all others.
    func append(_ groups: [BranchEntry]) throws(StorageError) {
        if hasPending { try flush() }
        isLastKeyKnown = false
        try putBehind(groups)
    }

    private func putBehind(_ groups: [BranchEntry]) throws(StorageError) {
        guard let first = groups.first else { return }
        if root.isNull { return try startTree(groups) }
        _ = try seek(.max)
        guard let leaf = path.last else { return }
        try replace(path.count - 1, (leaf.index + 1)..<(leaf.index + 1), with: groups)
        try promote(atKey: first.key)
    }

    /// Appends rows to the last group in place, if it is a small one, as long as they fit.
    /// - Returns: the number of appended rows.
    private func appendInPlace() throws(StorageError) -> Int {
        if appended.count > Self.appendedInPlace { return 0 }
        let editor = try groupEditor()
        var done = 0
        while done < appended.count, try editor.append(appended, done) { done += 1 }
        try update(editor)
        return done
    }

    /// More rows than this are built into groups at once.
    private static let appendedInPlace = 8

    private func delete(_ pending: PendingDeletion) throws(StorageError) {
        guard let low = pending.reach?.low else { return }
        let group = try seek(low)
        let slots = PendingDeletion.list(pending.slots)
        let inserted = PendingDeletion.list(pending.inserted)
        if pending.count < group.liveRows {
            var editor = try groupEditor(
                changing: GroupEditor.keeps(group, slots: slots.count, rows: pending.count, limits: nodes.limits))
            if try editor.delete(slots: slots, inserted: inserted) { return try update(editor) }
            if try rebuild(editor, slots, inserted, joiningLeftOf: low) { return }
        } else {
            try groupEditor(changing: false).giveUp()
            try replaceGroup(with: [])
        }
        try mergeWithLeft(low)
    }

    /// Rebuilds a group without some of its rows, together with its left neighbour if both fit one.
    /// - Returns: whether they were joined.
    private func rebuild(
        _ editor: GroupEditor, _ slots: [Int], _ inserted: [Int], joiningLeftOf low: Int64
    ) throws(StorageError) -> Bool {
        guard let leaf = path.last else { return false }
        let remaining = editor.liveRows - slots.count - inserted.count
        if leaf.index > 0 {
            let left = Branch(UnsafeRawPointer(leaf.node)).entry(leaf.index - 1)
            let neighbour = try GroupEditor(left, layout, nodes)
            if !neighbour.isSmall && left.rows + remaining <= nodes.limits.wideRows {
                let made = try editor.rebuild(without: slots, inserted, behind: neighbour)
                try replace(path.count - 1, (leaf.index - 1)..<(leaf.index + 1), with: made)
                return true
            }
        }
        try replaceGroup(with: try editor.rebuild(without: slots, inserted, behind: nil))
        return false
    }

    private func findLastKey() throws(StorageError) {
        lastKey = try RowOrder(root, nodes.reader).lastKey()
        isLastKeyKnown = true
    }

    // MARK: The current group

    /// An editor for the group at the end of the path.
    private func groupEditor(changing: Bool = true) throws(StorageError) -> GroupEditor {
        guard let leaf = path.last else { throw .misuse(.noSuchRow) }
        let entry = Branch(UnsafeRawPointer(leaf.node)).entry(leaf.index)
        return try GroupEditor(entry, layout, nodes, changing: changing)
    }

    /// Updates the tree after a change of the group at the end of the path.
    private func finish(_ editor: GroupEditor, _ entries: [BranchEntry]?) throws(StorageError) {
        guard let entries else { return try update(editor) }
        try replaceGroup(with: entries)
    }

    /// Updates the tree after an in-place change of the group.
    private func update(_ editor: GroupEditor) throws(StorageError) {
        guard let leaf = path.last else { return }
        #if DEBUG
            // Not an assertion: a forged file can cause it, for example with keys that do not ascend.
            if !editor.isSound { throw .structure(editor.entry.reference) }
        #endif
        let branch = Branch(UnsafeRawPointer(leaf.node))
        let delta = editor.liveRows - branch.rows(leaf.index)
        Branch.setReference(leaf.node, leaf.index, editor.entry.reference)
        if delta == 0 { return }
        Branch.setRows(leaf.node, leaf.index, editor.liveRows)
        addRows(delta, above: path.count - 1)
    }
}
