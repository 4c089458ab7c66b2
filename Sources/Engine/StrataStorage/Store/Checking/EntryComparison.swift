internal import StrataFiles

/// An order-independent sum over entries, equal for equal sets of them.
///
/// Each entry counts as its hash under random keys, times its count. Different sets have equal sums with a probability
/// of about 2^-64, and no file can be built to have them, since its author does not know the keys. So a tree is
/// compared with a column in one pass over each, without holding either in memory.
struct EntrySum: Equatable {
    /// Keys of the hash.
    struct Keys {
        fileprivate let high: (UInt64, UInt64)
        fileprivate let low: (UInt64, UInt64)

        init(_ fileSystem: any FileSystem) {
            high = (fileSystem.randomBits(), fileSystem.randomBits())
            low = (fileSystem.randomBits(), fileSystem.randomBits())
        }
    }

    private var first: UInt64 = 0
    private var second: UInt64 = 0

    @inline(__always)
    mutating func add(high: Int64, low: Int64, count: UInt64, _ keys: Keys) {
        let high = UInt64(bitPattern: high)
        let low = UInt64(bitPattern: low)
        first &+= Self.mix(Self.mix(high ^ keys.high.0) &+ (low ^ keys.low.0)) &* count
        second &+= Self.mix(Self.mix(low ^ keys.low.1) &+ (high ^ keys.high.1)) &* count
    }

    @inline(__always)
    private static func mix(_ value: UInt64) -> UInt64 {
        let a = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        let b = (a ^ a >> 27) &* 0x94D0_49BB_1331_11EB
        return b ^ b >> 31
    }
}

/// Compares the entries of one index, or of one column's backlinks, with the rows.
struct EntryComparison {
    /// Position of the column in its table's definition.
    let position: Int
    private let root: EntryRoot
    private let table: TableDefinition
    private let keys: EntrySum.Keys
    private var expected = EntrySum()

    private var column: ColumnDefinition { table.columns[position] }

    init(_ root: EntryRoot, table: TableDefinition, position: Int, keys: EntrySum.Keys) {
        self.root = root
        self.table = table
        self.position = position
        self.keys = keys
    }

    /// Adds the entries that the tree must have for these rows. The caller has read their long values, except trees of
    /// elements.
    mutating func add(_ rows: RowSet, _ reader: PageReader) throws {
        let values = rows.columns[position + RowSet.firstUserColumn]
        if addPlain(rows, values) { return }
        var sum = expected
        for row in 0..<rows.count {
            let key = rows.key(row)
            try forEachHigh(values, row: row, key: key, reader: reader) {
                sum.add(high: $0, low: key, count: 1, keys)
            }
        }
        expected = sum
    }

    /// Adds the entries of values that make at most one each. These loops do not ask the column's definition for each
    /// row, which costs reference counting (docs/decisions/0075).
    /// - Returns: false for columns of many links.
    private mutating func addPlain(_ rows: RowSet, _ values: ColumnBuffer) -> Bool {
        let (keys, lows) = (keys, rows.columns[RowSet.keyColumn].words)
        let isHashed = column.index == .hash
        var sum = expected
        switch (root.kind, values.kind) {
        case (.backlinks, .integer):
            for row in 0..<rows.count where !values.isNull(row) {
                sum.add(high: values.integer(row), low: Int64(bitPattern: lows[row]), count: 1, keys)
            }
        case (.backlinks, _): return false
        case (_, .integer):
            for row in 0..<rows.count {
                let high = values.isNull(row) ? IndexKey.null : values.integer(row)
                sum.add(high: high, low: Int64(bitPattern: lows[row]), count: 1, keys)
            }
        case (_, .double):
            for row in 0..<rows.count {
                let value = Double(bitPattern: values.words[row])
                let high = values.isNull(row) ? IndexKey.null : IndexKey.ordered(value)
                sum.add(high: high, low: Int64(bitPattern: lows[row]), count: 1, keys)
            }
        case (_, .bytes):
            for row in 0..<rows.count {
                let bytes = values.bytes(row)
                let high = values.isNull(row) ? IndexKey.null : IndexKey.high(bytes, isHashed: isHashed)
                sum.add(high: high, low: Int64(bitPattern: lows[row]), count: 1, keys)
            }
        }
        expected = sum
        return true
    }

    /// Calls `body` with the high part of each entry of a row; for a link that the row has twice, twice.
    private func forEachHigh(
        _ values: ColumnBuffer, row: Int, key: Int64, reader: PageReader, _ body: (Int64) -> Void
    ) throws {
        let isNull = values.isNull(row)
        guard root.kind == .backlinks else {
            let cell: Cell =
                switch values.kind {
                case _ where isNull: .null
                case .integer: .integer(values.integer(row))
                case .double: .double(Double(bitPattern: values.words[row]))
                case .bytes: .bytes(values.bytes(row))
                }
            return body(IndexKey.high(cell, column))
        }
        if isNull { return }
        if values.kind == .integer { return body(values.integer(row)) }
        if column.collection != nil, values.isTree(row) {
            guard let shape = CollectionShape(column, table: table.id.rawValue, owner: key) else { return }
            let cell = try CollectionCell.long(values.bytes(row), reader)
            let links = try CollectionReader(cell, shape: shape, definition: column, reader: reader)
            return try links.forEachPart { (part) throws(StorageError) in
                for place in part.first..<part.end {
                    let link = try part.value(at: place)
                    if !link.isNull { body(link.integerValue) }
                }
                return true
            }
        }
        guard let links = LinkPayload.Reader(values.bytes(row)) else {
            throw InvariantViolation("the links of \(table.name).\(column.name) in row \(key) contradict themselves")
        }
        for index in 0..<links.count where links[index] != LinkPayload.null { body(links[index]) }
    }

    /// Walks the tree and compares its sum with that of the rows. If the sums differ, a second pass over the rows finds
    /// an entry that differs.
    func compare(_ view: ReadView, _ tablePosition: Int, _ reached: inout ReachedPages) throws {
        var found = EntrySum()
        var violation: (any Error)?
        do {
            try EntryTree.walkLeaves(
                root.root, reading: view.reader,
                visitNode: { (node) throws(StorageError) in
                    do { try reached.note(node) } catch {
                        // A node with two parents ends the walk, which would otherwise repeat it for each parent.
                        violation = error
                        throw .structure(node)
                    }
                },
                visitLeaf: { (leaf) throws(StorageError) in
                    for i in 0..<leaf.count {
                        found.add(high: leaf.high(i), low: leaf.low(i), count: UInt64(leaf.count(i)), keys)
                    }
                })
        } catch {
            throw violation ?? error
        }
        if found != expected { throw try difference(view, tablePosition) }
    }

    private func difference(_ view: ReadView, _ tablePosition: Int) throws -> InvariantViolation {
        let name = "\(root.kind) of \(table.name).\(column.name) differs"
        var missing: String?
        var failure: (any Error)?
        try view.scan(tablePosition, columns: [position]) { (batch) throws(StorageError) in
            let values = batch.rows.columns[position + RowSet.firstUserColumn]
            for row in 0..<batch.count {
                let key = batch.key(row).rawValue
                var highs: [Int64: UInt32] = [:]
                do {
                    try forEachHigh(values, row: row, key: key, reader: view.reader) { highs[$0, default: 0] += 1 }
                } catch {
                    failure = error
                }
                for (high, count) in highs {
                    let found = try EntryTree.count(at: (high, key), in: root.root, reading: view.reader)
                    if found != count { missing = "row \(key) occurs \(found) times instead of \(count)" }
                }
                if missing != nil || failure != nil { return false }
            }
            return true
        }
        if let failure { throw failure }
        return InvariantViolation("\(name): \(missing ?? "it has entries that no row has")")
    }
}
