/// A rule that the bytes of a store break.
package struct InvariantViolation: Error, Sendable, CustomStringConvertible {
    package var description: String
    init(_ description: String) { self.description = description }
}

extension Store {
    /// Walks everything: nodes verify, trees are ordered and counted, indexes and backlinks equal the columns (7), and
    /// pages that are reachable, held, free or the map's own tile the file, none twice (2).
    ///
    /// Waits for the open transaction and the checkpoint in progress. Opened for reading only, beside another process
    /// that writes, it does not look at who owns which page.
    /// - Parameter progress: told now and then how many pages were visited, of about how many.
    /// - Throws: `InvariantViolation`, or the `StorageError` that reading threw.
    /// - Complexity: O(size of the store).
    package func checkInvariants(
        progress: @escaping (_ pagesDone: Int, _ pagesTotal: Int) -> Void = { _, _ in }
    ) throws {
        gate.acquire()
        defer { gate.release() }
        if !options.readOnly { try ensureOwner() }
        try waitForCheckpoint()
        // Readers keep writers out unless they were there first: then the free map is a writer's business.
        let ownsMap = !options.readOnly || table == nil
        if ownsMap { try loadFreeMap() }
        // Beside a writer of another process the version is pinned; of its own, this one keeps the gate.
        let pinned = options.readOnly ? try snapshot() : nil
        let version = pinned?.view.state ?? monitor.withLock { state.committed }
        let counts = allocator.allocator.counts
        let total = max(counts.pages - counts.free - counts.held, 0)
        var walker = StoreWalker(reader: reader, version: version) { progress(min($0, total), total) }
        do { try walker.walk() } catch {
            // Pages that could not be read break rules too.
            try reader.confirm()
            throw error
        }
        try reader.confirm()
        progress(total, total)
        if ownsMap { try checkTiling(walker.extents) }
    }

    private func checkTiling(_ reachable: [Extent]) throws {
        let (free, unreached, hanging, map, pageCount) = try allocator.allocator.snapshotForCheck()
        var owner = [UInt8](repeating: 0, count: pageCount)
        func claim(_ page: Int, _ what: UInt8, _ name: String) throws {
            guard page < pageCount else { throw InvariantViolation("\(name) page \(page) of \(pageCount)") }
            if owner[page] != 0 { throw InvariantViolation("page \(page) is \(name) and \(owner[page])") }
            owner[page] = what
        }
        for page in 0..<Format.firstDataPage { try claim(page, 1, "header") }
        for (extents, what, name) in [(reachable, 2, "reachable"), (hanging, 3, "held")] as [([Extent], UInt8, String)]
        {
            for extent in extents {
                for page in Int(extent.page)..<Int(extent.page + extent.pages) { try claim(page, what, name) }
            }
        }
        for extent in map {
            for page in Int(extent.page)..<Int(extent.page + extent.pages) { try claim(page, 4, "map") }
        }
        for page in 0..<pageCount where free[page] { try claim(page, 5, "free") }
        for page in 0..<pageCount where owner[page] != 4 && unreached[page] != (owner[page] == 3 || owner[page] == 5) {
            throw InvariantViolation("page \(page) of kind \(owner[page]) counts as reached: \(!unreached[page])")
        }
        for page in 0..<pageCount where owner[page] == 0 { throw InvariantViolation("page \(page) is nobody's") }
    }
}

/// Visits all nodes of a version and compares what must be equal.
struct StoreWalker {
    let reader: PageReader
    let version: VersionState
    private(set) var extents: [Extent] = []
    private let view: ReadView
    private let progress: (_ pagesDone: Int) -> Void
    private var pages = 0
    private var nextReport = reportInterval
    private static let reportInterval = 1024

    init(reader: PageReader, version: VersionState, progress: @escaping (_ pagesDone: Int) -> Void = { _ in }) {
        self.reader = reader
        self.version = version
        self.progress = progress
        view = ReadView(version, reader)
    }

    mutating func walk() throws {
        note(version.root)
        note(version.schemaNode)
        for table in version.tables.indices {
            let state = version.tables[table]
            if !state.tree.isNull {
                var last: Int64?
                let rows = RowSet(version.layouts[table])
                _ = try walkRows(state.tree, table, &last, rows, below: Branch.maxLevel + 1)
            }
            try walkEntries(table)
        }
    }

    private mutating func note(_ reference: NodeReference) {
        if reference.isNull { return }
        extents.append(
            Extent(page: reference.page, pages: UInt32(reference.pages), birth: reference.birth))
        pages += Int(reference.pages)
        if pages < nextReport { return }
        nextReport = pages + Self.reportInterval
        progress(pages)
    }

    /// - Returns: rows below.
    private mutating func walkRows(
        _ reference: NodeReference, _ table: Int, _ last: inout Int64?, _ buffer: RowSet, below level: Int
    ) throws -> Int {
        note(reference)
        if reference.birth > version.version { throw InvariantViolation("\(reference) is younger than its version") }
        if reference.is(.group) { return try walkGroup(reference, table, &last, buffer) }
        var level = level
        let branch = try reader.branch(reference, below: &level)
        var total = 0
        for index in 0..<branch.count {
            if index > 0, let last, last >= branch.key(index) {
                throw InvariantViolation("key \(last) stands before separator \(branch.key(index))")
            }
            let rows = try walkRows(branch.reference(index), table, &last, buffer, below: level)
            if rows != branch.rows(index) {
                throw InvariantViolation("branch counts \(branch.rows(index)) rows where \(rows) are")
            }
            total += rows
        }
        return total
    }

    private mutating func walkGroup(
        _ reference: NodeReference, _ table: Int, _ last: inout Int64?, _ rows: RowSet
    ) throws -> Int {
        let group = Group(try reader.node(reference, .group))
        for index in 0..<group.nodes { note(group.reference(index)) }
        let layout = version.layouts[table]
        let mayBeLong = try checkSegments(group, layout)
        rows.removeAll()
        try group.decode(into: rows, layout, wanted: [RowSet.keyColumn, RowSet.createdColumn] + mayBeLong, reader)
        if rows.count != group.liveRows || rows.count == 0 { throw InvariantViolation("group of \(rows.count) rows") }
        try checkKeys(rows, &last)
        try checkLookups(group, rows)
        for column in mayBeLong.map({ rows.columns[$0] }) where column.hasFlags {
            for row in 0..<rows.count where column.isLong(row) {
                _ = try view.long(column.bytes(row))
                if let base = column.bytes(row).baseAddress { note(LongValue(base).reference) }
            }
        }
        return rows.count
    }

    /// Every segment is there and of its column's kind; the columns that may have values in nodes of their own.
    private func checkSegments(_ group: Group, _ layout: TableLayout) throws -> [Int] {
        var mayBeLong: [Int] = []
        for column in layout.ids.indices {
            guard let position = group.position(of: layout.ids[column], near: column) else { continue }
            var flags = 0
            func visit(_ segment: Segment) throws {
                if segment.kindCode != layout.kinds[column].rawValue {
                    throw InvariantViolation("a segment of another kind than its column")
                }
                flags |= segment.flags
            }
            let first = group.firstSegment(position)
            for number in first..<(first + group.segmentCount(position)) { try visit(group.segment(number, reader)) }
            for index in 0..<group.patched where group.patch(index).column == position {
                try visit(group.patch(index).segment)
            }
            if group.inserted > 0 { try visit(group.insertedSegment(position)) }
            if layout.kinds[column] == .bytes && flags & Segment.hasLong != 0 { mayBeLong.append(column) }
        }
        // Columns that the schema has no more.
        for number in 0..<group.segments { _ = try group.segment(number, reader) }
        return mayBeLong
    }

    private func checkKeys(_ rows: RowSet, _ last: inout Int64?) throws {
        let keys = rows.columns[RowSet.keyColumn].words
        let created = rows.columns[RowSet.createdColumn].words
        var newest: UInt64 = 0
        var isAscending = last.map { $0 < rows.key(0) } ?? true
        for row in 0..<rows.count { newest = max(newest, created[row]) }
        for row in 1..<max(rows.count, 1) {
            isAscending = isAscending && Int64(bitPattern: keys[row - 1]) < Int64(bitPattern: keys[row])
        }
        last = rows.key(rows.count - 1)
        if !isAscending { throw InvariantViolation("keys up to \(rows.key(rows.count - 1)) do not ascend") }
        if newest > version.version { throw InvariantViolation("a row was created after its version") }
    }

    /// Rows are found by key and by ordinal. Lookups rest on ascending keys, which were checked, so of a large group
    /// some rows are tried: a fixed part of them, and all around what was inserted.
    private func checkLookups(_ group: Group, _ rows: RowSet) throws {
        let step = rows.count <= 128 ? 1 : 61
        for row in stride(from: 0, to: rows.count, by: step) { try checkLookup(group, rows, row) }
        try checkLookup(group, rows, rows.count - 1)
        for place in 0..<group.inserted {
            let row = rows.lowerBound(group.insertedSegment(RowSet.keyColumn).integer(place))
            for near in [row - 1, row, row + 1] where near >= 0 && near < rows.count {
                try checkLookup(group, rows, near)
            }
        }
    }

    private func checkLookup(_ group: Group, _ rows: RowSet, _ row: Int) throws {
        let key = rows.key(row)
        guard let slot = try group.locate(key, reader), try group.key(slot, reader) == key else {
            throw InvariantViolation("row \(key) cannot be found by its key")
        }
        if try group.rank(of: key, reader) != row || group.select(row, reader) != slot {
            throw InvariantViolation("row \(key) is not the \(row)-th of its group")
        }
    }

    private mutating func walkEntries(_ table: Int) throws {
        let definition = version.schema.tables[table]
        for entry in version.tables[table].entries {
            var found: [EntryOperation] = []
            var nodes: [NodeReference] = []
            try EntryTree.walk(
                entry.root, reading: reader,
                visitNode: { (node) throws(StorageError) in nodes.append(node) },
                visitEntry: { (high, low, count) throws(StorageError) in
                    found.append(EntryOperation(high: high, low: low, delta: Int32(bitPattern: count)))
                })
            for node in nodes { note(node) }
            guard let column = definition.position(of: entry.column) else {
                throw InvariantViolation("a tree of a column that is not there")
            }
            var expected = try entries(table, column, entry.kind)
            try EntryOperation.prepare(&expected)
            if expected != found {
                throw InvariantViolation(
                    "\(entry.kind) of \(definition.name).\(definition.columns[column].name) differs")
            }
        }
    }

    private func entries(_ table: Int, _ column: Int, _ kind: EntryRoot.Kind) throws -> [EntryOperation] {
        let definition = version.schema.tables[table].columns[column]
        var operations: [EntryOperation] = []
        try view.scan(table, columns: [column]) { (batch) throws(StorageError) in
            for row in 0..<batch.count {
                let key = batch.key(row).rawValue
                let isNull = batch.isNull(0, row)
                switch (kind, definition.type) {
                case (.backlinks, .link):
                    if !isNull { operations.append(EntryOperation(high: batch.integers(0)[row], low: key, delta: 1)) }
                case (.backlinks, _):
                    guard let links = LinkPayload.Reader(batch.bytes(0, row)) else { continue }
                    for index in 0..<links.count where links[index] != LinkPayload.null {
                        operations.append(EntryOperation(high: links[index], low: key, delta: 1))
                    }
                case (_, .integer), (_, .link):
                    let cell: Cell = isNull ? .null : .integer(batch.integers(0)[row])
                    operations.append(EntryOperation(high: IndexKey.high(cell, definition), low: key, delta: 1))
                case (_, .double):
                    let cell: Cell = isNull ? .null : .double(batch.doubles(0)[row])
                    operations.append(EntryOperation(high: IndexKey.high(cell, definition), low: key, delta: 1))
                case (_, .bytes), (_, .links):
                    let cell: Cell = isNull ? .null : .bytes(batch.bytes(0, row))
                    operations.append(EntryOperation(high: IndexKey.high(cell, definition), low: key, delta: 1))
                }
            }
            return true
        }
        return operations
    }
}
