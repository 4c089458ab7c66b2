#if SQLite
    /// A model from columns only, for a store without one: names in lower case, types as declared, and links if an
    /// index, a name and the values agree.
    struct ColumnGuess {
        let file: SQLiteFile
        let catalog: StoreCatalog

        func model() throws(CoreDataError) -> CoreDataModel {
            var entities: [CoreDataEntity] = []
            for stored in catalog.entities {
                let above = catalog.entities.first { $0.number == stored.superNumber }
                var entity = CoreDataEntity(name: stored.name, superName: above?.name)
                if above == nil { try fill(&entity) }
                entities.append(entity)
            }
            return CoreDataModel(entities: entities, origin: .columns)
        }

        /// All columns of a hierarchy belong to its first entity, since the table does not tell which descendant
        /// declares one.
        private func fill(_ entity: inout CoreDataEntity) throws(CoreDataError) {
            let table = "Z" + entity.name.uppercased()
            let columns = catalog.tables[table, default: []]
            let names = Set(columns.map(\.name))
            for (column, type) in columns {
                // Z12_NAME holds the entity number of ZNAME's target.
                guard column.hasPrefix("Z"), column.count > 1, !Self.isFrameworks(column) else { continue }
                if let twin = StoreCatalog.numbered(column.dropFirst()), twin.rest.hasPrefix("_"),
                    names.contains("Z" + twin.rest.dropFirst())
                {
                    continue
                }
                let plain = column.dropFirst().lowercased()
                // The column of a relationship without an inverse begins with a number, which a property name never
                // does.
                let name = plain.first?.isNumber == true ? "_" + plain : plain
                if type.uppercased() == "INTEGER", let target = try self.target(of: column, entity, table, names) {
                    var link = CoreDataRelationship(
                        name, to: target, inverse: nil, isToMany: false, origin: .columns)
                    link.column = column
                    entity.relationships.append(link)
                } else {
                    var attribute = CoreDataAttribute(name, Self.type(type), origin: .columns)
                    attribute.column = column
                    entity.attributes.append(attribute)
                }
            }
        }

        /// Columns that belong to no property.
        private static func isFrameworks(_ column: String) -> Bool {
            ["Z_PK", "Z_ENT", "Z_OPT"].contains(column) || column.hasPrefix("Z_FOK_")
        }

        private static func type(_ declared: String) -> CoreDataType {
            switch declared.uppercased() {
            case "INTEGER": .integer64
            case "FLOAT", "REAL": .double
            case "DECIMAL": .decimal
            case "TIMESTAMP": .date
            case let text where text.hasPrefix("VARCHAR"): .string
            case "BLOB": .data
            default: .any
            }
        }

        /// The target entity of an integer column; nil if unknown.
        private func target(
            of column: String, _ entity: CoreDataEntity, _ table: String, _ names: Set<String>
        ) throws(CoreDataError) -> String? {
            let plain = column.dropFirst()
            for other in names {
                guard let twin = StoreCatalog.numbered(other.dropFirst()), twin.rest == "_" + plain else { continue }
                return catalog.entities.first { $0.number == twin.number }?.name
            }
            guard catalog.indexed.contains(table + "." + column) else { return nil }
            let all = catalog.entities.map { (name: $0.name, upper: $0.name.uppercased()) }
            let candidates =
                [all.filter { $0.upper == plain }, all.filter { $0.upper == entity.name.uppercased() + plain }]
                .first { !$0.isEmpty } ?? all.filter { $0.upper.hasSuffix(plain) }
            guard candidates.count == 1, let stored = catalog.entities.first(where: { $0.name == candidates[0].name }),
                let root = catalog.root(of: stored)
            else { return nil }
            let target = quoted("Z" + root.name.uppercased())
            let strays = try file.integer(
                "SELECT count(*) FROM \(quoted(table)) t WHERE t.\(quoted(column)) NOT NULL AND NOT EXISTS "
                    + "(SELECT 1 FROM \(target) o WHERE o.Z_PK = t.\(quoted(column)))")
            return strays == 0 ? stored.name : nil
        }
    }
#endif
