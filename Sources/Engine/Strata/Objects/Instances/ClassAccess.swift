import StrataStorage

/// One class in one Realm: its table and columns in the version that the Realm shows.
///
/// Concurrency: confined with its Realm. A frozen Realm's is complete before it is read.
final class ClassAccess {
    /// Nil for a class accessed by name alone.
    let plan: ClassPlan?
    let name: String
    /// The Realm owns this object; every object of the class retains the Realm.
    unowned(unsafe) let instance: RealmInstance
    let frame: UnsafeMutablePointer<_ClassFrame>
    @exclusivity(unchecked) private(set) var table = 0
    @exclusivity(unchecked) private(set) var tableID = TableID(0)
    @exclusivity(unchecked) private(set) var properties: [BoundProperty] = []
    /// Fields of the plan in the form needed for new rows.
    @exclusivity(unchecked) private(set) var encodings: [FieldEncoding] = []
    @exclusivity(unchecked) private(set) var columnCount = 0
    @exclusivity(unchecked) private(set) var primary: BoundProperty?
    /// Offset of the `Int` field that is the row's key and is not numbered by the database; -1 without one. Kept here
    /// because copying the plan's field would retain and release for each new row.
    @exclusivity(unchecked) private(set) var rowKeyOffset = -1
    /// Whether the primary key is the row's key.
    @exclusivity(unchecked) private(set) var hasRowKey = false
    /// Whether ``LoneAdder`` may add objects of the class.
    @exclusivity(unchecked) private(set) var addsAlone = false
    @exclusivity(unchecked) private(set) var positions: [String: Int] = [:]
    /// For each column the position of its property; -1 if the class has none for it.
    private var propertyOfColumn: [Int] = []
    /// For each property the position of the one that was last looked up after it; see ``place(of:)``.
    @exclusivity(unchecked) private var following: [Int] = []
    @exclusivity(unchecked) private var lastPlace = 0
    /// Whether its rows are embedded objects.
    @exclusivity(unchecked) private(set) var isEmbedded = false
    /// Properties with delete rules.
    @exclusivity(unchecked) private(set) var ruled: [BoundProperty] = []
    /// Links to embedded objects, by column; empty if there are none.
    @exclusivity(unchecked) private(set) var parental: [Int: BoundProperty] = [:]
    /// Class of new accessors: ``DynamicObject`` without a plan.
    let type: ObjectBase.Type
    /// Whether a new accessor has fields to be bound to their columns, or marked as holding no value.
    let bindsFields: Bool
    /// Whether a new accessor reads its primary key at once.
    @exclusivity(unchecked) private(set) var capturesKey = false
    /// Targets of links by field offset, as far as they were looked up. Empty in a frozen Realm, which several threads
    /// read.
    @exclusivity(unchecked) private var leads: [Lead?] = []

    /// The position of a field's property, by the field's offset.
    @exclusivity(unchecked) private var fieldPositions: [Int] = []

    /// Target class of a field's links, or origin class of its linking objects.
    struct Lead {
        unowned(unsafe) let access: ClassAccess
        /// For linking objects: the position in that class of the property whose links they come from. 0 for a link.
        let position: Int
    }

    /// By position of the property, as far as they were looked up. Empty in a frozen Realm, as ``leads`` is.
    @exclusivity(unchecked) private var linkLists: [LinkList?] = []

    /// What a read of a list or a set of objects needs.
    struct LinkList {
        let column: Int
        unowned(unsafe) let target: ClassAccess
    }

    /// A finished iteration over a collection of this class's objects, for the next one: see ``ObjectWalk``.
    @exclusivity(unchecked) var idleWalk: ObjectWalk?

    @exclusivity(unchecked) private(set) var uniqueKeys: [UniqueKey] = []
    @exclusivity(unchecked) private var knownSetters: FieldSetters?

    /// The names of properties that values are given for.
    var givenNames: [String] { properties.filter { !$0.isLinkingObjects }.map(\.name) }

    /// The table for values of new objects; nil for a class that is known by name alone. Made at the first `create`.
    var setters: FieldSetters? {
        if let knownSetters { return knownSetters }
        guard let plan else { return nil }
        let made = FieldSetters(plan, properties, positions)
        knownSetters = made
        return made
    }

    /// Nil if the file has no such class.
    init?(_ instance: RealmInstance, plan: ClassPlan?, name: String) {
        guard let schema = instance.knownSchema, schema.position(named: name) != nil else { return nil }
        self.plan = plan
        type = plan?.type ?? DynamicObject.self
        bindsFields = plan.map { !$0.plainFields.isEmpty || $0.isEncodable } ?? false
        self.name = name
        self.instance = instance
        let limit = max(plan?.offsetLimit ?? 1, 1)
        let columns = UnsafeMutablePointer<Int32>.allocate(capacity: limit)
        columns.initialize(repeating: ColumnSlot.none, count: limit)
        frame = .allocate(capacity: 1)
        frame.initialize(
            to: _ClassFrame(
                stamp: instance.stamp, columns: columns, view: instance.currentView, access: self))
        resolve(schema)
    }

    deinit {
        frame.pointee.columns.deallocate()
        frame.pointee.held.deallocate()
        frame.deallocate()
    }

    /// Updates table and columns after a change of the schema.
    func resolve(_ schema: StoreSchema) {
        guard let position = schema.position(named: name) else { return }
        let definition = schema.tables[position]
        table = position
        tableID = definition.id
        columnCount = definition.columns.count
        frame.pointee.holdColumns(columnCount)
        properties = plan.map { typedProperties($0, definition, schema) } ?? storedProperties(definition, schema)
        positions = Dictionary(uniqueKeysWithValues: properties.enumerated().map { ($1.name, $0) })
        propertyOfColumn = Array(repeating: -1, count: columnCount)
        for (place, property) in properties.enumerated().reversed() where property.column >= 0 {
            propertyOfColumn[property.column] = place
        }
        following = Array(repeating: 0, count: properties.count)
        lastPlace = 0
        knownSetters = nil
        if plan == nil, instance.migration?.isOld != true { addDeclaredNames() }
        primary = properties.first(where: \.isPrimary)
        hasRowKey = primary.map { $0.column == Int(ColumnSlot.key) && $0.tag.type == .int } ?? false
        capturesKey = primary.map { $0.column >= 0 } ?? false && plan?.primary != nil
        leads = instance.isFrozen ? [] : Array(repeating: nil, count: max(plan?.offsetLimit ?? 1, 1))
        linkLists = instance.isFrozen ? [] : Array(repeating: nil, count: properties.count)
        isEmbedded = definition.tag == TableTag.embedded
        ruled = properties.filter { $0.deleteRule != .nullify && $0.column >= 0 }
        let owning = properties.filter { $0.isParental && $0.column >= 0 }
        parental = Dictionary(owning.map { ($0.column, $0) }, uniquingKeysWith: { a, _ in a })
        uniqueKeys = instance.uniqueKeys(of: definition, position)
        guard let plan else { return }
        rowKeyOffset = -1
        if let field = plan.primary, primary?.column == Int(ColumnSlot.key), field.field == Persisted<Int>.self,
            !field.isAutoIncrement
        {
            rowKeyOffset = field.offset
        }
        addsAlone = rowKeyOffset >= 0 && uniqueKeys.isEmpty && LoneAdder.suits(plan)
        encodings.removeAll()
        fieldPositions = Array(repeating: 0, count: max(plan.offsetLimit, 1))
        for (index, field) in plan.fields.enumerated() {
            frame.pointee.columns[field.offset] = Int32(properties[index].column)
            fieldPositions[field.offset] = index
            if properties[index].column >= 0 {
                encodings.append(
                    FieldEncoding(
                        code: FieldCode(field), offset: Int32(field.offset), column: Int32(properties[index].column),
                        field: Int32(index)))
            }
        }
    }

    private func typedProperties(
        _ plan: ClassPlan, _ definition: TableDefinition, _ schema: StoreSchema
    ) -> [BoundProperty] {
        plan.fields.map { field in
            var column = Int(ColumnSlot.none)
            if field.columnName == definition.rowKeyProperty {
                column = Int(ColumnSlot.key)
            } else if !field.isStored {
                column = Int(ColumnSlot.computed)
            } else if let position = definition.position(named: field.columnName) {
                column = position
            }
            return BoundProperty(
                name: field.name, tag: ColumnTag(field.shape, isPrimary: field.isPrimary), column: column,
                target: field.shape.objectType?.className(), origin: field.origin,
                deleteRule: field.isParental ? .cascade : field.deleteRule,
                isIndexed: column >= 0 && definition.columns[column].index != .none, isParental: field.isParental,
                offset: field.offset)
        }
    }

    /// The properties in the file, and the inverses that the program declares for the class, which no table stores.
    private func storedProperties(_ definition: TableDefinition, _ schema: StoreSchema) -> [BoundProperty] {
        var properties: [BoundProperty] = []
        if let key = definition.rowKeyProperty {
            properties.append(
                BoundProperty(
                    name: key, tag: ColumnTag(_PropertyShape(.int), isPrimary: true), column: Int(ColumnSlot.key),
                    target: nil, origin: nil, deleteRule: .nullify, isIndexed: true, isParental: false, offset: 0))
        }
        for (position, column) in definition.columns.enumerated() {
            guard let tag = ColumnTag(rawValue: column.tag) else { continue }
            let target = column.target.flatMap { schema.position(of: $0) }.map { schema.tables[$0] }
            let isParental = target?.tag == TableTag.embedded
            properties.append(
                BoundProperty(
                    name: column.name, tag: tag, column: position, target: target?.name, origin: nil,
                    deleteRule: isParental ? .cascade : instance.deleteRule(name, column.name),
                    isIndexed: column.index != .none, isParental: isParental, offset: 0))
        }
        // An older version may have a stored property under the name of an inverse.
        let names = Set(properties.map(\.name))
        properties += declaredInverses.filter { !names.contains($0.name) }
        return properties
    }

    /// Inverse properties that the program declares for the class.
    private var declaredInverses: [BoundProperty] {
        (instance.configuredPlan(name)?.fields ?? []).filter { $0.shape.type == .linkingObjects }.map { field in
            BoundProperty(
                name: field.name, tag: ColumnTag(field.shape, isPrimary: false), column: Int(ColumnSlot.computed),
                target: field.shape.objectType?.className(), origin: field.origin, deleteRule: .nullify,
                isIndexed: false, isParental: false, offset: 0)
        }
    }

    /// Access by name may use the program's names of properties that have other names in the file.
    private func addDeclaredNames() {
        for field in instance.configuredPlan(name)?.fields ?? [] where positions[field.name] == nil {
            positions[field.name] = positions[field.columnName]
        }
    }

    /// The position of the property of the field at `offset` of a typed object.
    func position(ofOffset offset: Int) -> Int { offset < fieldPositions.count ? fieldPositions[offset] : 0 }

    /// The position of the property of a table's column.
    func place(ofColumn column: Int) -> Int? {
        guard propertyOfColumn.indices.contains(column), propertyOfColumn[column] >= 0 else { return nil }
        return propertyOfColumn[column]
    }

    /// The property of a table's column.
    func property(ofColumn column: Int) -> BoundProperty? { place(ofColumn: column).map { properties[$0] } }

    func property(_ name: String) -> BoundProperty? { place(of: name).map { properties[$0] } }

    /// The position of a property by name.
    ///
    /// A migration looks up the same names in the same order for each row, so the successor of the last look-up is
    /// tried first. Elsewhere nothing is remembered, because several threads may look up names in a frozen Realm.
    @inline(__always)
    func place(of name: String) -> Int? { instance.isMigration ? nextPlace(name) : positions[name] }

    private func nextPlace(_ name: String) -> Int? {
        if lastPlace < properties.count {
            let guess = following[lastPlace]
            if properties[guess].name == name {
                lastPlace = guess
                return guess
            }
            if properties[lastPlace].name == name { return lastPlace }
        }
        guard let place = positions[name] else { return nil }
        if lastPlace < properties.count { following[lastPlace] = place }
        lastPlace = place
        return place
    }

    func isPrimaryKey(_ offset: Int) -> Bool { primary?.offset == offset && plan != nil }

    /// The target class of a typed link.
    @inline(__always)
    func target(of type: ObjectBase.Type, offset: Int) -> ClassAccess? {
        if offset < leads.count, let lead = leads[offset] { return lead.access }
        return findTarget(of: type, offset: offset)
    }

    private func findTarget(of type: ObjectBase.Type, offset: Int) -> ClassAccess? {
        guard let found = instance.access(for: type) else { return nil }
        if offset < leads.count { leads[offset] = Lead(access: found, position: 0) }
        return found
    }

    /// The class and the property whose links the linking objects at `offset` come from.
    func origin(of type: ObjectBase.Type, _ property: String, offset: Int) -> Lead? {
        if offset < leads.count, let lead = leads[offset] { return lead }
        guard let found = instance.access(for: type), let position = found.positions[property] else { return nil }
        let lead = Lead(access: found, position: position)
        if offset < leads.count { leads[offset] = lead }
        return lead
    }

    /// The target class of a property, by name.
    func target(of property: BoundProperty) -> ClassAccess? {
        if property.offset > 0, property.offset < leads.count, let lead = leads[property.offset] { return lead.access }
        guard let found = findTarget(of: property) else { return nil }
        if property.offset > 0, property.offset < leads.count, !property.isLinkingObjects {
            leads[property.offset] = Lead(access: found, position: 0)
        }
        return found
    }

    /// The list or set of objects of a property; nil for a property of another kind, for one that the file lacks, and
    /// if the program declares this class but not that of the objects.
    @inline(__always)
    func linkList(at position: Int) -> LinkList? {
        if position < linkLists.count, let known = linkLists[position] { return known }
        return findLinkList(at: position)
    }

    @inline(never)
    private func findLinkList(at position: Int) -> LinkList? {
        let property = properties[position]
        guard property.tag.type == .object, property.tag.collection == .list || property.tag.collection == .set,
            property.column >= 0, let target = target(of: property), target.plan != nil || plan == nil
        else { return nil }
        let found = LinkList(column: property.column, target: target)
        if position < linkLists.count { linkLists[position] = found }
        return found
    }

    private func findTarget(of property: BoundProperty) -> ClassAccess? {
        property.target.flatMap { instance.access(named: $0, typed: plan != nil) }
    }

    /// Finds the row of `object` in the current view, and caches its location. Stops the program on a wrong thread.
    /// - Returns: false if the row was deleted or cannot be read.
    func relocate(_ object: ObjectBase) -> Bool {
        instance.checkConfinement()
        return tryRelocate(object) == nil
    }

    /// As ``relocate(_:)``, for callers that handle the error. The objects of a frozen Realm cache nothing.
    /// - Returns: why the row cannot be read; nil if it can.
    func tryRelocate(_ object: ObjectBase) -> RealmError? {
        if !object._isOnOwnThread, !instance.confinement.isHere { return instance.confinementError }
        guard let view = instance.currentView, object._creation != 0 else { return deletedError(object) }
        do throws(StorageError) {
            #if Zoo
                if PlantedMistake.creationIgnored.isPlanted, let row = try view.locate(table, RowKey(object._key)) {
                    object._creation = try view.creationVersion(row).rawValue
                }
            #endif
            guard let location = try view.locate(table, RowKey(object._key)),
                try view.creationVersion(location).rawValue == object._creation,
                object._birthWrite == 0 || !instance.writing.isCancelled(object._birthWrite)
            else { return deletedError(object) }
            if instance.isFrozen { return nil }
            object._location = location
            object._stamp = instance.stamp
            return nil
        } catch {
            instance.failures.note(error, in: self)
            return RealmError(error)
        }
    }

    func deletedError(_ object: ObjectBase) -> RealmError {
        let key = primary.map { "\($0.name) \(object._key)" } ?? "key \(object._key)"
        let version = instance.currentView.map { " as of version \($0.version.rawValue)" } ?? ""
        return RealmError(
            .objectDeleted,
            "Object has been deleted or invalidated: the \(name) with \(key)\(version); check isInvalidated, "
                + "or show results.snapshot()")
    }
}

/// A property with its column in the version that the Realm shows.
///
/// A class, because it is passed at every step over a collection, and a struct's strings would be retained and released
/// each time.
final class BoundProperty {
    let name: String
    let tag: ColumnTag
    /// A position, or a ``ColumnSlot``.
    let column: Int
    /// The target class of links, or the origin class of linking objects.
    let target: String?
    let origin: String?
    let deleteRule: DeleteRule
    let isIndexed: Bool
    /// Whether it links to embedded objects, which belong to the owner.
    let isParental: Bool
    /// Of the field in a typed object.
    let offset: Int
    /// The column's kind of collection for storage.
    let elements: CollectionColumn?

    init(
        name: String, tag: ColumnTag, column: Int, target: String?, origin: String?, deleteRule: DeleteRule,
        isIndexed: Bool, isParental: Bool, offset: Int
    ) {
        self.name = name
        self.tag = tag
        self.column = column
        self.target = target
        self.origin = origin
        self.deleteRule = deleteRule
        self.isIndexed = isIndexed
        self.isParental = isParental
        self.offset = offset
        elements = tag.elements
    }

    var isPrimary: Bool { tag.isPrimary }
    var isList: Bool { tag.collection == .list }
    var isMap: Bool { tag.collection == .map }
    var isCollection: Bool { tag.collection != .none }
    var isLinkingObjects: Bool { tag.type == .linkingObjects }
}
