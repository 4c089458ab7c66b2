#if SQLite
    /// Reads the lists of one relationship from the store for a comparison, by a query of its own.
    struct StoredLists {
        private let rows: SQLiteStatement
        private let table: String
        private let owners: KeyIndex
        private let targets: KeyIndex
        private(set) var findings = ImportFindings()
        /// A statement that is stepped past its end would restart.
        private var isDone = false
        private var pending: (owner: Int64, target: Int64)?

        /// A many-to-many relationship: its table has an owner, a target and perhaps a place in each row.
        init(_ join: StoredJoin, _ keys: [KeyIndex], _ file: SQLiteFile) throws(CoreDataError) {
            try self.init(
                file, join.table, owner: join.ownerColumn, target: join.targetColumn, place: join.ownerOrderColumn,
                owners: keys[join.owner],
                targets: keys[join.target], where: "")
        }

        /// An ordered one-to-many relationship: the rows of the many side have the place.
        init(
            _ order: StoredOrder, table: String, _ keys: [KeyIndex], _ file: SQLiteFile
        ) throws(CoreDataError) {
            try self.init(
                file, table, owner: order.linkColumn, target: "Z_PK", place: order.orderColumn,
                owners: keys[order.owner], targets: keys[order.target],
                where: " WHERE \(quoted(order.linkColumn)) IS NOT NULL")
        }

        private init(
            _ file: SQLiteFile, _ table: String, owner: String, target: String, place: String?,
            owners: KeyIndex, targets: KeyIndex, where condition: String
        ) throws(CoreDataError) {
            self.table = table
            self.owners = owners
            self.targets = targets
            let columns = [owner, place, target].compactMap { $0.map(quoted) }
            rows = try file.statement(
                "SELECT \(quoted(owner)), \(quoted(target)) FROM \(quoted(table))\(condition) "
                    + "ORDER BY \(columns.joined(separator: ", "))")
        }

        /// The next owner with its targets; nil after the last.
        mutating func next() throws(CoreDataError) -> (owner: Int64, targets: [Int64])? {
            var found: (owner: Int64, targets: [Int64])?
            if let first = pending { found = (first.owner, [first.target]) }
            pending = nil
            while !isDone, try rows.step() {
                let (owner, target) = (rows.integer(0), rows.integer(1))
                let areKeys = rows.kind(0) == .integer && rows.kind(1) == .integer
                guard areKeys, owners.contains(owner), targets.contains(target) else {
                    findings.add(.danglingJoin, "\(table): \(rows.text(0)) to \(rows.text(1))")
                    continue
                }
                if let known = found?.owner, known != owner {
                    pending = (owner, target)
                    return found
                }
                if found == nil { found = (owner, []) }
                found?.targets.append(target)
            }
            isDone = true
            return found
        }
    }
#endif
