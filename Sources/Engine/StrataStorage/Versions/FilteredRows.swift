import CStrataShim

/// The rows of a table that pass a filter, evaluated on the packed values of the filter's columns.
package struct FilteredRows {
    private let view: ReadView
    private let table: Int
    private let filter: RowFilter
    private let selector: GroupSelector

    /// - Throws: `misuse` if the filter does not fit the table.
    package init(_ view: ReadView, _ table: Int, _ filter: RowFilter) throws(StorageError) {
        try view.prepareRows(table)
        try filter.check(view.state.schema.tables[table].columns)
        // The cells of open collections have handles, which a filter cannot follow.
        if view.hasOpenCollections, filter.asksCollections { throw .misuse(.wrongType) }
        self.view = view
        self.table = table
        self.filter = filter
        selector = GroupSelector(filter, view.state.layouts[table], view.reader)
    }

    /// Calls `body` with each group and its passing rows, in key order.
    private func forEach(_ body: (Group, Selection) throws(StorageError) -> Void) throws(StorageError) {
        try forEachUntilFalse { (group, selection) throws(StorageError) in
            try body(group, selection)
            return true
        }
    }

    /// As ``forEach(_:)``, until `body` returns false.
    private func forEachUntilFalse(
        _ body: (Group, Selection) throws(StorageError) -> Bool
    ) throws(StorageError) {
        guard let bounds = filter.keyBounds else { return }
        try view.forEachGroup(table, from: bounds.lowerBound) { (group) throws(StorageError) in
            if bounds.upperBound != .max, try isBehind(bounds.upperBound, group) { return false }
            return try body(group, try selector.select(group))
        }
        try view.reader.confirm()
    }

    /// Whether all keys of a group are greater than a key.
    private func isBehind(_ key: Int64, _ group: Group) throws(StorageError) -> Bool {
        guard let first = try group.select(0, view.reader) else { return false }
        return try group.key(first, view.reader) > key
    }

    func count() throws(StorageError) -> Int {
        var total = 0
        try forEach { (_, selection) in total += selection.count }
        return total
    }

    /// The keys, ascending.
    func keys() throws(StorageError) -> [Int64] {
        var keys = KeyCollector()
        try forEach { (group, selection) throws(StorageError) in try keys.append(group, selection, view.reader) }
        return keys.keys
    }

    /// Calls `body` with the keys of one group after another, ascending, until it returns false. Groups without a
    /// passing row are left out.
    /// - Returns: false if `body` ended it.
    package func forEachKeys(_ body: ([Int64]) throws(StorageError) -> Bool) throws(StorageError) -> Bool {
        var keys = KeyCollector()
        var goesOn = true
        try forEachUntilFalse { (group, selection) throws(StorageError) in
            keys.keys.removeAll(keepingCapacity: true)
            try keys.append(group, selection, view.reader)
            if keys.keys.isEmpty { return true }
            try view.reader.confirm()
            goesOn = try body(keys.keys)
            return goesOn
        }
        return goesOn
    }

    /// Calls `body` with the rows that pass, ascending, some adjacent ones at a time.
    func forEachStretch(_ body: (KeyStretch) -> Void) throws(StorageError) {
        try forEach { (group, selection) throws(StorageError) in
            if selection.isEmpty { return }
            if group.isDense, strata_bits_count(selection.extra, selection.extraWords) == 0 {
                strata_note_steps(selection.count)
                return body(.bits(first: group.baseKey, selection.main, words: selection.mainWords))
            }
            var keys = KeyCollector()
            try keys.append(group, selection, view.reader)
            body(.keys(keys.keys))
        }
    }

    // MARK: Aggregates

    /// Sum and count of an integer column's values.
    /// - Throws: `misuse` if the column does not fit.
    package func integers(_ column: Int) throws(StorageError) -> IntegerTotals {
        try totals(column, .sum, IntegerTotals())
    }

    /// Sum and count of a double column's values.
    /// - Throws: `misuse` if the column does not fit.
    package func doubles(_ column: Int) throws(StorageError) -> DoubleTotals {
        try totals(column, .sum, DoubleTotals())
    }

    /// The least and the greatest value of an integer column; nil if every value is null.
    /// - Throws: `misuse` if the column does not fit.
    package func integerExtremes(_ column: Int) throws(StorageError) -> ClosedRange<Int64>? {
        let totals = try totals(column, .extremes, IntegerTotals())
        return totals.count == 0 ? nil : totals.least...totals.most
    }

    /// The least and the greatest value of a double column, NaN excluded; nil if there is none.
    /// - Throws: `misuse` if the column does not fit.
    package func doubleExtremes(_ column: Int) throws(StorageError) -> ClosedRange<Double>? {
        let totals = try totals(column, .extremes, DoubleTotals())
        return totals.least <= totals.most ? totals.least...totals.most : nil
    }

    /// Totals of a column's values.
    /// - Throws: `misuse` if the column does not exist, or is of another type.
    private func totals<Totals: ColumnTotals>(
        _ column: Int, _ part: AggregatePart, _ start: Totals
    ) throws(StorageError) -> Totals {
        let wanted = try place(of: column, Totals.kind)
        var totals = start
        try forEach { (group, selection) throws(StorageError) in
            if selection.isEmpty { return }
            try group.aggregate(
                selection, column: wanted, layout: selector.layout, part: part, into: &totals, spare: selector.spare,
                from: view.reader)
        }
        return totals
    }

    /// The wrapping sum of an integer column, and the number of non-null values. The filter must let every row pass, so
    /// that groups without nulls and exceptions are summed without a selection.
    func plainSum(_ column: Int) throws(StorageError) -> (sum: Int64, count: Int) {
        let wanted = try place(of: column, .integer)
        let layout = selector.layout
        var plain: UInt64 = 0
        var totals = IntegerTotals()
        var count = 0
        try view.forEachGroup(table, from: .min) { (group) throws(StorageError) in
            if let sum = try group.plainSum(layout, wanted, view.reader) {
                plain &+= sum
                count += group.liveRows
            } else {
                try group.aggregate(
                    try selector.select(group), column: wanted, layout: layout, part: .sum, into: &totals,
                    spare: selector.spare, from: view.reader)
            }
            return true
        }
        try view.reader.confirm()
        return (totals.sum &+ Int64(bitPattern: plain), totals.count + count)
    }

    /// The index of a column in a row set.
    private func place(of column: Int, _ kind: SegmentKind) throws(StorageError) -> Int {
        let wanted = column + RowSet.firstUserColumn
        guard column >= 0, wanted < selector.layout.kinds.count else { throw .misuse(.noSuchColumn) }
        guard selector.layout.kinds[wanted] == kind else { throw .misuse(.wrongType) }
        return wanted
    }
}

/// Keys of rows with adjacent keys, ascending.
package enum KeyStretch {
    /// A bit for each key from `first` on, valid during the call that hands them out.
    case bits(first: Int64, UnsafePointer<UInt64>, words: Int)
    case keys([Int64])
}

extension ReadView {
    /// Calls `body` with the keys of the rows that pass, ascending, without an array of all.
    /// - Throws: `misuse` if the filter does not fit the table; `corrupt` if a page cannot be read: the keys that
    ///   `body` got mean nothing then.
    package func forEachStretch(
        _ table: Int, where filter: RowFilter, _ body: (KeyStretch) -> Void
    ) throws(StorageError) {
        try FilteredRows(self, table, filter).forEachStretch(body)
    }
}

/// Converts selections to keys, group by group.
private struct KeyCollector {
    var keys: [Int64] = []
    private var slots: [Int64] = []
    private var places: [Int64] = []

    mutating func append(_ group: Group, _ selection: Selection, _ reader: PageReader) throws(StorageError) {
        let mainCount = strata_bits_count(selection.main, selection.mainWords)
        let extraCount = strata_bits_count(selection.extra, selection.extraWords)
        if mainCount + extraCount == 0 { return }
        strata_note_steps(mainCount + extraCount)
        if extraCount == 0 && group.isDense {
            let first = keys.count
            keys.append(contentsOf: repeatElement(0, count: mainCount))
            keys.withUnsafeMutableBufferPointer { keys in
                if let target = keys.baseAddress {
                    _ = strata_bits_list(selection.main, selection.mainWords, group.baseKey, target + first)
                }
            }
            return
        }
        Self.list(selection.main, words: selection.mainWords, count: mainCount, into: &slots)
        Self.list(selection.extra, words: selection.extraWords, count: extraCount, into: &places)
        var next = 0
        let extra = extraCount > 0 ? group.insertedSegment(RowSet.keyColumn) : nil
        for slot in slots {
            let key = try group.key(Int32(truncatingIfNeeded: slot), reader)
            while next < places.count, let extra, extra.integer(Int(places[next])) < key {
                keys.append(extra.integer(Int(places[next])))
                next += 1
            }
            keys.append(key)
        }
        while next < places.count, let extra {
            keys.append(extra.integer(Int(places[next])))
            next += 1
        }
    }

    private static func list(
        _ bits: UnsafePointer<UInt64>, words: Int, count: Int, into target: inout [Int64]
    ) {
        target = [Int64](unsafeUninitializedCapacity: count) { buffer, written in
            written = buffer.baseAddress.map { strata_bits_list(bits, words, 0, $0) } ?? 0
        }
    }
}
