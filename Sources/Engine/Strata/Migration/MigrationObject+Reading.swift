import StrataStorage

// Access by name with errors that can be caught. The subscripts return `Any?` as in Realm, and an unknown name fails
// the whole migration; these functions throw at once.

extension DynamicObject {
    /// A property's value as a type of Swift, through links: `"bar.baz.qux"`.
    ///
    ///     let name = try old.value("name", as: String.self)
    ///     let qux: Int? = try old.value("bar.baz.qux")
    ///     let pets: List<MigrationObject> = try new.value("pets")
    /// - Parameters:
    ///   - path: names joined by dots.
    ///   - type: an optional if the value may be nil, or a link along the path may be null. Integers of any width,
    ///     enumerations, and collections of ``MigrationObject``.
    /// - Throws: `invalidInput` for a name that its class does not have, for nil if `type` is not optional, and for a
    ///   value of another type.
    public func value<Value>(_ path: String, as type: Value.Type = Value.self) throws -> Value {
        let found = _flatten(try follow(path))
        if let value = found as? Value { return value }
        // Unwrapped before the cast, which would turn a refused value of an optional type into nil.
        if let persistable = type as? any _Persistable.Type, found != nil || type is any _AnyOptional.Type,
            let made = persistable._fromAny(found), let value = made as? Value
        {
            return value
        }
        let shown = found.map { "is \($0), a \(Swift.type(of: $0)), and no \(type)" } ?? "is nil and no \(type)"
        throw RealmError(
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
                throw RealmError(
                    .invalidInput, "'\(walked)' is no object but \(next); '\(name)' cannot be read from it")
            }
            current = try object._checkedValue(String(name))
            walked = walked.isEmpty ? String(name) : "\(walked).\(name)"
        }
        return current
    }

    /// Sets a property, or throws. The migration, or the write, does not fail by that.
    /// - Throws: `invalidInput` for an unknown name, and for a value that does not fit; in a migration or a write that
    ///   has failed already, the error of that failure.
    public func set(_ name: String, to value: Any?) throws {
        guard _frame != nil, let instance = _instance else {
            self[name] = value
            return
        }
        if instance.migration?.isOld == true {
            throw RealmError(.wrongState, "an object of the old schema is read-only; change the new object")
        }
        guard let write = instance.write else { return self[name] = value }
        if let failure = write.failure(of: { self[name] = value }) { throw failure }
    }

    /// The objects of a class that link to this one by a property, one entry per link, whether or not an inverse is
    /// declared.
    ///
    ///     let owners = try old.linkingObjects(ofType: "Person", property: "pets")
    /// - Throws: `invalidInput` for an unknown class or property, or one that is no link to this class.
    public func linkingObjects(ofType className: String, property: String) throws -> Results<MigrationObject> {
        guard _frame != nil, let instance = _instance,
            let origin = instance.access(named: className, typed: false)
        else { throw RealmError(.invalidInput, "there is no class '\(className)'") }
        guard let found = origin.property(property) else {
            let known = origin.properties.map(\.name).joined(separator: ", ")
            throw RealmError(.invalidInput, "'\(className)' has no property '\(property)'; it has \(known)")
        }
        guard found.tag.type == .object, found.target == _access.name,
            let source = LinkingObjects<DynamicObject>.source(self, origin, property)
        else {
            throw RealmError(.invalidInput, "'\(className).\(property)' does not lead to '\(_access.name)'")
        }
        return Results(source)
    }
}
