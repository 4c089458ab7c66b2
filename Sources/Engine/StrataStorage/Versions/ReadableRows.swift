/// The readable rows of one table in a version, and what is lost of the table.
///
/// A row is readable if its row group verifies, and so does every segment that has one of the row's cells. Long values
/// and trees of collections are not checked: without them the row is still readable.
package struct ReadableRows: Sendable {
    /// Ascending.
    package fileprivate(set) var keys: [Int64] = []
    package fileprivate(set) var places: [DamagedPlace] = []

    /// - Complexity: O(log rows).
    package func contains(_ key: Int64) -> Bool {
        var low = 0
        var high = keys.count
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low < keys.count && keys[low] == key
    }
}

extension ReadView {
    /// Surveys the rows, the indexes and the backlinks of a table, and skips nodes that cannot be read.
    /// - Throws: errors other than damage, such as `limit` and `misuse`.
    /// - Complexity: reads the whole row tree and entry trees of the table.
    package func readableRows(_ table: Int) throws(StorageError) -> ReadableRows {
        try prepareRows(table)
        try prepareEntries(table)
        return try RowSurvey(self, table).run()
    }

    /// The root of a table's row tree: while it is the same, so are the rows.
    package func rowTree(_ table: Int) -> NodeReference { state.tables[table].tree }
}

/// A walk over a table that continues past nodes that do not verify.
private struct RowSurvey {
    private let view: ReadView
    private let table: Int
    private let id: TableID
    private let rows: RowSet
    private var found = ReadableRows()

    init(_ view: ReadView, _ table: Int) {
        self.view = view
        self.table = table
        id = view.state.tables[table].id
        rows = RowSet(view.state.layouts[table])
    }

    /// Bounds of the keys below a node, and the number of its rows, from the branches above.
    private struct Bounds {
        var low = Int64.min
        var high = Int64.max
        var rows: Int?
    }

    consuming func run() throws(StorageError) -> ReadableRows {
        let state = view.state.tables[table]
        if !state.tree.isNull { try walk(state.tree, below: Branch.maxLevel + 1, Bounds()) }
        for entry in state.entries { try survey(entry) }
        do throws(StorageError) { try view.reader.confirm() } catch {
            // A page of the mapping was lost. Which nodes were on it is unknown, so no row counts as readable.
            found.keys = []
            try lose(Bounds(), error)
        }
        return found
    }

    /// Notes that the rows within some bounds are lost.
    /// - Throws: `error`, if it is no damage.
    private mutating func lose(_ bounds: Bounds, _ error: StorageError) throws(StorageError) {
        let loss = DamagedPlace.Loss.rows(bounds.low...max(bounds.low, bounds.high), count: bounds.rows)
        guard let place = DamagedPlace(error, table: id, loss: loss) else { throw error }
        found.places.append(place)
    }

    private mutating func walk(
        _ reference: NodeReference, below level: Int, _ bounds: Bounds
    ) throws(StorageError) {
        if reference.is(.group) { return try survey(reference, bounds) }
        var level = level
        let branch: Branch
        do throws(StorageError) {
            branch = try view.reader.branch(reference, below: &level)
            let ends = (branch.key(0), branch.key(branch.count - 1))
            if bounds.low != .min && ends.0 < bounds.low || ends.1 > bounds.high { throw .structure(reference) }
        } catch {
            return try lose(bounds, error)
        }
        for index in 0..<branch.count {
            let below = Bounds(
                low: index == 0 ? bounds.low : branch.key(index),
                high: index + 1 < branch.count ? branch.key(index + 1) - 1 : bounds.high, rows: branch.rows(index))
            try walk(branch.reference(index), below: level, below)
        }
    }

    // MARK: A group

    private mutating func survey(_ reference: NodeReference, _ bounds: Bounds) throws(StorageError) {
        let group: Group
        var broken: [Int: StorageError] = [:]
        do throws(StorageError) {
            group = Group(try view.reader.node(reference, .group))
            if NodeHeader.table(group.base) != id.rawValue { throw .structure(reference) }
        } catch {
            return try lose(bounds, error)
        }
        for index in 0..<group.nodes {
            do throws(StorageError) { _ = try view.reader.node(group.reference(index), .segments) } catch {
                broken[index] = error
            }
        }
        if broken.isEmpty {
            do throws(StorageError) {
                rows.removeAll()
                try group.decode(
                    into: rows, view.state.layouts[table], wanted: [RowSet.keyColumn], view.reader)
                for row in 0..<rows.count { found.keys.append(rows.key(row)) }
            } catch {
                try lose(bounds, error)
            }
            return
        }
        try survey(group, broken, bounds)
    }

    /// Surveys a group with lost segments: rows that have no cell in a lost segment are readable.
    private mutating func survey(
        _ group: Group, _ broken: [Int: StorageError], _ bounds: Bounds
    ) throws(StorageError) {
        // For each slot of the main rows the node with a lost cell of the row; -1 if no cell is lost.
        var lostWith = [Int](repeating: -1, count: group.rows)
        for column in 0..<group.columns {
            let first = group.firstSegment(column)
            for number in first..<(first + group.segmentCount(column)) {
                let descriptor = group.descriptor(number)
                guard broken[descriptor.node] != nil else { continue }
                for slot in descriptor.firstSlot..<min(descriptor.firstSlot + descriptor.rows, group.rows) {
                    lostWith[slot] = descriptor.node
                }
            }
        }
        do throws(StorageError) {
            let keys = try readableKeys(of: group, lostWith)
            found.keys += keys
            for (node, error) in broken.sorted(by: { $0.key < $1.key }) {
                let count = (0..<group.rows).count { lostWith[$0] == node && !group.isDeleted($0) }
                try lose(Bounds(low: bounds.low, high: bounds.high, rows: count), error)
            }
        } catch {
            try lose(bounds, error)
        }
    }

    /// The keys of the main rows without lost cells, and of the inserted rows, which are in the group's own node.
    private func readableKeys(of group: Group, _ lostWith: [Int]) throws(StorageError) -> [Int64] {
        var keys: [Int64] = []
        for slot in 0..<group.rows where lostWith[slot] < 0 && !group.isDeleted(slot) {
            keys.append(try group.key(Int32(truncatingIfNeeded: slot), view.reader))
        }
        if group.inserted > 0 {
            let inserted = group.insertedSegment(RowSet.keyColumn)
            for place in 0..<group.inserted { keys.append(inserted.integer(place)) }
            keys.sort()
        }
        return keys
    }

    // MARK: Indexes and backlinks

    private mutating func survey(_ entry: EntryRoot) throws(StorageError) {
        do throws(StorageError) {
            try EntryTree.walk(entry.root, reading: view.reader) { (_) throws(StorageError) in
            } visitEntry: { (_, _, _) throws(StorageError) in
            }
        } catch {
            let loss = DamagedPlace.Loss.entries(column: entry.column.rawValue)
            guard let place = DamagedPlace(error, table: id, loss: loss) else { throw error }
            found.places.append(place)
        }
    }
}
