import StrataStorage

/// A running write of a Realm: its transaction, and all state that lasts until the write's end.
///
/// Made when the write begins and released when it ends, so that no state of one write reaches the next.
///
/// Concurrency: confined with its Realm.
final class RunningWrite {
    /// The instance owns this object.
    unowned(unsafe) let instance: RealmInstance
    let transaction: WriteTransaction
    let encoder: _RowEncoder
    /// Which write of the Realm it is, counted from 1.
    let number: UInt32
    /// The creation version of the rows that it adds.
    let version: UInt64
    /// The Realm's stamp at the begin. While the Realm still has it, the write has changed nothing.
    private let stampAtBegin: UInt64
    /// Why the write must not be committed; nil if it may.
    @exclusivity(unchecked) private(set) var failure: RealmError?
    /// Embedded objects that the write has added and that no parent links to yet.
    @exclusivity(unchecked) private(set) var parentless: Set<EmbeddedRow> = []
    /// The rows whose unique keys are checked before the commit.
    @exclusivity(unchecked) private var unique = UniqueRows()
    @exclusivity(unchecked) private var numbers = KeyNumbers()
    /// The calls of ``add(_:_:)`` that run, one inside the other; nil while none does.
    @exclusivity(unchecked) private var adding: AddingRun?
    @exclusivity(unchecked) private var lone = LoneAdder()
    /// The unfinished iterations over collections, which are told before their collection changes.
    let walks = CollectionWalks()
    /// What queries have cached for the duration of the write.
    var memory: (any WriteMemory)?
    /// The result of ``fate``, once it was asked for.
    private var knownFate: WriteFate?

    /// - Parameter number: of the writes that the Realm has begun, including this one.
    init(_ instance: RealmInstance, _ transaction: WriteTransaction, number: UInt32) {
        self.instance = instance
        self.transaction = transaction
        encoder = instance.writing.encoder
        self.number = number
        version = transaction.view.version.next.rawValue
        stampAtBegin = instance.stamp
    }

    var hasChanged: Bool { instance.stamp != stampAtBegin }

    /// Marks the write as failed; the first error is the one that is thrown.
    func fail(_ error: RealmError) {
        if failure == nil { failure = error }
    }

    /// Appends to the failure's message where in a text the value is that caused it.
    func locateFailure(_ place: String) {
        failure = failure.map { RealmError($0.code, "\($0.message), \(place)", fileURL: $0.fileURL) }
    }

    /// Whether the row of an object was created in this write.
    func made(_ object: ObjectBase) -> Bool { object._birthWrite == number && object._creation == version }

    /// Tells references that outlive the write whether it was committed.
    var fate: WriteFate {
        let fate = knownFate ?? WriteFate()
        knownFate = fate
        return fate
    }

    func isMeant(by fate: WriteFate) -> Bool { knownFate === fate }

    func noteCommit() { knownFate?.commit() }

    /// Runs a change whose failure does not fail the write.
    /// - Returns: the change's error; nil if it succeeded. If the write has failed already, its error, and the change
    ///   does not run.
    func failure(of change: () -> Void) -> RealmError? {
        if let failure { return failure }
        change()
        defer { failure = nil }
        return failure
    }

    /// Called before the commit: deletes embedded objects without a parent, and checks unique keys.
    /// - Returns: why the write must not be committed; nil if it may.
    func finish() -> RealmError? {
        walks.settleAll()
        deleteParentless()
        checkUniqueKeys()
        return failure
    }

    private func checkUniqueKeys() {
        guard failure == nil, let view = instance.currentView else { return }
        do throws(StorageError) {
            if let offence = try unique.offence(in: instance, view) { fail(offence) }
        } catch {
            fail(RealmError(error))
        }
    }

    // MARK: Columns

    /// Writes one column of a managed object. Fails the write if the object is deleted, if the value changes a primary
    /// key, or if an embedded object in it has another parent.
    /// - Parameter skipsEqual: whether the write leaves out a value that equals the stored one.
    func store(
        in object: ObjectBase, access: ClassAccess, column: Int, value: _StoredValue, skipsEqual: Bool = false
    ) {
        // Each use of the unowned property counts a reference, so it is used once.
        Unmanaged.passUnretained(instance)._withUnsafeGuaranteedRef {
            store(in: object, access: access, column: column, value: value, skipsEqual: skipsEqual, instance: $0)
        }
    }

    @inline(__always)
    private func store(
        in object: ObjectBase, access: ClassAccess, column: Int, value: _StoredValue, skipsEqual: Bool,
        instance: RealmInstance
    ) {
        let isFound = object._stamp == instance.stamp || instance.isMigration && isWalked(object, access, column)
        if !isFound, let error = access.tryRelocate(object) { return fail(error) }
        if let primary = access.primary, primary.column == column, column != Int(ColumnSlot.none) {
            return checkUnchangedKey(of: object, access: access, primary: primary, value: value)
        }
        guard column >= 0 else {
            return fail(RealmError(.invalidInput, "a property of '\(access.name)' that the file does not keep"))
        }
        if case .bytes = value, ElementEditor.update(object, access: access, column: column, to: value) { return }
        if skipsEqual, isStored(value, object, column) { return }
        instance.noteNestedReplaced(access.table, object._key, column)
        walks.settle(access.table, object._key, column)
        instance.shown.marks.markSet(table: access.table, column: column, key: object._key, stamp: instance.stamp &+ 1)
        unique.note(access, object._key, column: column)
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
            try value.withCell { (cell) throws(StorageError) in
                try transaction.set(table, key, column: column, to: cell)
            }
        } catch {
            fail(RealmError(error))
        }
        instance.invalidateMarked()
        if let children, let target = access.target(of: children) { deleteChildren(orphans, target) }
    }

    private func isStored(_ value: _StoredValue, _ object: ObjectBase, _ column: Int) -> Bool {
        guard let view = instance.currentView, object._stamp == instance.stamp || object._relocate(),
            let location = object._location
        else { return false }
        do throws(StorageError) {
            return try view.holds(value, at: location, column: column, of: object._access)
        } catch {
            return false
        }
    }

    /// Whether a migration is enumerating this row: then it exists, and is not looked up. A look-up would make storage
    /// apply its pending changes row by row.
    private func isWalked(_ object: ObjectBase, _ access: ClassAccess, _ column: Int) -> Bool {
        guard let walked = instance.migration?.walked else { return false }
        return walked.table == access.table && walked.key == object._key && walked.creation == object._creation
            && access.primary?.column != column
    }

    /// Fails the write if `value` differs from the object's primary key; writing the same key again is allowed. In a
    /// migration the key may change.
    private func checkUnchangedKey(
        of object: ObjectBase, access: ClassAccess, primary: BoundProperty, value: _StoredValue
    ) {
        if instance.isMigration, primary.column >= 0 {
            return storeKeyInMigration(of: object, access: access, primary: primary, value: value)
        }
        guard let view = instance.currentView, let location = object._location else { return }
        do throws(StorageError) {
            let known =
                primary.column >= 0
                ? try view.value(location, primary.column, primary.tag) : _StoredValue.integer(object._key)
            if known != value {
                fail(
                    RealmError(
                        .invalidInput, "the primary key '\(access.name).\(primary.name)' cannot change once managed"))
            }
        } catch {
            fail(RealmError(error))
        }
    }

    /// Writes a primary key in a migration, which may have added the property. Whether keys are unique is checked at
    /// the migration's end.
    private func storeKeyInMigration(
        of object: ObjectBase, access: ClassAccess, primary: BoundProperty, value: _StoredValue
    ) {
        do throws(StorageError) {
            try value.withCell { (cell) throws(StorageError) in
                try transaction.set(access.table, RowKey(object._key), column: primary.column, to: cell)
            }
        } catch {
            fail(RealmError(error))
        }
        instance.invalidatePlaces()
    }

    // MARK: Adding

    /// Adds an unmanaged object, and all objects it leads to, to the Realm.
    func add(_ object: ObjectBase, _ policy: Realm.UpdatePolicy) {
        if let outer = adding?.policy {
            // A nested call, as for the target of a postponed link, leaves its postponed changes to the outermost call.
            adding?.policy = policy
            defer { adding?.policy = outer }
            return ObjectAdder(self, policy).add(object)
        }
        if policy == .error, lone.add(object, in: self) { return }
        adding = AddingRun(policy: policy)
        ObjectAdder(self, policy).add(object)
        finishPostponed()
        adding = nil
    }

    /// Postpones a change until all rows of the objects being added exist. Fails the write outside of
    /// ``add(_:_:)``, where no call would make the change.
    func postpone(_ change: @escaping () -> Void) {
        guard let policy = adding?.policy else { return fail(PostponedChange.lost) }
        adding?.postponed.append(PostponedChange(policy: policy, make: change))
    }

    /// Makes the postponed changes, such as the links of cycles: all rows exist now.
    private func finishPostponed() {
        while let changes = adding?.postponed, !changes.isEmpty {
            adding?.postponed.removeAll()
            for change in changes where failure == nil {
                adding?.policy = change.policy
                change.make()
            }
        }
    }

    /// Inserts a row. The rows that it links to exist.
    func insert(
        _ access: ClassAccess, _ key: RowKey, _ cells: UnsafeBufferPointer<Cell>
    ) throws(StorageError) {
        try transaction.insert(access.table, key: key, cells)
        instance.shown.marks.markInserted(access.table, key.rawValue, instance.stamp &+ 1)
        unique.note(access, key.rawValue)
        instance.invalidateMarked()
    }

    /// Gives an unmanaged object the next number as its primary key.
    /// - Returns: the key of its row; nil, with the write failed, if the property's type has no higher number.
    func number(_ object: ObjectBase, _ access: ClassAccess, _ field: PlanField) throws(StorageError) -> RowKey? {
        let next = try numbers.next(access, transaction)
        guard field.field.setStored(object._field(field.offset), .integer(next)) else {
            fail(
                RealmError(
                    .invalidInput, "'\(access.name).\(field.name)' has no number left: \(next) is too large for it"))
            return nil
        }
        return RowKey(next)
    }

    // MARK: Links

    /// The key for a link to `object`; an unmanaged object is added first. Nil, with the write failed, if that is
    /// impossible.
    func linkKey(of object: ObjectBase) -> RowKey? {
        if object._frame == nil { add(object, adding?.policy ?? .error) }
        guard let other = object._instance else { return nil }
        if other.migration?.isOld == true, instance.isMigration {
            if let twin = instance.twin(of: object) { return RowKey(twin._key) }
            fail(object._access.deletedError(object))
            return nil
        }
        let isOfHere = other.file.store === instance.file.store && !other.isFrozen
        if other === instance || isOfHere {
            if object._access.instance.isInWrite || !object.isInvalidated { return checkedKey(object) }
        }
        let reason =
            isOfHere
            ? object._access.deletedError(object)
            : RealmError(.invalidInput, "the \(object._access.name) belongs to another or to a frozen Realm; thaw it")
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

    // MARK: Embedded objects

    // Each has exactly one parent. Invariant: between calls, every embedded row of the write has exactly one link to
    // it, or is `parentless` because the next call gives it to its parent. Rows still parentless at the commit are
    // deleted.

    /// Notes an embedded row to which its parent does not link yet.
    func noteParentless(_ access: ClassAccess, _ key: Int64) {
        parentless.insert(EmbeddedRow(table: access.table, key: key))
    }

    /// Notes that a parent links to an embedded row, or is about to.
    func noteParent(_ access: ClassAccess, _ key: Int64) {
        parentless.remove(EmbeddedRow(table: access.table, key: key))
    }

    /// Makes the embedded rows `new` the children of a property whose children were `old`.
    /// - Returns: those of `old` that are no longer children, which the caller deletes; nil, with the write failed, if
    ///   one of `new` has another parent, or comes twice.
    func adopt(_ new: [Int64], over old: [Int64], _ target: ClassAccess) -> [Int64]? {
        if new.isEmpty { return old }
        let known = Set(old)
        var kept: Set<Int64> = []
        for key in new {
            let isFree =
                known.contains(key)
                || parentless.remove(EmbeddedRow(table: target.table, key: key)) != nil || instance.isMigration
            guard kept.insert(key).inserted, isFree else {
                fail(
                    RealmError(
                        .invalidInput,
                        "the embedded \(target.name) has a parent already; give this one an object of its own, such as "
                            + "detached()"))
                return nil
            }
        }
        return old.filter { !kept.contains($0) }
    }

    /// The keys of the embedded objects that a property of an object links to.
    func children(_ object: ObjectBase, _ property: BoundProperty) -> [Int64] {
        guard let view = instance.currentView, object._stamp == instance.stamp || object._relocate(),
            let location = object._location
        else { return [] }
        do throws(StorageError) {
            if !property.isCollection { return try view.integer(location, property.column).map { [$0] } ?? [] }
            return try view.links(location, object._key, property)
        } catch {
            fail(RealmError(error))
            return []
        }
    }

    /// Deletes the embedded objects to which no parent links at the end of the write.
    func deleteParentless() {
        if parentless.isEmpty { return }
        let rows = parentless.sorted { ($0.table, $0.key) < ($1.table, $1.key) }
        parentless.removeAll()
        for row in rows {
            guard let access = instance.knownAccess(ofTable: row.table) else { continue }
            deleteChildren([row.key], access)
        }
    }

    /// Deletes embedded objects to which nothing links any more, and their own children.
    func deleteChildren(_ keys: [Int64], _ target: ClassAccess) {
        #if Zoo
            if PlantedMistake.childKept.isPlanted { return }
        #endif
        if keys.isEmpty { return }
        delete(keys.map { DeleteRun.Row(access: target, key: $0) })
    }

    // MARK: Deleting

    /// Deletes rows, and others by the delete rules of their classes.
    func delete(_ rows: [DeleteRun.Row]) {
        walks.settleAll()
        instance.migration?.noteDeletion()
        var run = DeleteRun(self)
        do throws(StorageError) {
            if let denied = try run.delete(rows) { fail(denied) }
        } catch {
            fail(RealmError(error))
        }
        instance.invalidateMarked()
    }

    /// Deletes all rows of tables.
    func deleteAll(_ tables: some Sequence<Int>) {
        walks.settleAll()
        instance.migration?.noteDeletion()
        do throws(StorageError) {
            try transaction.deleteAll(Array(tables))
        } catch {
            fail(RealmError(error))
        }
        instance.invalidatePlaces()
    }
}
