#if SQLite
    import CoreDataFiles

    extension CoreDataStore {
        /// Makes an empty store of Core Data's shape, for examples and tests. An application's own store is made by
        /// Core Data.
        ///
        /// A model becomes an entity; its key becomes Z_PK under any name.
        /// - Throws: `invalidModel` for a model whose key is not an integer; `storeFailed`.
        public static func makeEmpty(_ path: String, _ models: [RecordModel], keepsHistory: Bool = false) throws {
            var entities = models.map { CoreDataEntity(name: $0.name) }
            for (place, model) in models.enumerated() {
                guard model.hasIntegerKey else {
                    throw MigrationError(.invalidModel, "\(model.name): keys of Core Data are integers")
                }
                for field in model.fields {
                    switch field.kind {
                    case .link(let target):
                        entities[place].relationships.append(
                            CoreDataRelationship(
                                field.name, to: target, inverse: nil, isToMany: false, origin: .mapping))
                    case .links(let target, let isOrdered):
                        guard let other = models.firstIndex(where: { $0.name == target }) else {
                            throw MigrationError(.invalidModel, "\(model.name).\(field.name): no model \(target)")
                        }
                        let inverse = "\(field.name)Of\(model.name)"
                        var there = CoreDataRelationship(
                            field.name, to: target, inverse: inverse, isToMany: true, origin: .mapping)
                        there.isOrdered = isOrdered
                        entities[place].relationships.append(there)
                        entities[other].relationships.append(
                            CoreDataRelationship(
                                inverse, to: model.name, inverse: field.name, isToMany: true, origin: .mapping))
                    default:
                        entities[place].attributes.append(
                            CoreDataAttribute(
                                field.name, CoreDataType(field.kind), isOptional: field.isOptional, origin: .mapping))
                    }
                }
            }
            try StoreMaker(path, CoreDataModel(entities: entities, origin: .mapping), hasHistory: keepsHistory).finish()
        }
    }

    extension CoreDataType {
        fileprivate init(_ kind: FieldKind) {
            switch kind {
            case .boolean: self = .boolean
            case .integer, .link, .links: self = .integer64
            case .real: self = .double
            case .text: self = .string
            case .data: self = .data
            case .date: self = .date
            case .uuid: self = .uuid
            }
        }
    }
#endif
