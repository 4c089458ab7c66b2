import StrataStorage

extension RealmInstance {
    /// Makes an unmanaged object, and everything that it leads to, part of this Realm.
    func add(_ object: ObjectBase, _ policy: Realm.UpdatePolicy) {
        if object._frame != nil { return checkManagedHere(object) }
        encoder.policy = policy
        addRow(object, policy)
        finishDeferred()
    }

    private func checkManagedHere(_ object: ObjectBase) {
        guard let other = object._instance, other.store === store, !other.isFrozen else {
            return fail(
                Realm.Error(
                    .invalidInput, "the \(object._access.name) belongs to another Realm; create a copy with create"))
        }
        if object.isInvalidated { fail(object._access.deletedError(object)) }
    }

    /// Writes the links of cycles, once every row of them is there.
    func finishDeferred() {
        guard !encoder.deferred.isEmpty else { return }
        for links in encoder.takeDeferred() {
            let access = links.owner._access
            let keys = links.targets.compactMap { linkKey(of: $0)?.rawValue }
            guard let property = access.properties.first(where: { $0.column == links.column }) else { continue }
            if property.isList {
                store(links.owner, access, links.column, .bytes(LinkPayload.encode(keys)))
            } else if let key = keys.first {
                store(links.owner, access, links.column, .link(key))
            }
        }
    }

    /// Adds one object whose targets come first.
    ///
    /// - Complexity: O(log rows) per object, without allocation in the object layer when all fields are plain values.
    func addRow(_ object: ObjectBase, _ policy: Realm.UpdatePolicy) {
        guard let access = access(for: type(of: object)), let plan = access.plan else {
            return fail(
                Realm.Error(.schemaMismatch, "'\(type(of: object).className())' is not a class of this Realm"))
        }
        guard let transaction = requireWrite(access) else { return }
        if !plan.bound.isEmpty {
            object._isBeingAdded = true
            for (place, index) in plan.bound.enumerated() where mayLead(object, plan, place) {
                let field = plan.fields[index]
                field.field.addTargets(object._field(field.offset), encoder)
            }
            object._isBeingAdded = false
        }
        do throws(StorageError) {
            guard let key = try keyForNewRow(object, access, plan, transaction, policy) else { return }
            let cells = encoder.encode(object, access)
            do throws(StorageError) {
                try transaction.insert(access.table, key: key, cells)
            } catch .misuse(.duplicateKey) {
                return merge(object, access, plan, key, policy)
            }
            invalidatePlaces()
            bind(object, access, key, creation: writeVersion)
            bindFields(object, plan)
        } catch {
            fail(Realm.Error(error))
        }
    }

    /// The row key of a new object; nil when its primary key is there already and everything was done.
    private func keyForNewRow(
        _ object: ObjectBase, _ access: ClassAccess, _ plan: ClassPlan, _ transaction: WriteTransaction,
        _ policy: Realm.UpdatePolicy
    ) throws(StorageError) -> RowKey? {
        guard let primary = access.primary, let field = plan.primary else { return transaction.nextKey(access.table) }
        if primary.column == Int(ColumnSlot.key) {
            let key = rowKey(object._field(field.offset), field)
            if key.rawValue == LinkPayload.null {
                fail(Realm.Error(.invalidInput, "\(Int64.min) cannot be a primary key of '\(access.name)'"))
                return nil
            }
            return key
        }
        guard let value = field.field.stored(object._field(field.offset)) else { return nil }
        if let known = try find(access, primaryKey: value) {
            merge(object, access, plan, known, policy)
            return nil
        }
        return transaction.nextKey(access.table)
    }

    @inline(__always)
    private func rowKey(_ address: UnsafeMutableRawPointer, _ field: PlanField) -> RowKey {
        if field.field == Persisted<Int>.self {
            return RowKey(Int64(address.assumingMemoryBound(to: Int?.self).pointee ?? 0))
        }
        guard case .integer(let key)? = field.field.stored(address) else { return RowKey(0) }
        return RowKey(key)
    }

    /// Writes an object over the row that has its primary key, if the policy allows it.
    private func merge(
        _ object: ObjectBase, _ access: ClassAccess, _ plan: ClassPlan, _ key: RowKey, _ policy: Realm.UpdatePolicy
    ) {
        if policy == .error {
            let value = plan.primary.flatMap { $0.field.getAny(object._field($0.offset)) } ?? key.rawValue
            return fail(
                Realm.Error(
                    .duplicateKey,
                    "a \(access.name) with the primary key \(value) is there already; pass update: .modified or .all"))
        }
        guard let known = materialize(access, key) else { return }
        for (index, field) in plan.fields.enumerated() {
            let property = access.properties[index]
            guard property.column >= 0, !field.isPrimary else { continue }
            let new = field.field.getAny(object._field(field.offset))
            if policy == .modified, field.shape.collection == .none,
                let a = field.field.stored(object._field(field.offset)),
                let b = storedValue(known, property), a == b
            {
                continue
            }
            _ = field.field.setManagedAny(known, field.offset, new)
        }
        bind(object, access, key, creation: known._creation)
        bindFields(object, plan)
    }

    func storedValue(_ object: ObjectBase, _ property: BoundProperty) -> _StoredValue? {
        guard let view = currentView, object._stamp == stamp || object._relocate(), let location = object._location
        else { return nil }
        do throws(StorageError) { return try view.value(location, property.column, property.tag) } catch {
            noteDamage(Realm.Error(error))
            return nil
        }
    }

    /// Whether a field holds a list or a link that something has to be done about.
    @inline(__always)
    private func mayLead(_ object: ObjectBase, _ plan: ClassPlan, _ place: Int) -> Bool {
        let offset = plan.boundOffsets[place]
        return offset < 0 || object._holdsReference(offset)
    }

    @inline(__always)
    private func bindFields(_ object: ObjectBase, _ plan: ClassPlan) {
        for (place, index) in plan.bound.enumerated() where mayLead(object, plan, place) {
            let field = plan.fields[index]
            field.field.bind(object._field(field.offset), object, field.offset)
        }
    }
}
