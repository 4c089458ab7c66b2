import CStrataShim

/// Queries of one column's index: which rows have a value, and how many.
struct IndexReader {
    private let view: ReadView
    private let table: Int
    private let column: Int
    private let definition: ColumnDefinition
    private let root: NodeReference

    /// - Parameter kind: the required kind of index; nil for any.
    /// - Throws: `misuse` if the column has no such index.
    init(_ view: ReadView, table: Int, column: Int, kind: IndexKind? = nil) throws(StorageError) {
        let definition = view.state.schema.tables[table].columns[column]
        if let kind, definition.index != kind { throw .misuse(.noSuchColumn) }
        try view.prepareRows(table)
        try view.prepareEntries(table)
        guard let rootKind = definition.index.rootKind, let root = view.entryRoot(table, column, rootKind) else {
            throw .misuse(.noSuchColumn)
        }
        self.view = view
        self.table = table
        self.column = column
        self.definition = definition
        self.root = root
    }

    /// Calls `body` with every row and its value's key in the index, ascending by both.
    func forEach(_ body: (_ high: Int64, RowKey) throws(StorageError) -> Void) throws(StorageError) {
        try EntryTree.forEach(in: root, reading: view.reader) { (high, low, _) throws(StorageError) in
            try body(high, RowKey(low))
            return true
        }
        try view.reader.confirm()
    }

    /// Number of index entries between two values, both included.
    func count(from low: Cell, through high: Cell) throws(StorageError) -> Int {
        let first = IndexKey.high(low, definition)
        let last = IndexKey.high(high, definition)
        guard first <= last else { return 0 }
        let count = try EntryTree.count(in: root, from: (first, .min), through: (last, .max), reading: view.reader)
        try view.reader.confirm()
        return Int(clamping: count)
    }

    /// Rows whose column equals a value, in key order; nil if the index has more than `limit` entries for it.
    func rows(equalTo cell: Cell, limit: Int = .max) throws(StorageError) -> [RowKey]? {
        let high = IndexKey.high(cell, definition)
        var candidates: [RowKey] = []
        try EntryTree.forEach(
            in: root, from: (high, .min), through: (high, .max), reading: view.reader
        ) { (_, low, _) throws(StorageError) in
            candidates.append(RowKey(low))
            return candidates.count <= limit
        }
        strata_note_steps(candidates.count + 1)
        if candidates.count > limit { return nil }
        var found: [RowKey] = []
        for key in candidates {
            guard let group = try view.group(table, key.rawValue),
                let slot = try group.locate(key.rawValue, view.reader)
            else { throw .structure(root) }
            if try equals(RowLocation(group, slot: slot, table: table), cell) { found.append(key) }
        }
        try view.reader.confirm()
        #if Zoo
            if PlantedMistake.indexStopsShort.isPlanted, found.count > 1 { found.removeLast() }
        #endif
        return found
    }

    /// Rows whose column lies between two values, both included, in the order of the index, which is an ordered one.
    func rows(from low: Cell, through high: Cell) throws(StorageError) -> [RowKey] {
        let first = IndexKey.high(low, definition)
        let last = IndexKey.high(high, definition)
        #if Zoo
            let end: (Int64, Int64) = (last, PlantedMistake.indexEndMissed.isPlanted ? .min : .max)
        #else
            let end: (Int64, Int64) = (last, .max)
        #endif
        let isPrefix = SegmentKind(definition.type) == .bytes
        var found: [RowKey] = []
        var doubtful: [Int] = []
        try EntryTree.forEach(
            in: root, from: (first, .min), through: end, reading: view.reader
        ) { (entry, key, _) throws(StorageError) in
            // Null has the entry key of the smallest value, and bytes with the same first eight have one entry key. So
            // the values of these rows are compared.
            if entry == .min || isPrefix && (entry == first || entry == last) { doubtful.append(found.count) }
            found.append(RowKey(key))
            return true
        }
        try view.reader.confirm()
        strata_note_steps(found.count + 1)
        #if Zoo
            if PlantedMistake.indexStopsShort.isPlanted, doubtful.isEmpty, found.count > 1 { found.removeLast() }
        #endif
        if doubtful.isEmpty { return found }
        var kept: [RowKey] = []
        var next = 0
        for (place, key) in found.enumerated() {
            if next < doubtful.count && doubtful[next] == place {
                next += 1
                if try !liesBetween(key, low, high) { continue }
            }
            kept.append(key)
        }
        return kept
    }

    /// Locates a row of an index entry.
    func locate(_ key: RowKey) throws(StorageError) -> RowLocation {
        guard let row = try view.locate(table, key) else { throw .structure(root) }
        return row
    }

    private func liesBetween(
        _ key: RowKey, _ low: Cell, _ high: Cell
    ) throws(StorageError) -> Bool {
        let row = try locate(key)
        switch definition.type {
        case .integer, .link:
            guard let value = try view.integer(row, column) else { return low.isNull }
            return (low.isNull || low.integerValue <= value) && !high.isNull && value <= high.integerValue
        case .double:
            guard let value = try view.double(row, column) else { return low.isNull }
            return (low.isNull || low.doubleValue <= value) && !high.isNull && value <= high.doubleValue
        case .bytes, .links:
            guard let value = try view.bytes(row, column) else { return low.isNull }
            let lies =
                (low.isNull || RowFilter.BytesTest.order(value, low.bytesValue) >= 0)
                && !high.isNull && RowFilter.BytesTest.order(value, high.bytesValue) <= 0
            try view.confirm()
            return lies
        }
    }

    private func equals(_ row: RowLocation, _ cell: Cell) throws(StorageError) -> Bool {
        switch definition.type {
        case .integer, .link:
            let value = try view.integer(row, column)
            return cell.isNull ? value == nil : value == cell.integerValue
        case .double:
            let value = try view.double(row, column)
            return cell.isNull ? value == nil : value == cell.doubleValue
        case .bytes, .links:
            guard let value = try view.bytes(row, column) else { return cell.isNull }
            let isEqual = !cell.isNull && Self.areEqual(value, cell.bytesValue)
            try view.confirm()
            return isEqual
        }
    }

    private static func areEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard a.count == b.count else { return false }
        guard let first = a.baseAddress, let second = b.baseAddress else { return true }
        var at = 0
        while at + 8 <= a.count {
            if first.u64(at) != second.u64(at) { return false }
            at += 8
        }
        while at < a.count {
            if first.u8(at) != second.u8(at) { return false }
            at += 1
        }
        return true
    }
}
