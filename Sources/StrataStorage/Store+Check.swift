/// A rule that the bytes of a store break.
package struct InvariantViolation: Error, Sendable, CustomStringConvertible {
    package var description: String
    init(_ description: String) { self.description = description }
}

extension Store {
    /// Walks everything: nodes verify, trees are ordered and counted, indexes and backlinks equal the columns (7), and
    /// pages that are reachable, held, free or the map's own tile the file, none twice (2).
    ///
    /// Waits for the open transaction and the checkpoint in progress.
    /// - Throws: `InvariantViolation`, or the `StorageError` that reading threw.
    /// - Complexity: O(size of the store).
    package func checkInvariants() throws {
        gate.acquire()
        defer { gate.release() }
        try waitForCheckpoint()
        if !options.readOnly { try loadFreeMap() }
        let version = monitor.withLock { state.committed }
        var walker = StoreWalker(reader: reader, version: version)
        try walker.walk()
        if options.readOnly { return }
        try checkTiling(walker.extents)
    }

    private func checkTiling(_ reachable: [Extent]) throws {
        let (free, hanging, pageCount) = allocator.allocator.snapshotForCheck()
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
        for extent in writer.freeMap.extents {
            for page in Int(extent.page)..<Int(extent.page + extent.pages) { try claim(page, 4, "map") }
        }
        for page in 0..<pageCount where page >> 6 < free.count && free[page >> 6] >> UInt64(page & 63) & 1 != 0 {
            try claim(page, 5, "free")
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

    init(reader: PageReader, version: VersionState) {
        self.reader = reader
        self.version = version
        view = ReadView(version, reader)
    }

    mutating func walk() throws {
        note(version.root)
        note(version.schemaNode)
        for table in version.tables.indices {
            let state = version.tables[table]
            if !state.tree.isNull {
                var last: Int64?
                _ = try walkRows(state.tree, table, &last, isRoot: true)
            }
            try walkEntries(table)
        }
    }

    private mutating func note(_ reference: NodeReference) {
        if reference.isNull { return }
        extents.append(
            Extent(page: reference.page, pages: UInt32(reference.pages), birth: reference.birth))
    }

    /// - Returns: rows below.
    private mutating func walkRows(
        _ reference: NodeReference, _ table: Int, _ last: inout Int64?, isRoot: Bool = false
    ) throws -> Int {
        note(reference)
        if reference.birth > version.version { throw InvariantViolation("\(reference) is younger than its version") }
        if reference.is(.group) { return try walkGroup(reference, table, &last) }
        let branch = Branch(try reader.node(reference, .branch))
        var total = 0
        for index in 0..<branch.count {
            if index > 0, let last, last >= branch.key(index) {
                throw InvariantViolation("key \(last) stands before separator \(branch.key(index))")
            }
            let rows = try walkRows(branch.reference(index), table, &last)
            if rows != branch.rows(index) {
                throw InvariantViolation("branch counts \(branch.rows(index)) rows where \(rows) are")
            }
            total += rows
        }
        return total
    }

    private mutating func walkGroup(_ reference: NodeReference, _ table: Int, _ last: inout Int64?) throws -> Int {
        let group = Group(try reader.node(reference, .group))
        for index in 0..<group.nodes { note(group.reference(index)) }
        for number in 0..<group.segments { _ = try group.segment(number, reader) }
        let layout = version.layouts[table]
        let rows = RowSet(layout)
        try group.decode(into: rows, layout, reader)
        if rows.count != group.liveRows || rows.count == 0 { throw InvariantViolation("group of \(rows.count) rows") }
        for row in 0..<rows.count {
            let key = rows.key(row)
            if let last, key <= last { throw InvariantViolation("key \(key) follows \(last)") }
            last = key
            if rows.columns[RowSet.createdColumn].words[row] > version.version {
                throw InvariantViolation("row \(key) was created after its version")
            }
            guard let slot = try group.locate(key, reader), try group.key(slot, reader) == key else {
                throw InvariantViolation("row \(key) cannot be found by its key")
            }
            if try group.rank(of: key, reader) != row || group.select(row, reader) != slot {
                throw InvariantViolation("row \(key) is not the \(row)-th of its group")
            }
        }
        for column in rows.columns where column.kind == .bytes && column.hasFlags {
            for row in 0..<rows.count where column.isLong(row) {
                _ = try view.long(column.bytes(row))
                if let base = column.bytes(row).baseAddress { note(LongValue(base).reference) }
            }
        }
        return rows.count
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
                    found.append(EntryOperation(high: high, low: low, delta: Int32(count)))
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
