/// A model of Core Data: the known entities, from a compiled model, the store's cached model, its columns, or a
/// mapping.
package struct CoreDataModel: Sendable, Equatable {
    /// The source of a statement about an entity or a property.
    package enum Origin: String, Sendable {
        case modelFile = "model file"
        case modelCache = "Z_MODELCACHE"
        case columns = "columns"
        case mapping = "mapping"
    }

    package var entities: [CoreDataEntity]
    package var origin: Origin

    package init(entities: [CoreDataEntity], origin: Origin) {
        self.entities = entities
        self.origin = origin
    }

    package func entity(named name: String) -> CoreDataEntity? { entities.first { $0.name == name } }

    /// The ancestors of an entity, the parent first. Ends at a cycle.
    package func ancestors(of name: String) -> [CoreDataEntity] {
        var found: [CoreDataEntity] = []
        var next = entity(named: name)?.superName
        while let above = next.flatMap({ entity(named: $0) }), found.count <= entities.count {
            found.append(above)
            next = above.superName
        }
        return found
    }

    /// The largest depth of a hierarchy, a bound for cycles.
    private static let deepest = 200

    /// The model without inherited properties, which compiled models repeat.
    var withoutRepeated: CoreDataModel {
        var model = self
        let places = Dictionary(
            entities.indices.map { (entities[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
        for index in entities.indices {
            var attributes: Set<String> = []
            var relationships: Set<String> = []
            var next = entities[index].superName.flatMap { places[$0] }
            var steps = 0
            while let above = next, above != index, steps < Self.deepest {
                attributes.formUnion(entities[above].attributes.map(\.name))
                relationships.formUnion(entities[above].relationships.map(\.name))
                next = entities[above].superName.flatMap { places[$0] }
                steps += 1
            }
            model.entities[index].attributes.removeAll { attributes.contains($0.name) }
            model.entities[index].relationships.removeAll { relationships.contains($0.name) }
        }
        return model
    }
}

/// An entity with its own properties, without inherited ones.
package struct CoreDataEntity: Sendable, Equatable {
    package var name: String
    package var superName: String?
    /// Abstract: no row has this entity itself. False if the model does not tell.
    package var isAbstract = false
    package var attributes: [CoreDataAttribute] = []
    package var relationships: [CoreDataRelationship] = []

    package init(name: String, superName: String? = nil) {
        self.name = name
        self.superName = superName
    }
}

/// The type of an attribute.
package enum CoreDataType: String, Sendable, CaseIterable {
    case integer16, integer32, integer64, decimal, double, float, string, boolean, date, data, uuid, uri
    case transformable, objectID
    /// A value of any type, as SQLite stores it in each row.
    case any

    /// The numbers of `NSAttributeType`.
    package init?(attributeType: Int64) {
        switch attributeType {
        case 100: self = .integer16
        case 200: self = .integer32
        case 300: self = .integer64
        case 400: self = .decimal
        case 500: self = .double
        case 600: self = .float
        case 700: self = .string
        case 800: self = .boolean
        case 900: self = .date
        case 1000: self = .data
        case 1100: self = .uuid
        case 1200: self = .uri
        case 1800: self = .transformable
        case 2000: self = .objectID
        default: return nil
        }
    }

    package var attributeType: Int64 {
        switch self {
        case .integer16: 100
        case .integer32: 200
        case .integer64: 300
        case .decimal: 400
        case .double: 500
        case .float: 600
        case .string: 700
        case .boolean: 800
        case .date: 900
        case .data: 1000
        case .uuid: 1100
        case .uri: 1200
        case .transformable: 1800
        case .objectID: 2000
        case .any: 0
        }
    }

    /// The declared type of the column that Core Data creates.
    package var sqlType: String {
        switch self {
        case .integer16, .integer32, .integer64, .boolean: "INTEGER"
        case .decimal: "DECIMAL"
        case .double, .float: "FLOAT"
        case .string, .uri, .objectID: "VARCHAR"
        case .date: "TIMESTAMP"
        case .data, .uuid, .transformable, .any: "BLOB"
        }
    }
}

package struct CoreDataAttribute: Sendable, Equatable {
    package var name: String
    package var type: CoreDataType
    package var isOptional = true
    /// Not in the store.
    package var isTransient = false
    /// Values may be stored in external files. nil if the model does not tell.
    package var allowsExternal: Bool?
    /// A keyed archive that is to be decoded.
    package var isDecoded = false
    /// The column, if a mapping names it.
    package var column: String?
    package var origin: CoreDataModel.Origin

    package init(_ name: String, _ type: CoreDataType, isOptional: Bool = true, origin: CoreDataModel.Origin) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.origin = origin
    }
}

/// The treatment of the targets when the owner is deleted; the numbers of `NSDeleteRule`.
package enum CoreDataDeleteRule: Int64, Sendable {
    case noAction = 0
    case nullify = 1
    case cascade = 2
    case deny = 3
}

package struct CoreDataRelationship: Sendable, Equatable {
    package var name: String
    /// The target's entity; rows of its descendants are targets, too.
    package var target: String
    package var inverse: String?
    package var isToMany: Bool
    package var isOrdered = false
    package var isOptional = true
    package var deleteRule = CoreDataDeleteRule.nullify
    /// The column, if a mapping names it.
    package var column: String?
    package var origin: CoreDataModel.Origin

    package init(
        _ name: String, to target: String, inverse: String?, isToMany: Bool, origin: CoreDataModel.Origin
    ) {
        self.name = name
        self.target = target
        self.inverse = inverse
        self.isToMany = isToMany
        self.origin = origin
    }
}
