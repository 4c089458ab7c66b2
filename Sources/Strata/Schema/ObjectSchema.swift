import StrataStorage

/// A class as a file knows it.
public struct ObjectSchema: Sendable, CustomStringConvertible {
    public let className: String
    /// Whether each object belongs to one parent.
    public let isEmbedded: Bool
    public let properties: [Property]
    public var primaryKeyProperty: Property? { properties.first(where: \.isPrimaryKey) }

    public subscript(_ name: String) -> Property? { properties.first { $0.name == name } }
    public var description: String {
        ([className + " {"] + properties.map { "\t\($0.name): \($0.type)" } + ["}"]).joined(separator: "\n")
    }
}

/// A property as a file knows it.
public struct Property: Sendable {
    public let name: String
    public let type: PropertyType
    public let isArray: Bool
    public let isSet: Bool
    public let isMap: Bool
    public let isOptional: Bool
    public let isPrimaryKey: Bool
    public let isIndexed: Bool
    /// The class that links lead to.
    public let objectClassName: String?
}

/// All classes that a file knows.
public struct Schema: Sendable {
    public let objectSchema: [ObjectSchema]
    public subscript(_ className: String) -> ObjectSchema? { objectSchema.first { $0.className == className } }

    init(_ schema: StoreSchema) { objectSchema = schema.tables.map { ObjectSchema($0, in: schema) } }
}

extension ObjectSchema {
    init(_ plan: ClassPlan) {
        className = plan.name
        isEmbedded = plan.isEmbedded
        properties = plan.fields.filter(\.isStored).map { field in
            Property(
                name: field.columnName, type: field.shape.type, isArray: field.shape.collection == .list,
                isSet: field.shape.collection == .set, isMap: field.shape.collection == .map,
                isOptional: field.shape.isOptional, isPrimaryKey: field.isPrimary,
                isIndexed: field.isIndexed || field.isPrimary, objectClassName: field.shape.objectType?.className())
        }
    }

    init(_ table: TableDefinition, in schema: StoreSchema) {
        className = table.name
        isEmbedded = table.tag == TableTag.embedded
        var properties: [Property] = []
        if let key = table.rowKeyProperty {
            properties.append(
                Property(
                    name: key, type: .int, isArray: false, isSet: false, isMap: false, isOptional: false,
                    isPrimaryKey: true, isIndexed: true,
                    objectClassName: nil))
        }
        for column in table.columns {
            guard let tag = ColumnTag(rawValue: column.tag) else { continue }
            let target = column.target.flatMap { schema.position(of: $0) }
            properties.append(
                Property(
                    name: column.name, type: tag.type, isArray: tag.collection == .list,
                    isSet: tag.collection == .set, isMap: tag.collection == .map, isOptional: tag.isOptional,
                    isPrimaryKey: tag.isPrimary, isIndexed: column.index != .none,
                    objectClassName: target.map { schema.tables[$0].name }))
        }
        self.properties = properties
    }
}
