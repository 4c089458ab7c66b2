import StrataStorage

// Reading and writing by name with errors that can be caught. The subscripts give `Any?` as in Realm, and a name that
// is not there fails the migration as a whole; these say at once what is wrong.

extension DynamicObject {
    /// A property's value as a type of Swift, through links: `"bar.baz.qux"`.
    ///
    ///     let name = try old.value("name", as: String.self)
    ///     let qux: Int? = try old.value("bar.baz.qux")
    ///     let pets: List<MigrationObject> = try new.value("pets")
    /// - Parameters:
    ///   - path: names joined by dots.
    ///   - type: an optional when the value may be nil, or a link on the way lead nowhere. Any width of integer,
    ///     enumerations, collections of ``MigrationObject``.
    /// - Throws: `invalidInput` for a name that a class on the way does not have, for nil where `type` is not optional,
    ///   and for a value of another type.
    public func value<Value>(_ path: String, as type: Value.Type = Value.self) throws -> Value {
        let found = _flatten(try follow(path))
        if let value = found as? Value { return value }
        // Unwrapped before the cast, which makes nil of what an optional type refuses.
        if let persistable = type as? any _Persistable.Type, found != nil || type is any _AnyOptional.Type,
            let made = persistable._fromAny(found), let value = made as? Value
        {
            return value
        }
        let shown = found.map { "is \($0), a \(Swift.type(of: $0)), and no \(type)" } ?? "is nil and no \(type)"
        throw Realm.Error(
            .invalidInput,
            "'\(_frame == nil ? Swift.type(of: self).className() : _access.name).\(path)' \(shown)"
                + (found == nil ? "; read it as \(type)?" : ""))
    }

    private func follow(_ path: String) throws -> Any? {
        if !path.utf8.contains(UInt8(ascii: ".")) { return try tryGetValue(for: path) }
        var current: Any? = self
        var walked = ""
        for name in path.split(separator: ".", omittingEmptySubsequences: false) {
            guard let next = _flatten(current) else { return nil }
            guard let object = next as? ObjectBase else {
                throw Realm.Error(
                    .invalidInput, "'\(walked)' is no object but \(next); '\(name)' cannot be read from it")
            }
            current = try object._checkedValue(String(name))
            walked = walked.isEmpty ? String(name) : "\(walked).\(name)"
        }
        return current
    }

    /// Sets a property, or says why it cannot be set. The migration, or the write, goes on either way.
    /// - Throws: `invalidInput` for a name that is not there and for a value that does not fit.
    public func set(_ name: String, to value: Any?) throws {
        guard _frame != nil, let instance = _instance else {
            self[name] = value
            return
        }
        if instance.migration?.isOld == true {
            throw Realm.Error(.wrongState, "an object of the old schema shows what was and cannot be changed")
        }
        guard let write = instance.write else { return self[name] = value }
        if let failure = write.failure(of: { self[name] = value }) { throw failure }
    }

    /// The objects of a class whose property leads to this one, one entry per link, declared as an inverse or not.
    ///
    ///     let owners = try old.linkingObjects(ofType: "Person", property: "pets")
    /// - Throws: `invalidInput` for a class or a property that is not there, or is no link to this class.
    public func linkingObjects(ofType className: String, property: String) throws -> Results<MigrationObject> {
        guard _frame != nil, let instance = _instance,
            let origin = instance.access(named: className, typed: false)
        else { throw Realm.Error(.invalidInput, "there is no class '\(className)'") }
        guard let found = origin.property(property) else {
            let known = origin.properties.map(\.name).joined(separator: ", ")
            throw Realm.Error(.invalidInput, "'\(className)' has no property '\(property)'; it has \(known)")
        }
        guard found.tag.type == .object, found.target == _access.name,
            let source = LinkingObjects<DynamicObject>.source(self, origin, property)
        else {
            throw Realm.Error(.invalidInput, "'\(className).\(property)' does not lead to '\(_access.name)'")
        }
        return Results(source)
    }
}
