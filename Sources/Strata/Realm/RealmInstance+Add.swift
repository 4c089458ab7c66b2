import StrataStorage

extension RealmInstance {
    /// Makes an unmanaged object, and everything that it leads to, part of this Realm.
    func add(_ object: ObjectBase, _ policy: Realm.UpdatePolicy) {
        if object._frame != nil { return checkManagedHere(object) }
        // Taken once: each look at a property that holds an object counts it up and down.
        let encoder = encoder
        let (outer, isOutermost) = (encoder.policy, !isAdding)
        encoder.policy = policy
        isAdding = true
        addRow(object, policy, encoder)
        if isOutermost {
            if !encoder.deferred.isEmpty { finishDeferred() }
            isAdding = false
        }
        encoder.policy = outer
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
        while !encoder.deferred.isEmpty {
            for write in encoder.takeDeferred() where failure == nil { write() }
        }
    }

    /// Adds one object, and before it everything that it leads to.
    ///
    /// Without recursion: a chain of any length takes no stack.
    /// - Complexity: O(log rows) per object, without allocation in the object layer when all fields are plain values.
    private func addRow(_ object: ObjectBase, _ policy: Realm.UpdatePolicy, _ encoder: _RowEncoder) {
        let access = access(for: type(of: object))
        let targets = expand(object, access, policy, encoder)
        if targets.isEmpty { return insertRow(object, access, policy, encoder) }
        var stack = [(object: object, isExpanded: true)]
        stack += targets.reversed().map { ($0, false) }
        while failure == nil, let (next, isExpanded) = stack.popLast() {
            if next._frame != nil { continue }
            let access = self.access(for: type(of: next))
            if isExpanded {
                insertRow(next, access, policy, encoder)
            } else if !next._isBeingAdded {
                let targets = expand(next, access, policy, encoder)
                stack.append((next, true))
                stack += targets.reversed().map { ($0, false) }
            }
        }
        for (left, _) in stack { left._isBeingAdded = false }
    }

    /// Marks an object as being added.
    /// - Returns: the unmanaged objects that it leads to and that are not being added yet.
    private func expand(
        _ object: ObjectBase, _ access: ClassAccess?, _ policy: Realm.UpdatePolicy, _ encoder: _RowEncoder
    ) -> [ObjectBase] {
        guard let access, let plan = access.plan, !plan.bound.isEmpty else { return [] }
        // Children of a row that is there are written into it, or in the place of its own.
        let keepsChildren = policy != .error && !access.parental.isEmpty && knownRow(object, access, plan) != nil
        object._isBeingAdded = true
        for (place, index) in plan.bound.enumerated() where mayLead(object, plan, place) {
            let field = plan.fields[index]
            if field.isParental && keepsChildren { continue }
            field.field.addTargets(object._field(field.offset), encoder)
        }
        return encoder.takeTargets()
    }

    /// Adds the row of an object whose targets are there, or are being added themselves.
    private func insertRow(
        _ object: ObjectBase, _ access: ClassAccess?, _ policy: Realm.UpdatePolicy, _ encoder: _RowEncoder
    ) {
        object._isBeingAdded = false
        guard let access, let plan = access.plan else {
            return fail(
                Realm.Error(.schemaMismatch, "'\(type(of: object).className())' is not a class of this Realm"))
        }
        guard let transaction = requireWrite(access) else { return }
        do throws(StorageError) {
            if policy != .error, !access.parental.isEmpty, let known = knownRow(object, access, plan) {
                return merge(object, access, plan, known, policy)
            }
            guard let key = try keyForNewRow(object, access, plan, transaction, policy) else { return }
            let cells = encoder.encode(object, access)
            if failure != nil { return }
            do throws(StorageError) {
                try transaction.insert(access.table, key: key, cells)
            } catch .misuse(.duplicateKey) {
                return merge(object, access, plan, key, policy)
            }
            marks.markInserted(access.table, key.rawValue, stamp &+ 1)
            noteUnique(access, key.rawValue)
            invalidateMarked()
            bind(object, access, key, creation: writeVersion)
            bindFields(object, plan)
            if access.isEmbedded { noteUnowned(access, key.rawValue) }
        } catch {
            fail(Realm.Error(error))
        }
    }

    /// The row that has the primary key of an unmanaged object.
    private func knownRow(_ object: ObjectBase, _ access: ClassAccess, _ plan: ClassPlan) -> RowKey? {
        guard let field = plan.primary, let value = field.field.stored(object._field(field.offset)),
            !isUnnumbered(plan, value)
        else { return nil }
        do throws(StorageError) { return try find(access, primaryKey: value) } catch {
            fail(Realm.Error(error))
            return nil
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
            if field.isAutoIncrement, key.rawValue == 0 {
                return try number(object, access, field, transaction)
            }
            if key.rawValue == LinkPayload.null {
                fail(Realm.Error(.invalidInput, "\(Int64.min) cannot be a primary key of '\(access.name)'"))
                return nil
            }
            return key
        }
        guard let value = field.field.stored(object._field(field.offset)) else { return nil }
        if isUnnumbered(plan, value) { return try number(object, access, field, transaction) }
        if let known = try find(access, primaryKey: value) {
            merge(object, access, plan, known, policy)
            return nil
        }
        return rowKey(forNumber: value, access, transaction)
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
        let values = plan.fields.map { $0.field.getAny(object._field($0.offset)) }
        // From here on links that lead back to the object find its row.
        bind(object, access, key, creation: known._creation)
        let outer = skipsEqual
        skipsEqual = policy == .modified
        for (index, field) in plan.fields.enumerated()
        where access.properties[index].column >= 0 && !field.isPrimary {
            if policy == .modified, mergeChild(values[index], into: known, access.properties[index]) { continue }
            if isWaiting(values[index]) {
                let value = (values[index] as? any _ColumnCollection).map { $0.copied() as Any } ?? values[index]
                encoder.postpone { _ = field.field.setManagedAny(known, field.offset, value) }
            } else {
                _ = field.field.setManagedAny(known, field.offset, values[index])
            }
        }
        skipsEqual = outer
        bindFields(object, plan)
    }

    /// Writes an unmanaged embedded object over the one that is there, so that only what differs changes.
    private func mergeChild(_ value: Any?, into owner: ObjectBase, _ property: BoundProperty) -> Bool {
        guard property.isParental, !property.isCollection, let new = _flatten(value) as? ObjectBase, new._frame == nil,
            let target = access(for: type(of: new)), let plan = target.plan,
            let key = children(owner, property).first
        else { return false }
        merge(new, target, plan, RowKey(key), .modified)
        return true
    }

    /// Whether a field leads to an object whose own row is not there yet.
    private func isWaiting(_ value: Any?) -> Bool {
        guard let value = _flatten(value) else { return false }
        if let object = value as? ObjectBase { return object._frame == nil && object._isBeingAdded }
        guard let collection = value as? any _ColumnCollection, collection._column == nil else { return false }
        return collection._unmanagedObjects.contains { $0._frame == nil && $0._isBeingAdded }
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
        if plan.isEncodable { bindPlain(object, plan) }
        for (place, index) in plan.bound.enumerated() where mayLead(object, plan, place) {
            let field = plan.fields[index]
            field.field.bind(object._field(field.offset), object, field.offset)
        }
    }
}
