import StrataStorage

/// Classes by name, for tools and for files whose classes the program does not have.
extension Realm {
    /// All objects of a class of the file, by key, read and written by property names.
    public func dynamicObjects(_ typeName: String) -> Results<DynamicObject> {
        instance.checkConfinement()
        return Results(ObjectSource(requireAccess(named: typeName), .table))
    }

    /// The object of a primary key; nil if there is none.
    /// - Complexity: O(log rows); O(rows) for the key nil.
    public func dynamicObject(ofType typeName: String, forPrimaryKey key: Any) -> DynamicObject? {
        instance.checkConfinement()
        let access = requireAccess(named: typeName)
        guard let primary = access.primary else { fatalError("'\(typeName)' has no primary key; use where") }
        let value = _flatten(key).map { _StoredValue(any: $0, as: primary.tag.type) } ?? .null
        guard let value else { return nil }
        do throws(StorageError) {
            guard let row = try PrimaryKeyLookup(access).row(of: value) else { return nil }
            return instance.materialize(access, row) as? DynamicObject
        } catch {
            let isTold = instance.failures.note(error, in: access)
            instance.report(access.name, nil, RealmError(error).description, isTold: isTold)
            return nil
        }
    }

    /// As ``create(_:value:update:)``, by the name of the class.
    @discardableResult
    public func dynamicCreate(
        _ typeName: String, value: Any = [String: Any](), update: UpdatePolicy = .error
    ) -> DynamicObject {
        let access = requireAccess(named: typeName)
        if access.isEmbedded {
            instance.fail(
                RealmError(
                    .invalidInput, "'\(typeName)' is embedded: its objects are made with the values of their parents")
            )
        }
        return unsafeDowncast(instance.create(access, value, update), to: DynamicObject.self)
    }

    private func requireAccess(named typeName: String) -> ClassAccess {
        if instance.currentView == nil { instance.showAgain() }
        guard let access = instance.access(named: typeName, typed: false) else {
            let known = schema.objectSchema.map(\.className).joined(separator: ", ")
            fatalError("the file has no class '\(typeName)'; it has \(known)")
        }
        return access
    }
}
