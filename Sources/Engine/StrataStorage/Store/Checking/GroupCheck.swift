/// Verifies the row groups of one table, in key order.
struct GroupCheck {
    private let view: ReadView
    private let definition: TableDefinition
    private let layout: TableLayout
    /// Rows of the group that was checked last: keys, creation versions, and the columns whose values are checked.
    private let rows: RowSet
    private(set) var firstKey: Int64?
    private(set) var lastKey: Int64?

    init(_ view: ReadView, _ table: Int) {
        self.view = view
        definition = view.state.schema.tables[table]
        layout = view.state.layouts[table]
        rows = RowSet(layout)
    }

    private func broken(_ what: String) -> InvariantViolation { InvariantViolation("\(definition.name): \(what)") }

    /// - Returns: rows of the group.
    mutating func check(
        _ reference: NodeReference, _ reached: inout ReachedPages, _ comparisons: inout [EntryComparison]
    ) throws -> Int {
        let group = Group(try view.reader.node(reference, .group))
        if NodeHeader.table(group.base) != layout.table { throw broken("a group is another table's") }
        for index in 0..<group.nodes {
            try reached.note(group.reference(index))
            _ = try view.reader.node(group.reference(index), .segments)
        }
        var wanted = try checkSegments(group)
        try checkPatches(group)
        try checkMainKeys(group)
        for comparison in comparisons { wanted.insert(comparison.position) }
        rows.removeAll()
        try group.decode(
            into: rows, layout,
            wanted: [RowSet.keyColumn, RowSet.createdColumn] + wanted.map { $0 + RowSet.firstUserColumn }, view.reader)
        if rows.count != group.liveRows || rows.count == 0 {
            throw broken("a row group has \(rows.count) rows and counts \(group.liveRows)")
        }
        try checkKeys()
        try checkLookups(group)
        for column in wanted {
            try checkNulls(column)
            try resolveLong(column, &reached)
            try checkValues(column)
        }
        for index in comparisons.indices { try comparisons[index].add(rows, view.reader) }
        return rows.count
    }

    /// Checks that every segment exists and has its column's kind.
    /// - Returns: the columns whose values have to be checked: those that may have long values, those of links, of
    ///   collections and of types with a layout, and required ones with null bits.
    private func checkSegments(_ group: Group) throws -> Set<Int> {
        var wanted: Set<Int> = []
        var seen: Set<Int> = []
        for position in 0..<group.columns where !seen.insert(group.columnID(position)).inserted {
            throw broken("a group has column \(group.columnID(position)) twice")
        }
        for column in layout.ids.indices {
            guard let position = group.position(of: layout.ids[column], near: column) else { continue }
            var flags = 0
            func visit(_ segment: Segment) throws {
                if segment.kindCode != layout.kinds[column].rawValue {
                    throw broken("a segment of another kind than its column")
                }
                if segment.hasNullsBehindRows { throw broken("a segment says that rows behind its last one are null") }
                flags |= segment.flags
            }
            let first = group.firstSegment(position)
            for number in first..<(first + group.segmentCount(position)) {
                try visit(group.segment(number, view.reader))
            }
            for index in 0..<group.patched where group.patch(index).column == position {
                try visit(group.patch(index).segment)
            }
            if group.inserted > 0 { try visit(group.insertedSegment(position)) }
            if column < RowSet.firstUserColumn { continue }
            let own = definition.columns[column - RowSet.firstUserColumn]
            let mayBeLong = layout.kinds[column] == .bytes && flags & Segment.hasLong != 0
            let mayLack = own.isRequired && flags & Segment.hasNulls != 0
            if mayBeLong || mayLack || own.type == .links || own.collection != nil || ValueLayout(own) != nil {
                wanted.insert(column - RowSet.firstUserColumn)
            }
        }
        // Also verifies the segments of columns that the schema no longer has.
        for number in 0..<group.segments { _ = try group.segment(number, view.reader) }
        return wanted
    }

    /// Checks the patches: one list per column, none for keys, and each patched slot in the filter that readers test
    /// first.
    private func checkPatches(_ group: Group) throws {
        var seen: Set<Int> = [RowSet.keyColumn]
        for index in 0..<group.patched {
            let patch = group.patch(index)
            if !seen.insert(patch.column).inserted { throw broken("a group has patches of a column twice") }
            for place in 0..<patch.count where !group.mayBePatched(patch.slot(place)) {
                throw broken("slot \(patch.slot(place)) has a patch, and is not set in the patch filter")
            }
        }
    }

    /// Checks that keys of main rows and of inserted rows ascend. Keys of deleted rows count: a binary search may
    /// compare with any of them.
    private func checkMainKeys(_ group: Group) throws {
        if !group.isDense && group.rows > 0 {
            let keys = ColumnBuffer(.integer, capacity: group.rows)
            try group.decodeMain(RowSet.keyColumn, layout: layout, into: keys, from: view.reader)
            for slot in 1..<max(keys.count, 1) where keys.integer(slot - 1) >= keys.integer(slot) {
                throw broken("key \(keys.integer(slot)) does not ascend")
            }
        }
        if group.inserted == 0 { return }
        let keys = group.insertedSegment(RowSet.keyColumn)
        for place in 1..<max(group.inserted, 1) where keys.integer(place - 1) >= keys.integer(place) {
            throw broken("key \(keys.integer(place)) does not ascend")
        }
    }

    private mutating func checkKeys() throws {
        let created = rows.columns[RowSet.createdColumn].words
        var newest: UInt64 = 0
        var isAscending = lastKey.map { $0 < rows.key(0) } ?? true
        for row in 0..<rows.count { newest = max(newest, created[row]) }
        for row in 1..<max(rows.count, 1) { isAscending = isAscending && rows.key(row - 1) < rows.key(row) }
        firstKey = rows.key(0)
        lastKey = rows.key(rows.count - 1)
        if !isAscending { throw broken("keys up to \(rows.key(rows.count - 1)) do not ascend") }
        if newest > view.state.version { throw broken("a row was created after its version") }
    }

    /// Checks that rows are found by key and by ordinal. Both searches rely on ascending keys, which were checked
    /// before, so in a large group only a sample is tried: every 61st row, and inserted rows with their neighbours.
    private func checkLookups(_ group: Group) throws {
        let step = rows.count <= 128 ? 1 : 61
        for row in stride(from: 0, to: rows.count, by: step) { try checkLookup(group, row) }
        try checkLookup(group, rows.count - 1)
        for place in 0..<group.inserted {
            let row = rows.lowerBound(group.insertedSegment(RowSet.keyColumn).integer(place))
            for near in [row - 1, row, row + 1] where near >= 0 && near < rows.count { try checkLookup(group, near) }
        }
    }

    private func checkLookup(_ group: Group, _ row: Int) throws {
        let key = rows.key(row)
        guard let slot = try group.locate(key, view.reader), try group.key(slot, view.reader) == key else {
            throw broken("row \(key) cannot be found by its key")
        }
        if try group.rank(of: key, view.reader) != row || group.select(row, view.reader) != slot {
            throw broken("row \(key) is not found at place \(row) of its row group")
        }
    }

    /// Reads the long values of a column, and checks the trees of collections.
    private func resolveLong(_ column: Int, _ reached: inout ReachedPages) throws {
        let values = rows.columns[column + RowSet.firstUserColumn]
        guard values.kind == .bytes, values.hasFlags else { return }
        let collections = CollectionCheck(view, definition, definition.columns[column])
        for row in 0..<rows.count where values.isLong(row) {
            let descriptor = values.bytes(row)
            if let collections, values.isTree(row), let base = descriptor.baseAddress {
                try collections.checkTree(LongValue(base), row: rows.key(row), &reached)
                continue
            }
            let bytes = try view.long(descriptor)
            if let base = descriptor.baseAddress { try reached.note(LongValue(base).reference) }
            values.resolve(row, bytes)
        }
    }

    /// Checks that live rows have the required values. Null bits of deleted rows, and of values that a patch replaces,
    /// do not count.
    private func checkNulls(_ column: Int) throws {
        let values = rows.columns[column + RowSet.firstUserColumn]
        guard values.hasFlags, definition.columns[column].isRequired else { return }
        for row in 0..<rows.count where values.isNull(row) {
            throw broken("\(definition.columns[column].name) of row \(rows.key(row)) is null, and has to have a value")
        }
    }

    /// Checks that links and collections have their column's layout.
    private func checkValues(_ column: Int) throws {
        let own = definition.columns[column]
        let values = rows.columns[column + RowSet.firstUserColumn]
        let layout = ValueLayout(own)
        let collections = CollectionCheck(view, definition, own)
        if layout == nil && own.type != .links && collections == nil { return }
        for row in 0..<rows.count where !values.isNull(row) && !values.isLong(row) {
            let bytes = values.bytes(row)
            if own.type == .links && LinkPayload.Reader(bytes) == nil || layout.map({ !$0.accepts(bytes) }) ?? false {
                throw broken("the value of \(own.name) in row \(rows.key(row)) contradicts itself")
            }
            try collections?.checkBytes(bytes, row: rows.key(row))
        }
    }
}
