/// Verifies the row tree of one table.
///
/// Every key lies between the separators of all branches above it, so that a search from the root finds it; branches
/// count the rows below them, and the table's next key is above every key.
struct RowTreeCheck {
    private let view: ReadView
    private let table: Int
    private let name: String
    private var group: GroupCheck

    init(_ view: ReadView, _ table: Int) {
        self.view = view
        self.table = table
        name = view.state.schema.tables[table].name
        group = GroupCheck(view, table)
    }

    /// Limits set by the branches above a node: its least key, an end above all its keys, and its level.
    private struct Bounds {
        var low: Int64?
        var end: Int64?
        /// Nil for the root.
        var level: Int?
    }

    mutating func walk(_ reached: inout ReachedPages, _ comparisons: inout [EntryComparison]) throws {
        let state = view.state.tables[table]
        if state.tree.isNull { return }
        _ = try walk(state.tree, bounds: Bounds(), reached: &reached, comparisons: &comparisons)
        if let last = group.lastKey, last < .max, state.nextKey <= last {
            throw InvariantViolation("the next key of \(name), \(state.nextKey), is not above \(last)")
        }
    }

    /// - Returns: rows below the node.
    private mutating func walk(
        _ reference: NodeReference, bounds: Bounds, reached: inout ReachedPages,
        comparisons: inout [EntryComparison]
    ) throws -> Int {
        try reached.note(reference)
        if reference.is(.group) {
            let rows = try group.check(reference, &reached, &comparisons)
            try checkBounds(group.firstKey, group.lastKey, bounds)
            let base = try view.reader.node(reference, .group)
            for key in [group.firstKey, group.lastKey].compactMap(\.self) {
                guard try view.group(table, key)?.base == base else {
                    throw InvariantViolation("a search from the root does not find row \(key) of \(name)")
                }
            }
            return rows
        }
        let branch = Branch(try view.reader.node(reference, .branch))
        if let level = bounds.level, branch.level != level {
            throw InvariantViolation("a branch of \(name) has level \(branch.level) instead of \(level)")
        }
        try checkBounds(branch.key(0), branch.key(branch.count - 1), bounds)
        var total = 0
        for index in 0..<branch.count {
            let below = Bounds(
                low: index == 0 ? bounds.low : branch.key(index),
                end: index + 1 < branch.count ? branch.key(index + 1) : bounds.end, level: branch.level - 1)
            let rows = try walk(branch.reference(index), bounds: below, reached: &reached, comparisons: &comparisons)
            if rows != branch.rows(index) {
                throw InvariantViolation("a branch of \(name) counts \(branch.rows(index)) rows where \(rows) are")
            }
            total += rows
        }
        return total
    }

    private func checkBounds(_ first: Int64?, _ last: Int64?, _ bounds: Bounds) throws {
        if let first, let low = bounds.low, first < low {
            throw InvariantViolation("key \(first) of \(name) is below the separator on its left, \(low)")
        }
        if let last, let end = bounds.end, last >= end {
            throw InvariantViolation("key \(last) of \(name) is not below the separator on its right, \(end)")
        }
    }
}
