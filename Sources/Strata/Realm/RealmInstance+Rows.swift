import StrataStorage

extension RealmInstance {
    /// The object of a row; nil when there is none.
    /// - Complexity: O(log rows), and one object.
    func materialize(_ access: ClassAccess, _ key: RowKey) -> ObjectBase? {
        if currentView == nil { return nil }
        return access.frame.pointee.view._withUnsafeGuaranteedRef { view in
            do throws(StorageError) {
                guard let location = try view.locate(access.table, key) else { return nil }
                let creation = try view.creationVersion(location).rawValue
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

    @inline(never)
    private func unreadable(_ access: ClassAccess, _ key: RowKey, _ error: StorageError) -> ObjectBase? {
        noteDamage(Realm.Error(error))
        report(access.name, key.rawValue, Realm.Error(error).description)
        return nil
    }

    /// The object of a row, or one that was never there.
    func materializeOrInvalid(_ access: ClassAccess, _ key: RowKey) -> ObjectBase {
        materialize(access, key) ?? invalidObject(access, key: key)
    }

    /// What stands for an element that is gone: managed, invalidated from the start.
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
        object._birthWrite = creation == writeVersion && creation != 0 ? writeNumber : 0
    }

    /// Makes fields that have no wrapper views of their columns, and tells an encoder that fields hold no values.
    func bindPlain(_ object: ObjectBase, _ plan: ClassPlan) {
        for field in plan.plainFields { field.field.bind(object._field(field.offset), object, field.offset) }
        if plan.isEncodable {
            for field in plan.fields where !field.isPlain { field.field.markManaged(object._field(field.offset)) }
        }
    }

    /// A primary key that is not the row's key is read once, so that it outlives the row.
    private func captureKey(_ object: ObjectBase, _ access: ClassAccess) {
        guard let primary = access.primary, primary.column >= 0, let field = access.plan?.primary else { return }
        field.field.capture(object._field(field.offset), object, field.offset)
    }

    /// The row of a primary key.
    /// - Complexity: O(log rows).
    func find(_ access: ClassAccess, primaryKey value: _StoredValue) throws(StorageError) -> RowKey? {
        guard let view = currentView, let primary = access.primary else { return nil }
        if primary.column == Int(ColumnSlot.key) {
            guard case .integer(let key) = value else { return nil }
            return try view.locate(access.table, RowKey(key)) == nil ? nil : RowKey(key)
        }
        if value.isNull {
            // An index need not answer for null.
            return try firstRow(access, primary.column, view) { $0.isNull }
        }
        let column = primary.column
        let table = access.table
        return try value.withCell { (cell) throws(StorageError) in try view.rows(table, column, equalTo: cell).first }
    }

    private func firstRow(
        _ access: ClassAccess, _ column: Int, _ view: ReadView, _ matches: (_StoredValue) -> Bool
    ) throws(StorageError) -> RowKey? {
        let tag = access.properties.first { $0.column == column }?.tag
        for key in try view.keys(access.table) {
            guard let tag, let location = try view.locate(access.table, RowKey(key)) else { continue }
            if matches(try view.value(location, column, tag)) { return RowKey(key) }
        }
        return nil
    }

    /// The key by which `object` can be linked to; an unmanaged object is added first. Nil, and the write marked, when
    /// it cannot.
    func linkKey(of object: ObjectBase) -> RowKey? {
        if object._frame == nil { add(object, encoder.policy) }
        guard let other = object._instance else { return nil }
        if other.kind == .migrationSource, isMigration {
            if let twin = twin(of: object) { return RowKey(twin._key) }
            fail(object._access.deletedError(object))
            return nil
        }
        if other === self || (other.store === store && !other.isFrozen) {
            if object._access.instance.isInWrite || !object.isInvalidated { return checkedKey(object) }
        }
        let reason =
            other.store === store && !other.isFrozen
            ? object._access.deletedError(object)
            : Realm.Error(.invalidInput, "the \(object._access.name) belongs to another or to a frozen Realm; thaw it")
        fail(reason)
        return nil
    }

    private func checkedKey(_ object: ObjectBase) -> RowKey? {
        if object.isInvalidated {
            fail(object._access.deletedError(object))
            return nil
        }
        return RowKey(object._key)
    }

    /// Writes one column of a managed object.
    func store(_ object: ObjectBase, _ access: ClassAccess, _ column: Int, _ value: _StoredValue) {
        guard let transaction = requireWrite(access) else { return }
        if object._stamp != stamp, !isWalked(object, access, column), let error = access.tryRelocate(object) {
            return fail(error)
        }
        if let primary = access.primary, primary.column == column, column != Int(ColumnSlot.none) {
            return checkUnchangedKey(object, access, primary, value)
        }
        guard column >= 0 else {
            return fail(Realm.Error(.invalidInput, "a property of '\(access.name)' that the file does not keep"))
        }
        if skipsEqual, isStored(value, object, column) { return }
        marks.markSet(access.table, column, object._key, stamp &+ 1)
        noteUnique(access, object._key, column: column)
        var orphans: [Int64] = []
        let children = access.parental.isEmpty ? nil : access.parental[column]
        if let children, let target = access.target(of: children) {
            let new = value.linkKey.map { [$0] } ?? value.linkKeys
            guard let gone = adopt(new, over: self.children(object, children), target) else { return }
            orphans = gone
        }
        do throws(StorageError) {
            let key = RowKey(object._key)
            let table = access.table
            try value.withCell { (cell) throws(StorageError) in try transaction.set(table, key, column, cell) }
        } catch {
            fail(Realm.Error(error))
        }
        invalidateMarked()
        if let children, let target = access.target(of: children) { deleteChildren(orphans, target) }
    }

    /// Whether a column holds a value already, bit by bit.
    private func isStored(_ value: _StoredValue, _ object: ObjectBase, _ column: Int) -> Bool {
        guard let view = currentView, object._stamp == stamp || object._relocate(), let location = object._location
        else { return false }
        do throws(StorageError) {
            switch value {
            case .integer(let wanted), .link(let wanted): return try view.integer(location, column) == wanted
            case .double(let wanted): return try view.double(location, column)?.bitPattern == wanted.bitPattern
            case .text(let wanted): return try view.bytes(location, column)?.elementsEqual(wanted.utf8) ?? false
            case .bytes(let wanted):
                guard let known = try view.bytes(location, column) else {
                    if !wanted.isEmpty { return false }
                    return try !isNull(view, location, column, object._access)
                }
                return known.elementsEqual(wanted)
            case .decimal(let wanted):
                return try view.bytes(location, column)?.elementsEqual(wanted.storedBytes) ?? false
            case .null: return try isNull(view, location, column, object._access)
            }
        } catch {
            return false
        }
    }

    private func isNull(
        _ view: ReadView, _ location: RowLocation, _ column: Int, _ access: ClassAccess
    ) throws(StorageError) -> Bool {
        guard let tag = access.properties.first(where: { $0.column == column })?.tag, tag.collection == .none else {
            return false
        }
        switch tag.columnType {
        case .integer, .link: return try view.integer(location, column) == nil
        case .double: return try view.double(location, column) == nil
        case .bytes, .links: return try view.bytes(location, column) == nil
        }
    }

    /// Whether a migration is at this row, so that it need not be looked for: that would make storage settle the writes
    /// of every row by themselves.
    @inline(__always)
    private func isWalked(_ object: ObjectBase, _ access: ClassAccess, _ column: Int) -> Bool {
        guard let walkedRow else { return false }
        return walkedRow.table == access.table && walkedRow.key == object._key
            && walkedRow.creation == object._creation && access.primary?.column != column
    }

    /// Writing the primary key that is there already is allowed.
    private func checkUnchangedKey(
        _ object: ObjectBase, _ access: ClassAccess, _ primary: BoundProperty, _ value: _StoredValue
    ) {
        if isMigration, primary.column >= 0 { return storeKeyInMigration(object, access, primary, value) }
        guard let view = currentView, let location = object._location else { return }
        do throws(StorageError) {
            let known =
                primary.column >= 0
                ? try view.value(location, primary.column, primary.tag) : _StoredValue.integer(object._key)
            if known != value {
                fail(
                    Realm.Error(
                        .invalidInput, "the primary key '\(access.name).\(primary.name)' cannot change once managed"))
            }
        } catch {
            fail(Realm.Error(error))
        }
    }

    /// A migration may fill a new primary key; its uniqueness is checked at the end.
    private func storeKeyInMigration(
        _ object: ObjectBase, _ access: ClassAccess, _ primary: BoundProperty, _ value: _StoredValue
    ) {
        guard let transaction else { return }
        do throws(StorageError) {
            try value.withCell { (cell) throws(StorageError) in
                try transaction.set(access.table, RowKey(object._key), primary.column, cell)
            }
        } catch {
            fail(Realm.Error(error))
        }
        invalidatePlaces()
    }

    /// The running transaction; stops the program outside of one.
    func requireWrite(_ access: ClassAccess) -> WriteTransaction? {
        checkConfinement()
        if kind == .migrationSource, let failing {
            failing.fail(
                Realm.Error(
                    .wrongState, "an old \(access.name) shows what was before the migration; change the new object"))
            return nil
        }
        if isFrozen { fatalError("a frozen \(access.name) cannot be changed; thaw it first") }
        guard let transaction else {
            fatalError("a managed \(access.name) can be changed inside a write only: realm.write { ... }")
        }
        return transaction
    }
}

extension ReadView {
    /// A column as it is stored: what is copied from row to row.
    func rawValue(_ row: RowLocation, _ column: Int, _ tag: ColumnTag) throws(StorageError) -> _StoredValue {
        switch tag.columnType {
        case .integer: return try integer(row, column).map { .integer($0) } ?? .null
        case .link: return try integer(row, column).map { .link($0) } ?? .null
        case .double: return try double(row, column).map { .double($0) } ?? .null
        case .bytes, .links: return try bytes(row, column).map { .bytes(Array($0)) } ?? .null
        }
    }

    /// A column as the value that queries, lists and dynamic access work with.
    func value(_ row: RowLocation, _ column: Int, _ tag: ColumnTag) throws(StorageError) -> _StoredValue {
        switch tag.columnType {
        case .integer: return try integer(row, column).map { .integer($0) } ?? .null
        case .link: return try integer(row, column).map { .link($0) } ?? .null
        case .double: return try double(row, column).map { .double($0) } ?? .null
        case .bytes, .links:
            guard let bytes = try bytes(row, column) else { return .null }
            return _StoredValue(bytes, tag)
        }
    }
}
