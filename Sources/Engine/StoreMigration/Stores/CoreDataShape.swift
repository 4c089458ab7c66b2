#if SQLite
    import CoreDataFiles

    /// Maps the fields of the models to columns and tables of a store of Core Data.
    struct CoreDataShape: Sendable {
        struct Table: Sendable {
            var model: RecordModel
            var hierarchy: StoredHierarchy
            /// In the order of the model's fields.
            var places: [Place]
        }

        enum Place: Sendable {
            /// Z_ENT, by name.
            case entity
            case attribute(StoredAttribute)
            case link(StoredLink)
            case join(StoredJoin)

            var column: String? {
                switch self {
                case .entity: "Z_ENT"
                case .attribute(let attribute): attribute.column
                case .link(let link): link.column
                case .join: nil
                }
            }
        }

        let layout: StoreLayout
        let tables: [Table]
        var models: [RecordModel] { tables.map(\.model) }

        func table(_ model: String) throws -> Table {
            if let table = tables.first(where: { $0.model.name == model }) { return table }
            throw MigrationError(.invalidModel, "the store has no table of \(model)")
        }

        init(_ file: SQLiteFile, _ layout: StoreLayout, leavingOut: Set<String>) throws {
            self.layout = layout
            func refuse(_ words: String) -> MigrationError {
                MigrationError(.unknownShape, "\(file.path): \(words); it was left as it is")
            }
            for order in layout.orders {
                let owner = layout.hierarchies[order.owner].root.name
                if leavingOut.contains("\(owner).\(order.name)") { continue }
                throw refuse(
                    "\(owner).\(order.name) is an ordered one-to-many, whose places only Core Data gives: leave it out")
            }
            let triggers = try file.integer("SELECT count(*) FROM sqlite_master WHERE type = 'trigger'") ?? 0
            if triggers > 0 { throw refuse("it has triggers of its own, which Core Data never makes") }
            tables = try layout.hierarchies.indices.map { place in
                try Self.table(layout, place, leavingOut: leavingOut, refuse: refuse)
            }
            for table in tables {
                try Self.checkColumns(file, table.hierarchy, layout: layout, leavingOut: leavingOut, refuse: refuse)
            }
        }

        private static func table(
            _ layout: StoreLayout, _ place: Int, leavingOut: Set<String>, refuse: (String) -> MigrationError
        ) throws -> Table {
            let hierarchy = layout.hierarchies[place]
            func isLeftOut(_ entity: String, _ name: String) -> Bool { leavingOut.contains("\(entity).\(name)") }
            var fields: [RecordField] = []
            var places: [Place] = []
            if hierarchy.isMixed {
                fields.append(RecordField("coreDataEntity", .text))
                places.append(.entity)
            }
            for attribute in hierarchy.attributes where !isLeftOut(attribute.entity, attribute.name) {
                let name = "\(attribute.entity).\(attribute.name)"
                if attribute.isExternal { throw refuse("\(name) keeps data in files of its own: leave it out") }
                guard let kind = FieldKind(attribute.attribute.type) else {
                    throw refuse("\(name) is \(attribute.attribute.type.rawValue), which is not written: leave it out")
                }
                fields.append(RecordField(attribute.name, kind, isOptional: attribute.isOptional))
                places.append(.attribute(attribute))
            }
            for link in hierarchy.links where !isLeftOut(link.entity, link.name) {
                fields.append(RecordField(link.name, .link(to: layout.hierarchies[link.target].root.name)))
                places.append(.link(link))
            }
            for join in layout.joins where join.owner == place && !isLeftOut(hierarchy.root.name, join.name) {
                let isOrdered = join.ownerOrderColumn != nil
                if join.targetOrderColumn != nil {
                    throw refuse("\(join.table) has an order on both sides: leave it out")
                }
                let target = layout.hierarchies[join.target].root.name
                fields.append(RecordField(join.name, .links(to: target, isOrdered: isOrdered)))
                places.append(.join(join))
            }
            let model = RecordModel(hierarchy.root.name, key: "coreDataKey", hasIntegerKey: true, fields)
            return Table(model: model, hierarchy: hierarchy, places: places)
        }

        /// Refuses unknown columns: a new row would leave them empty.
        private static func checkColumns(
            _ file: SQLiteFile, _ hierarchy: StoredHierarchy, layout: StoreLayout, leavingOut: Set<String>,
            refuse: (String) -> MigrationError
        ) throws {
            var known: Set<String> = ["Z_PK", "Z_ENT", "Z_OPT"]
            known.formUnion(hierarchy.attributes.map(\.column))
            known.formUnion(hierarchy.links.map(\.column))
            known.formUnion(hierarchy.links.compactMap(\.entityColumn))
            known.formUnion(layout.orders.map(\.orderColumn))
            let columns = try file.statement("PRAGMA table_info(\(quoted(hierarchy.table)))")
            while try columns.step() {
                let name = columns.text(1)
                if known.contains(name) || leavingOut.contains("\(hierarchy.table).\(name)") { continue }
                throw refuse("\(hierarchy.table).\(name) belongs to no property of the model")
            }
        }
    }

    extension FieldKind {
        /// nil for types whose values have several forms in a store.
        init?(_ type: CoreDataType) {
            switch type {
            case .integer16, .integer32, .integer64: self = .integer
            case .boolean: self = .boolean
            case .double, .float: self = .real
            case .string, .uri: self = .text
            case .date: self = .date
            case .data, .transformable: self = .data
            case .uuid: self = .uuid
            case .decimal, .objectID, .any: return nil
            }
        }
    }
#endif
