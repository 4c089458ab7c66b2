/// Verifies every page that one version reaches, and continues past those that cannot be read: rows, indexes,
/// backlinks, long values and collections.
package struct DamageSurvey {
    private let view: ReadView
    /// Called after each row group with the share that is done, from 0 to 1; false ends the survey.
    private let goesOn: (Double) -> Bool
    private var places: [DamagedPlace] = []
    /// Nodes of trees of elements that were visited. A walk that reaches one of them again ends there.
    private var reached: ReachedPages
    private var done = 0
    private var total = 1

    /// - Parameter goesOn: called with the share that is done; false ends the survey.
    package init(_ view: ReadView, goesOn: @escaping (Double) -> Bool = { _ in true }) {
        self.view = view
        self.goesOn = goesOn
        reached = ReachedPages(view)
    }

    /// - Returns: the losses; empty if every page verifies.
    /// - Throws: errors other than damage.
    /// - Complexity: reads the whole version.
    package consuming func run() throws(StorageError) -> [DamagedPlace] {
        let tables = view.state.tables.indices
        var rows: [ReadableRows] = []
        for table in tables {
            let readable = try view.readableRows(table)
            places += readable.places
            rows.append(readable)
        }
        total = max(1, rows.reduce(0) { $0 + $1.keys.count })
        for table in tables where try !survey(table, rows[table].keys) { break }
        return places
    }

    /// Columns that may have long values.
    private func columns(_ table: Int) -> [Int] {
        view.state.schema.tables[table].columns.indices.filter {
            view.state.layouts[table].kinds[$0 + RowSet.firstUserColumn] == .bytes
        }
    }

    /// - Returns: false if the survey ends.
    private mutating func survey(_ table: Int, _ keys: [Int64]) throws(StorageError) -> Bool {
        let columns = columns(table)
        if columns.isEmpty { done += keys.count }
        var group: UnsafeRawPointer?
        var long: [Int] = []
        for key in keys where !columns.isEmpty {
            guard let place = try readable({ () throws(StorageError) in try view.locate(table, RowKey(key)) }) ?? nil
            else { continue }
            if place.group != group {
                group = place.group
                long = columns.filter { mayBeLong(Group(place.group), table, $0) }
                if !goesOn(Double(done) / Double(total)) { return false }
            }
            for column in long { try survey(table, key, column: column, at: place) }
            done += 1
        }
        return goesOn(Double(done) / Double(total))
    }

    /// Whether a group may have long values in a column; an unreadable segment counts as having some.
    private func mayBeLong(_ group: Group, _ table: Int, _ column: Int) -> Bool {
        let id = view.state.layouts[table].ids[column + RowSet.firstUserColumn]
        guard let position = group.position(of: id, near: column + RowSet.firstUserColumn) else { return false }
        let first = group.firstSegment(position)
        for number in first..<(first + group.segmentCount(position)) {
            do throws(StorageError) {
                if try group.segment(number, view.reader).flags & Segment.hasLong != 0 { return true }
            } catch {
                return true
            }
        }
        for index in 0..<group.patched where group.patch(index).column == position {
            if group.patch(index).segment.flags & Segment.hasLong != 0 { return true }
        }
        return group.inserted > 0 && group.insertedSegment(position).flags & Segment.hasLong != 0
    }

    private mutating func survey(
        _ table: Int, _ key: Int64, column: Int, at place: RowLocation
    ) throws(StorageError) {
        let definition = view.state.schema.tables[table]
        do throws(StorageError) {
            guard let long = try view.longValue(place, column) else { return }
            if long.isTree {
                try verify(long, key: key, table: definition, column: definition.columns[column])
            } else {
                _ = try view.reader.node(long.reference, .value)
            }
        } catch {
            let loss = DamagedPlace.Loss.value(row: key, column: definition.columns[column].id.rawValue)
            guard let place = DamagedPlace(error, table: definition.id, loss: loss) else { throw error }
            places.append(place)
        }
    }

    /// - Throws: `corrupt` for the first bad node of a collection's tree.
    private mutating func verify(
        _ root: LongValue, key: Int64, table: TableDefinition, column: ColumnDefinition
    ) throws(StorageError) {
        guard let check = CollectionCheck(view, table, column) else { throw .structure(root.reference) }
        do { try check.checkTree(root, row: key, &reached) } catch {
            throw (error as? StorageError) ?? .structure(root.reference)
        }
    }

    /// - Returns: nil if a node on the path to a row cannot be read; the search for readable rows has noted that node.
    private func readable<Value>(_ body: () throws(StorageError) -> Value) throws(StorageError) -> Value? {
        do throws(StorageError) { return try body() } catch {
            if error.isUnreadable { return nil }
            throw error
        }
    }
}
