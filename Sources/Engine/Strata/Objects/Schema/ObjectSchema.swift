import StrataStorage

/// A class as a file has it, with the program's names for its properties.
public struct ObjectSchema: Sendable, Equatable, CustomStringConvertible {
    public let className: String
    /// The class of the program, if it has one; else ``DynamicObject``.
    public let objectClass: AnyClass
    /// Whether each object belongs to one parent.
    public let isEmbedded: Bool
    /// The stored properties, in the order in which the program declares them; those that only the file has come last.
    public let properties: [Property]
    /// The linking objects that the program declares, which no file stores. Only the description shows them.
    private let inverses: [Property]
    private let places = DefinitionPlaces<String>()
    public var primaryKeyProperty: Property? { properties.first(where: \.isPrimaryKey) }

    public subscript(_ name: String) -> Property? {
        places.first(name, in: properties) { $0.name }.map { properties[$0] }
    }

    public static func == (a: Self, b: Self) -> Bool {
        a.className == b.className && a.isEmbedded == b.isEmbedded && a.properties == b.properties
    }

    public var description: String {
        let lines = (properties + inverses).map { "\t" + $0.description.replacing("\n", with: "\n\t") + "\n" }
        return "\(className) \(isEmbedded ? "(embedded) " : ""){\n\(lines.joined())}"
    }
}

/// A property in a file.
public struct Property: Sendable, Equatable, CustomStringConvertible {
    /// The name in the program.
    public let name: String
    /// The name in the file: ``name``, unless the class's `propertiesMapping()` gives another.
    public let columnName: String
    public let type: PropertyType
    public let isArray: Bool
    public let isSet: Bool
    public let isMap: Bool
    public let isOptional: Bool
    public let isPrimaryKey: Bool
    public let isIndexed: Bool
    /// The class of linked objects; nil if the property is no link.
    public let objectClassName: String?
    /// For linking objects: the property of the other class.
    let originName: String?

    public var description: String {
        func shown(_ flag: Bool) -> String { flag ? "YES" : "NO" }
        var lines = ["type = \(type.shownName)"]
        if type == .object || type == .linkingObjects {
            lines += [
                "objectClassName = \(objectClassName ?? "(null)")",
                "linkOriginPropertyName = \(originName ?? "(null)")",
            ]
        }
        lines += [
            "columnName = \(columnName)", "indexed = \(shown(isIndexed))", "isPrimary = \(shown(isPrimaryKey))",
            "array = \(shown(isArray))", "set = \(shown(isSet))", "dictionary = \(shown(isMap))",
            "optional = \(shown(isOptional))",
        ]
        return "\(name) {\n\(lines.map { "\t\($0);\n" }.joined())}"
    }
}

/// All classes in a file.
public struct Schema: Sendable, Equatable, CustomStringConvertible {
    public let objectSchema: [ObjectSchema]
    private let places = DefinitionPlaces<String>()
    public subscript(_ className: String) -> ObjectSchema? {
        places.first(className, in: objectSchema) { $0.className }.map { objectSchema[$0] }
    }

    public var description: String {
        let classes = objectSchema.sorted { $0.className < $1.className }
        let lines = classes.map { "\t" + $0.description.replacing("\n", with: "\n\t") + "\n" }
        return "Schema {\n\(lines.joined())}"
    }

    /// - Parameter plan: returns the program's class of a name.
    init(_ schema: StoreSchema, _ plan: (String) -> ClassPlan? = { _ in nil }) {
        objectSchema = schema.tables.map { ObjectSchema($0, in: schema, plan($0.name)) }
    }
}

extension ObjectSchema {
    init(_ plan: ClassPlan) {
        className = plan.name
        objectClass = plan.type
        isEmbedded = plan.isEmbedded
        properties = plan.fields.filter(\.isStored).map { Property($0) }
        inverses = plan.fields.filter { !$0.isStored }.map { Property($0) }
    }

    /// - Parameter plan: the program's class; properties that only the file has come after those of the plan.
    init(_ table: TableDefinition, in schema: StoreSchema, _ plan: ClassPlan? = nil) {
        className = table.name
        objectClass = plan?.type ?? DynamicObject.self
        isEmbedded = table.tag == TableTag.embedded
        inverses = plan.map { $0.fields.filter { !$0.isStored }.map { Property($0) } } ?? []
        let fields = plan?.fields.filter(\.isStored) ?? []
        let names = Dictionary(fields.map { ($0.columnName, $0.name) }, uniquingKeysWith: { first, _ in first })
        var found: [Property] = []
        if let key = table.rowKeyProperty { found.append(Property(rowKey: key, names[key])) }
        for column in table.columns {
            guard let tag = ColumnTag(rawValue: column.tag) else { continue }
            let target = column.target.flatMap { schema.position(of: $0) }.map { schema.tables[$0].name }
            found.append(Property(column, tag: tag, name: names[column.name], target: target))
        }
        let places = Dictionary(fields.enumerated().map { ($1.columnName, $0) }, uniquingKeysWith: { a, _ in a })
        properties = found.enumerated().sorted {
            let first = places[$0.element.columnName] ?? Int.max
            let second = places[$1.element.columnName] ?? Int.max
            return (first, $0.offset) < (second, $1.offset)
        }.map(\.element)
    }
}

extension Property {
    fileprivate init(_ field: PlanField) {
        name = field.name
        columnName = field.columnName
        type = field.shape.type
        isArray = field.shape.collection == .list
        isSet = field.shape.collection == .set
        isMap = field.shape.collection == .map
        isOptional = field.shape.isOptional
        isPrimaryKey = field.isPrimary
        isIndexed = field.isIndexed || field.isPrimary
        objectClassName = field.shape.objectType?.className()
        originName = field.origin
    }

    fileprivate init(rowKey columnName: String, _ name: String?) {
        self.name = name ?? columnName
        self.columnName = columnName
        type = .int
        isArray = false
        isSet = false
        isMap = false
        isOptional = false
        isPrimaryKey = true
        isIndexed = true
        objectClassName = nil
        originName = nil
    }

    fileprivate init(_ column: ColumnDefinition, tag: ColumnTag, name: String?, target: String?) {
        self.name = name ?? column.name
        columnName = column.name
        type = tag.type
        isArray = tag.collection == .list
        isSet = tag.collection == .set
        isMap = tag.collection == .map
        isOptional = tag.isOptional
        isPrimaryKey = tag.isPrimary
        isIndexed = column.index != .none
        objectClassName = target
        originName = nil
    }
}
