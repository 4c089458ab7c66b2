import StrataStorage

extension RealmInstance {
    /// Makes an object from a dictionary, an array or another object, or updates the one with its primary key.
    func create(_ access: ClassAccess, _ value: Any, _ policy: Realm.UpdatePolicy) -> ObjectBase {
        guard let transaction = requireWrite(access) else { return invalidObject(access, key: nil) }
        let names = access.properties.filter { !$0.isLinkingObjects }.map(\.name)
        guard let pairs = Self.pairs(value, names) else {
            fail(Realm.Error(.invalidInput, "a \(access.name) is made from a dictionary, an array or an object"))
            return invalidObject(access, key: nil)
        }
        do throws(StorageError) {
            let given = Dictionary(pairs, uniquingKeysWith: { $1 })
            var key = transaction.nextKey(access.table)
            if let primary = access.primary {
                let wanted = try primaryKey(access, primary, given)
                if let wanted, let known = try find(access, primaryKey: wanted) {
                    return update(access, known, pairs, policy, primary)
                }
                if primary.column == Int(ColumnSlot.key) {
                    guard case .integer(let row)? = wanted, row != LinkPayload.null else {
                        fail(Realm.Error(.invalidInput, "'\(access.name).\(primary.name)' needs a value"))
                        return invalidObject(access, key: nil)
                    }
                    key = RowKey(row)
                }
            }
            try insertDefaults(access, transaction, key)
            invalidatePlaces()
            guard let made = materialize(access, key) else { return invalidObject(access, key: key) }
            assign(made, access, pairs, policy, isNew: true)
            return materialize(access, key) ?? made
        } catch {
            fail(Realm.Error(error))
            return invalidObject(access, key: nil)
        }
    }

    /// The primary key that a new object gets: given, or declared.
    private func primaryKey(
        _ access: ClassAccess, _ primary: BoundProperty, _ given: [String: Any]
    ) throws(StorageError) -> _StoredValue? {
        if let value = given[primary.name] {
            guard let value = _flatten(value) else { return .null }
            guard let stored = _StoredValue(any: value, as: primary.tag.type) else {
                fail(Realm.Error(.invalidInput, "'\(access.name).\(primary.name)' cannot hold \(value)"))
                return nil
            }
            return stored
        }
        guard let plan = access.plan, let field = plan.primary else { return nil }
        let fresh = plan.type.init()
        return field.field.stored(fresh._field(field.offset))
    }

    private func update(
        _ access: ClassAccess, _ key: RowKey, _ pairs: [(String, Any)], _ policy: Realm.UpdatePolicy,
        _ primary: BoundProperty
    ) -> ObjectBase {
        guard policy != .error else {
            fail(
                Realm.Error(
                    .duplicateKey,
                    "a \(access.name) with this primary key is there already; pass update: .modified or .all"))
            return invalidObject(access, key: key)
        }
        let known = materializeOrInvalid(access, key)
        assign(known, access, pairs.filter { $0.0 != primary.name }, policy, isNew: false)
        return known
    }

    /// A row with the declared defaults of a typed class, or zeroes.
    private func insertDefaults(
        _ access: ClassAccess, _ transaction: WriteTransaction, _ key: RowKey
    ) throws(StorageError) {
        if let plan = access.plan {
            return try transaction.insert(access.table, key: key, encoder.encode(plan.type.init(), access))
        }
        var cells: [Cell] = []
        for column in transaction.view.schema.tables[access.table].columns {
            switch column.type {
            case .link: cells.append(.null)
            case _ where column.isOptional: cells.append(.null)
            case .integer: cells.append(.integer(Int64(bitPattern: column.defaultBits ?? 0)))
            case .double: cells.append(.double(Double(bitPattern: column.defaultBits ?? 0)))
            case .bytes, .links: cells.append(.bytes(UnsafeRawBufferPointer(start: nil, count: 0)))
            }
        }
        try withExtendedLifetime(cells) { () throws(StorageError) in
            let buffer = UnsafeMutableBufferPointer<Cell>.allocate(capacity: cells.count)
            defer { buffer.deallocate() }
            _ = buffer.initialize(from: cells)
            try transaction.insert(access.table, key: key, UnsafeBufferPointer(buffer))
        }
    }

    private func assign(
        _ object: ObjectBase, _ access: ClassAccess, _ pairs: [(String, Any)], _ policy: Realm.UpdatePolicy,
        isNew: Bool
    ) {
        for (name, value) in pairs {
            guard let place = access.positions[name] else { return fail(object._unknown(name)) }
            if access.properties[place].column == Int(ColumnSlot.key) { continue }
            if access.properties[place].isPrimary, !isMigration {
                if isNew { storePrimary(object, access, access.properties[place], value) }
                continue
            }
            assign(object, access, place, value, policy)
        }
    }

    /// The primary key of a row that was just made.
    private func storePrimary(_ object: ObjectBase, _ access: ClassAccess, _ property: BoundProperty, _ value: Any) {
        guard let transaction else { return }
        let stored = _flatten(value).map { _StoredValue(any: $0, as: property.tag.type) } ?? .null
        guard let stored else { return }
        do throws(StorageError) {
            try stored.withCell { (cell) throws(StorageError) in
                try transaction.set(access.table, RowKey(object._key), property.column, cell)
            }
        } catch {
            fail(Realm.Error(error))
        }
        invalidatePlaces()
    }

    /// Writes one property by position; dictionaries on the way become objects.
    func assign(
        _ object: ObjectBase, _ access: ClassAccess, _ place: Int, _ value: Any?, _ policy: Realm.UpdatePolicy
    ) {
        let property = access.properties[place]
        guard let stored = storedValue(of: value, property, access, policy) else {
            return fail(
                Realm.Error(.invalidInput, "'\(access.name).\(property.name)' cannot hold \(String(describing: value))")
            )
        }
        if stored.isNull, !property.tag.isOptional, property.tag.columnType != .link, property.tag.collection == .none {
            return fail(Realm.Error(.invalidInput, "'\(access.name).\(property.name)' cannot be nil"))
        }
        store(object, access, property.column, stored)
    }

    private func storedValue(
        of value: Any?, _ property: BoundProperty, _ access: ClassAccess, _ policy: Realm.UpdatePolicy
    ) -> _StoredValue? {
        let value = _flatten(value)
        if property.isList {
            guard let value else { return .bytes([]) }
            guard
                let elements = (value as? any AnyList)?.anyElements ?? (value as? [Any])
                    ?? (value as? any Sequence).map({ sequence in sequence.map { $0 as Any } })
            else { return nil }
            var stored: [_StoredValue] = []
            for element in elements {
                guard let one = storedElement(_flatten(element), property, access, policy) else { return nil }
                stored.append(one)
            }
            return .bytes(
                property.tag.type == .object ? List<DynamicObject>.encode(stored) : ListEncoding.encode(stored))
        }
        return storedElement(value, property, access, policy)
    }

    private func storedElement(
        _ value: Any?, _ property: BoundProperty, _ access: ClassAccess, _ policy: Realm.UpdatePolicy
    ) -> _StoredValue? {
        guard let value else { return .null }
        guard property.tag.type == .object else { return _StoredValue(any: value, as: property.tag.type) }
        guard let target = access.target(of: property) else { return nil }
        if let object = value as? ObjectBase {
            if object._frame != nil && object._access.name != target.name { return nil }
            if object._frame == nil, let plan = target.plan, type(of: object) != plan.type { return nil }
            if object._frame == nil { add(object, policy) }
            return linkKey(of: object).map { .link($0.rawValue) }
        }
        let made = create(target, value, policy)
        return made._creation == 0 ? nil : .link(made._key)
    }

    /// What `create` is given, as names and values; nil when it is neither dictionary, array nor object.
    static func pairs(_ value: Any, _ names: [String]) -> [(String, Any)]? {
        if let dictionary = value as? [String: Any] {
            return dictionary.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        }
        if let array = value as? [Any] {
            return array.count <= names.count ? Array(zip(names, array)) : nil
        }
        if let object = value as? ObjectBase { return names.map { ($0, object[$0] as Any) } }
        return nil
    }
}
