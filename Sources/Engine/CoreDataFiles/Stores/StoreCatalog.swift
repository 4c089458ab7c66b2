#if SQLite
    /// The catalog of a store's tables: names, columns, entities. It does not use a model.
    struct StoreCatalog {
        let uuid: String
        let entities: [StoredEntity]
        let systemEntities: [String]
        /// Columns of each table, with their declared types.
        let tables: [String: [(name: String, type: String)]]
        /// Columns that have an index of their own, `TABLE.COLUMN`.
        let indexed: Set<String>

        /// The first number of system entities.
        static let firstSystemEntity: Int64 = 16_001

        /// - Throws: `notAStore` if a table of Core Data is missing.
        init(_ file: SQLiteFile) throws(CoreDataError) {
            var tables: [String: [(name: String, type: String)]] = [:]
            let names = try file.statement("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
            var all: [String] = []
            while try names.step() { all.append(names.text(0)) }
            for table in all {
                let columns = try file.statement("PRAGMA table_info(\(quoted(table)))")
                var found: [(name: String, type: String)] = []
                while try columns.step() { found.append((columns.text(1), columns.text(2))) }
                tables[table] = found
            }
            self.tables = tables
            for needed in ["Z_PRIMARYKEY", "Z_METADATA"] where tables[needed] == nil {
                throw CoreDataError(
                    .notAStore, "\(file.path) is an SQLite database and no store of Core Data: it has no \(needed)")
            }
            let metadata = try file.statement("SELECT Z_UUID FROM Z_METADATA LIMIT 1")
            guard try metadata.step(), metadata.kind(0) == .text else {
                throw CoreDataError(
                    .unknownShape,
                    "\(file.path): Z_METADATA has no Z_UUID, by which a later import knows the store")
            }
            uuid = metadata.text(0)
            (entities, systemEntities) = try Self.entities(file)
            indexed = try Self.indexed(file)
        }

        private static func entities(
            _ file: SQLiteFile
        ) throws(CoreDataError) -> (own: [StoredEntity], system: [String]) {
            let rows = try file.statement("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT")
            var (own, system): ([StoredEntity], [String]) = ([], [])
            while try rows.step() {
                if rows.integer(0) >= firstSystemEntity {
                    system.append(rows.text(1))
                } else {
                    own.append(
                        StoredEntity(
                            number: rows.integer(0), name: rows.text(1), superNumber: rows.integer(2),
                            maxKey: rows.integer(3)))
                }
            }
            let numbers = Set(own.map(\.number))
            for entity in own where entity.superNumber != 0 && !numbers.contains(entity.superNumber) {
                throw CoreDataError(
                    .unknownShape,
                    "\(file.path): the entity \(entity.name) is below entity \(entity.superNumber), which is missing")
            }
            guard Set(own.map(\.name)).count == own.count, numbers.count == own.count else {
                throw CoreDataError(.unknownShape, "\(file.path): two entities of Z_PRIMARYKEY have one name or number")
            }
            if let entity = own.first(where: { $0.name.isEmpty || $0.number < 1 }) {
                throw CoreDataError(
                    .unknownShape,
                    "\(file.path): an entity of Z_PRIMARYKEY has no name, or the number \(entity.number)")
            }
            guard !own.isEmpty else {
                throw CoreDataError(.unknownShape, "\(file.path): Z_PRIMARYKEY names no entity")
            }
            return (own, system)
        }

        private static func indexed(_ file: SQLiteFile) throws(CoreDataError) -> Set<String> {
            let rows = try file.statement(
                """
                SELECT m.tbl_name, c.name FROM sqlite_master m, pragma_index_info(m.name) c \
                WHERE m.type = 'index' AND m.sql NOT NULL AND c.seqno = 0 \
                AND (SELECT count(*) FROM pragma_index_info(m.name)) = 1
                """)
            var found: Set<String> = []
            while try rows.step() { found.insert(rows.text(0) + "." + rows.text(1)) }
            return found
        }

        /// The root entity of a hierarchy; nil for a cycle.
        func root(of entity: StoredEntity) -> StoredEntity? {
            var next = entity
            for _ in entities.indices {
                if next.superNumber == 0 { return next }
                guard let above = entities.first(where: { $0.number == next.superNumber }) else { return nil }
                next = above
            }
            return nil
        }

        func columns(_ table: String) -> [String] { tables[table, default: []].map(\.name) }

        /// The number and what follows it, of a name without its prefix: 12 and `NAME` of `Z_12NAME`, 12 and `_NAME` of
        /// `Z12_NAME`.
        static func numbered(_ name: Substring) -> (number: Int64, rest: Substring)? {
            let digits = name.prefix { $0.isASCII && $0.isNumber }
            guard let number = Int64(digits), digits.endIndex < name.endIndex else { return nil }
            return (number, name[digits.endIndex...])
        }

        /// Tables of many-to-many relationships: `Z_12NAME`, of two columns and those of orders.
        var joinTables: [String] {
            tables.keys.filter { $0.hasPrefix("Z_") && Self.numbered($0.dropFirst(2)) != nil }.sorted()
        }
    }
#endif
