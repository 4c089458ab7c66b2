import StrataStorage

/// Adds unmanaged objects to a Realm, with all objects they lead to. An object whose primary key exists overwrites that
/// row, if the update policy allows it.
struct ObjectAdder {
    private let write: RunningWrite
    private let encoder: _RowEncoder
    private let policy: Realm.UpdatePolicy

    /// An object that overwrites an existing row, and whose fields have not been written yet.
    private struct Merge {
        let object: ObjectBase
        let access: ClassAccess
        let plan: ClassPlan
        let known: ObjectBase
        /// One for each field of the plan.
        let values: [KeptValue]
    }

    /// The value of a field, read before the field's object becomes the accessor of the row that it overwrites.
    private enum KeptValue {
        /// Of a type that leads to no object, as the column stores it: without a box, and without casts later.
        case stored(_StoredValue)
        case any(Any?)

        init(_ field: PlanField, of object: ObjectBase) {
            let address = object._field(field.offset)
            if !field.isBound, let stored = field.field.stored(address) {
                self = .stored(stored)
            } else {
                self = .any(field.field.getAny(address))
            }
        }
    }

    init(_ write: RunningWrite, _ policy: Realm.UpdatePolicy) {
        self.write = write
        encoder = write.encoder
        self.policy = policy
    }

    /// Adds one object, after all objects it leads to.
    ///
    /// Without recursion: a chain of any length takes no stack.
    /// - Complexity: O(log rows) per object, without allocation in the object layer if all fields are plain values.
    func add(_ object: ObjectBase) {
        let instance = write.instance
        let access = instance.access(for: type(of: object))
        let targets = expand(object, access)
        if targets.isEmpty { return insert(object, access) }
        var stack = [(object: object, isExpanded: true)]
        stack += targets.reversed().map { ($0, false) }
        while write.failure == nil, let (next, isExpanded) = stack.popLast() {
            if next._frame != nil { continue }
            let access = instance.access(for: type(of: next))
            if isExpanded {
                insert(next, access)
            } else if !next._isBeingAdded {
                let targets = expand(next, access)
                stack.append((next, true))
                stack += targets.reversed().map { ($0, false) }
            }
        }
        for (left, _) in stack { left._isBeingAdded = false }
    }

    /// Marks an object as being added, and finds what has to be added before it.
    /// - Returns: the unmanaged objects it leads to that are not being added yet.
    private func expand(_ object: ObjectBase, _ access: ClassAccess?) -> [ObjectBase] {
        guard let access, let plan = access.plan, !plan.bound.isEmpty else { return [] }
        // If the object overwrites a row, its embedded objects are not added before: they overwrite or replace that
        // row's own.
        let keepsChildren = policy != .error && !access.parental.isEmpty && knownRow(object, access, plan) != nil
        object._isBeingAdded = true
        for (place, index) in plan.bound.enumerated() where mayLead(object, plan, place) {
            let field = plan.fields[index]
            if field.isParental && keepsChildren { continue }
            field.field.addTargets(object._field(field.offset), encoder)
        }
        return encoder.takeTargets()
    }

    /// Adds the row of an object. The objects it leads to have rows, or are being added themselves: a cycle.
    private func insert(_ object: ObjectBase, _ access: ClassAccess?) {
        object._isBeingAdded = false
        guard let access, let plan = access.plan else {
            return write.fail(ClassPlan.refusal(of: type(of: object)))
        }
        do throws(StorageError) {
            if policy != .error, !access.parental.isEmpty, let known = knownRow(object, access, plan) {
                return merge(object, access: access, plan: plan, into: known)
            }
            guard let key = try keyForNewRow(object, access, plan) else { return }
            let cells = encoder.encode(object, access)
            if write.failure != nil { return }
            do throws(StorageError) {
                try write.insert(access, key, cells)
            } catch .misuse(.duplicateKey) {
                return merge(object, access: access, plan: plan, into: key)
            }
            write.instance.bind(object, access, key, creation: write.version)
            bindFields(object, plan)
            if access.isEmbedded { write.noteParentless(access, key.rawValue) }
        } catch {
            write.fail(RealmError(error))
        }
    }

    /// The key of the row that has the primary key of an unmanaged object; nil if there is none.
    private func knownRow(_ object: ObjectBase, _ access: ClassAccess, _ plan: ClassPlan) -> RowKey? {
        guard let field = plan.primary, let value = field.field.stored(object._field(field.offset)),
            !plan.isUnnumbered(value)
        else { return nil }
        do throws(StorageError) { return try PrimaryKeyLookup(access).row(of: value) } catch {
            write.fail(RealmError(error))
            return nil
        }
    }

    /// The key for the row of a new object. Nil if there is nothing to insert: its primary key exists, and the object
    /// has overwritten that row or was refused; or it cannot be a key, and the write has failed.
    private func keyForNewRow(
        _ object: ObjectBase, _ access: ClassAccess, _ plan: ClassPlan
    ) throws(StorageError) -> RowKey? {
        if access.rowKeyOffset >= 0 {
            let key = object._field(access.rowKeyOffset).assumingMemoryBound(to: Int?.self).pointee ?? 0
            if Int64(key) != LinkPayload.null { return RowKey(Int64(key)) }
        }
        guard let primary = access.primary, let field = plan.primary else {
            return write.transaction.nextKey(access.table)
        }
        if primary.column == Int(ColumnSlot.key) {
            let key = rowKey(object._field(field.offset), field)
            if field.isAutoIncrement, key.rawValue == 0 {
                return try write.number(object, access, field)
            }
            if key.rawValue == LinkPayload.null {
                write.fail(RealmError(.invalidInput, "\(Int64.min) cannot be a primary key of '\(access.name)'"))
                return nil
            }
            return key
        }
        guard let value = field.field.stored(object._field(field.offset)) else { return nil }
        if plan.isUnnumbered(value) { return try write.number(object, access, field) }
        if let known = try PrimaryKeyLookup(access).row(of: value) {
            merge(object, access: access, plan: plan, into: known)
            return nil
        }
        return KeyNumbers.rowKey(for: value, access, write.transaction)
    }

    @inline(__always)
    private func rowKey(_ address: UnsafeMutableRawPointer, _ field: PlanField) -> RowKey {
        if field.field == Persisted<Int>.self {
            return RowKey(Int64(address.assumingMemoryBound(to: Int?.self).pointee ?? 0))
        }
        guard case .integer(let key)? = field.field.stored(address) else { return RowKey(0) }
        return RowKey(key)
    }

    /// Overwrites the row that has the object's primary key, if the policy allows it, and the rows of its embedded
    /// objects at any depth, without recursion.
    private func merge(_ object: ObjectBase, access: ClassAccess, plan: ClassPlan, into key: RowKey) {
        if policy == .error {
            let value = plan.primary.flatMap { $0.field.getAny(object._field($0.offset)) } ?? key.rawValue
            return write.fail(
                RealmError(
                    .duplicateKey,
                    "a \(access.name) with the primary key \(value) is there already; pass update: .modified or .all"))
        }
        var waiting: [Merge] = []
        beginMerge(object, access: access, plan: plan, into: key, waiting: &waiting)
        while let next = waiting.popLast() { writeFields(of: next, &waiting) }
    }

    /// Makes an object the accessor of the row that it overwrites, and keeps its values: they are written later.
    private func beginMerge(
        _ object: ObjectBase, access: ClassAccess, plan: ClassPlan, into key: RowKey, waiting: inout [Merge]
    ) {
        guard let known = write.instance.materialize(access, key) else {
            return write.fail(write.instance.failures.refusal(key, access))
        }
        let values = plan.fields.map { KeptValue($0, of: object) }
        // From here on a link to the object finds its row.
        write.instance.bind(object, access, key, creation: known._creation)
        waiting.append(Merge(object: object, access: access, plan: plan, known: known, values: values))
    }

    /// Writes the kept values of an object into its row.
    private func writeFields(of merge: Merge, _ waiting: inout [Merge]) {
        let (access, plan) = (merge.access, merge.plan)
        for (index, kept) in merge.values.enumerated() {
            let property = access.properties[index]
            if property.column < 0 || property.isPrimary { continue }
            switch kept {
            case .stored(let value):
                write.store(
                    in: merge.known, access: access, column: property.column, value: value,
                    skipsEqual: policy == .modified)
            case .any(let value):
                writeField(plan.fields[index], of: property, value: value, into: merge.known, waiting: &waiting)
            }
        }
        bindFields(merge.object, plan)
    }

    /// Writes the value of a field that may lead to objects, or is a collection.
    private func writeField(
        _ field: PlanField, of property: BoundProperty, value: Any?, into known: ObjectBase, waiting: inout [Merge]
    ) {
        if policy == .modified {
            if mergeChild(value, into: known, property, &waiting) { return }
            mergeChildren(value, into: known, property, &waiting)
        }
        if isWaiting(value) {
            let value = (value as? any _ColumnCollection).map { $0.copied() as Any } ?? value
            return write.postpone { _ = field.field.setManagedAny(known, field.offset, value) }
        }
        if policy == .modified {
            switch encoded(value, of: field, property) {
            case .stored(let stored):
                return write.store(
                    in: known, access: known._access, column: property.column, value: stored, skipsEqual: true)
            case .refused: return
            case .notComparable: break
            }
        }
        _ = field.field.setManagedAny(known, field.offset, value)
    }

    private enum Encoded {
        case stored(_StoredValue)
        /// The value cannot be stored. The write has failed, and leaves the stored value.
        case refused
        /// A collection, whose elements are compared one by one, or a custom type's value that is stored as an embedded
        /// object. Each request for that object makes a new one, which equals none.
        case notComparable
    }

    /// A value as its column stores it, for the comparison with the stored one.
    private func encoded(_ value: Any?, of field: PlanField, _ property: BoundProperty) -> Encoded {
        if property.isCollection { return .notComparable }
        if property.tag.isOptional, _flatten(value) == nil { return .stored(.null) }
        switch property.tag.type {
        case .any:
            guard let any = anyValue(value) else { return .notComparable }
            return any.encoded(in: write.instance).map { .stored($0) } ?? .refused
        case .object:
            guard let object = _object(in: value) else { return .notComparable }
            return write.linkKey(of: object).map { .stored(.link($0.rawValue)) } ?? .refused
        default: return field.field.plain(value).map { .stored($0) } ?? .notComparable
        }
    }

    /// A value of any type, or the one as which a custom type is stored.
    private func anyValue(_ value: Any?) -> AnyRealmValue? {
        guard let custom = value as? any FailableCustomPersistable else { return AnyRealmValue(any: value) }
        return anyValue(custom.persistableValue)
    }

    /// Lets an unmanaged embedded object overwrite the one that the property links to, so that only differences are
    /// written.
    /// - Returns: false if there is no such pair.
    private func mergeChild(
        _ value: Any?, into owner: ObjectBase, _ property: BoundProperty, _ waiting: inout [Merge]
    ) -> Bool {
        guard property.isParental, !property.isCollection, let new = _object(in: value), new._frame == nil,
            let target = write.instance.access(for: type(of: new)), let plan = target.plan,
            let key = write.children(owner, property).first
        else { return false }
        beginMerge(new, access: target, plan: plan, into: RowKey(key), waiting: &waiting)
        return true
    }

    /// Lets the embedded objects of an unmanaged list overwrite those at the same places. The list itself is written
    /// before them, and has its final length then.
    private func mergeChildren(
        _ value: Any?, into owner: ObjectBase, _ property: BoundProperty, _ waiting: inout [Merge]
    ) {
        guard property.isParental, property.isList, let list = _flatten(value) as? any _ColumnCollection,
            list._column == nil
        else { return }
        for (new, key) in zip(list._unmanagedObjects, write.children(owner, property)) where new._frame == nil {
            guard let target = write.instance.access(for: type(of: new)), let plan = target.plan else { continue }
            beginMerge(new, access: target, plan: plan, into: RowKey(key), waiting: &waiting)
        }
    }

    /// Whether a field leads to an object that is being added and has no row yet.
    private func isWaiting(_ value: Any?) -> Bool {
        guard let value = _flatten(value) else { return false }
        if let object = _object(in: value) { return object._frame == nil && object._isBeingAdded }
        guard let collection = value as? any _ColumnCollection, collection._column == nil else { return false }
        return collection._unmanagedObjects.contains { $0._frame == nil && $0._isBeingAdded }
    }

    /// Whether a field may lead to an object, or has to be bound: not if it is a single word without a reference.
    @inline(__always)
    private func mayLead(_ object: ObjectBase, _ plan: ClassPlan, _ place: Int) -> Bool {
        let offset = plan.boundOffsets[place]
        return offset < 0 || object._holdsReference(offset)
    }

    @inline(__always)
    private func bindFields(_ object: ObjectBase, _ plan: ClassPlan) {
        if plan.isEncodable { write.instance.bindPlain(object, plan) }
        for (place, index) in plan.bound.enumerated() where mayLead(object, plan, place) {
            let field = plan.fields[index]
            field.field.bind(object._field(field.offset), object, field.offset)
        }
    }
}
