// Nodes are never changed, so what two versions share they share by reference: only groups that stand in one of them
// alone are read. This is how observers learn of commits that left no notice: another process's, and those beyond what
// an inbox keeps.

extension ReadView {
    /// The rows of a table that are not what they were in `old`, an earlier version of the same store: deleted and
    /// inserted keys ascend, a row that was deleted and made again under its key is both.
    ///
    /// Columns that one of the versions lacks count as unchanged. `isComplete` is always true.
    /// - Complexity: O(groups), and the rows of the groups that the versions do not share.
    package func changes(of table: TableID, since old: ReadView) throws(StorageError) -> TableChanges {
        var changes = TableChanges(table: table)
        let before = old.schema.position(of: table)
        let after = schema.position(of: table)
        var oldGroups = try before.map { (position) throws(StorageError) in try old.groups(position) } ?? []
        var newGroups = try after.map { (position) throws(StorageError) in try groups(position) } ?? []
        let known = Dictionary(oldGroups.map { ($0.page, $0) }, uniquingKeysWith: { first, _ in first })
        let shared = Set(newGroups.filter { known[$0.page] == $0 }.map(\.page))
        oldGroups.removeAll { shared.contains($0.page) }
        newGroups.removeAll { shared.contains($0.page) }
        var columns: [(old: Int, new: Int, id: UInt16)] = []
        if let before, let after {
            let definitions = old.schema.tables[before].columns
            for (place, column) in schema.tables[after].columns.enumerated() {
                guard let known = definitions.firstIndex(where: { $0.id == column.id }) else { continue }
                columns.append((known, place, column.id.rawValue))
            }
        }
        var old = GroupRows(old, before ?? 0, oldGroups, columns.map(\.old))
        var new = GroupRows(self, after ?? 0, newGroups, columns.map(\.new))
        while true {
            let left = try old.key()
            let right = try new.key()
            if left == nil && right == nil { return changes }
            if let left, right.map({ left < $0 }) ?? true {
                changes.deleted.append(left)
                old.skip()
            } else if let right, left.map({ right < $0 }) ?? true {
                changes.insert(right)
                new.skip()
            } else if let key = left {
                if old.created != new.created {
                    changes.deleted.append(key)
                    changes.insert(key)
                } else {
                    for (place, column) in columns.enumerated() where !old.hasSameValue(as: new, place) {
                        changes.modified.append((key, column.id))
                    }
                }
                old.skip()
                new.skip()
            }
        }
    }

    /// Where the groups of a table stand, in key order.
    private func groups(_ table: Int) throws(StorageError) -> [NodeReference] {
        var walk = GroupWalk(state.tables[table].tree, from: .min, reader)
        var found: [NodeReference] = []
        while let reference = try walk.nextReference() { found.append(reference) }
        try reader.confirm()
        return found
    }

    /// A group's live rows.
    fileprivate func rows(
        _ reference: NodeReference, _ table: Int, into rows: RowSet, _ columns: [Int]
    ) throws(StorageError) {
        let group = Group(try reader.node(reference, .group))
        try decode(group, into: rows, state.layouts[table], columns, from: nil)
    }
}

extension TableChanges {
    fileprivate mutating func insert(_ key: Int64) {
        if let last = inserted.last, last.upperBound < key, last.upperBound &+ 1 == key {
            inserted[inserted.count - 1] = last.lowerBound...key
        } else {
            inserted.append(key...key)
        }
    }
}

/// Goes through the rows of some groups.
private struct GroupRows {
    private let view: ReadView
    private let table: Int
    private let groups: [NodeReference]
    private let columns: [Int]
    private let rows: RowSet?
    private var nextGroup = 0
    private var row = 0

    init(_ view: ReadView, _ table: Int, _ groups: [NodeReference], _ columns: [Int]) {
        self.view = view
        self.table = table
        self.groups = groups
        self.columns = columns.map { $0 + RowSet.firstUserColumn }
        rows = groups.isEmpty ? nil : RowSet(view.state.layouts[table])
    }

    /// The key of the row that it stands on; nil behind the last.
    mutating func key() throws(StorageError) -> Int64? {
        guard let rows else { return nil }
        while row == rows.count {
            guard nextGroup < groups.count else { return nil }
            try view.rows(groups[nextGroup], table, into: rows, columns + [RowSet.createdColumn])
            nextGroup += 1
            row = 0
        }
        return rows.key(row)
    }

    mutating func skip() { row += 1 }

    var created: UInt64 { rows?.columns[RowSet.createdColumn].words[row] ?? 0 }

    /// Whether the two rows hold the same in the column at a place of both lists.
    func hasSameValue(as other: GroupRows, _ place: Int) -> Bool {
        guard let mine = rows?.columns[columns[place]], let others = other.rows?.columns[other.columns[place]] else {
            return true
        }
        if mine.isNull(row) || others.isNull(other.row) { return mine.isNull(row) && others.isNull(other.row) }
        guard mine.kind == .bytes else { return mine.words[row] == others.words[other.row] }
        return mine.bytes(row).elementsEqual(others.bytes(other.row))
    }
}
