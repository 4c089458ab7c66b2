#if SQLite
    /// Reads the lists of a many-to-many or an ordered one-to-many relationship, owner by owner.
    struct ListSource {
        private let sql: String
        private let name: String
        private let owner: KeySet
        private let target: KeySet
        private let file: SQLiteFile

        init?(_ source: ClassLayout.Source, _ layout: StoreLayout, _ keys: [KeySet], _ file: SQLiteFile) {
            self.file = file
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
        }

        /// Hands each owner with its targets to the body, owners ascending.
        func forEach(
            _ findings: inout ImportFindings, _ body: (Int64, [Int64]) throws(CoreDataError) -> Void
        ) throws(CoreDataError) {
            let rows = try file.statement(sql)
            var current: Int64?
            var list: [Int64] = []
            while try rows.step() {
                let (from, to) = (rows.integer(0), rows.integer(1))
                guard rows.kind(0) == .integer, rows.kind(1) == .integer, owner.contains(from), target.contains(to)
                else {
                    findings.add(.danglingJoin, "\(name): \(rows.text(0)) to \(rows.text(1))")
                    continue
                }
                if from != current {
                    if let current { try body(current, list) }
                    current = from
                    list = []
                }
                if list.last == to { findings.add(.duplicateJoin, "\(name): \(from) to \(to)") }
                list.append(to)
            }
            if let current { try body(current, list) }
        }
    }
#endif
