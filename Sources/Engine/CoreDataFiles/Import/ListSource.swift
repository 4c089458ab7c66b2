#if SQLite
    import StrataStorage

    /// Reads the lists of a many-to-many or an ordered one-to-many relationship, owner by owner.
    struct ListSource {
        private let rows: SQLiteStatement
        private let name: String
        private let owner: KeySet
        private let target: KeySet
        private(set) var findings = ImportFindings()
        private var current: Int64?
        private var list: [Int64] = []
        /// A statement that is stepped past its end would restart.
        private var isDone = false

        init?(
            _ source: ClassLayout.Source, _ layout: StoreLayout, keys: [KeySet], file: SQLiteFile
        ) throws(CoreDataError) {
            let sql: String
            switch source {
            case .join(let place):
                let join = layout.joins[place]
                let order = join.ownerOrderColumn.map { quoted($0) + ", " } ?? ""
                sql =
                    "SELECT \(quoted(join.ownerColumn)), \(quoted(join.targetColumn)) FROM \(quoted(join.table)) "
                    + "ORDER BY \(quoted(join.ownerColumn)), \(order)\(quoted(join.targetColumn))"
                name = join.table
                (owner, target) = (keys[join.owner], keys[join.target])
            case .order(let place):
                let order = layout.orders[place]
                let link = quoted(order.linkColumn)
                sql =
                    "SELECT \(link), Z_PK FROM \(quoted(layout.hierarchies[order.target].table)) WHERE \(link) NOT "
                    + "NULL ORDER BY \(link), \(quoted(order.orderColumn)), Z_PK"
                name = layout.hierarchies[order.target].table
                (owner, target) = (keys[order.owner], keys[order.target])
            default: return nil
            }
            rows = try file.statement(sql)
        }

        /// The next owner with its targets, owners ascending; nil after the last.
        mutating func next() throws(CoreDataError) -> (owner: Int64, targets: [Int64])? {
            while !isDone, try rows.step() {
                let (from, to) = (rows.integer(0), rows.integer(1))
                guard rows.kind(0) == .integer, rows.kind(1) == .integer, owner.contains(from), target.contains(to)
                else {
                    findings.add(.danglingJoin, "\(name): \(rows.text(0)) to \(rows.text(1))")
                    continue
                }
                if let owner = current, owner != from {
                    defer { (current, list) = (from, [to]) }
                    return (owner, list)
                }
                current = from
                if list.last == to { findings.add(.duplicateJoin, "\(name): \(from) to \(to)") }
                list.append(to)
            }
            isDone = true
            guard let owner = current else { return nil }
            current = nil
            return (owner, list)
        }

        /// Owners of lists with elements.
        static func filled(_ table: Int, _ column: Int, _ view: ReadView) throws -> Set<Int64> {
            var found: Set<Int64> = []
            try view.scan(table, columns: [column]) { (batch) throws(StorageError) in
                for row in 0..<batch.count
                where batch.isTree(0, row) || (!batch.isNull(0, row) && batch.bytes(0, row).count > 0) {
                    found.insert(batch.key(row).rawValue)
                }
                return true
            }
            return found
        }
    }
#endif
