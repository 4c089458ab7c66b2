import StrataStorage

/// An object whose properties are accessed by name.
///
///     let name = object["name"] as? String
///     let value = try object.value(for: "address", "city")
@dynamicMemberLookup
public final class DynamicObject: Object {
    public subscript(dynamicMember member: String) -> Any? {
        get { self[member] }
        set { self[member] = newValue }
    }

    /// The class's name in the file.
    public var dynamicClassName: String { _frame == nil ? "" : _access.name }

    /// A property's value, through links: `value(for: "bar", "baz", "qux")`. Nil if a link on the way is nil.
    /// - Throws: `invalidInput` for a name that its class does not have, and for a name before the last that is no
    ///   link; `objectDeleted` or `invalidDatabase` for a value that cannot be read.
    public func value(for names: String...) throws -> Any? {
        var current: Any? = self
        for (place, name) in names.enumerated() {
            guard let object = _flatten(current) as? ObjectBase else {
                if _flatten(current) == nil { return nil }
                throw RealmError(.invalidInput, "'\(names[place - 1])' is no object; '\(name)' cannot be read from it")
            }
            current = try object._checkedValue(name)
        }
        return current
    }

    /// A property's value.
    /// - Throws: as ``value(for:)``.
    public func tryGetValue(for name: String) throws -> Any? { try _checkedValue(name) }
}

extension Optional where Wrapped == Any {
    /// Follows a link: `old["bar"]["baz"]["qux"]`. Nil if there is no object.
    public subscript(_ name: String) -> Any? {
        guard let object = _flatten(self) as? ObjectBase else { return nil }
        return object[name]
    }
}

extension ObjectBase {
    /// The same row as a dynamic object; nil for an unmanaged or invalidated object.
    var _dynamicTwin: DynamicObject? {
        if let known = self as? DynamicObject { return known }
        guard let instance = _instance, !isInvalidated, let access = instance.access(named: _access.name, typed: false)
        else { return nil }
        return instance.materialize(access, RowKey(_key)) as? DynamicObject
    }

    /// The invalidated dynamic object for a deleted one; nil for an unmanaged one.
    private final var _goneDynamicTwin: DynamicObject? {
        guard let instance = _instance, let access = instance.access(named: _access.name, typed: false) else {
            return nil
        }
        _GoneAccess(self).tell(gone: "it has no collections any more")
        return instance.invalidObject(access, key: RowKey(_key)) as? DynamicObject
    }

    /// A list by name, with dynamic objects. For a list of plain values it has their count; its elements are objects
    /// without properties, and ``subscript(_:)`` returns the values.
    ///
    /// For a deleted object it is empty and invalidated, and the access follows `Configuration.invalidAccess`. Stops
    /// the program if the property is no list, or the object is not managed.
    public final func dynamicList(_ propertyName: String) -> List<DynamicObject> {
        _dynamicCollection(propertyName, "list")
    }

    /// A set by name, as ``dynamicList(_:)``.
    ///
    /// Stops the program if the property is no set, or the object is not managed.
    public final func dynamicMutableSet(_ propertyName: String) -> MutableSet<DynamicObject> {
        _dynamicCollection(propertyName, "set")
    }

    /// A map by name, as ``dynamicList(_:)``.
    ///
    /// Stops the program if the property is no map, or the object is not managed.
    public final func dynamicMap<Key>(_ propertyName: String) -> Map<Key, DynamicObject?> {
        _dynamicCollection(propertyName, "map")
    }

    private final func _dynamicCollection<Collection: _ColumnCollection>(_ name: String, _ kind: String) -> Collection {
        guard let twin = _dynamicTwin ?? _goneDynamicTwin else {
            fatalError("only an object that a Realm manages gives its collections by name: '\(name)'")
        }
        let access = twin._access
        guard let place = access.positions[name], access.properties[place].tag.collection == Collection._kind else {
            fatalError("'\(access.name).\(name)' is no \(kind)")
        }
        return Collection(_column: _CollectionColumn(twin, place))
    }

    /// A property by name.
    /// - Throws: `invalidInput` if there is none of this name; the error of a read that fails.
    func _checkedValue(_ name: String) throws(RealmError) -> Any? {
        guard _frame == nil || _access.property(name) != nil else { throw _unknown(name) }
        guard let instance = _instance else { return self[name] }
        return try instance.failures.collecting { self[name] }
    }

    func _unknown(_ name: String) -> RealmError {
        let known = _propertyNames.joined(separator: ", ")
        return RealmError(
            .invalidInput,
            "'\(_frame == nil ? type(of: self).className() : _access.name)' has no property '\(name)'; "
                + "it has \(known)")
    }

    /// A property by name. An unknown name gives nil; in a managed object it is also reported, or fails the write.
    func _dynamicValue(_ name: String) -> Any? {
        guard _frame != nil else {
            guard let field = ClassPlan.plan(for: type(of: self)).field(named: name) else { return nil }
            return field.field.getAny(_field(field.offset))
        }
        let access = _access
        guard let place = access.place(of: name) else {
            access.instance.misuse(access, _key, _unknown(name))
            return nil
        }
        if let plan = access.plan { return plan.fields[place].field.readAny(self, plan.fields[place].offset) }
        return _storedAny(access, place)
    }

    /// The value of a property of an object whose class is known by name alone.
    private func _storedAny(_ access: ClassAccess, _ place: Int) -> Any? {
        let property = access.properties[place]
        let instance = access.instance
        if property.column == Int(ColumnSlot.key) { return Int(_key) }
        if property.isLinkingObjects { return _inverse(access, property) }
        if property.isCollection { return AnyCollectionFactory.make(_CollectionColumn(self, place), property.tag) }
        if property.tag.type == .any { return instance.anyValue(self, property)?.content }
        guard let value = instance.storedValue(self, property) else {
            if isInvalidated { instance.reportInvalidAccess(self) }
            return nil
        }
        if case .link(let key) = value {
            // An object of the program's class if it has one; in a migration all objects are dynamic.
            return property.target.flatMap { instance.access(named: $0, typed: !instance.isMigration) }
                .flatMap { instance.materialize($0, RowKey(key)) }
        }
        return value.any(as: property.tag.type)
    }

    private func _inverse(_ access: ClassAccess, _ property: BoundProperty) -> Any? {
        guard let origin = access.target(of: property), let name = property.origin,
            let source = LinkingObjects<DynamicObject>.source(self, origin, name)
        else { return nil }
        return Results<DynamicObject>(source)
    }

    func _setDynamicValue(_ name: String, _ value: Any?) {
        guard _frame != nil else {
            // An unmanaged dynamic object stands for one that a migration could not create: the migration has failed
            // already.
            if self is DynamicObject { return }
            let plan = ClassPlan.plan(for: type(of: self))
            guard let field = plan.field(named: name) else {
                fatalError(_unknown(name).description)
            }
            guard field.field.setAny(_field(field.offset), value) else {
                fatalError(RealmError.badValue(plan.name, field, value).description)
            }
            return
        }
        let access = _access
        guard let write = access.instance.requireWrite(access.name) else { return }
        guard let place = access.place(of: name) else { return write.fail(_unknown(name)) }
        if ObjectMaker.assignPlain(write, to: self, access: access, property: access.properties[place], value: value) {
            return
        }
        ObjectMaker(write, copies: false).assign(to: self, access: access, at: place, value: value, policy: .error)
    }

    /// Sets the properties of an unmanaged object from a dictionary, an array or an object.
    /// - Parameter allowsUnknown: whether unknown names are ignored.
    /// - Returns: the error for the first value that does not fit; nil if all fit.
    func _assign(_ value: Any, allowsUnknown: Bool = true) -> RealmError? {
        NestedAssignment.assign(self, value, allowsUnknown: allowsUnknown)
    }

    /// The part of ``_assign(_:allowsUnknown:)`` for one object: ``NestedAssignment`` calls it for each.
    func _assignFields(_ value: Any, allowsUnknown: Bool = true) -> RealmError? {
        let plan = ClassPlan.plan(for: type(of: self))
        func names() -> [String] { plan.fields.filter(\.isStored).map(\.name) }
        guard let pairs = ObjectMaker.pairs(value, names()) else { return .badObject(plan.name, names(), value) }
        for (name, value) in pairs {
            guard let field = plan.field(named: name) else {
                if allowsUnknown { continue }
                return _unknown(name)
            }
            guard field.isStored else { continue }
            guard field.field.setAny(_field(field.offset), value) else {
                return .badValue(plan.name, field, value)
            }
        }
        return nil
    }
}
