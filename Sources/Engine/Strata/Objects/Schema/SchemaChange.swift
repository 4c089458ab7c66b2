import StrataStorage

/// What changes in a file's schema to make it that of the program's classes. It is computed only; nothing is written.
///
/// A table or column with the name of a class or property stays the same one. A new class or index needs no new schema
/// version; every change of a property does, as in RealmSwift. Classes that the program does not have are unchanged.
struct SchemaChange {
    /// The schema after the change.
    var schema: StoreSchema
    /// Why a migration is needed, a sentence for each reason; empty if none is needed.
    var reasons: [String] = []
    /// Properties with a new column into which the values of the old column of that name are converted.
    var conversions: [Conversion] = []
    /// Classes with a new primary key: whether its values are unique is checked at the end of the migration.
    var newPrimaryKeys: [String] = []
    var isChange = false

    struct Conversion {
        var table: String
        var property: String
    }

    /// For each table the ids that a new column must not get: see `ReadView.heldColumnIDs()`.
    private let held: [TableID: Set<ColumnID>]
    /// The positions of the tables by name. They stay the same while classes are changed one by one.
    private let positions: [String: Int]

    /// The change of the schema of a version that is about to be written.
    init(from view: ReadView, to plans: [ClassPlan]) throws(StorageError) {
        try self.init(from: view.schema, to: plans, held: try view.heldColumnIDs())
    }

    /// The change of a schema, without writing it.
    /// - Throws: `limit` with `columns`.
    init(
        from old: StoreSchema, to plans: [ClassPlan], held: [TableID: Set<ColumnID>] = [:]
    ) throws(StorageError) {
        var schema = old
        self.held = held
        // All new tables get their ids before any column is made, because a link's column names the table it leads to.
        for plan in plans where old.position(named: plan.name) == nil {
            schema.tables.append(TableDefinition(id: schema.makeTableID(), name: plan.name, columns: []))
            isChange = true
        }
        positions = Dictionary(
            schema.tables.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.schema = schema
        for plan in plans {
            guard let position = positions[plan.name] else { continue }
            if position < old.tables.count {
                try change(position, old.tables[position], plan)
            } else {
                try create(position, plan)
            }
        }
        sayCollections()
    }

    /// Describes collections to storage that an older version of the library declared without a description, also in
    /// classes that the program does not have. From then on storage may store them as trees, and may store lists and
    /// maps inside values of any type. No value is rewritten: each is converted when it is next changed.
    private mutating func sayCollections() {
        for table in schema.tables.indices {
            for (place, column) in schema.tables[table].columns.enumerated() {
                guard let elements = ColumnTag(rawValue: column.tag)?.elements else { continue }
                let known = column.collection?.element
                guard known == nil || known == .opaque && elements.element == .any else { continue }
                schema.tables[table].columns[place].collection = elements
                isChange = true
            }
        }
    }

    private mutating func create(_ position: Int, _ plan: ClassPlan) throws(StorageError) {
        let keyField = plan.fields.first(where: \.canBeRowKey)
        setPrimaryKey(position, plan, keyField)
        var columns: [ColumnDefinition] = []
        for field in plan.fields where field.isStored && field.columnName != keyField?.columnName {
            columns.append(column(field, id: try schema.makeColumnID(beside: columns)))
        }
        schema.tables[position].columns = columns
    }

    private mutating func setPrimaryKey(_ position: Int, _ plan: ClassPlan, _ keyField: PlanField?) {
        schema.tables[position].information = keyField.map { Array($0.columnName.utf8) } ?? []
        schema.tables[position].tag =
            plan.isEmbedded
            ? TableTag.embedded
            : keyField != nil
                ? TableTag.primaryKeyIsRowKey
                : plan.primary != nil ? TableTag.primaryKeyIsColumn : TableTag.noPrimaryKey
    }

    private mutating func change(
        _ position: Int, _ before: TableDefinition, _ plan: ClassPlan
    ) throws(StorageError) {
        let keyField = plan.fields.first { $0.canBeRowKey && $0.columnName == before.rowKeyProperty }
        if before.primaryKeyName != plan.primary?.columnName {
            let wanted = plan.primary.map { "'\($0.name)'" } ?? "none"
            reasons.append("the primary key of '\(plan.name)' is now \(wanted)")
            if plan.primary != nil { newPrimaryKeys.append(plan.name) }
        }
        if (before.tag == TableTag.embedded) != plan.isEmbedded {
            reasons.append("'\(plan.name)' is \(plan.isEmbedded ? "now" : "no longer") embedded")
        }
        setPrimaryKey(position, plan, keyField)
        var columns: [ColumnDefinition] = []
        for field in plan.fields where field.isStored && field.columnName != keyField?.columnName {
            columns.append(try changed(field, before, plan, beside: columns))
        }
        let names = Set(plan.fields.filter(\.isStored).map(\.columnName))
        for column in before.columns where !names.contains(column.name) {
            reasons.append("property '\(plan.name).\(column.name)' was removed")
        }
        if let gone = before.rowKeyProperty, !names.contains(gone) {
            reasons.append("property '\(plan.name).\(gone)' was removed")
        }
        schema.tables[position].columns = columns
        isChange = isChange || schema.tables[position] != before
    }

    /// The column of a property in a class that the file has.
    /// - Parameter columns: the columns of the class's earlier properties, after the change.
    private mutating func changed(
        _ field: PlanField, _ before: TableDefinition, _ plan: ClassPlan, beside columns: [ColumnDefinition]
    ) throws(StorageError) -> ColumnDefinition {
        func new() throws(StorageError) -> ColumnDefinition {
            column(
                field, id: try schema.makeColumnID(beside: before.columns + columns, held: held[before.id] ?? []))
        }
        let name = "'\(plan.name).\(field.columnName)'"
        guard let known = before.position(named: field.columnName).map({ before.columns[$0] }) else {
            if before.rowKeyProperty == field.columnName {
                reasons.append("property \(name) is no longer the row's key")
                conversions.append(Conversion(table: plan.name, property: field.columnName))
            } else {
                reasons.append("property \(name) was added")
            }
            return try new()
        }
        let wanted = column(field, id: known.id)
        guard let tag = ColumnTag(rawValue: known.tag) else {
            reasons.append("property \(name) has a type that this version does not know")
            return try new()
        }
        let shape = ColumnTag(field.shape, isPrimary: tag.isPrimary)
        if tag == shape && known.target == wanted.target { return wanted }
        var sameButOptional = tag
        sameButOptional.isOptional = shape.isOptional
        if sameButOptional == shape && known.target == wanted.target {
            reasons.append("property \(name) became \(shape.isOptional ? "optional" : "required")")
        } else {
            reasons.append("property \(name) changed its type from \(tag.type) to \(shape.type)")
        }
        if tag.collection == shape.collection, tag.columnType == shape.columnType, known.target == wanted.target,
            tag.columnType != .bytes || tag.type == shape.type
        {
            conversions.append(Conversion(table: plan.name, property: field.columnName))
        }
        return try new()
    }

    private func column(_ field: PlanField, id: ColumnID) -> ColumnDefinition {
        let tag = ColumnTag(field.shape, isPrimary: field.isPrimary)
        let target = field.shape.type == .object ? field.shape.objectType?.className() : nil
        return ColumnDefinition(
            id: id, name: field.columnName, type: tag.columnType,
            isOptional: tag.columnType == .link || (tag.isOptional && tag.collection == .none),
            index: tag.index(isIndexed: field.isIndexed),
            target: target.flatMap { positions[$0] }.map { schema.tables[$0].id },
            keepsPlaces: tag.collection == .map && tag.type == .object, defaultBits: tag.defaultBits,
            collection: tag.elements, tag: tag.rawValue)
    }
}
