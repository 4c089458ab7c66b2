#if SQLite
    /// Creates a store of Core Data's shape from a model, with rows, for tests, examples and measurements. It has only
    /// what all stores have in common; the framework itself adds more.
    package final class StoreMaker {
        package enum Value: Sendable {
            case null
            case integer(Int64)
            case real(Double)
            case text(String)
            case data([UInt8])
        }

        package let file: SQLiteFile
        package let model: CoreDataModel
        /// The numbers of the entities, by their names. A parent has a lower number than its children.
        package let numbers: [String: Int64]
        package let uuid: String
        private var inserts: [String: (statement: SQLiteStatement, columns: [String])] = [:]
        private var maxima: [String: Int64] = [:]

        /// - Parameter cachesModel: whether Z_MODELCACHE has the model.
        package init(
            _ path: String, _ model: CoreDataModel, uuid: String = "8B5D5A6E-0E3C-4C0B-9B57-3A1C1F6C2D10",
            cachesModel: Bool = true, isLogged: Bool = true, hasHistory: Bool = false
        ) throws(CoreDataError) {
            self.model = model
            self.uuid = uuid
            file = try SQLiteFile(path, .create)
            numbers = Self.numbers(model)
            try file.run("PRAGMA journal_mode = \(isLogged ? "WAL" : "DELETE")")
            // A new store needs no syncs.
            try file.run("PRAGMA synchronous = OFF")
            try file.run("BEGIN")
            try file.run(
                "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, "
                    + "Z_MAX INTEGER)")
            try file.run("CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)")
            try file.run("CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)")
            try file.run("INSERT INTO Z_METADATA VALUES (1, '\(uuid)', NULL)")
            if cachesModel {
                let row = try file.statement("INSERT INTO Z_MODELCACHE VALUES (?)")
                row.bind(0, data: ArchiveWriter.deflated(ArchiveWriter.bytes(model)))
                try row.run()
            }
            try makeTables()
            if hasHistory { try makeHistory() }
            try file.run("COMMIT")
        }

        /// Numbers entities in preorder, siblings by name.
        private static func numbers(_ model: CoreDataModel) -> [String: Int64] {
            var numbers: [String: Int64] = [:]
            func visit(_ above: String?) {
                for entity in model.entities.filter({ $0.superName == above }).sorted(by: { $0.name < $1.name }) {
                    numbers[entity.name] = Int64(numbers.count + 1)
                    visit(entity.name)
                }
            }
            visit(nil)
            return numbers
        }

        package func root(of entity: String) -> String { model.ancestors(of: entity).last?.name ?? entity }
        package func table(of entity: String) -> String { "Z" + root(of: entity).uppercased() }

        private func makeTables() throws(CoreDataError) {
            let ordered = numbers.sorted { $0.value < $1.value }
            for (name, number) in ordered {
                let above = model.entity(named: name)?.superName.flatMap { numbers[$0] } ?? 0
                try file.run("INSERT INTO Z_PRIMARYKEY VALUES (\(number), '\(name)', \(above), 0)")
            }
            for (name, _) in ordered where model.entity(named: name)?.superName == nil {
                var columns = ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"]
                var taken: Set<String> = []
                for (below, _) in ordered where root(of: below) == name {
                    guard let entity = model.entity(named: below) else { continue }
                    for attribute in entity.attributes where !attribute.isTransient {
                        columns.append("\(Self.free(attribute.name, &taken)) \(attribute.type.sqlType)")
                    }
                    for link in entity.relationships where !link.isToMany {
                        let column = Self.free(link.name, &taken)
                        columns.append("\(column) INTEGER")
                        if model.entities.contains(where: { $0.superName == link.target }) {
                            columns.append("Z\(numbers[link.target] ?? 0)_\(column.dropFirst()) INTEGER")
                        }
                        if inverse(of: link)?.isOrdered == true {
                            columns.append(
                                "Z_FOK_\(column.dropFirst()) "
                                    + "INTEGER")
                        }
                    }
                }
                try file.run("CREATE TABLE \(table(of: name)) (\(columns.joined(separator: ", ")))")
            }
            for entity in model.entities { try makeJoins(entity) }
        }

        private static func free(_ name: String, _ taken: inout Set<String>) -> String {
            let plain = "Z" + name.uppercased()
            var wanted = plain
            var number = 1
            while !taken.insert(wanted).inserted {
                wanted = plain + String(number)
                number += 1
            }
            return wanted
        }

        private func inverse(of relationship: CoreDataRelationship) -> CoreDataRelationship? {
            model.entity(named: relationship.target)?.relationships.first { $0.name == relationship.inverse }
        }

        /// Makes the tables of an entity's many-to-many relationships. Of two entities, the one with the lower number
        /// owns the table.
        private func makeJoins(_ entity: CoreDataEntity) throws(CoreDataError) {
            for many in entity.relationships where many.isToMany {
                guard let back = inverse(of: many), back.isToMany, let number = numbers[entity.name],
                    let other = numbers[many.target],
                    number < other || (number == other && many.name <= back.name)
                else { continue }
                let owner = "Z_\(number)\(back.name.uppercased())"
                let target = many.name == back.name ? "REFLEXIVE" : "Z_\(other)\(many.name.uppercased())"
                var columns = ["\(owner) INTEGER", "\(target) INTEGER"]
                if many.isOrdered { columns.append("Z_FOK_\(target.dropFirst(2)) INTEGER") }
                try file.run(
                    "CREATE TABLE Z_\(number)\(many.name.uppercased()) (\(columns.joined(separator: ", ")), "
                        + "PRIMARY KEY (\(owner), \(target)))")
            }
        }

        private func makeHistory() throws(CoreDataError) {
            try file.run(
                "CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, "
                    + "ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB)")
            try file.run(
                "CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTIMESTAMP FLOAT)")
            try file.run("INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 0), (16002, 'TRANSACTION', 0, 0)")
        }

        // MARK: Rows

        /// Inserts a row; without a given key, with the next key of its table.
        /// - Parameter values: by column.
        /// - Returns: the key.
        @discardableResult
        package func insert(
            _ entity: String, key: Int64? = nil, _ values: [(String, Value)]
        ) throws(CoreDataError) -> Int64 {
            let root = root(of: entity)
            let columns = values.map(\.0)
            let name = entity + "/" + columns.joined(separator: ",")
            let next = key ?? maxima[root, default: 0] + 1
            maxima[root] = max(next, maxima[root, default: 0])
            let statement: SQLiteStatement
            if let known = inserts[name] {
                statement = known.statement
            } else {
                let all = ["Z_PK", "Z_ENT", "Z_OPT"] + columns
                statement = try file.statement(
                    "INSERT INTO \(table(of: entity)) (\(all.joined(separator: ", "))) VALUES "
                        + "(\(all.map { _ in "?" }.joined(separator: ", ")))")
                inserts[name] = (statement, columns)
            }
            statement.bind(0, next)
            statement.bind(1, numbers[entity] ?? 0)
            statement.bind(2, 1)
            for (place, value) in values.enumerated() {
                switch value.1 {
                case .null: statement.bind(place + 3, nil)
                case .integer(let number): statement.bind(place + 3, number)
                case .real(let number): statement.bind(place + 3, double: number)
                case .text(let text): statement.bind(place + 3, text: text)
                case .data(let bytes): statement.bind(place + 3, data: bytes)
                }
            }
            try statement.run()
            return next
        }

        /// Writes Z_MAX, and closes the file.
        package func finish() throws(CoreDataError) {
            inserts = [:]
            for (root, last) in maxima.sorted(by: { $0.key < $1.key }) {
                try file.run("UPDATE Z_PRIMARYKEY SET Z_MAX = \(last) WHERE Z_NAME = '\(root)'")
            }
            file.close()
        }
    }
#endif
