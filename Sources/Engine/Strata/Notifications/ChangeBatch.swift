import StrataStorage

/// The changes between two versions, computed per table on demand, once for all observers.
///
/// They depend on the two versions alone: commits that cancel each other out leave no change, and a value that was
/// rewritten unchanged is no change. The commits' notices name the rows to compare; without them - for another
/// process's commits, or too many - the nodes that the versions do not share do.
final class ChangeBatch {
    let old: Snapshot
    let new: Snapshot
    /// Those of `old` and `new`, which each observer compares.
    let oldVersion: TransactionID
    let newVersion: TransactionID
    let schemaDiffers: Bool
    private unowned let instance: RealmInstance
    /// By table; nil if notices are missing.
    private let records: [TableID: RecordedChanges]?
    private var plain: [TableID: TableDifference] = [:]
    private var whole: [TableID: TableDifference] = [:]
    private var before: RealmInstance?
    /// Results of ``lostLinks()`` and ``rowsWithLostLinks(_:)``; the outer nil before the first call.
    private var lost: LostLinks??
    private var losing: [TableID: [Int64: Set<UInt16>]] = [:]
    /// Results of ``modified(of:within:)``, by table and number of links.
    private var reaching: [TableID: [Int: Set<Int64>]] = [:]
    /// Results of ``LinkPath/touched(_:)``, by path.
    var touched: [String: Set<Int64>] = [:]

    init(_ instance: RealmInstance, old: Snapshot, new: Snapshot, notices: [CommitNotice]?) {
        self.instance = instance
        self.old = old
        self.new = new
        (oldVersion, newVersion) = (old.version, new.version)
        schemaDiffers = old.view.schema != new.view.schema
        guard let notices, notices.allSatisfy({ $0.changes.allSatisfy(\.isComplete) && !$0.schemaChanged }) else {
            records = nil
            return
        }
        var records: [TableID: RecordedChanges] = [:]
        for notice in notices {
            for change in notice.changes { records[change.table, default: RecordedChanges()].add(change) }
        }
        self.records = records
    }

    /// A frozen Realm of the old version, for values that are objects; made on first use.
    func oldInstance() -> RealmInstance? {
        if let before { return before }
        before = instance.twins.frozen(at: old)
        return before
    }

    /// The differences between a table's rows.
    /// - Complexity: O(changes log rows) with notices; else O(groups), and the rows of changed groups.
    func difference(of table: TableID) throws(StorageError) -> TableDifference {
        if let known = whole[table] { return known }
        var made = try rowDifference(of: table)
        for (column, target) in links(of: table) {
            // Links to a row that was recreated under its key lead to another object now.
            for key in try rowDifference(of: target).recreated {
                try relink(table, column: column, to: key, into: &made)
            }
        }
        whole[table] = made
        return made
    }

    /// Rows of a table with a changed value, their own or that of an object they lead to by at most `links` links. Some
    /// of the rows that link to others may be new.
    ///
    /// Walks back from the changes to the rows that link to them. The new version's links are enough: if a row linked
    /// to a changed one before and does not now, a link on the path has changed.
    /// - Complexity: O(changes log rows), and O(log rows) for each link to one of them; besides, the link columns of
    ///   reachable classes.
    func modified(of table: TableID, within links: Int) throws(StorageError) -> Set<Int64> {
        if let known = reaching[table]?[links] { return known }
        var rows = Set(try difference(of: table).modified.keys)
        rows.formUnion(try rowsWithLostLinks(table).keys)
        let schema = new.view.schema
        if links > 0, records?.isEmpty != true, let position = schema.position(of: table) {
            for (column, target) in self.links(of: table) {
                let behind = try modified(of: target, within: links - 1)
                guard !behind.isEmpty, let place = schema.tables[position].position(of: column.id) else { continue }
                for key in behind {
                    try new.view.backlinks(to: RowKey(key), of: position, place) { (origin, _) throws(StorageError) in
                        rows.insert(origin.rawValue)
                        return true
                    }
                }
            }
        }
        reaching[table, default: [:]][links] = rows
        return rows
    }

    // MARK: Values of any type

    /// Links in values of any type to deleted objects; nil if no object was deleted.
    func lostLinks() throws(StorageError) -> LostLinks? {
        if let lost { return lost }
        var tables: Set<UInt32> = []
        if let records {
            for (table, changes) in records where changes.hasDeletions { tables.insert(table.rawValue) }
        } else {
            for table in old.view.schema.tables {
                let now = new.view.schema.position(of: table.id).map { new.view.schema.tables[$0] }
                let mayLose = now?.tag == table.tag ? try !rowDifference(of: table.id).deleted.isEmpty : true
                if mayLose { tables.insert(table.id.rawValue) }
            }
        }
        let made = LostLinks(from: old.view, to: new.view, tables)
        lost = .some(made)
        return made
    }

    /// Rows in both versions of a table, by key, with the ids of columns in which a value of any type became nil
    /// because its object was deleted.
    /// - Complexity: see ``LostLinks/rows(of:)``; O(1) if no object was deleted.
    func rowsWithLostLinks(_ table: TableID) throws(StorageError) -> [Int64: Set<UInt16>] {
        if let known = losing[table] { return known }
        var made: [Int64: Set<UInt16>] = [:]
        if let lost = try lostLinks() {
            let comparison = RowComparison(self, table)
            let difference = try difference(of: table)
            for (key, columns) in try lost.rows(of: table) where !difference.wasInserted(key) {
                let changed = try comparison.changed(key, columns)
                if !changed.isEmpty { made[key] = changed }
            }
        }
        losing[table] = made
        return made
    }

    /// Ids of the columns of a row whose value differs.
    /// - Complexity: for values of any type, that of the row's own.
    func changedColumns(of key: Int64, in table: TableID) throws(StorageError) -> Set<UInt16> {
        let difference = try difference(of: table)
        var columns = difference.modified[key] ?? []
        if let known = losing[table] {
            columns.formUnion(known[key] ?? [])
        } else if let lost = try lostLinks(), !difference.wasInserted(key) {
            columns.formUnion(try RowComparison(self, table).changed(key, try lost.columns(of: key, in: table)))
        }
        return columns
    }

    private func rowDifference(of table: TableID) throws(StorageError) -> TableDifference {
        if let known = plain[table] { return known }
        let made: TableDifference
        if let records {
            made =
                try records[table].map { (changes) throws(StorageError) in try changes.resolved(table, self) }
                ?? TableDifference()
        } else {
            made = TableDifference(try new.view.changes(of: table, since: old.view))
        }
        plain[table] = made
        return made
    }

    /// Columns of links, with their target tables.
    private func links(of table: TableID) -> [(column: ColumnDefinition, target: TableID)] {
        let schema = new.view.schema
        guard let position = schema.position(of: table) else { return [] }
        return schema.tables[position].columns.compactMap { column in
            column.type.isLink ? column.target.map { (column, $0) } : nil
        }
    }

    private func relink(
        _ table: TableID, column: ColumnDefinition, to target: Int64, into difference: inout TableDifference
    ) throws(StorageError) {
        let schema = new.view.schema
        guard let position = schema.position(of: table),
            let place = schema.tables[position].position(of: column.id)
        else { return }
        var origins: [Int64] = []
        try new.view.backlinks(to: RowKey(target), of: position, place) { (key, _) throws(StorageError) in
            origins.append(key.rawValue)
            return true
        }
        for key in origins where !difference.wasInserted(key) {
            difference.modified[key, default: []].insert(column.id.rawValue)
        }
    }

    /// The location of a row in the old version; nil if it did not exist.
    func oldRow(_ table: TableID, _ key: Int64) throws(StorageError) -> RowLocation? {
        guard let position = old.view.schema.position(of: table) else { return nil }
        return try old.view.locate(position, RowKey(key))
    }

    func newRow(_ table: TableID, _ key: Int64) throws(StorageError) -> RowLocation? {
        guard let position = new.view.schema.position(of: table) else { return nil }
        return try new.view.locate(position, RowKey(key))
    }
}

/// Differences between the rows of a table in two versions.
struct TableDifference {
    /// Keys of new rows, as ascending ranges without gaps.
    var inserted: [ClosedRange<Int64>] = []
    /// Keys of deleted rows, ascending.
    var deleted: [Int64] = []
    /// Keys of rows that were deleted and recreated; they are in both lists.
    var recreated: Set<Int64> = []
    /// Ids of the columns whose value differs, by key, for rows in both versions.
    var modified: [Int64: Set<UInt16>] = [:]

    init() {}

    /// - Parameter changes: from storage's comparison.
    init(_ changes: TableChanges) {
        inserted = changes.inserted
        deleted = changes.deleted
        for (key, column) in changes.modified { modified[key, default: []].insert(column) }
        for key in deleted where wasInserted(key) { recreated.insert(key) }
    }

    var isEmpty: Bool { inserted.isEmpty && deleted.isEmpty && modified.isEmpty }

    /// - Complexity: O(log ranges).
    func wasInserted(_ key: Int64) -> Bool {
        var low = 0
        var high = inserted.count
        while low < high {
            let middle = (low + high) / 2
            if inserted[middle].upperBound < key { low = middle + 1 } else { high = middle }
        }
        return low < inserted.count && inserted[low].contains(key)
    }

    var insertedCount: Int { inserted.reduce(0) { $0 + $1.count } }

    var insertedKeys: [Int64] { inserted.flatMap { Array($0) } }
}

/// The changes that several commits' notices list for one table: the rows to compare.
struct RecordedChanges {
    private var inserted: [ClosedRange<Int64>] = []
    private var deleted: Set<Int64> = []
    private var modified: [Int64: Set<UInt16>] = [:]

    var hasDeletions: Bool { !deleted.isEmpty }

    mutating func add(_ change: TableChanges) {
        inserted += change.inserted
        deleted.formUnion(change.deleted)
        for (key, column) in change.modified { modified[key, default: []].insert(column) }
    }

    /// The changes that remain after comparing the two versions.
    func resolved(_ table: TableID, _ batch: ChangeBatch) throws(StorageError) -> TableDifference {
        var difference = TableDifference()
        // A row that was inserted and never deleted did not exist before.
        difference.inserted = Self.without(deleted, Self.merged(inserted))
        var back: [ClosedRange<Int64>] = []
        for key in deleted.sorted() {
            let was = try batch.oldRow(table, key) != nil
            let isThere = try batch.newRow(table, key) != nil
            if was { difference.deleted.append(key) }
            if isThere { back.append(key...key) }
            if was && isThere { difference.recreated.insert(key) }
        }
        if !back.isEmpty { difference.inserted = Self.merged(difference.inserted + back) }
        let comparison = RowComparison(batch, table)
        for (key, columns) in modified where !deleted.contains(key) && !difference.wasInserted(key) {
            let changed = try comparison.changed(key, columns)
            if !changed.isEmpty { difference.modified[key] = changed }
        }
        return difference
    }

    /// Ascending ranges that neither adjoin nor overlap.
    private static func merged(_ ranges: [ClosedRange<Int64>]) -> [ClosedRange<Int64>] {
        var merged: [ClosedRange<Int64>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, last.upperBound == .max || range.lowerBound <= last.upperBound + 1 {
                merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        return merged
    }

    private static func without(_ keys: Set<Int64>, _ ranges: [ClosedRange<Int64>]) -> [ClosedRange<Int64>] {
        if keys.isEmpty { return ranges }
        let keys = keys.sorted()
        var next = 0
        var kept: [ClosedRange<Int64>] = []
        for range in ranges {
            while next < keys.count, keys[next] < range.lowerBound { next += 1 }
            var start = range.lowerBound
            var isWhole = true
            while next < keys.count, keys[next] <= range.upperBound {
                if keys[next] > start { kept.append(start...(keys[next] - 1)) }
                if keys[next] == range.upperBound { isWhole = false } else { start = keys[next] + 1 }
                next += 1
            }
            if isWhole { kept.append(start...range.upperBound) }
        }
        return kept
    }
}
