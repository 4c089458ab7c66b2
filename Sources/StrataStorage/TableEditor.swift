/// Changes the tree of one table within a transaction.
///
/// Appended rows and deletes that follow one another are held back and done group by group; everything else first
/// does what is held back. The path of branches to the group at hand stands in the arena.
///
/// Concurrency: confined to the write transaction.
final class TableEditor {
    let table: Int
    let layout: TableLayout
    private let view: ReadView
    private let nodes: TransactionNodes

    private struct Step {
        var node: UnsafeMutableRawPointer
        var reference: NodeReference
        var index: Int
    }

    /// From the root down to the branch above the group.
    @exclusivity(unchecked) private var path: [Step] = []
    /// Rows to be appended, with keys above all others.
    private let appended: RowSet
    /// The highest key of the table, rows held back included; nil when not known, or no row.
    @exclusivity(unchecked) private var lastKey: Int64?
    @exclusivity(unchecked) private var isLastKeyKnown = false
    @exclusivity(unchecked) private var deletion: PendingDeletion?

    private struct PendingDeletion {
        /// Keys that belong to the group.
        var range: Range<Int64>
        var isLast: Bool
        var group: Group
        var slots: Set<Int> = []
        var inserted: Set<Int> = []
    }

    init(_ table: Int, _ view: ReadView, _ nodes: TransactionNodes) {
        self.table = table
        self.view = view
        self.nodes = nodes
        layout = view.state.layouts[table]
        appended = RowSet(layout, capacity: 16)
    }

    private var root: NodeReference {
        get { view.state.tables[table].tree }
        set { view.state.tables[table].tree = newValue }
    }

    var hasPending: Bool { appended.count > 0 || deletion != nil }

    // MARK: Operations

    /// Adds a row.
    /// - Throws: `misuse(.duplicateKey)`.
    func insert(
        _ key: Int64, created: UInt64, _ cells: UnsafeBufferPointer<Cell>, _ values: [CellValue]?
    ) throws(StorageError) {
        if deletion != nil { try flush() }
        if !isLastKeyKnown { try findLastKey() }
        if key > lastKey ?? .min || (lastKey == nil && appended.count == 0) {
            append(key, created, cells, values)
            lastKey = key
            if appended.count >= nodes.limits.wideRows { try flush() }
            return
        }
        try flush()
        let (entry, group) = try descend(key)
        if try group.locate(key, nodes.reader) != nil { throw .misuse(.duplicateKey) }
        let editor = try GroupEditor(entry, layout, nodes)
        let all = values ?? cells.map { CellValue($0) }
        try replaceGroup(with: try editor.insert(key, created: created, all))
    }

    private func append(
        _ key: Int64, _ created: UInt64, _ cells: UnsafeBufferPointer<Cell>, _ values: [CellValue]?
    ) {
        appended.append(key: key, created: created, cells)
        guard let values else { return }
        let row = appended.count - 1
        for (index, value) in values.enumerated() where value.long != nil {
            value.set(appended.columns[index + RowSet.firstUserColumn], row)
        }
    }

    /// Changes one column of a row. What is held back was flushed by whoever read the old value.
    func set(_ key: Int64, _ column: Int, _ value: CellValue) throws(StorageError) {
        try flush()
        if root.isNull { throw .misuse(.noSuchRow) }
        let (entry, group) = try descend(key)
        guard let slot = try group.locate(key, nodes.reader) else { throw .misuse(.noSuchRow) }
        let editor = try GroupEditor(entry, layout, nodes)
        let row = RowLocation(group, slot: slot, table: table)
        try replaceGroup(with: try editor.set(row, key, column: column + RowSet.firstUserColumn, value))
    }

    /// The row that is about to be deleted, without doing first what is held back of deletes in the same group.
    func locateForDelete(_ key: Int64) throws(StorageError) -> RowLocation {
        if appended.count > 0 { try flush() }
        if let pending = deletion, !(pending.range.contains(key) || (pending.isLast && key >= pending.range.lowerBound))
        {
            try flush()
        }
        if deletion == nil {
            if root.isNull { throw .misuse(.noSuchRow) }
            let (_, group) = try descend(key)
            let bounds = pathBounds()
            deletion = PendingDeletion(range: bounds.range, isLast: bounds.isLast, group: group)
        }
        guard let pending = deletion, let slot = try pending.group.locate(key, nodes.reader),
            slot >= 0 ? !pending.slots.contains(Int(slot)) : !pending.inserted.contains(Int(~slot))
        else { throw .misuse(.noSuchRow) }
        return RowLocation(pending.group, slot: slot, table: table)
    }

    /// Takes out a row that ``locateForDelete(_:)`` just found.
    func delete(_ row: RowLocation) {
        if row.slot >= 0 {
            deletion?.slots.insert(Int(row.slot))
        } else {
            deletion?.inserted.insert(Int(~row.slot))
        }
        isLastKeyKnown = false
    }

    // MARK: What is held back

    /// Does what is held back.
    func flush() throws(StorageError) {
        if let pending = deletion {
            deletion = nil
            if !pending.slots.isEmpty || !pending.inserted.isEmpty { try delete(pending) }
        }
        if appended.count > 0 { try flushAppended() }
    }

    private func flushAppended() throws(StorageError) {
        defer { appended.removeAll() }
        let builder = GroupBuilder(layout: layout, nodes: nodes)
        if root.isNull {
            try startTree(try builder.build(appended, 0..<appended.count))
            return
        }
        let (entry, group) = try descend(.max)
        guard let leaf = path.last else { return }
        let isJoined =
            group.isSmall && group.liveRows + min(appended.count, 1) <= nodes.limits.smallRows
            && group.size < Format.pageSize * 3 / 4
        if !isJoined {
            let made = try builder.build(appended, 0..<appended.count)
            try replace(path.count - 1, (leaf.index + 1)..<(leaf.index + 1), with: made)
            try promote(atKey: appended.key(0))
            return
        }
        let rows = RowSet(layout, capacity: group.liveRows + appended.count)
        try group.decode(into: rows, layout, nodes.reader)
        rows.append(appended, 0..<appended.count)
        var made = try builder.build(rows, 0..<rows.count)
        made[0].key = min(made[0].key, entry.key)
        try replace(path.count - 1, leaf.index..<(leaf.index + 1), with: made)
        nodes.drop(entry.reference)
        if made.count > 1 { try promote(atKey: entry.key) }
    }

    private func delete(_ pending: PendingDeletion) throws(StorageError) {
        let (entry, _) = try descend(pending.range.lowerBound)
        let editor = try GroupEditor(entry, layout, nodes)
        let result = try editor.delete(slots: pending.slots.sorted(), inserted: pending.inserted.sorted())
        try replaceGroup(with: result.entries)
        if result.isRebuilt { try mergeWithLeft(pending.range.lowerBound) }
    }

    private func findLastKey() throws(StorageError) {
        isLastKeyKnown = true
        lastKey = nil
        var reference = root
        if reference.isNull { return }
        while reference.is(.branch) {
            let branch = Branch(try nodes.node(reference, .branch))
            reference = branch.reference(branch.count - 1)
        }
        let group = Group(try nodes.node(reference, .group))
        if let row = try group.select(group.liveRows - 1, nodes.reader) {
            lastKey = try group.key(row, nodes.reader)
        }
    }

    // MARK: The tree

    private func startTree(_ entries: [BranchEntry]) throws(StorageError) {
        let (reference, node) = try nodes.makeNode(.branch, pages: 1, table: layout.table)
        Branch.fill(node, entries.prefix(1), level: 1)
        root = reference
        path = [Step(node: node, reference: reference, index: 0)]
        if entries.count > 1 { try replace(0, 1..<1, with: Array(entries.dropFirst())) }
        if let first = entries.first { try promote(atKey: first.key) }
    }

    /// Walks to the group that a key belongs to, copying branches of older versions to the arena.
    private func descend(_ key: Int64) throws(StorageError) -> (entry: BranchEntry, group: Group) {
        path.removeAll(keepingCapacity: true)
        var reference = root
        var node = try nodes.mutable(&reference)
        root = reference
        while true {
            let branch = Branch(UnsafeRawPointer(node))
            let index = branch.find(key)
            path.append(Step(node: node, reference: reference, index: index))
            var child = branch.reference(index)
            if child.is(.group) {
                return (branch.entry(index), Group(try nodes.node(child, .group)))
            }
            let next = try nodes.mutable(&child)
            Branch.setReference(node, index, child)
            reference = child
            node = next
        }
    }

    /// The keys that belong to the group at the end of the path.
    private func pathBounds() -> (range: Range<Int64>, isLast: Bool) {
        var low = Int64.min
        var high: Int64?
        for step in path {
            let branch = Branch(UnsafeRawPointer(step.node))
            if step.index > 0 { low = branch.key(step.index) }
            if step.index + 1 < branch.count { high = branch.key(step.index + 1) }
        }
        return (low..<(high ?? .max), high == nil)
    }

    private func replaceGroup(with entries: [BranchEntry]) throws(StorageError) {
        guard let leaf = path.last else { return }
        let key = entries.first?.key
        try replace(path.count - 1, leaf.index..<(leaf.index + 1), with: entries)
        if entries.count > 1, let key { try promote(atKey: key) }
    }

    /// Puts entries in the place of some children of the branch at `level` of the path. The path is void afterwards,
    /// unless one entry takes the place of one.
    private func replace(
        _ level: Int, _ range: Range<Int>, with new: [BranchEntry]
    ) throws(StorageError) {
        let step = path[level]
        let branch = Branch(UnsafeRawPointer(step.node))
        if range.count == 1, let only = new.first, new.count == 1 {
            let delta = only.rows - branch.rows(range.lowerBound)
            Branch.set(step.node, range.lowerBound, only)
            if delta != 0 { addRows(delta, above: level) }
            return
        }
        var entries = branch.entries
        entries.replaceSubrange(range, with: new)
        let treeLevel = branch.level
        if entries.isEmpty {
            nodes.drop(step.reference)
            if level == 0 { root = .null } else { try replace(level - 1, parentRange(level), with: []) }
            return
        }
        let limit = min(max(nodes.limits.children, 2), Branch.capacity)
        var chunks: [ArraySlice<BranchEntry>] = []
        if entries.count <= limit {
            chunks = [entries[...]]
        } else {
            let isAppend = range.lowerBound + new.count == entries.count
            let pieces = (entries.count + limit - 1) / limit
            let each = isAppend ? limit : (entries.count + pieces - 1) / pieces
            var start = 0
            while start < entries.count {
                chunks.append(entries[start..<min(start + each, entries.count)])
                start += each
            }
        }
        try write(chunks, treeLevel, level)
    }

    private func write(
        _ chunks: [ArraySlice<BranchEntry>], _ treeLevel: Int, _ level: Int
    ) throws(StorageError) {
        let step = path[level]
        var above: [BranchEntry] = []
        for (index, chunk) in chunks.enumerated() {
            var reference = step.reference
            var node = step.node
            if index > 0 {
                (reference, node) = try nodes.makeNode(.branch, pages: 1, table: layout.table)
            }
            Branch.fill(node, chunk, level: treeLevel)
            guard let first = chunk.first else { continue }
            above.append(
                BranchEntry(key: first.key, rows: chunk.reduce(0) { $0 + $1.rows }, reference: reference))
        }
        if level > 0 {
            // The separator above stays where it was: keys below the first one belong to this branch too.
            let parent = Branch(UnsafeRawPointer(path[level - 1].node))
            above[0].key = min(above[0].key, parent.key(path[level - 1].index))
            try replace(level - 1, parentRange(level), with: above)
        } else if above.count > 1 {
            try grow(above, treeLevel + 1)
        } else {
            try collapse()
        }
    }

    /// The place of the branch at `level` in the one above.
    private func parentRange(_ level: Int) -> Range<Int> {
        let index = path[level - 1].index
        return index..<(index + 1)
    }

    private func grow(_ entries: [BranchEntry], _ treeLevel: Int) throws(StorageError) {
        guard treeLevel <= Branch.maxLevel else { throw .limit(.pages) }
        let (reference, node) = try nodes.makeNode(.branch, pages: 1, table: layout.table)
        let limit = min(max(nodes.limits.children, 2), Branch.capacity)
        Branch.fill(node, entries.prefix(limit), level: treeLevel)
        root = reference
        path = [Step(node: node, reference: reference, index: 0)]
        if entries.count > limit { try replace(0, limit..<limit, with: Array(entries.dropFirst(limit))) }
    }

    /// A root with a single branch below it is not needed.
    private func collapse() throws(StorageError) {
        while true {
            let branch = Branch(try nodes.node(root, .branch))
            if branch.count != 1 || branch.level == 1 { return }
            let child = branch.reference(0)
            nodes.drop(root)
            root = child
        }
    }

    private func addRows(_ delta: Int, above level: Int) {
        for step in path[..<level] {
            let branch = Branch(UnsafeRawPointer(step.node))
            Branch.setRows(step.node, step.index, branch.rows(step.index) + delta)
        }
    }

    // MARK: Merging

    /// Makes a wide group of small neighbours around the group of `key`, when their rows fill one.
    private func promote(atKey key: Int64) throws(StorageError) {
        if root.isNull { return }
        _ = try descend(key)
        guard let leaf = path.last else { return }
        let branch = Branch(UnsafeRawPointer(leaf.node))
        let small = nodes.limits.smallRows
        var low = leaf.index
        var high = leaf.index
        if branch.rows(leaf.index) > small { return }
        while low > 0 && branch.rows(low - 1) <= small { low -= 1 }
        while high + 1 < branch.count && branch.rows(high + 1) <= small { high += 1 }
        let total = (low...high).reduce(0) { $0 + branch.rows($1) }
        let longRun = max(4, min(nodes.limits.children, Branch.capacity) / 3)
        if total < nodes.limits.wideRows && high - low + 1 < longRun { return }
        if high - low < 1 { return }
        let rows = RowSet(layout, capacity: total)
        for index in low...high {
            let group = Group(try nodes.node(branch.reference(index), .group))
            try group.decode(into: rows, layout, nodes.reader)
        }
        let old = (low...high).map(branch.entry)
        var made = try GroupBuilder(layout: layout, nodes: nodes).build(rows, 0..<rows.count, wide: true)
        made[0].key = min(made[0].key, old[0].key)
        for entry in old { try GroupEditor(entry, layout, nodes).giveUp() }
        try replace(path.count - 1, low..<(high + 1), with: made)
    }

    /// Joins the group of `key` with its left neighbour when both fit one group.
    private func mergeWithLeft(_ key: Int64) throws(StorageError) {
        if root.isNull { return }
        let (entry, group) = try descend(key)
        guard let leaf = path.last, leaf.index > 0 else { return }
        let branch = Branch(UnsafeRawPointer(leaf.node))
        let left = branch.entry(leaf.index - 1)
        let leftGroup = Group(try nodes.node(left.reference, .group))
        let total = left.rows + entry.rows
        let fits =
            group.isSmall && leftGroup.isSmall
            ? total <= nodes.limits.smallRows && group.size + leftGroup.size <= Format.pageSize
            : total <= nodes.limits.wideRows
        if !fits { return }
        let rows = RowSet(layout, capacity: total)
        try leftGroup.decode(into: rows, layout, nodes.reader)
        try group.decode(into: rows, layout, nodes.reader)
        var made = try GroupBuilder(layout: layout, nodes: nodes).build(rows, 0..<rows.count)
        if !made.isEmpty { made[0].key = min(made[0].key, left.key) }
        try GroupEditor(left, layout, nodes).giveUp()
        try GroupEditor(entry, layout, nodes).giveUp()
        try replace(path.count - 1, (leaf.index - 1)..<(leaf.index + 1), with: made)
    }
}
