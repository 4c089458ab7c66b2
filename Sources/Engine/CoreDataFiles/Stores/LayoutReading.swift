#if SQLite
    /// Finds for each property of a model its column or table.
    package struct LayoutReading {
        private let file: SQLiteFile
        private let catalog: StoreCatalog
        private let mapping: CoreDataMapping
        private let model: CoreDataModel
        private var notes: [String]

        /// - Parameter model: from a file that the user named; nil for the best one in the store.
        /// - Throws: `notAStore`, `unknownShape`, `otherModel`, `wrongInput`, and the errors of reading.
        package static func read(
            _ file: SQLiteFile, model given: CoreDataModel? = nil, mapping: CoreDataMapping = CoreDataMapping()
        ) throws(CoreDataError) -> StoreLayout {
            let catalog = try StoreCatalog(file)
            var notes: [String] = []
            let model = try best(file, catalog, given: given, notes: &notes)
            func layout(_ model: CoreDataModel) throws(CoreDataError) -> StoreLayout {
                var reading = LayoutReading(
                    file: file, catalog: catalog, mapping: mapping, model: try mapping.applied(to: model),
                    notes: notes)
                return try reading.layout()
            }
            guard model.origin == .modelCache else { return try layout(model) }
            do throws(CoreDataError) { return try layout(model) } catch {
                guard error.kind == .otherModel else { throw error }
                notes = ["Z_MODELCACHE does not fit the tables: \(error)", Self.columnsAreUsed]
                return try layout(try ColumnGuess(file: file, catalog: catalog).model())
            }
        }

        private init(
            file: SQLiteFile, catalog: StoreCatalog, mapping: CoreDataMapping, model: CoreDataModel, notes: [String]
        ) {
            self.file = file
            self.catalog = catalog
            self.mapping = mapping
            self.model = model
            self.notes = notes
        }

        private static let columnsAreUsed =
            "names and types are from the columns: name a model by --model, or correct them by --mapping"

        private static func best(
            _ file: SQLiteFile, _ catalog: StoreCatalog, given: CoreDataModel?, notes: inout [String]
        ) throws(CoreDataError) -> CoreDataModel {
            let names = catalog.entities.map(\.name)
            if let given {
                if let missing = names.first(where: { given.entity(named: $0) == nil }) {
                    throw CoreDataError(
                        .wrongInput,
                        "the model has no entity \(missing), which the store has: name the model of the version that "
                            + "wrote the store")
                }
                notes.append("names and types are from the model file")
                return given
            }
            let (cached, reason) = try ModelSources.cached(file, catalog)
            if let cached {
                let missing = names.first { cached.entity(named: $0) == nil }
                if missing == nil {
                    notes.append("names and types are from Z_MODELCACHE")
                    return cached
                }
                notes.append("Z_MODELCACHE is of another version: it has no entity \(missing ?? "")")
            } else {
                notes.append(reason)
            }
            notes.append(Self.columnsAreUsed)
            return try ColumnGuess(file: file, catalog: catalog).model()
        }

        // MARK: Parts

        private mutating func layout() throws(CoreDataError) -> StoreLayout {
            var layout = StoreLayout(
                uuid: catalog.uuid, entities: catalog.entities, hierarchies: [], joins: [], orders: [],
                leftOut: catalog.systemEntities,
                hasHistory: catalog.tables["ACHANGE"] != nil && catalog.tables["ATRANSACTION"] != nil, notes: [])
            for index in layout.entities.indices {
                let entity = model.entity(named: layout.entities[index].name)
                layout.entities[index].isAbstract = entity?.isAbstract ?? false
            }
            var roots: [Int64: Int] = [:]
            for entity in layout.entities {
                guard let root = catalog.root(of: entity) else {
                    throw CoreDataError(.unknownShape, "the entities above \(entity.name) form a cycle")
                }
                if roots[root.number] == nil {
                    roots[root.number] = layout.hierarchies.count
                    layout.hierarchies.append(
                        StoredHierarchy(
                            root: layout.entity(root.number) ?? root, entities: [],
                            table: "Z" + root.name.uppercased(), attributes: [], links: []))
                }
                if let place = roots[root.number] { layout.hierarchies[place].entities.append(entity) }
            }
            for index in layout.hierarchies.indices { try fill(&layout, index) }
            try addJoins(&layout)
            try addOrders(&layout)
            layout.notes = notes
            return layout
        }

        /// Finds the columns of a hierarchy's attributes and to-one relationships. Core Data names columns in the order
        /// of the entities; for a name that is taken it appends a number.
        private mutating func fill(_ layout: inout StoreLayout, _ index: Int) throws(CoreDataError) {
            var hierarchy = layout.hierarchies[index]
            guard catalog.tables[hierarchy.table] != nil else {
                throw CoreDataError(
                    .unknownShape, "there is no table \(hierarchy.table) for the entity \(hierarchy.root.name)")
            }
            let columns = Set(catalog.columns(hierarchy.table))
            for needed in ["Z_PK", "Z_ENT", "Z_OPT"] where !columns.contains(needed) {
                throw CoreDataError(.unknownShape, "\(hierarchy.table) has no column \(needed)")
            }
            var claim = Claim(table: hierarchy.table, columns: columns)
            for stored in hierarchy.entities {
                guard let entity = model.entity(named: stored.name) else { continue }
                let isBelow = stored.number != hierarchy.root.number
                for attribute in entity.attributes where !attribute.isTransient {
                    if let stored = try self.stored(attribute, entity.name, isBelow: isBelow, &claim) {
                        hierarchy.attributes.append(stored)
                    }
                }
                for relationship in entity.relationships where !relationship.isToMany {
                    guard let target = layout.hierarchy(of: relationship.target) else {
                        throw CoreDataError(
                            .unknownShape,
                            "\(entity.name).\(relationship.name) leads to \(relationship.target), which the store "
                                + "does not have")
                    }
                    hierarchy.links.append(try self.stored(relationship, entity.name, target: target, claim: &claim))
                }
            }
            for column in catalog.columns(hierarchy.table)
            where !claim.taken.contains(column) && !column.hasPrefix("Z_FOK_") {
                notes.append(
                    "\(hierarchy.table).\(column) belongs to no property and is left out: name it in a mapping to "
                        + "import it")
            }
            layout.hierarchies[index] = hierarchy
        }

        /// The columns of a table that earlier properties have taken.
        private struct Claim {
            let table: String
            let columns: Set<String>
            var taken: Set<String> = ["Z_PK", "Z_ENT", "Z_OPT"]
            /// Names in the class.
            var names: Set<String> = ["coreDataKey", "coreDataEntity", "coreDataVersion"]
        }

        /// - Returns: nil for an attribute of a newer type, unknown to this reader, without a column.
        private mutating func stored(
            _ attribute: CoreDataAttribute, _ entity: String, isBelow: Bool, _ claim: inout Claim
        ) throws(CoreDataError) -> StoredAttribute? {
            let column: String
            do throws(CoreDataError) {
                column = try self.column(
                    attribute.name, attribute.type.sqlType, wanted: attribute.column, entity: entity, claim: claim)
            } catch {
                guard attribute.type == .any, attribute.origin != .mapping else { throw error }
                notes.append("\(entity).\(attribute.name) is of an unknown type and is left out: \(error)")
                return nil
            }
            claim.taken.insert(column)
            let wanted = mapping.entities[entity]?.attributes[attribute.name]?.name
            return StoredAttribute(
                name: unique(wanted ?? attribute.name, entity, &claim.names), entity: entity, attribute: attribute,
                column: column, isOptional: attribute.isOptional || isBelow,
                isExternal: try isExternal(attribute, column, claim.table))
        }

        private func stored(
            _ relationship: CoreDataRelationship, _ entity: String, target: Int, claim: inout Claim
        ) throws(CoreDataError) -> StoredLink {
            let column = try self.column(
                relationship.name, "INTEGER", wanted: relationship.column, entity: entity, claim: claim)
            claim.taken.insert(column)
            let twin = claim.columns.first {
                StoreCatalog.numbered($0.dropFirst())?.rest == "_" + column.dropFirst()
            }
            if let twin { claim.taken.insert(twin) }
            let wanted = mapping.entities[entity]?.relationships[relationship.name]?.name
            return StoredLink(
                name: unique(wanted ?? relationship.name, entity, &claim.names), entity: entity,
                relationship: relationship, column: column, entityColumn: twin, target: target)
        }

        private func column(
            _ name: String, _ type: String, wanted: String?, entity: String, claim: Claim
        ) throws(CoreDataError) -> String {
            let (table, columns, taken) = (claim.table, claim.columns, claim.taken)
            let plain = "Z" + name.uppercased()
            let candidates = wanted.map { [$0] } ?? [plain] + (1...columns.count + 1).map { plain + String($0) }
            let free = candidates.filter { columns.contains($0) && !taken.contains($0) }
            // Two properties of one name in a hierarchy: the declared types decide before the order.
            let declared = catalog.tables[table, default: []]
            let fitting = free.first { candidate in
                declared.contains { $0.name == candidate && $0.type.uppercased().hasPrefix(type) }
            }
            guard let found = fitting ?? free.first else {
                throw CoreDataError(
                    .otherModel,
                    "\(entity).\(name) has no column in \(table) (\(wanted ?? plain)): the model is of another "
                        + "version, or the mapping has to name the column")
            }
            return found
        }

        /// The name in the class. If two entities of a hierarchy use one name, the second is prefixed with its entity.
        private func unique(_ name: String, _ entity: String, _ names: inout Set<String>) -> String {
            if names.insert(name).inserted { return name }
            var other = entity.prefix(1).lowercased() + entity.dropFirst() + name.prefix(1).uppercased()
            other += name.dropFirst()
            while !names.insert(other).inserted { other += "_" }
            return other
        }

        /// Whether values begin with the byte that tells inline from external. If the model does not tell, they do if
        /// any of them refers to a file.
        private func isExternal(
            _ attribute: CoreDataAttribute, _ column: String, _ table: String
        ) throws(CoreDataError) -> Bool {
            guard attribute.type.sqlType == "BLOB", attribute.type != .uuid else { return false }
            if let known = attribute.allowsExternal { return known }
            let name = quoted(column)
            return try file.integer(
                "SELECT 1 FROM \(quoted(table)) WHERE length(\(name)) = 38 AND substr(\(name), 1, 1) = x'02' "
                    + "AND substr(\(name), 38, 1) = x'00' LIMIT 1") != nil
        }

        // MARK: Tables of relationships

        private mutating func addJoins(_ layout: inout StoreLayout) throws(CoreDataError) {
            var found: Set<String> = []
            for table in catalog.joinTables {
                guard var join = try join(table, layout) else {
                    notes.append("\(table) is no table of a relationship between known entities, and is left out")
                    continue
                }
                if let entity = join.relationship.map(\.name) { found.insert("\(join.owner).\(entity)") }
                if let inverse = join.inverseName { found.insert("\(join.target).\(inverse)") }
                if join.ownerOrderColumn == nil, join.targetOrderColumn != nil { join = turned(join) }
                if join.targetOrderColumn != nil {
                    let inverse = join.inverseName ?? "the other side"
                    notes.append("\(table) has an order for both sides; that of \(inverse) is left out")
                }
                layout.joins.append(join)
            }
            for entity in model.entities {
                for relationship in entity.relationships where relationship.isToMany {
                    guard let owner = layout.hierarchy(of: entity.name), inverse(of: relationship)?.isToMany ?? true,
                        !found.contains("\(owner).\(relationship.name)")
                    else { continue }
                    throw CoreDataError(
                        .unknownShape, "\(entity.name).\(relationship.name) leads to many and has no table of its own")
                }
            }
        }

        /// A join whose list is on the other side, since that side is ordered.
        private func turned(_ join: StoredJoin) -> StoredJoin {
            var other = join
            (other.owner, other.target) = (join.target, join.owner)
            (other.ownerColumn, other.targetColumn) = (join.targetColumn, join.ownerColumn)
            (other.ownerOrderColumn, other.targetOrderColumn) = (join.targetOrderColumn, nil)
            other.name = join.inverseName ?? "inverseOf" + join.name
            other.inverseName = join.name
            other.relationship = join.relationship.flatMap { inverse(of: $0) }
            return other
        }

        private func inverse(of relationship: CoreDataRelationship) -> CoreDataRelationship? {
            guard let name = relationship.inverse, let target = model.entity(named: relationship.target) else {
                return nil
            }
            return ([target] + model.ancestors(of: target.name)).flatMap(\.relationships).first { $0.name == name }
        }

        private func join(_ table: String, _ layout: StoreLayout) throws(CoreDataError) -> StoredJoin? {
            guard let (number, rest) = StoreCatalog.numbered(table.dropFirst(2)), let entity = layout.entity(number),
                let owner = layout.hierarchy(of: entity.name)
            else { return nil }
            let columns = catalog.columns(table)
            let keys = columns.filter { !$0.hasPrefix("Z_FOK_") }
            guard keys.count == 2 else { return nil }
            let relationship = model.entities.first { $0.name == entity.name }?.relationships.first {
                $0.isToMany && $0.name.uppercased() == rest
            }
            guard let place = try targetPlace(keys, number, rest: rest, table: table) else { return nil }
            let (ownerColumn, targetColumn) = (keys[1 - place], keys[place])
            let targetNumber = StoreCatalog.numbered(targetColumn.dropFirst(2))?.number ?? number
            guard let targetEntity = layout.entity(targetNumber), let target = layout.hierarchy(of: targetEntity.name)
            else { return nil }
            func order(_ column: String) -> String? {
                let name = "Z_FOK_" + column.dropFirst(2)
                return columns.contains(name) ? name : nil
            }
            let inverseName =
                relationship?.inverse
                ?? StoreCatalog.numbered(ownerColumn.dropFirst(2)).map { $0.rest.lowercased() }
            return StoredJoin(
                name: relationship.map {
                    mapping.entities[entity.name]?.relationships[$0.name]?.name ?? $0.name
                } ?? rest.lowercased(),
                table: table, owner: owner, target: target, ownerColumn: ownerColumn, targetColumn: targetColumn,
                ownerOrderColumn: order(targetColumn), targetOrderColumn: order(ownerColumn),
                inverseName: inverseName == relationship?.name && relationship != nil ? nil : inverseName,
                relationship: relationship)
        }

        /// Which of two columns has the targets: the one named like the table.
        private func targetPlace(
            _ keys: [String], _ number: Int64, rest: Substring, table: String
        ) throws(CoreDataError) -> Int? {
            if let reflexive = keys.firstIndex(of: "REFLEXIVE") { return reflexive }
            let parts = keys.map { StoreCatalog.numbered($0.dropFirst(2)) }
            guard keys.allSatisfy({ $0.hasPrefix("Z_") }), parts.allSatisfy({ $0 != nil }) else { return nil }
            let named = parts.indices.filter { parts[$0]?.rest == rest }
            if named.count == 1 { return named[0] }
            // A trailing number distinguishes two columns of one name.
            let near = parts.indices.filter { parts[$0]?.rest.hasPrefix(rest) ?? false }
            if near.count == 1 { return near[0] }
            let others = parts.indices.filter { parts[$0]?.number != number }
            if others.count == 1 { return others[0] }
            throw CoreDataError(
                .unknownShape, "nothing says which column of \(table) has the owners: \(keys.joined(separator: ", "))")
        }

        private func addOrders(_ layout: inout StoreLayout) throws(CoreDataError) {
            for entity in model.entities {
                for relationship in entity.relationships where relationship.isToMany && relationship.isOrdered {
                    guard let owner = layout.hierarchy(of: entity.name), let back = inverse(of: relationship),
                        !back.isToMany, let target = layout.hierarchy(of: relationship.target),
                        let link = layout.hierarchies[target].links.first(where: {
                            $0.relationship.name == back.name && $0.target == owner
                        })
                    else { continue }
                    let column = "Z_FOK_" + link.column.dropFirst()
                    guard catalog.columns(layout.hierarchies[target].table).contains(column) else {
                        throw CoreDataError(
                            .unknownShape,
                            "\(entity.name).\(relationship.name) is ordered, and \(layout.hierarchies[target].table) "
                                + "has no column \(column)")
                    }
                    layout.orders.append(
                        StoredOrder(
                            name: mapping.entities[entity.name]?.relationships[relationship.name]?.name
                                ?? relationship.name,
                            owner: owner, target: target, linkColumn: link.column, orderColumn: column,
                            relationship: relationship))
                }
            }
        }
    }
#endif
