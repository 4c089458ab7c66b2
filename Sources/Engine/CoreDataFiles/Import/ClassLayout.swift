import StrataStorage

/// The classes of the new file: one per hierarchy, with the tags of docs/file-format-objects.md, so that a Realm can
/// open it.
///
/// A row's key is its Z_PK. Links therefore need no table of keys, and a later import finds a row by its Core Data key.
struct ClassLayout {
    /// The source of a column.
    enum Source {
        /// Z_PK, if another property is the primary key.
        case key
        /// The name of the entity that Z_ENT numbers.
        case entity
        /// Z_OPT; null in rows that the application inserted.
        case version
        case attribute(StoredAttribute)
        case link(StoredLink)
        /// Position in ``StoreLayout/joins``.
        case join(Int)
        /// Position in ``StoreLayout/orders``.
        case order(Int)
    }

    struct Class {
        var name: String
        var columns: [ColumnDefinition]
        var sources: [Source]
        /// The attribute that is the primary key; nil if the row key is the primary key.
        var key: String?
        /// The number of single-value columns, which precede list columns.
        var singleCount: Int
    }

    static let stateName = "CoreDataSource"
    static let keyName = "coreDataKey"
    static let entityName = "coreDataEntity"
    static let versionName = "coreDataVersion"

    let layout: StoreLayout
    private(set) var classes: [Class] = []
    private var nextColumn: UInt16 = 1

    /// - Throws: `wrongInput` for invalid keys and names of the mapping.
    init(_ layout: StoreLayout, _ mapping: CoreDataMapping) throws(CoreDataError) {
        self.layout = layout
        let most = layout.hierarchies.reduce(layout.joins.count + layout.orders.count + 4) {
            $0 + $1.attributes.count + $1.links.count + 3
        }
        guard most < Int(UInt16.max) else {
            throw CoreDataError(.unknownShape, "the store has \(most) properties, and a file at most \(UInt16.max)")
        }
        for index in layout.hierarchies.indices { classes.append(try makeClass(index, mapping)) }
        let names = classes.map(\.name) + [Self.stateName]
        if Set(names).count != names.count {
            throw CoreDataError(.wrongInput, "two classes have one name: give one of them another by the mapping")
        }
    }

    /// A class has the position of its hierarchy; the state's class is last.
    var schema: StoreSchema {
        var tables = classes.enumerated().map { index, found in
            TableDefinition(
                id: TableID(UInt32(index + 1)), name: found.name, columns: found.columns, tag: found.key == nil ? 1 : 2,
                information: found.key == nil ? Array(Self.keyName.utf8) : [])
        }
        var id = nextColumn
        func column(_ name: String, _ type: ColumnType, _ tag: UInt32) -> ColumnDefinition {
            defer { id += 1 }
            return ColumnDefinition(id: ColumnID(id), name: name, type: type, tag: tag)
        }
        tables.append(
            TableDefinition(
                id: TableID(UInt32(classes.count + 1)), name: Self.stateName,
                columns: [
                    column("uuid", .bytes, 2), column("isComplete", .integer, 1),
                    column("lastTransaction", .integer, 0), column("rows", .integer, 0),
                ]))
        return StoreSchema(tables: tables)
    }

    private mutating func makeClass(_ index: Int, _ mapping: CoreDataMapping) throws(CoreDataError) -> Class {
        let hierarchy = layout.hierarchies[index]
        let wanted = mapping.entities[hierarchy.root.name]
        var made = Class(
            name: wanted?.className ?? hierarchy.root.name, columns: [], sources: [], key: wanted?.key, singleCount: 0)
        if made.key != nil { add(&made, Self.keyName, type: .integer, tag: 0, source: .key) }
        if hierarchy.isMixed { add(&made, Self.entityName, type: .bytes, tag: 2, source: .entity) }
        add(&made, Self.versionName, type: .integer, tag: 0 | 1 << 12, source: .version, isOptional: true)
        for attribute in hierarchy.attributes {
            let (type, tag) = Self.type(attribute.attribute)
            let isKey = made.key == attribute.name
            if isKey, attribute.isOptional || ![0, 2, 12].contains(tag) {
                throw CoreDataError(
                    .wrongInput,
                    "\(made.name).\(attribute.name) cannot be the key: a key is an integer, a string or a UUID that "
                        + "every row has")
            }
            // A value of any type without bytes is null.
            let isOptional = attribute.isOptional && tag != 9
            add(
                &made, attribute.name, type: type, tag: tag | (isOptional ? 1 << 12 : 0) | (isKey ? 1 << 13 : 0),
                source: .attribute(attribute), isOptional: isOptional, isKey: isKey,
                defaultBits: tag == 4 && !isOptional ? (-978_307_200.0 as Double).bitPattern : nil)
        }
        if let key = made.key, !hierarchy.attributes.contains(where: { $0.name == key }) {
            throw CoreDataError(.wrongInput, "the mapping's key \(key) is no attribute of \(hierarchy.root.name)")
        }
        for link in hierarchy.links {
            add(
                &made, link.name, type: .link, tag: 7 | 1 << 12, source: .link(link), isOptional: true,
                target: TableID(UInt32(link.target + 1)))
        }
        made.singleCount = made.columns.count
        for (place, join) in layout.joins.enumerated() where join.owner == index {
            add(
                &made, join.name, type: .links, tag: 7 | 1 << 8, source: .join(place),
                target: TableID(UInt32(join.target + 1)),
                collection: CollectionColumn(.integer))
        }
        for (place, order) in layout.orders.enumerated() where order.owner == index {
            add(
                &made, order.name, type: .links, tag: 7 | 1 << 8, source: .order(place),
                target: TableID(UInt32(order.target + 1)),
                collection: CollectionColumn(.integer))
        }
        guard Set(made.columns.map(\.name)).count == made.columns.count else {
            throw CoreDataError(
                .wrongInput, "two properties of \(made.name) have one name: give one of them another by the mapping")
        }
        return made
    }

    private mutating func add(
        _ made: inout Class, _ name: String, type: ColumnType, tag: UInt32, source: Source,
        isOptional: Bool = false, isKey: Bool = false, defaultBits: UInt64? = nil, target: TableID? = nil,
        collection: CollectionColumn? = nil
    ) {
        made.columns.append(
            ColumnDefinition(
                id: ColumnID(nextColumn), name: name, type: type, isOptional: isOptional,
                index: isKey ? (type == .bytes ? .hash : .ordered) : .none, target: target, defaultBits: defaultBits,
                collection: collection, tag: tag))
        made.sources.append(source)
        nextColumn += 1
    }

    /// The column and the number of the object layer's type.
    private static func type(_ attribute: CoreDataAttribute) -> (ColumnType, UInt32) {
        switch attribute.type {
        case .integer16, .integer32, .integer64: (.integer, 0)
        case .boolean: (.integer, 1)
        case .string, .uri, .objectID: (.bytes, 2)
        case .transformable where attribute.isDecoded, .any: (.bytes, 9)
        case .data, .transformable: (.bytes, 3)
        case .date: (.double, 4)
        case .float: (.double, 5)
        case .double: (.double, 6)
        case .decimal: (.bytes, 11)
        case .uuid: (.bytes, 12)
        }
    }
}
