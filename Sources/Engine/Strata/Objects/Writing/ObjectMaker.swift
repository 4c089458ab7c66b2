import StrataStorage

/// Creates and updates objects from dictionaries, arrays and other objects.
struct ObjectMaker {
    private let write: RunningWrite
    private var instance: RealmInstance { write.instance }

    /// Whether objects that cannot be linked to directly are copied. If not, unmanaged ones are added themselves, as by
    /// an assignment.
    private let copies: Bool
    private let run: MakerRun

    init(_ write: RunningWrite, copies: Bool = true) {
        self.write = write
        self.copies = copies
        run = MakerRun(write)
    }

    /// Creates an object from a dictionary, an array or another object, or updates the one with its primary key.
    func create(_ access: ClassAccess, _ value: Any, _ policy: Realm.UpdatePolicy) -> ObjectBase {
        run.enter()
        defer { run.leave() }
        return make(access, value, policy)
    }

    private func make(_ access: ClassAccess, _ value: Any, _ policy: Realm.UpdatePolicy) -> ObjectBase {
        if type(of: value) == [String: Any].self, let given = value as? [String: Any] {
            if policy == .error || isUnused(access, given), let made = makeNew(access, given, policy) { return made }
        } else if let object = _object(in: value), isToCopy(object, access) {
            let copy = copy(object, policy)
            return copy._frame == nil ? instance.invalidObject(access, key: nil) : copy
        }
        guard let pairs = Self.pairs(value, access.givenNames) else {
            write.fail(.badObject(access.name, access.givenNames, value))
            return instance.invalidObject(access, key: nil)
        }
        do throws(StorageError) {
            var key = write.transaction.nextKey(access.table)
            var primaryKey: _StoredValue?
            if let primary = access.primary {
                // By position: a dynamic class's property may be given by its name in the file or in the program.
                let given = pairs.last { access.positions[$0.0] == access.positions[primary.name] }
                primaryKey = try self.primaryKey(access, primary, given?.1)
                let isUnnumbered = access.plan?.isUnnumbered(primaryKey ?? .null) ?? false
                if !isUnnumbered, let primaryKey, let known = try PrimaryKeyLookup(access).row(of: primaryKey) {
                    return update(access, at: known, with: pairs, policy: policy, primary: primary)
                }
                if primary.column == Int(ColumnSlot.key) {
                    guard case .integer(let row)? = primaryKey, row != LinkPayload.null else {
                        write.fail(.badValue(access, primary, nil))
                        return instance.invalidObject(access, key: nil)
                    }
                    key = RowKey(row)
                }
            }
            if write.failure != nil { return instance.invalidObject(access, key: nil) }
            if let made = makeNew(access, pairs, policy) { return made }
            let made = try DefaultRow(write).insert(access, key, primaryKey, given: pairs)
            if access.isEmbedded { write.noteParentless(access, made._key) }
            assign(to: made, access: access, pairs: pairs, policy: policy, isNew: true)
            return instance.materialize(access, RowKey(made._key)) ?? made
        } catch {
            write.fail(RealmError(error))
            return instance.invalidObject(access, key: nil)
        }
    }

    // MARK: New objects

    /// Whether no row ever had the primary key that is given, so that none has to be looked for.
    private func isUnused(_ access: ClassAccess, _ given: [String: Any]) -> Bool {
        guard let primary = access.primary else { return true }
        guard primary.column == Int(ColumnSlot.key), let key = given[primary.name] as? Int else { return false }
        return Self.isUnused(access, Int64(key), write)
    }

    /// Whether no row of a class ever had a key.
    static func isUnused(_ access: ClassAccess, _ key: Int64, _ write: RunningWrite) -> Bool {
        key < .max && key >= write.transaction.nextKey(access.table).rawValue
    }

    /// Fills an object and adds it once, without looking up its primary key: the insertion refuses one that exists.
    /// - Returns: nil, with nothing done, if a value does not fit, and for classes that are known by name alone.
    private func makeNew(_ access: ClassAccess, _ given: [String: Any], _ policy: Realm.UpdatePolicy) -> ObjectBase? {
        guard var draft = ObjectDraft(access, write) else { return nil }
        for (name, value) in given {
            guard draft.set(value, named: name) else { return nil }
        }
        return add(draft, access, policy)
    }

    private func makeNew(
        _ access: ClassAccess, _ pairs: [(String, Any)], _ policy: Realm.UpdatePolicy
    ) -> ObjectBase? {
        guard var draft = ObjectDraft(access, write) else { return nil }
        for (name, value) in pairs {
            guard draft.set(value, named: name) else { return nil }
        }
        return add(draft, access, policy)
    }

    /// Adds a filled object, then assigns the values that need its row, in the order of the properties' names.
    func add(_ draft: ObjectDraft, _ access: ClassAccess, _ policy: Realm.UpdatePolicy) -> ObjectBase {
        let object = draft.object
        write.add(object, .error)
        if object._frame == nil { return instance.invalidObject(access, key: nil) }
        if draft.later.isEmpty { return object }
        let later = draft.later.sorted { access.properties[$0.place].name < access.properties[$1.place].name }
        for (place, value) in later where write.failure == nil {
            assign(to: object, access: access, at: place, value: value, policy: policy)
        }
        return object
    }

    // MARK: Other objects

    /// Whether a value is an object that must be copied: unmanaged, of another Realm, or frozen.
    private func isToCopy(_ object: ObjectBase, _ target: ClassAccess) -> Bool {
        guard copies, !instance.isMigration, !target.isEmbedded, let plan = target.plan else { return false }
        return type(of: object) == plan.type && !instance.manages(object)
    }

    /// Whether a value is an unmanaged object that is added itself, and not a copy of it.
    private func isToAdd(_ object: ObjectBase, _ target: ClassAccess) -> Bool {
        guard !copies, object._frame == nil, let plan = target.plan else { return false }
        return type(of: object) == plan.type
    }

    /// Adds a copy of an object, with copies of the objects it leads to. The object is not changed.
    private func copy(_ object: ObjectBase, _ policy: Realm.UpdatePolicy) -> ObjectBase {
        if object.isInvalidated {
            write.fail(object._access.deletedError(object))
            return object
        }
        let copy = run.copies.copy(object)
        if copy._frame == nil { write.add(copy, policy) }
        return copy
    }

    /// The primary key of a new object: given, or the declared default.
    private func primaryKey(
        _ access: ClassAccess, _ primary: BoundProperty, _ given: Any?
    ) throws(StorageError) -> _StoredValue? {
        if let value = given {
            guard let value = _flatten(value) else {
                guard access.plan != nil, !primary.tag.isOptional else { return .null }
                write.fail(.badValue(access, primary, nil))
                return nil
            }
            // The declared type decides, if there is one: a number that exceeds its width is no valid key.
            let field = access.plan?.primary?.field
            guard let stored = field.map({ $0.plain(value) }) ?? _StoredValue(any: value, as: primary.tag.type) else {
                write.fail(.badValue(access, primary, value))
                return nil
            }
            return stored
        }
        guard let plan = access.plan, let field = plan.primary else { return nil }
        let fresh = plan.type.init()
        return field.field.stored(fresh._field(field.offset))
    }

    private func update(
        _ access: ClassAccess, at key: RowKey, with pairs: [(String, Any)], policy: Realm.UpdatePolicy,
        primary: BoundProperty
    ) -> ObjectBase {
        guard policy != .error else {
            write.fail(
                RealmError(
                    .duplicateKey,
                    "a \(access.name) with this primary key is there already; pass update: .modified or .all"))
            return instance.invalidObject(access, key: key)
        }
        guard let known = instance.materializeOrInvalid(access, key) else {
            write.fail(instance.failures.refusal(key, access))
            return instance.invalidObject(access, key: key)
        }
        let primaryPlace = access.positions[primary.name]
        let others = pairs.filter { access.positions[$0.0] != primaryPlace }
        assign(to: known, access: access, pairs: others, policy: policy, isNew: false)
        #if Zoo
            if PlantedMistake.upsertEmpties.isPlanted { MistakenUpsert.empty(known, access, but: pairs, write) }
        #endif
        return known
    }

    private func assign(
        to object: ObjectBase, access: ClassAccess, pairs: [(String, Any)], policy: Realm.UpdatePolicy, isNew: Bool
    ) {
        #if Zoo
            let isShort = PlantedMistake.upsertLosesProperty.isPlanted && !isNew
            let pairs = Array(isShort ? pairs.dropLast() : pairs[...])
        #endif
        let skipsEqual = policy == .modified && !isNew
        for (name, value) in pairs where write.failure == nil {
            guard let place = access.positions[name] else {
                // A migration fails for an unknown name; elsewhere values may have more names than the class.
                if instance.isMigration { return write.fail(object._unknown(name)) }
                continue
            }
            let property = access.properties[place]
            if property.isLinkingObjects || property.column == Int(ColumnSlot.key) { continue }
            if property.isPrimary, !instance.isMigration { continue }
            assign(to: object, access: access, at: place, value: value, policy: policy, skipsEqual: skipsEqual)
        }
    }

    /// Writes a plain value to a property of a class that is known by name alone: the short way of ``assign``.
    /// - Returns: false, without a change, if the value, the property or the class is of another kind.
    static func assignPlain(
        _ write: RunningWrite, to object: ObjectBase, access: ClassAccess, property: BoundProperty, value: Any?
    ) -> Bool {
        switch property.tag.type {
        case .int, .bool, .float, .double, .string: break
        default: return false
        }
        guard access.plan == nil, property.tag.collection == .none, property.column >= 0, let value = _flatten(value),
            let stored = _StoredValue(any: value, as: property.tag.type)
        else { return false }
        write.store(in: object, access: access, column: property.column, value: stored)
        return true
    }

    /// Writes one property by position; dictionaries in the value become objects.
    /// - Parameter skipsEqual: whether the write leaves out a value that equals the stored one.
    func assign(
        to object: ObjectBase, access: ClassAccess, at place: Int, value: Any?, policy: Realm.UpdatePolicy,
        skipsEqual: Bool = false
    ) {
        if run.isTooDeep, access.properties[place].tag.type == .object {
            return run.postpone {
                assign(to: object, access: access, at: place, value: value, policy: policy, skipsEqual: skipsEqual)
            }
        }
        run.enter()
        defer { run.leave() }
        assignNow(to: object, access: access, at: place, value: value, policy: policy, skipsEqual: skipsEqual)
    }

    private func assignNow(
        to object: ObjectBase, access: ClassAccess, at place: Int, value: Any?, policy: Realm.UpdatePolicy,
        skipsEqual: Bool
    ) {
        let property = access.properties[place]
        guard !property.isLinkingObjects else {
            return write.fail(
                RealmError(
                    .invalidInput,
                    "'\(access.name).\(property.name)' follows from the links of \(property.target ?? "its class"); "
                        + "change those"))
        }
        if policy == .modified, updateChild(of: object, access, property, with: value) { return }
        let field = access.plan?.fields[place].field
        guard let stored = storedValue(of: value, in: object, property, access, policy: policy, field: field) else {
            return write.fail(.badValue(access, property, value))
        }
        if stored.isNull, !property.tag.isOptional, property.tag.columnType != .link, property.tag.collection == .none {
            return write.fail(.badValue(access, property, nil))
        }
        write.store(in: object, access: access, column: property.column, value: stored, skipsEqual: skipsEqual)
    }

    /// Writes the differences into the embedded object that the property links to; false if there is none.
    private func updateChild(
        of object: ObjectBase, _ access: ClassAccess, _ property: BoundProperty, with value: Any?
    ) -> Bool {
        guard property.isParental, !property.isCollection, let key = write.children(object, property).first else {
            return false
        }
        return updateChild(at: key, access, property, with: value)
    }

    private func updateChild(at key: Int64, _ access: ClassAccess, _ property: BoundProperty, with value: Any?) -> Bool
    {
        guard let value = _flatten(value), let target = access.target(of: property),
            let pairs = Self.pairs(value, target.givenNames),
            let child = instance.materialize(target, RowKey(key))
        else { return false }
        assign(to: child, access: target, pairs: pairs, policy: .modified, isNew: false)
        return true
    }

    private func storedValue(
        of value: Any?, in object: ObjectBase, _ property: BoundProperty, _ access: ClassAccess,
        policy: Realm.UpdatePolicy, field: (any PersistedField.Type)?
    ) -> _StoredValue? {
        let value = _flatten(value)
        guard property.isCollection else {
            return storedElement(value, property, access, policy: policy, field: field)
        }
        guard let value else { return .bytes([]) }
        var contents = StoredCollection()
        if property.tag.collection == .map {
            guard let entries = ElementConversion.entries(value) else { return nil }
            let children = policy == .modified && property.isParental ? Self.children(object, property) : [:]
            for (key, element) in entries {
                if let child = children[key], updateChild(at: child, access, property, with: element) {
                    contents.setValue(.link(child), forKey: key)
                    continue
                }
                guard let one = storedElement(_flatten(element), property, access, policy: policy, field: field),
                    !one.isNull || property.tag.isOptional
                else { return nil }
                contents.setValue(one, forKey: key)
            }
        } else {
            guard let elements = ElementConversion.elements(value) else { return nil }
            let children = policy == .modified && property.isParental ? write.children(object, property) : []
            for (place, element) in elements.enumerated() {
                if place < children.count, updateChild(at: children[place], access, property, with: element) {
                    contents.values.append(.link(children[place]))
                    continue
                }
                guard let one = storedElement(_flatten(element), property, access, policy: policy, field: field),
                    !one.isNull || property.tag.isOptional
                else { return nil }
                contents.values.append(one)
            }
            if property.tag.collection == .set { contents = .set(contents.values) }
        }
        return .bytes(contents.encoded(property.tag))
    }

    /// The embedded objects of a map, by their keys.
    private static func children(_ object: ObjectBase, _ property: BoundProperty) -> [String: Int64] {
        guard let place = object._access.positions[property.name] else { return [:] }
        let stored = _CollectionColumn(object, place).contents
        var children: [String: Int64] = [:]
        for (key, value) in zip(stored.keys, stored.values) { children[key] = value.linkKey }
        return children
    }

    /// What null under a map's key stands for, if the values are of a custom type that is stored as an object.
    private func valueOfNone(_ property: BoundProperty, _ field: (any PersistedField.Type)?) -> Any? {
        property.isMap && property.tag.type == .object ? field?.shape.customType?.start(isNew: true) : nil
    }

    private func storedElement(
        _ value: Any?, _ property: BoundProperty, _ access: ClassAccess, policy: Realm.UpdatePolicy,
        field: (any PersistedField.Type)?
    ) -> _StoredValue? {
        if property.tag.type == .any {
            guard var any = AnyRealmValue(any: value) else {
                if ValueNesting.isDeeper(value, than: NestedEncoding.deepest) {
                    write.fail(NestedEncoding.tooDeep("'\(access.name).\(property.name)'"))
                }
                return nil
            }
            if copies && !instance.isMigration {
                any = any._mapObject { object in
                    let isOfHere = instance.manages(object) || object._frame != nil && object._access.plan == nil
                    return isOfHere ? object : copy(object, policy)
                }
            }
            return any._encodeElement(_ElementContext(instance: instance, target: nil))
        }
        guard var value = value ?? valueOfNone(property, field) else { return .null }
        if property.tag.type != .object {
            // The declared type decides, if there is one: its range, its cases, its own conversion.
            if let field { return property.isCollection ? field.plainElement(value) : field.plain(value) }
            return _StoredValue(any: value, as: property.tag.type)
        }
        guard let target = access.target(of: property) else { return nil }
        if let custom = value as? any FailableCustomPersistable { value = custom.embeddedObject ?? value }
        if let object = _object(in: value), !target.isEmbedded || instance.isMigration || isToAdd(object, target) {
            if object._frame != nil && object._access.name != target.name { return nil }
            if object._frame == nil, let plan = target.plan, type(of: object) != plan.type { return nil }
            if isToCopy(object, target) {
                let copy = copy(object, policy)
                return copy._frame == nil ? nil : .link(copy._key)
            }
            if object._frame == nil { write.add(object, policy) }
            return write.linkKey(of: object).map { .link($0.rawValue) }
        }
        if let object = _object(in: value), target.plan.map({ type(of: object) != $0.type }) ?? false,
            !(object is DynamicObject)
        {
            return nil
        }
        let made = create(target, value, policy)
        return made._creation == 0 ? nil : .link(made._key)
    }

    /// The argument of `create` as names and values; nil if it is neither dictionary, array nor object, or too long.
    /// - Parameter givenNames: of the properties that may be given; not evaluated for a dictionary.
    static func pairs(_ value: Any, _ givenNames: @autoclosure () -> [String]) -> [(String, Any)]? {
        if let dictionary = value as? [String: Any] {
            return dictionary.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        }
        if let array = value as? [Any] {
            let names = givenNames()
            return array.count <= names.count ? Array(zip(names, array)) : nil
        }
        if let object = _object(in: value) {
            let known = Set(object._propertyNames)
            return givenNames().filter { known.contains($0) }.map { ($0, object[$0] as Any) }
        }
        return nil
    }
}
