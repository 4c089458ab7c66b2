import StrataStorage

extension RealmInstance {
    /// The object of a row; nil if there is none, or it cannot be read.
    /// - Complexity: O(log rows), and one object.
    func materialize(_ access: ClassAccess, _ key: RowKey) -> ObjectBase? {
        if currentView == nil || damage.isKnown && refuseLost(access, key) { return nil }
        return access.frame.pointee.view._withUnsafeGuaranteedRef { view in
            do throws(StorageError) {
                guard let (location, creation) = try view.locateCreated(access.table, key) else { return nil }
                let object = access.type.init()
                bind(object, access, key, creation: creation)
                object._location = location
                object._stamp = stamp
                if access.capturesKey { captureKey(object, access) }
                if access.bindsFields, let plan = access.plan { bindPlain(object, plan) }
                return object
            } catch {
                return unreadable(access, key, error)
            }
        }
    }

    /// Reports a row that is known to be lost; false for one that is not. Not inlined into ``materialize(_:_:)``, which
    /// iterations call for each row.
    @inline(never)
    private func refuseLost(_ access: ClassAccess, _ key: RowKey) -> Bool {
        guard failures.cannotRead(key.rawValue, access) else { return false }
        report(
            access.name, key.rawValue,
            "the \(access.name) with key \(key) cannot be read: its page is damaged; Realm.damage lists what is lost",
            isTold: true)
        return true
    }

    @inline(never)
    private func unreadable(_ access: ClassAccess, _ key: RowKey, _ error: StorageError) -> ObjectBase? {
        let isTold = failures.note(error, in: access)
        report(access.name, key.rawValue, RealmError(error).description, isTold: isTold)
        return nil
    }

    /// The object of a row, or an invalidated one if there is no such row; nil for an unreadable row.
    func materializeOrInvalid(_ access: ClassAccess, _ key: RowKey) -> ObjectBase? {
        materialize(access, key) ?? whatIsGone(access, key)
    }

    @inline(never)
    private func whatIsGone(_ access: ClassAccess, _ key: RowKey) -> ObjectBase? {
        failures.cannotRead(key.rawValue, access) ? nil : invalidObject(access, key: key)
    }

    /// A managed, invalidated object that stands for a row that does not exist.
    func invalidObject(_ access: ClassAccess, key: RowKey?) -> ObjectBase {
        let object = access.plan?.type.init() ?? DynamicObject()
        bind(object, access, key ?? RowKey(0), creation: 0)
        if let plan = access.plan, !plan.plainFields.isEmpty || plan.isEncodable { bindPlain(object, plan) }
        return object
    }

    /// Makes `object` an accessor of a row.
    @inline(__always)
    func bind(_ object: ObjectBase, _ access: ClassAccess, _ key: RowKey, creation: UInt64) {
        object._frame = access.frame
        object._owner = self
        object._key = key.rawValue
        object._creation = creation
        object._stamp = 0
        object._birthWrite = birthWrite(creation)
    }

    /// The number of the running write if it created the row; else 0.
    /// - Parameter creation: the row's creation version.
    @inline(__always)
    func birthWrite(_ creation: UInt64) -> UInt32 {
        guard let write, write.version == creation else { return 0 }
        return write.number
    }

    /// Binds fields without a wrapper to their columns. Marks the fields of an `Encodable` class, so that encoding one
    /// throws instead of taking the field's content for the row's value.
    func bindPlain(_ object: ObjectBase, _ plan: ClassPlan) {
        for field in plan.plainFields { field.field.bind(object._field(field.offset), object, field.offset) }
        if plan.isEncodable {
            for field in plan.fields where !field.isPlain { field.field.markManaged(object._field(field.offset)) }
        }
    }

    /// Reads a primary key that is not the row key once, so that it is still known after the row's deletion.
    func captureKey(_ object: ObjectBase, _ access: ClassAccess) {
        guard let primary = access.primary, primary.column >= 0, let field = access.plan?.primary else { return }
        field.field.capture(object._field(field.offset), object, field.offset)
    }

    /// A column's stored value; nil if the row is deleted or unreadable.
    func storedValue(_ object: ObjectBase, _ property: BoundProperty) -> _StoredValue? {
        guard let view = currentView, object._stamp == stamp || object._relocate(), let location = object._location
        else { return nil }
        do throws(StorageError) {
            let value = try view.value(location, property.column, property.tag)
            if value.isNull { reportMissing(object, column: property.column) }
            return value
        } catch {
            failures.note(error, in: object._access, failures.loss(object, column: property.column))
            return nil
        }
    }

    /// Reports as damage a null of an existing row in a column that requires a value: the file breaks a rule of its
    /// format.
    func reportMissing(_ object: ObjectBase, column: Int) {
        guard let view = currentView, let location = object._location,
            view.schema.tables[Int(location.table)].columns[column].isRequired
        else { return }
        do throws(StorageError) { if try !view.isNull(location, column, object._access) { return } } catch {
            // The read that found no value has reported it.
            return
        }
        reportDamage(object, view.damage(at: location), column: column)
    }

    /// The value of a column of any type, with its object if it is a link.
    func anyValue(_ object: ObjectBase, _ property: BoundProperty) -> AnyRealmValue? {
        checkConfinement()
        guard property.column >= 0, object._isCurrent || object._relocate(), let view = currentView,
            let location = object._location
        else { return nil }
        do throws(StorageError) {
            let bytes = try view.withBytes(location, column: property.column) { AnyRealmValue.beginning(of: $0) }
            guard let bytes else { return nil }
            if let isKeyed = NestedEncoding.isKeyed(bytes.first) {
                let position = object._access.place(ofColumn: property.column)
                return position.map { AnyRealmValue.own(isKeyed, object, $0) }
            }
            if let value = bytes.withUnsafeBytes({ AnyEncoding.decode($0, find: self.object(of:)) }) { return value }
            throw view.damage(at: location)
        } catch {
            reportDamage(object, error, column: property.column)
            return nil
        }
    }

    // MARK: Forwarding to the running write

    /// Adds an unmanaged object, and all objects it leads to, to this Realm. A managed one has to belong to it already.
    func add(_ object: ObjectBase, _ policy: Realm.UpdatePolicy) {
        if object._frame != nil { return checkManagedHere(object) }
        requireWrite(type(of: object).className())?.add(object, policy)
    }

    /// Whether an object is a live one of this file, so that it can be linked to directly.
    func manages(_ object: ObjectBase) -> Bool {
        guard let other = object._instance else { return false }
        return other.file.store === file.store && !other.isFrozen
    }

    private func checkManagedHere(_ object: ObjectBase) {
        guard manages(object) else {
            return fail(
                RealmError(
                    .invalidInput, "the \(object._access.name) belongs to another Realm; create a copy with create"))
        }
        if object.isInvalidated { fail(object._access.deletedError(object)) }
    }

    /// Creates an object from a dictionary, an array or another object, or updates the one with its primary key.
    func create(_ access: ClassAccess, _ value: Any, _ policy: Realm.UpdatePolicy) -> ObjectBase {
        guard let write = requireWrite(access.name) else { return invalidObject(access, key: nil) }
        return ObjectMaker(write).create(access, value, policy)
    }

    /// Writes one column of a managed object.
    func store(in object: ObjectBase, access: ClassAccess, column: Int, value: _StoredValue) {
        requireWrite(access.name)?.store(in: object, access: access, column: column, value: value)
    }

    /// The key for a link to `object`; an unmanaged object is added first. Nil, with the write failed, if that is
    /// impossible.
    func linkKey(of object: ObjectBase) -> RowKey? {
        // Outside a write the caller's change is refused next, with a message of its own.
        if write == nil, object._frame != nil { return RowKey(object._key) }
        return requireWrite(type(of: object).className())?.linkKey(of: object)
    }

    /// Deletes objects, and others by the delete rules of their classes.
    func delete(_ objects: [ObjectBase]) {
        objects.withUnsafeBytes { delete($0.assumingMemoryBound(to: Unmanaged<ObjectBase>.self)) }
    }

    /// As ``delete(_:)``, for objects that the caller retains.
    func delete(_ objects: UnsafeBufferPointer<Unmanaged<ObjectBase>>) {
        var rows: [DeleteRun.Row] = []
        rows.reserveCapacity(objects.count)
        // The last object that was checked. One with the same frame is of its class and Realm, and with the present
        // stamp it exists: neither is checked again.
        var known: (frame: UnsafeMutablePointer<_ClassFrame>, access: Unmanaged<ClassAccess>)?
        for object in objects {
            let isKnown = object._withUnsafeGuaranteedRef { $0._frame == known?.frame && $0._stamp == stamp }
            if isKnown, let known {
                let key = object._withUnsafeGuaranteedRef { $0._key }
                rows.append(DeleteRun.Row(access: known.access._withUnsafeGuaranteedRef { $0 }, key: key))
                continue
            }
            let next = object.takeUnretainedValue()
            guard let access = accessForDeletion(of: next) else { return }
            rows.append(DeleteRun.Row(access: access, key: next._key))
            known = next._frame.flatMap { $0 == access.frame ? ($0, .passUnretained(access)) : nil }
        }
        #if Zoo
            if PlantedMistake.deleteNeighbour.isPlanted { for place in rows.indices { rows[place].key += 1 } }
            if PlantedMistake.deleteSliceShort.isPlanted, rows.count > 1 { rows.removeLast() }
        #endif
        write?.delete(rows)
    }

    /// The access of an object's class in this instance; nil, with the write failed, if the object cannot be deleted.
    private func accessForDeletion(of object: ObjectBase) -> ClassAccess? {
        guard object._frame != nil, let other = object._instance, other.file.store === file.store, !other.isFrozen
        else {
            if !isInWrite { fatalError("delete works inside a write only") }
            fail(RealmError(.invalidInput, "only objects of this Realm can be deleted from it; thaw frozen ones"))
            return nil
        }
        let access = object._access
        guard requireWrite(access.name) != nil else { return nil }
        if object._stamp != stamp || other !== self, let error = access.tryRelocate(object) {
            fail(error)
            return nil
        }
        return twin(of: access) ?? access
    }

    func deleteAll() {
        checkConfinement()
        guard let write, let view = currentView else {
            fatalError("deleteAll works inside a write only")
        }
        write.deleteAll(view.schema.tables.indices)
    }

    /// The running write; stops the program if there is none. Nil, with the migration failed, for the old side of a
    /// migration.
    /// - Parameter name: the class to be changed.
    func requireWrite(_ name: @autoclosure () -> String) -> RunningWrite? {
        checkConfinement()
        if let target = migration?.target {
            target.fail(
                RealmError(
                    .wrongState, "an old \(name()) has the values before the migration; change the new object"))
            return nil
        }
        if isFrozen { fatalError("a frozen \(name()) cannot be changed; thaw it first") }
        guard let write else {
            fatalError("a managed \(name()) can be changed inside a write only: realm.write { ... }")
        }
        return write
    }
}
