/// Changes of one group that are applied together, so that a column that changes in many rows is written once.
///
/// 1. The table's editor holds back only short values of main rows of a wide group, in columns in which the group has
///    no long value. In other columns the caller makes the change at once, since it has to drop the node of a replaced
///    long value.
/// 2. It holds changes back after some consecutive changes of the same group. Each read of a row applies them; if the
///    program reads rows every few changes, the editor holds no more back.
/// 3. Of several changes of a value, the last one counts.
final class PendingChanges {
    private let layout: TableLayout
    @exclusivity(unchecked) private(set) var count = 0
    /// Bytes of pending texts and data.
    @exclusivity(unchecked) private var bytes = 0
    @exclusivity(unchecked) private var columns: [Column] = []
    /// For each column of the table its index among the changed ones, or -1. Empty before the first change.
    @exclusivity(unchecked) private var places: [Int] = []
    @exclusivity(unchecked) private var reach: TableEditor.KeyReach?
    /// Group of the last change, and the number of consecutive changes before it.
    @exclusivity(unchecked) private var lastLow: Int64?
    @exclusivity(unchecked) private var streak = 0

    /// The changes of one column.
    private struct Column {
        let column: Int
        /// Whether the group has long values in the column; nil until that was asked.
        var mayHaveLong: Bool?
        var slots: [Int32] = []
        var keys: [Int64] = []
        let values: ColumnBuffer
    }

    init(_ layout: TableLayout) { self.layout = layout }

    /// The least key of the group.
    var low: Int64 { reach?.low ?? .min }

    /// Whether a change of a key may be held back with the pending ones: it is of the same group, and there is space.
    /// The space is limited to a part of a transaction's memory, since one value may be changed any number of times.
    @inline(__always)
    func takes(_ key: Int64, _ limits: StoreLimits) -> Bool {
        if count == 0 { return true }
        return count < limits.changesHeld && bytes < limits.memoryBudget / 4 && reach?.contains(key) ?? false
    }

    /// Whether enough changes of a group were consecutive to hold the next one back.
    @inline(__always)
    func mayWait(_ limits: StoreLimits) -> Bool { streak >= limits.changesBeforeHeld }

    /// Counts a change within a group.
    @inline(__always)
    func note(_ reach: TableEditor.KeyReach, _ limits: StoreLimits) {
        if lastLow != reach.low {
            lastLow = reach.low
            // A long streak continues in the next group: it is probably a walk over all rows.
            if streak < limits.changesBeforeHeld { streak = 0 }
        }
        streak += 1
        if count == 0 { self.reach = reach }
    }

    /// Holds a change back, if that is possible.
    func hold(
        _ group: Group, slot: Int32, key: Int64, column: Int, to cell: Cell, keepsLong: Bool, reader: PageReader
    ) throws(StorageError) -> Bool {
        guard slot >= 0, !group.isSmall, group.inserted == 0 else { return false }
        if places.isEmpty { places = Array(repeating: -1, count: layout.kinds.count) }
        let index = places[column] >= 0 ? places[column] : columns.count
        if index == columns.count {
            places[column] = index
            columns.append(Column(column: column, values: ColumnBuffer(layout.kinds[column])))
        }
        if layout.kinds[column] == .bytes, !keepsLong {
            if columns[index].mayHaveLong == nil {
                columns[index].mayHaveLong = try group.mayHaveLong(column, layout, reader)
            }
            if columns[index].mayHaveLong == true { return false }
        }
        #if Zoo
            if PlantedMistake.secondUpdateLost.isPlanted, columns[index].slots.contains(slot) { return true }
        #endif
        columns[index].slots.append(slot)
        columns[index].keys.append(key)
        columns[index].values.append(cell)
        if cell.kind == .bytes { bytes += cell.count }
        count += 1
        return true
    }

    /// Whether there are fewer than a 16th of the group's rows: the editor then makes them one by one, and writes no
    /// column anew.
    func areFew(in group: Group) -> Bool { count < group.rows / 16 }

    /// Columns with changes.
    var changed: [Int] { columns.filter { !$0.slots.isEmpty }.map(\.column) }

    /// Applies the changes of a column to its decoded values, by slot.
    func apply(_ column: Int, to values: ColumnBuffer) {
        if column < places.count, places[column] >= 0 {
            let change = columns[places[column]]
            for (index, slot) in change.slots.enumerated() { values.copyValue(of: change.values, index, to: Int(slot)) }
        }
    }

    /// Applies the changes to decoded rows of the group.
    /// - Returns: false if one of the rows is missing.
    func apply(to rows: RowSet) -> Bool {
        for change in columns {
            for (index, key) in change.keys.enumerated() {
                let place = rows.lowerBound(key)
                guard place < rows.count, rows.key(place) == key else { return false }
                rows.columns[change.column].copyValue(of: change.values, index, to: place)
            }
        }
        return true
    }

    /// Calls `body` with each change; those of a column in their order.
    func forEach(_ body: (Int64, Int, CellValue) throws(StorageError) -> Void) throws(StorageError) {
        for change in columns {
            for (index, key) in change.keys.enumerated() {
                try body(key, change.column, change.values.cellValue(index))
            }
        }
    }

    /// Clears the pending changes after they were applied.
    func removeAll() {
        // A read came after fewer than four changes, so the next ones are made at once.
        if count < 4 { streak = 0 }
        count = 0
        bytes = 0
        for index in columns.indices {
            columns[index].mayHaveLong = nil
            columns[index].slots.removeAll(keepingCapacity: true)
            columns[index].keys.removeAll(keepingCapacity: true)
            columns[index].values.removeAll()
        }
    }

    /// Clears all state.
    func end() {
        count = 0
        bytes = 0
        columns = []
        places = []
        reach = nil
        lastLow = nil
        streak = 0
    }
}
