import CStrataShim

extension ReadView {
    /// Hands out each group with the rows of it that pass, in key order.
    private func select(
        _ table: Int, _ filter: RowFilter,
        _ body: (Group, Selection, GroupSelector) throws(StorageError) -> Void
    ) throws(StorageError) {
        try prepareRows(table)
        try filter.check(state.schema.tables[table].columns)
        let selector = GroupSelector(filter, state.layouts[table], reader)
        guard let bounds = filter.keyBounds else { return }
        try forEachGroup(table, from: bounds.lowerBound) { (group) throws(StorageError) in
            if bounds.upperBound != .max, try isBehind(bounds.upperBound, group) { return false }
            try body(group, try selector.select(group), selector)
            return true
        }
        try reader.confirm()
    }

    /// Whether all keys of a group are greater.
    private func isBehind(_ key: Int64, _ group: Group) throws(StorageError) -> Bool {
        guard let first = try group.select(0, reader) else { return false }
        return try group.key(first, reader) > key
    }

    /// How many rows pass.
    /// - Throws: `misuse` when the filter does not suit the table.
    /// - Complexity: O(rows), over the packed values of the columns that the filter names.
    package func count(_ table: Int, where filter: RowFilter) throws(StorageError) -> Int {
        var total = 0
        try select(table, filter) { (_, selection, _) in total += selection.count }
        return total
    }

    /// The keys of the rows that pass, ascending.
    /// - Throws: `misuse` when the filter does not suit the table.
    package func keys(_ table: Int, where filter: RowFilter) throws(StorageError) -> [Int64] {
        var keys = KeyCollector()
        try select(table, filter) { (group, selection, _) throws(StorageError) in
            try keys.append(group, selection, reader)
        }
        return keys.keys
    }

    /// Sum and number of an integer column's values in the rows that pass.
    /// - Throws: `misuse` when filter or column do not suit the table.
    package func integers(
        _ table: Int, _ column: Int, where filter: RowFilter = .everything
    ) throws(StorageError) -> IntegerTotals {
        try totals(table, column, filter, .sum, IntegerTotals())
    }

    package func doubles(
        _ table: Int, _ column: Int, where filter: RowFilter = .everything
    ) throws(StorageError) -> DoubleTotals {
        try totals(table, column, filter, .sum, DoubleTotals())
    }

    /// The least and the greatest value of an integer column; nil when every value is null.
    package func integerExtremes(
        _ table: Int, _ column: Int, where filter: RowFilter = .everything
    ) throws(StorageError) -> ClosedRange<Int64>? {
        let totals = try totals(table, column, filter, .extremes, IntegerTotals())
        return totals.count == 0 ? nil : totals.least...totals.most
    }

    /// NaN is skipped: nil also when there is nothing else.
    package func doubleExtremes(
        _ table: Int, _ column: Int, where filter: RowFilter = .everything
    ) throws(StorageError) -> ClosedRange<Double>? {
        let totals = try totals(table, column, filter, .extremes, DoubleTotals())
        return totals.least <= totals.most ? totals.least...totals.most : nil
    }

    private func totals<Totals: ColumnTotals>(
        _ table: Int, _ column: Int, _ filter: RowFilter, _ part: AggregatePart, _ start: Totals
    ) throws(StorageError) -> Totals {
        let layout = state.layouts[table]
        let wanted = column + RowSet.firstUserColumn
        guard column >= 0, wanted < layout.kinds.count else { throw .misuse(.noSuchColumn) }
        guard layout.kinds[wanted] == Totals.kind else { throw .misuse(.wrongType) }
        var totals = start
        try select(table, filter) { (group, selection, selector) throws(StorageError) in
            if selection.isEmpty { return }
            try group.aggregate(
                selection, wanted, layout, part, into: &totals, spare: selector.spare, reader)
        }
        return totals
    }

    /// The sum of an integer column, wrapping, and how many values were not null.
    /// - Complexity: O(rows), over the packed values of the column.
    package func sum(_ table: Int, _ column: Int) throws(StorageError) -> (sum: Int64, count: Int) {
        try prepareRows(table)
        let layout = state.layouts[table]
        let wanted = column + RowSet.firstUserColumn
        guard column >= 0, wanted < layout.kinds.count else { throw .misuse(.noSuchColumn) }
        guard layout.kinds[wanted] == .integer else { throw .misuse(.wrongType) }
        let selector = GroupSelector(.everything, layout, reader)
        var plain: UInt64 = 0
        var totals = IntegerTotals()
        var count = 0
        try forEachGroup(table, from: .min) { (group) throws(StorageError) in
            if let sum = try group.plainSum(layout, wanted, reader) {
                plain &+= sum
                count += group.liveRows
            } else {
                try group.aggregate(
                    try selector.select(group), wanted, layout, .sum, into: &totals, spare: selector.spare, reader)
            }
            return true
        }
        try reader.confirm()
        return (totals.sum &+ Int64(bitPattern: plain), totals.count + count)
    }
}

/// Turns selections into keys, group by group.
private struct KeyCollector {
    var keys: [Int64] = []
    private var slots: [Int64] = []
    private var places: [Int64] = []

    mutating func append(_ group: Group, _ selection: Selection, _ reader: PageReader) throws(StorageError) {
        let mainCount = strata_bits_count(selection.main, selection.mainWords)
        let extraCount = strata_bits_count(selection.extra, selection.extraWords)
        if mainCount + extraCount == 0 { return }
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
        Self.list(selection.main, selection.mainWords, mainCount, &slots)
        Self.list(selection.extra, selection.extraWords, extraCount, &places)
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
        _ bits: UnsafePointer<UInt64>, _ words: Int, _ count: Int, _ target: inout [Int64]
    ) {
        target = [Int64](unsafeUninitializedCapacity: count) { buffer, written in
            written = buffer.baseAddress.map { strata_bits_list(bits, words, 0, $0) } ?? 0
        }
    }
}
