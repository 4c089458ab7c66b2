/// Values of one group that are to be changed together: a column that changes in many rows is written once.
///
/// 1. Held back are short values of main rows of a wide group, in columns that have no value in a node of its own: such
///    a one is given up when it is replaced, which is the caller's way.
/// 2. Changes are held back once some of the same group have followed one another. Where rows are read in between, what
///    is held back is done each time, and soon no more is.
/// 3. A later change of the same value counts.
final class PendingChanges {
    private let layout: TableLayout
    @exclusivity(unchecked) private(set) var count = 0
    /// Of texts and data that wait.
    @exclusivity(unchecked) private var bytes = 0
    @exclusivity(unchecked) private var columns: [Column] = []
    /// For each column of the table its place among those that change, or -1. Empty before the first change.
    @exclusivity(unchecked) private var places: [Int] = []
    @exclusivity(unchecked) private var reach: TableEditor.KeyReach?
    /// Where the last change was, and how many were there before it.
    @exclusivity(unchecked) private var lastLow: Int64?
    @exclusivity(unchecked) private var streak = 0

    /// The changes of one column.
    private struct Column {
        let column: Int
        /// It has values in nodes of their own.
        var mayHaveLong: Bool?
        var slots: [Int32] = []
        var keys: [Int64] = []
        let values: ColumnBuffer
    }

    init(_ layout: TableLayout) { self.layout = layout }

    /// Where the group's keys begin.
    var low: Int64 { reach?.low ?? .min }

    /// Whether a change of a key may wait with those that do: it is of the same group, and there is room for it. The
    /// same value may be changed without end, so what waits has a limit, and a part of the memory of a transaction.
    @inline(__always)
    func takes(_ key: Int64, _ limits: StoreLimits) -> Bool {
        if count == 0 { return true }
        return count < limits.changesHeld && bytes < limits.memoryBudget / 4 && reach?.contains(key) ?? false
    }

    /// Whether so many have followed one another in a group that it is worth holding the next one back.
    @inline(__always)
    func mayWait(_ limits: StoreLimits) -> Bool { streak >= limits.changesBeforeHeld }

    /// Notes a change within a group.
    @inline(__always)
    func note(_ reach: TableEditor.KeyReach, _ limits: StoreLimits) {
        if lastLow != reach.low {
            lastLow = reach.low
            // A walk goes on in the next group as it was in the last.
            if streak < limits.changesBeforeHeld { streak = 0 }
        }
        streak += 1
        if count == 0 { self.reach = reach }
    }

    /// Holds a change back, unless it is one that cannot be.
    func hold(
        _ group: Group, _ slot: Int32, _ key: Int64, _ column: Int, _ cell: Cell, keepsLong: Bool, _ reader: PageReader
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

    /// Whether changing them one by one is less than writing whole columns.
    func areFew(in group: Group) -> Bool { count < group.rows / 16 }

    /// Columns that change.
    var changed: [Int] { columns.filter { !$0.slots.isEmpty }.map(\.column) }

    /// Changes the values of a column that were decoded, by slot.
    func apply(_ column: Int, to values: ColumnBuffer) {
        if column < places.count, places[column] >= 0 {
            let change = columns[places[column]]
            for (index, slot) in change.slots.enumerated() { values.copyValue(of: change.values, index, to: Int(slot)) }
        }
    }

    /// Changes rows of the group that were decoded.
    /// - Returns: false when one is not among them.
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

    /// Each change, those of a column in their order.
    func forEach(_ body: (Int64, Int, CellValue) throws(StorageError) -> Void) throws(StorageError) {
        for change in columns {
            for (index, key) in change.keys.enumerated() {
                try body(key, change.column, change.values.cellValue(index))
            }
        }
    }

    /// They are done.
    func removeAll() {
        // Somebody asks for the rows after a few of them.
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

    /// Forgets everything.
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
