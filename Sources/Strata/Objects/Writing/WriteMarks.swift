/// The stamps of a running write's changes, so that results that do not depend on a change are not evaluated again.
///
/// A stamp grows with every change in the Realm.
///
/// Invariants:
/// 1. A change that is not named here counts as a change of everything.
/// 2. A mark is set before the change is made, so that a change that fails halfway is marked.
/// 3. The log of a class names every row whose columns changed since `logStart`, except links that the deletion of
///    their target set to null: those are marked as `unlogged`.
struct WriteMarks {
    /// The stamp since which only changes named by the other marks were made.
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
        /// Whether results of the class are kept, and need its log.
        var isFollowed = false
        var logStart: UInt64 = 0
        var log: [(stamp: UInt64, key: Int64)] = []
    }

    private struct Column {
        var changed: UInt64 = 0
        /// The last change other than the deletion of a target.
        var set: UInt64 = 0
        var unlogged: UInt64 = 0
    }

    /// Most changes between two evaluations that are followed one by one.
    private static let maximumLog = 256

    // MARK: Marking

    mutating func markEverything(_ stamp: UInt64) {
        everything = stamp
        if !tables.isEmpty { tables.removeAll() }
    }

    mutating func markSet(table: Int, column: Int, key: Int64, stamp: UInt64) {
        makeRoom(table, column)
        tables[table].columns[column].changed = stamp
        tables[table].columns[column].set = stamp
        log(table, key, stamp)
    }

    @inline(__always)
    mutating func markInserted(_ table: Int, _ key: Int64, _ stamp: UInt64) {
        if tables.count <= table { makeRoom(table, -1) }
        tables[table].inserted = stamp
        if tables[table].isFollowed { log(table, key, stamp) }
    }

    /// Deleted rows are removed from links to them.
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
            // Keeps the later half: with an empty log, results that are evaluated after each change would be found anew
            // regularly.
            let half = Self.maximumLog / 2
            tables[table].logStart = tables[table].log[half - 1].stamp
            tables[table].log.removeFirst(half)
        }
        tables[table].log.append((stamp, key))
    }

    // MARK: Queries

    func changed(_ place: Place) -> UInt64 { column(place).changed }
    /// The last change of a column other than the deletion of a target.
    func set(_ place: Place) -> UInt64 { column(place).set }
    /// The last change of a column that the log of its class does not name.
    func unlogged(_ place: Place) -> UInt64 { column(place).unlogged }
    func inserted(_ table: Int) -> UInt64 { table < tables.count ? tables[table].inserted : 0 }
    func deleted(_ table: Int) -> UInt64 { table < tables.count ? tables[table].deleted : 0 }

    private func column(_ place: Place) -> Column {
        guard place.table < tables.count, place.column < tables[place.table].columns.count else { return Column() }
        return tables[place.table].columns[place.column]
    }

    /// Starts the log of changed rows of a class.
    mutating func follow(_ table: Int, from stamp: UInt64) {
        makeRoom(table, -1)
        if tables[table].isFollowed { return }
        tables[table].isFollowed = true
        tables[table].logStart = stamp
        tables[table].log.removeAll(keepingCapacity: true)
    }

    /// The rows of a class that changed since `stamp`, each once; nil if the log does not reach back.
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
