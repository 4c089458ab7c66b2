// Nodes are immutable, so a group that both versions reach by the same reference is equal in both, and only groups that
// one version alone reaches are read. Observers use this for commits whose changes are not listed: those of another
// process, and those beyond an inbox's capacity.

/// Compares a table in two versions of a store.
struct VersionComparison {
    let earlier: ReadView
    let later: ReadView

    /// The rows that differ.
    func changes(of table: TableID) throws(StorageError) -> TableChanges {
        var changes = TableChanges(table: table)
        let before = earlier.schema.position(of: table)
        let after = later.schema.position(of: table)
        var oldGroups = try before.map { (position) throws(StorageError) in try Self.groups(earlier, position) } ?? []
        var newGroups = try after.map { (position) throws(StorageError) in try Self.groups(later, position) } ?? []
        let known = Dictionary(oldGroups.map { ($0.page, $0) }, uniquingKeysWith: { first, _ in first })
        let shared = Set(newGroups.filter { known[$0.page] == $0 }.map(\.page))
        oldGroups.removeAll { shared.contains($0.page) }
        newGroups.removeAll { shared.contains($0.page) }
        var columns: [(old: Int, new: Int, id: UInt16)] = []
        if let before, let after {
            let definition = earlier.schema.tables[before]
            for (place, column) in later.schema.tables[after].columns.enumerated() {
                guard let known = definition.position(of: column.id) else { continue }
                columns.append((known, place, column.id.rawValue))
            }
        }
        var old = GroupRows(earlier, table: before ?? 0, groups: oldGroups, columns: columns.map(\.old))
        var new = GroupRows(later, table: after ?? 0, groups: newGroups, columns: columns.map(\.new))
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
                    for (place, column) in columns.enumerated() where try !old.hasSameValue(as: new, place) {
                        changes.modified.append((key, column.id))
                    }
                }
                old.skip()
                new.skip()
            }
        }
    }

    /// References of a table's groups, in key order.
    private static func groups(_ view: ReadView, _ table: Int) throws(StorageError) -> [NodeReference] {
        var walk = GroupWalk(view.state.tables[table].tree, from: .min, view.reader)
        var found: [NodeReference] = []
        while let reference = try walk.nextReference() { found.append(reference) }
        try view.reader.confirm()
        return found
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

/// A cursor over the rows of some groups.
private struct GroupRows {
    private let reader: PageReader
    /// Nil if the version has no such table.
    private let table: TableDefinition?
    private let groups: [NodeReference]
    private let columns: [Int]
    /// Nil if there are no groups, for example because the version has no such table.
    private let decoder: GroupDecoder?
    private var nextGroup = 0
    private var row = 0

    init(_ view: ReadView, table: Int, groups: [NodeReference], columns: [Int]) {
        reader = view.reader
        self.table = view.schema.tables.indices.contains(table) ? view.schema.tables[table] : nil
        self.groups = groups
        self.columns = columns.map { $0 + RowSet.firstUserColumn }
        decoder =
            groups.isEmpty
            ? nil
            : GroupDecoder(
                view.state.layouts[table], wanted: self.columns + [RowSet.createdColumn], reader: reader)
    }

    /// The key of the current row; nil at the end.
    mutating func key() throws(StorageError) -> Int64? {
        guard let decoder else { return nil }
        let rows = decoder.rows
        while row == rows.count {
            guard nextGroup < groups.count else { return nil }
            try decoder.decode(Group(try reader.node(groups[nextGroup], .group)))
            nextGroup += 1
            row = 0
        }
        return rows.key(row)
    }

    private var rows: RowSet? { decoder?.rows }

    mutating func skip() { row += 1 }

    var created: UInt64 { rows?.columns[RowSet.createdColumn].words[row] ?? 0 }

    /// Whether both current rows have the same value in the column at an index of both lists.
    func hasSameValue(as other: GroupRows, _ place: Int) throws(StorageError) -> Bool {
        guard let mine = rows?.columns[columns[place]], let others = other.rows?.columns[other.columns[place]] else {
            return true
        }
        if mine.kind == .bytes, isTree(mine) || other.isTree(others),
            let earlier = try collection(mine, place), let later = try other.collection(others, place)
        {
            return try CollectionComparison(earlier: earlier, later: later).isEqual()
        }
        if mine.isNull(row) || others.isNull(other.row) { return mine.isNull(row) && others.isNull(other.row) }
        guard mine.kind == .bytes else { return mine.words[row] == others.words[other.row] }
        return mine.bytes(row).elementsEqual(others.bytes(other.row))
    }

    private func isTree(_ values: ColumnBuffer) -> Bool { !values.isNull(row) && values.isTree(row) }

    /// The row's collection; nil if the column has none.
    private func collection(_ values: ColumnBuffer, _ place: Int) throws(StorageError) -> CollectionReader? {
        guard let table, let rows else { return nil }
        let definition = table.columns[columns[place] - RowSet.firstUserColumn]
        guard let shape = CollectionShape(definition, table: table.id.rawValue, owner: rows.key(row)) else {
            return nil
        }
        let bytes = values.bytes(row)
        let cell: CollectionCell
        if isTree(values) {
            cell = try CollectionCell.long(bytes, reader)
        } else {
            cell = values.isNull(row) || bytes.isEmpty ? .empty : .encoded(bytes)
        }
        return try CollectionReader(cell, shape: shape, definition: definition, reader: reader)
    }
}
