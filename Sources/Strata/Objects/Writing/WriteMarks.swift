/// What a running write changed when, so that results which depend on nothing of it are not looked for again.
///
/// "When" is the Realm's stamp, which grows with every change.
///
/// Invariants:
/// 1. Whatever may have changed without being named here counts as everything.
/// 2. A mark is set before the change is made: a change that fails half-way was marked.
/// 3. The log of a class names every row whose columns changed since `logStart`, but for links that a deletion of
///    their target set to null: those are marked as `unlogged`.
struct WriteMarks {
    /// Since when nothing but what the other marks name has changed.
    private(set) var everything: UInt64 = 0
    private var tables: [Table] = []
    /// The last deletion of any row.
    private(set) var deletion: UInt64 = 0

    /// A column of a table.
    struct Place: Hashable {
        var table: Int
        var column: Int
    }

    private struct Table {
        var inserted: UInt64 = 0
        var deleted: UInt64 = 0
        var columns: [Column] = []
        /// Whether somebody keeps results of the class and wants its log.
        var isFollowed = false
        var logStart: UInt64 = 0
        var log: [(stamp: UInt64, key: Int64)] = []
    }

    private struct Column {
        var changed: UInt64 = 0
        /// The last change that was not a deletion of what it leads to.
        var set: UInt64 = 0
        var unlogged: UInt64 = 0
    }

    /// More changes than these between two looks are not followed one by one.
    private static let maximumLog = 256

    // MARK: Marking

    mutating func markEverything(_ stamp: UInt64) {
        everything = stamp
        if !tables.isEmpty { tables.removeAll() }
    }

    mutating func markSet(_ table: Int, _ column: Int, _ key: Int64, _ stamp: UInt64) {
        makeRoom(table, column)
        tables[table].columns[column].changed = stamp
        tables[table].columns[column].set = stamp
        log(table, key, stamp)
    }

    mutating func markInserted(_ table: Int, _ key: Int64, _ stamp: UInt64) {
        makeRoom(table, -1)
        tables[table].inserted = stamp
        log(table, key, stamp)
    }

    /// Deleted rows take the links that lead to them with them.
    /// - Parameter linking: the columns that lead to the class.
    mutating func markDeleted(
        _ table: Int, _ keys: some Sequence<Int64>, linking: [(table: Int, column: Int)], _ stamp: UInt64
    ) {
        makeRoom(table, -1)
        deletion = stamp
        tables[table].deleted = stamp
        for key in keys { log(table, key, stamp) }
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
            // Results that are asked after each change go on with the later half: were it to begin anew, they would be
            // found anew once in so many changes.
            let half = Self.maximumLog / 2
            tables[table].logStart = tables[table].log[half - 1].stamp
            tables[table].log.removeFirst(half)
        }
        tables[table].log.append((stamp, key))
    }

    // MARK: Asking

    func changed(_ place: Place) -> UInt64 { column(place).changed }
    /// The last change of a column but for links that went with what they led to.
    func set(_ place: Place) -> UInt64 { column(place).set }
    /// The last change of a column that the log of its class does not name.
    func unlogged(_ place: Place) -> UInt64 { column(place).unlogged }
    func inserted(_ table: Int) -> UInt64 { table < tables.count ? tables[table].inserted : 0 }
    func deleted(_ table: Int) -> UInt64 { table < tables.count ? tables[table].deleted : 0 }

    private func column(_ place: Place) -> Column {
        guard place.table < tables.count, place.column < tables[place.table].columns.count else { return Column() }
        return tables[place.table].columns[place.column]
    }

    /// Wants the rows of a class that change from now on.
    mutating func follow(_ table: Int, from stamp: UInt64) {
        makeRoom(table, -1)
        if tables[table].isFollowed { return }
        tables[table].isFollowed = true
        tables[table].logStart = stamp
        tables[table].log.removeAll(keepingCapacity: true)
    }

    /// The rows of a class that changed since `stamp`, each once; nil when that was not followed.
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
