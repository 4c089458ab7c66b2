#if SQLite
    import CoreDataFiles

    /// One transaction on a store of Core Data. It leaves the file as a save of Core Data would.
    ///
    /// 1. A new row has Z_OPT 1; each save that changes the row increments Z_OPT once.
    /// 2. Z_MAX of a hierarchy's first entity is never below the highest Z_PK.
    /// 3. With history, a transaction has a row in ATRANSACTION, and each changed record a row in ACHANGE with its
    /// latest change.
    struct CoreDataWriting {
        private enum ChangeType: Int64 { case insert, update, delete }

        private let file: SQLiteFile
        private let shape: CoreDataShape
        private var history: [(entity: Int64, key: Int64, type: ChangeType)] = []
        private var counted: Set<RecordID> = []

        init(_ file: SQLiteFile, _ shape: CoreDataShape) throws {
            self.file = file
            self.shape = shape
            // Another program may have changed the store since it was opened.
            let uuid = try file.statement("SELECT Z_UUID FROM Z_METADATA")
            guard try uuid.step(), uuid.text(0) == shape.layout.uuid else {
                throw MigrationError(.unknownShape, "\(file.path) is another store now; open it anew")
            }
        }

        static func key(_ id: RecordID) throws -> Int64 {
            if case .integer(let key) = id.key, key > 0 { return key }
            throw MigrationError(.invalidChange, "\(id): Core Data's keys are integers above 0")
        }

        // MARK: Rows

        mutating func writeRow(_ record: Record) throws {
            let table = try shape.table(record.id.model)
            let key = try Self.key(record.id)
            let name = quoted(table.hierarchy.table)
            if let entity = try file.integer("SELECT Z_ENT FROM \(name) WHERE Z_PK = \(key)") {
                if case .text(let wanted)? = record.values["coreDataEntity"],
                    shape.layout.entity(named: wanted)?.number != entity
                {
                    throw MigrationError(.invalidChange, "\(record.id): the entity of a row never changes")
                }
                try setColumns(record, table, key)
                try countUp(record.id, entity, table)
                return
            }
            let entity = try self.entity(of: record, table)
            try file.run("INSERT INTO \(name) (Z_PK, Z_ENT, Z_OPT) VALUES (\(key), \(entity), 1)")
            try setColumns(table.model.filled(record), table, key)
            let root = table.hierarchy.root.number
            try file.run("UPDATE Z_PRIMARYKEY SET Z_MAX = max(Z_MAX, \(key)) WHERE Z_ENT = \(root)")
            counted.insert(record.id)
            history.append((entity, key, .insert))
        }

        private func entity(of record: Record, _ table: CoreDataShape.Table) throws -> Int64 {
            guard table.hierarchy.isMixed else { return table.hierarchy.root.number }
            guard case .text(let name)? = record.values["coreDataEntity"] else {
                return try Self.entity(named: nil, of: record.id, table)
            }
            return try Self.entity(named: name, of: record.id, table)
        }

        static func entity(named name: String?, of id: RecordID, _ table: CoreDataShape.Table) throws -> Int64 {
            let concrete = table.hierarchy.entities.filter { !$0.isAbstract }
            if let entity = concrete.first(where: { $0.name == name }) { return entity.number }
            let names = concrete.map(\.name).joined(separator: ", ")
            throw MigrationError(.invalidChange, "\(id): \"coreDataEntity\" has to name one of \(names)")
        }

        private func setColumns(_ record: Record, _ table: CoreDataShape.Table, _ key: Int64) throws {
            var columns: [String] = []
            var values: [FieldValue] = []
            for (field, place) in zip(table.model.fields, table.places) {
                guard case .attribute(let attribute) = place, let value = record.values[field.name] else { continue }
                columns.append(attribute.column)
                values.append(value)
            }
            if columns.isEmpty { return }
            let assignments = columns.enumerated().map { "\(quoted($1)) = ?\($0 + 1)" }.joined(separator: ", ")
            let statement = try file.statement(
                "UPDATE \(quoted(table.hierarchy.table)) SET \(assignments) WHERE Z_PK = \(key)")
            for (place, value) in values.enumerated() {
                statement.bind(place, value, dateOrigin: FieldValue.secondsTo2001)
            }
            try statement.run()
        }

        /// Once in a transaction.
        private mutating func countUp(_ id: RecordID, _ entity: Int64, _ table: CoreDataShape.Table) throws {
            guard counted.insert(id).inserted else { return }
            let key = try Self.key(id)
            try file.run(
                "UPDATE \(quoted(table.hierarchy.table)) SET Z_OPT = coalesce(Z_OPT, 0) + 1 WHERE Z_PK = \(key)")
            history.append((entity, key, .update))
        }

        mutating func delete(_ id: RecordID) throws {
            let table = try shape.table(id.model)
            let key = try Self.key(id)
            let name = quoted(table.hierarchy.table)
            guard let entity = try file.integer("SELECT Z_ENT FROM \(name) WHERE Z_PK = \(key)") else { return }
            try file.run("DELETE FROM \(name) WHERE Z_PK = \(key)")
            counted.remove(id)
            history.removeAll { $0.entity == entity && $0.key == key }
            history.append((entity, key, .delete))
            for join in shape.layout.joins {
                for (side, column) in [(join.owner, join.ownerColumn), (join.target, join.targetColumn)]
                where shape.layout.hierarchies[side].table == table.hierarchy.table {
                    try file.run("DELETE FROM \(quoted(join.table)) WHERE \(quoted(column)) = \(key)")
                }
            }
            for other in shape.tables {
                for link in other.hierarchy.links
                where shape.layout.hierarchies[link.target].table == table.hierarchy.table {
                    try dropLinks(link, of: other, to: key)
                }
            }
        }

        private mutating func dropLinks(_ link: StoredLink, of table: CoreDataShape.Table, to key: Int64) throws {
            let name = quoted(table.hierarchy.table)
            var rows: [(key: Int64, entity: Int64)] = []
            let found = try file.statement("SELECT Z_PK, Z_ENT FROM \(name) WHERE \(quoted(link.column)) = \(key)")
            while try found.step() { rows.append((found.integer(0), found.integer(1))) }
            for row in rows {
                let twin = link.entityColumn.map { ", \(quoted($0)) = NULL" } ?? ""
                try file.run("UPDATE \(name) SET \(quoted(link.column)) = NULL\(twin) WHERE Z_PK = \(row.key)")
                try countUp(RecordID(table.model.name, .integer(row.key)), row.entity, table)
            }
        }

        // MARK: Links

        mutating func writeLinks(_ record: Record) throws {
            let table = try shape.table(record.id.model)
            let key = try Self.key(record.id)
            let name = quoted(table.hierarchy.table)
            // A later change of the batch may have deleted it.
            guard try file.integer("SELECT 1 FROM \(name) WHERE Z_PK = \(key)") != nil else { return }
            for (field, place) in zip(table.model.fields, table.places) {
                guard let value = record.values[field.name] else { continue }
                switch (place, value) {
                case (.link(let link), .link(let target)):
                    let entity = try entity(of: target, link.target, record.id, field.name)
                    let twin = link.entityColumn.map { ", \(quoted($0)) = \(entity)" } ?? ""
                    try file.run("UPDATE \(name) SET \(quoted(link.column)) = \(target)\(twin) WHERE Z_PK = \(key)")
                case (.link(let link), _):
                    let twin = link.entityColumn.map { ", \(quoted($0)) = NULL" } ?? ""
                    try file.run("UPDATE \(name) SET \(quoted(link.column)) = NULL\(twin) WHERE Z_PK = \(key)")
                case (.join(let join), .links(let targets)):
                    try writeJoin(join, record.id, key: key, field: field.name, targets: targets)
                case (.join(let join), _): try writeJoin(join, record.id, key: key, field: field.name, targets: [])
                default: break
                }
            }
        }

        private func writeJoin(
            _ join: StoredJoin, _ id: RecordID, key: Int64, field: String, targets: [RecordKey]
        ) throws {
            try file.run("DELETE FROM \(quoted(join.table)) WHERE \(quoted(join.ownerColumn)) = \(key)")
            guard Set(targets).count == targets.count else {
                throw MigrationError(.invalidChange, "\(id): \"\(field)\" leads to one record twice, which it cannot")
            }
            for (place, target) in targets.enumerated() {
                _ = try entity(of: target, join.target, id, field)
                var columns = [join.ownerColumn, join.targetColumn]
                var values = "\(key), \(target)"
                if let order = join.ownerOrderColumn {
                    columns.append(order)
                    // With gaps between the positions, as Core Data leaves them.
                    values += ", \((place + 1) * 1_024)"
                }
                let names = columns.map(quoted).joined(separator: ", ")
                try file.run("INSERT INTO \(quoted(join.table)) (\(names)) VALUES (\(values))")
            }
        }

        /// The entity number of a target.
        private func entity(
            of target: RecordKey, _ hierarchy: Int, _ id: RecordID, _ field: String
        ) throws -> Int64 {
            let found = shape.layout.hierarchies[hierarchy]
            if case .integer(let key) = target,
                let entity = try file.integer("SELECT Z_ENT FROM \(quoted(found.table)) WHERE Z_PK = \(key)")
            {
                return entity
            }
            throw MigrationError(
                .invalidChange,
                "\(id): \"\(field)\" leads to \(found.root.name) \(target), which is not there; write that one first")
        }

        // MARK: History

        /// - Parameter time: seconds since 2001.
        func finish(at time: Double) throws {
            guard shape.layout.hasHistory, !history.isEmpty else { return }
            let transaction = try next("ATRANSACTION", "TRANSACTION")
            let statement = try file.statement(
                "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP) VALUES (?1, ?2, ?3)")
            statement.bind(0, transaction.key)
            statement.bind(1, transaction.entity)
            statement.bind(2, double: time)
            try statement.run()
            for change in history {
                let row = try next("ACHANGE", "CHANGE")
                try file.run(
                    """
                    INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID) VALUES \
                    (\(row.key), \(row.entity), \(change.type.rawValue), \(change.entity), \(change.key), \
                    \(transaction.key))
                    """)
            }
        }

        /// The next key of a history table, counted in Z_PRIMARYKEY like all tables' keys.
        private func next(_ table: String, _ name: String) throws -> (key: Int64, entity: Int64) {
            guard let entity = try file.integer("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = '\(name)'") else {
                throw MigrationError(
                    .unknownShape, "\(file.path): history without the entity \(name); nothing was written")
            }
            let kept = try file.integer("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(entity)") ?? 0
            let key = max(kept, try file.integer("SELECT max(Z_PK) FROM \(table)") ?? 0) + 1
            try file.run("UPDATE Z_PRIMARYKEY SET Z_MAX = \(key) WHERE Z_ENT = \(entity)")
            return (key, entity)
        }
    }
#endif
