/// The nodes of a table, to be given up with all of its rows.
///
/// 1. Of rows only those values are looked at that lead to nodes of their own; whether a group has any is said by the
///    flags of its segments. Leaves of indexes and backlinks are not read at all.
/// 2. Keys of branches are held against the branches above, so that none is visited twice and the walk ends, however a
///    crafted file leads. A group or a leaf may be given up twice then, which counts once.
struct TableNodes {
    private let view: ReadView
    private let workspace: WriterWorkspace
    private let table: Int
    private var nodes: TransactionNodes { workspace.nodes }
    private var definition: TableDefinition { view.state.schema.tables[table] }
    private var layout: TableLayout { view.state.layouts[table] }

    /// - Parameter view: what the transaction has made of the store so far; no row waits in the table's editor.
    init(of table: Int, _ view: ReadView, _ workspace: WriterWorkspace) {
        self.table = table
        self.view = view
        self.workspace = workspace
    }

    /// Gives all of them up. The table's state still leads there.
    /// - Complexity: O(nodes), and O(rows) of groups with values in nodes of their own.
    func giveUp() throws(StorageError) {
        let bytes = definition.columns.indices.filter { SegmentKind(definition.columns[$0].type) == .bytes }
        try giveUp(view.state.tables[table].tree, below: Branch.maxLevel + 1, (nil, nil), bytes)
        for entry in view.state.tables[table].entries { try giveUp(entries: entry.root) }
        try nodes.reader.confirm()
    }

    /// Gives up the tree of an index, or of backlinks.
    func giveUp(entries root: NodeReference) throws(StorageError) {
        try EntryTree.forEachNode(root, reading: nodes) { nodes.drop($0) }
    }

    private func giveUp(
        _ reference: NodeReference, below level: Int, _ bounds: (low: Int64?, end: Int64?), _ columns: [Int]
    ) throws(StorageError) {
        if reference.isNull { return }
        if reference.is(.group) { return try giveUp(group: reference, columns) }
        var level = level
        let branch = try nodes.reader.branch(reference, below: &level)
        if let low = bounds.low, branch.key(0) < low { throw nodes.reader.damage(at: branch.base) }
        if let end = bounds.end, branch.key(branch.count - 1) >= end { throw nodes.reader.damage(at: branch.base) }
        for index in 0..<branch.count {
            let low = index == 0 ? bounds.low : branch.key(index)
            let end = index + 1 < branch.count ? branch.key(index + 1) : bounds.end
            try giveUp(branch.reference(index), below: level, (low, end), columns)
        }
        nodes.drop(reference)
    }

    private func giveUp(group reference: NodeReference, _ columns: [Int]) throws(StorageError) {
        let group = Group(try nodes.node(reference, .group))
        if try group.mayHaveLong(layout, nodes.reader) { try giveUpValues(of: group, columns) }
        for index in 0..<group.nodes { nodes.drop(group.reference(index)) }
        nodes.drop(reference)
    }

    /// Gives up what the values of live rows lead to.
    private func giveUpValues(of group: Group, _ columns: [Int]) throws(StorageError) {
        let rows = RowSet(layout)
        try group.decode(into: rows, layout, wanted: columns.map { $0 + RowSet.firstUserColumn }, nodes.reader)
        for column in columns {
            let values = rows.columns[column + RowSet.firstUserColumn]
            if !values.hasFlags { continue }
            for row in 0..<rows.count where values.isLong(row) {
                guard let base = values.bytes(row).baseAddress else { continue }
                try giveUp(LongValue(base), of: rows.key(row), column)
            }
        }
    }

    /// Gives up a value that stands elsewhere.
    func giveUp(_ long: LongValue, of key: Int64, _ column: Int) throws(StorageError) {
        let definition = definition
        let column = definition.columns[column]
        guard let shape = CollectionShape(column, table: definition.id.rawValue, owner: key) else {
            return nodes.drop(long.reference)
        }
        try workspace.giveUp(CollectionPlace(table: definition.id, key: key, column: column.id), shape, long)
    }
}
