/// Remembers what a running write changed, and under which stamp, so that results of queries that a change does not
/// affect are not evaluated again.
///
/// The Realm's stamp grows with every change. For each kind of change the last stamp is kept: results that were found
/// under that stamp or a later one have seen the change.
///
/// Invariants:
/// 1. A change that has no mark of its own is marked as a change of everything.
/// 2. A mark is set before the change is made, so that a change that fails halfway is marked.
/// 3. The log of a class that is followed names every row that was inserted, changed or deleted since `logStart`. Not
///    logged are links that the deletion of their target set to null: their column has the stamp `unlogged`.
struct WriteMarks {
    /// The stamp of the last change that had no mark of its own. All later changes have one.
    private(set) var everything: UInt64 = 0
    private var tables: [Table] = []
    /// The stamp of the last deletion of any row.
    private(set) var deletion: UInt64 = 0

    /// A column of a table, by their positions.
    struct Place: Hashable {
        var table: Int
        var column: Int
    }

    private struct Table {
        var inserted: UInt64 = 0
        var deleted: UInt64 = 0
        var columns: [Column] = []
        /// Whether results of the class are kept, and need the log of its changed rows.
        var isFollowed = false
        var logStart: UInt64 = 0
        var log: [(stamp: UInt64, key: Int64)] = []
    }

    private struct Column {
        var changed: UInt64 = 0
        /// The last change by the program, in contrast to a link that was set to null because its target was deleted.
        var set: UInt64 = 0
        var unlogged: UInt64 = 0

        mutating func noteSet(_ stamp: UInt64) {
            changed = stamp
            set = stamp
        }
    }

    /// The length of a log: with more changes since results were found, they are found anew.
    private static let maximumLog = 256

    // MARK: Marking

    mutating func markEverything(_ stamp: UInt64) {
        everything = stamp
        if !tables.isEmpty { tables.removeAll() }
    }

    mutating func markSet(table: Int, column: Int, key: Int64, stamp: UInt64) {
        if tables.count <= table || tables[table].columns.count <= column { makeRoom(table, column) }
        tables[table].columns[column].noteSet(stamp)
        if tables[table].isFollowed { log(table, key, stamp) }
    }

    @inline(__always)
    mutating func markInserted(_ table: Int, _ key: Int64, _ stamp: UInt64) {
        if tables.count <= table { makeRoom(table, -1) }
        tables[table].inserted = stamp
        if tables[table].isFollowed { log(table, key, stamp) }
    }

    /// Marks the deletion of rows, and the change of all columns that may have linked to them.
    /// - Parameter linking: the columns that link to the class.
    mutating func markDeleted(
        _ table: Int, _ keys: some Sequence<Int64>, linking: [(table: Int, column: Int)], _ stamp: UInt64
    ) {
        makeRoom(table, -1)
        deletion = stamp
        tables[table].deleted = stamp
        if tables[table].isFollowed { for key in keys { log(table, key, stamp) } }
        for place in linking {
            makeRoom(place.table, place.column)
            tables[place.table].columns[place.column].changed = stamp
            tables[place.table].columns[place.column].unlogged = stamp
        }
    }

    private mutating func makeRoom(_ table: Int, _ column: Int) {
        while tables.count <= table { tables.append(Table(logStart: everything)) }
        while tables[table].columns.count <= column { tables[table].columns.append(Column()) }
    }

    private mutating func log(_ table: Int, _ key: Int64, _ stamp: UInt64) {
        guard tables[table].isFollowed else { return }
        if tables[table].log.count >= Self.maximumLog {
            // Keeps the later half. If the log became empty, even results that are evaluated after each change would be
            // found anew each time that it is full.
            let half = Self.maximumLog / 2
            tables[table].logStart = tables[table].log[half - 1].stamp
            tables[table].log.removeFirst(half)
        }
        tables[table].log.append((stamp, key))
    }

    // MARK: Queries

    func changed(_ place: Place) -> UInt64 { column(place).changed }
    /// The stamp of the last change of a column by the program, not counting links that lost their target.
    func set(_ place: Place) -> UInt64 { column(place).set }
    /// The stamp of the last change of a column that the log of its class does not name.
    func unlogged(_ place: Place) -> UInt64 { column(place).unlogged }
    func inserted(_ table: Int) -> UInt64 { table < tables.count ? tables[table].inserted : 0 }
    func deleted(_ table: Int) -> UInt64 { table < tables.count ? tables[table].deleted : 0 }

    private func column(_ place: Place) -> Column {
        guard place.table < tables.count, place.column < tables[place.table].columns.count else { return Column() }
        return tables[place.table].columns[place.column]
    }

    /// Starts the log of changed rows of a class, if it is not kept already.
    /// - Parameter stamp: the present one.
    mutating func follow(_ table: Int, from stamp: UInt64) {
        makeRoom(table, -1)
        if tables[table].isFollowed { return }
        tables[table].isFollowed = true
        tables[table].logStart = stamp
        tables[table].log.removeAll(keepingCapacity: true)
    }

    /// The rows of a class that changed after `stamp`, each once; nil if the log does not reach back that far.
    func rows(changedSince stamp: UInt64, in table: Int) -> [Int64]? {
        guard table < tables.count, tables[table].isFollowed, tables[table].logStart <= stamp else { return nil }
        var keys: [Int64] = []
        for entry in tables[table].log.reversed() {
            if entry.stamp <= stamp { break }
            keys.append(entry.key)
        }
        return Array(Set(keys))
    }
}
