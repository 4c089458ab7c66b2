/// Drops the nodes of a table with all of its rows.
///
/// 1. Only long values of rows are read; the flags of a group's segments tell whether it has any. Leaves of indexes and
///    backlinks are not read.
/// 2. Keys of branches are checked against the branches above, so that none is visited twice and the walk ends, even in
///    a crafted file. A group or a leaf may then be dropped twice, which counts once.
struct TableNodes {
    private let view: ReadView
    private let workspace: WriterWorkspace
    private let table: Int
    private var nodes: TransactionNodes { workspace.nodes }
    private var definition: TableDefinition { view.state.schema.tables[table] }
    private var layout: TableLayout { view.state.layouts[table] }

    /// - Parameter view: the transaction's; no row is pending in the table's editor.
    init(of table: Int, _ view: ReadView, _ workspace: WriterWorkspace) {
        self.table = table
        self.view = view
        self.workspace = workspace
    }

    /// Drops all nodes of the table. The table's state still references them.
    /// - Complexity: O(nodes), and O(rows) of groups with long values.
    func giveUp() throws(StorageError) {
        let bytes = definition.columns.indices.filter { SegmentKind(definition.columns[$0].type) == .bytes }
        try giveUp(view.state.tables[table].tree, below: Branch.maxLevel + 1, (nil, nil), bytes)
        for entry in view.state.tables[table].entries { try giveUp(entries: entry.root) }
        try nodes.reader.confirm()
    }

    /// Drops the tree of an index or of backlinks.
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

    /// Drops the nodes of live rows' long values.
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

    /// Drops the nodes of a long value.
    func giveUp(_ long: LongValue, of key: Int64, _ column: Int) throws(StorageError) {
        let definition = definition
        let column = definition.columns[column]
        guard let shape = CollectionShape(column, table: definition.id.rawValue, owner: key) else {
            return nodes.drop(long.reference)
        }
        try workspace.giveUp(CollectionPlace(table: definition.id, key: key, column: column.id), shape, long)
    }
}
