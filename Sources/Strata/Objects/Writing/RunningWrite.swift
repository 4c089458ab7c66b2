import StrataStorage

/// A write that runs: its transaction, and whatever holds only until it ends.
///
/// It is made when the write begins and dropped when the write ends, so that nothing of one write is left in the next.
/// Concurrency: used where its Realm lives.
final class RunningWrite {
    /// Drops this object before it goes itself.
    unowned(unsafe) let instance: RealmInstance
    let transaction: WriteTransaction
    /// By the Realm's own count of its writes, from 1 on.
    let number: UInt32
    /// The version that the rows which it adds are born in.
    let version: UInt64
    /// As long as the Realm has this stamp, the write has changed nothing.
    private let stampAtBegin: UInt64
    /// Why it must not be committed.
    @exclusivity(unchecked) private(set) var failure: Realm.Error?
    /// Embedded objects that nothing leads to yet.
    @exclusivity(unchecked) private(set) var parentless: Set<EmbeddedRow> = []
    /// Rows whose unique keys are looked at before the commit.
    @exclusivity(unchecked) private var unique = UniqueRows()
    @exclusivity(unchecked) private var numbers = KeyNumbers()
    /// Whether values that are there already are left as they are, for updates that write only what differs.
    @exclusivity(unchecked) private(set) var skipsEqual = false
    /// Whether an object is being added, with whatever it leads to.
    @exclusivity(unchecked) private var isAdding = false
    /// What the object that is being added asked for. Objects that it leads to are added the same way.
    @exclusivity(unchecked) private(set) var policy = Realm.UpdatePolicy.error
    /// Along collections that may change.
    let walks = CollectionWalks()
    /// What queries remember of it.
    var memory: (any WriteMemory)?
    /// Made when somebody outside of the write has to know how it ends.
    private var knownFate: WriteFate?
    /// Changes that wait until all rows of the objects that are being added are there.
    @exclusivity(unchecked) private var postponed: [() -> Void] = []

    /// - Parameter number: how many writes the Realm has begun, this one included.
    init(_ instance: RealmInstance, _ transaction: WriteTransaction, number: UInt32) {
        self.instance = instance
        self.transaction = transaction
        self.number = number
        version = transaction.view.version.next.rawValue
        stampAtBegin = instance.stamp
    }

    var hasChanged: Bool { instance.stamp != stampAtBegin }

    /// Notes why the write must not be committed; the first reason is the one that is thrown.
    func fail(_ error: Realm.Error) {
        if failure == nil { failure = error }
    }

    /// Whether the row of an object was born in this write.
    func made(_ object: ObjectBase) -> Bool { object._birthWrite == number && object._creation == version }

    /// How the write ends, for whoever cannot ask it.
    var fate: WriteFate {
        let fate = knownFate ?? WriteFate()
        knownFate = fate
        return fate
    }

    func isMeant(by fate: WriteFate) -> Bool { knownFate === fate }

    func noteCommit() { knownFate?.commit() }

    /// Does what may fail, without making the write fail.
    /// - Returns: why it failed.
    func failure(of change: () -> Void) -> Realm.Error? {
        let before = failure
        failure = nil
        change()
        defer { failure = before }
        return failure
    }

    /// Does what has to be done before the commit, and looks at what has to hold then.
    /// - Returns: why the write must not be committed.
    func finish() -> Realm.Error? {
        walks.settleAll()
        deleteParentless()
        checkUniqueKeys()
        return failure
    }

    // MARK: Columns

    /// Writes one column of a managed object.
    func store(_ object: ObjectBase, _ access: ClassAccess, _ column: Int, _ value: _StoredValue) {
        if object._stamp != instance.stamp, !isWalked(object, access, column), let error = access.tryRelocate(object) {
            return fail(error)
        }
        if let primary = access.primary, primary.column == column, column != Int(ColumnSlot.none) {
            return checkUnchangedKey(object, access, primary, value)
        }
        guard column >= 0 else {
            return fail(Realm.Error(.invalidInput, "a property of '\(access.name)' that the file does not keep"))
        }
        if ElementEditor.update(object, access, column, value) { return }
        if skipsEqual, isStored(value, object, column) { return }
        instance.noteNestedReplaced(access.table, object._key, column)
        walks.settle(access.table, object._key, column)
        instance.marks.markSet(access.table, column, object._key, instance.stamp &+ 1)
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
            try value.withCell { (cell) throws(StorageError) in try transaction.set(table, key, column, cell) }
        } catch {
            fail(Realm.Error(error))
        }
        instance.invalidateMarked()
        if let children, let target = access.target(of: children) { deleteChildren(orphans, target) }
    }

    private func isStored(_ value: _StoredValue, _ object: ObjectBase, _ column: Int) -> Bool {
        guard let view = instance.currentView, object._stamp == instance.stamp || object._relocate(),
            let location = object._location
        else { return false }
        do throws(StorageError) { return try view.holds(value, location, column, object._access) } catch {
            return false
        }
    }

    /// Whether a migration is at this row, so that it need not be looked for: that would make storage settle the writes
    /// of every row by themselves.
    @inline(__always)
    private func isWalked(_ object: ObjectBase, _ access: ClassAccess, _ column: Int) -> Bool {
        guard let walked = instance.migration?.walked else { return false }
        return walked.table == access.table && walked.key == object._key && walked.creation == object._creation
            && access.primary?.column != column
    }

    /// Writing the primary key that is there already is allowed.
    private func checkUnchangedKey(
        _ object: ObjectBase, _ access: ClassAccess, _ primary: BoundProperty, _ value: _StoredValue
    ) {
        if instance.isMigration, primary.column >= 0 { return storeKeyInMigration(object, access, primary, value) }
        guard let view = instance.currentView, let location = object._location else { return }
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
        do throws(StorageError) {
            try value.withCell { (cell) throws(StorageError) in
                try transaction.set(access.table, RowKey(object._key), primary.column, cell)
            }
        } catch {
            fail(Realm.Error(error))
        }
        instance.invalidatePlaces()
    }

    /// Runs `change` so that values which are there already are left as they are.
    func skippingEqual(_ skips: Bool, _ change: () -> Void) {
        let outer = skipsEqual
        skipsEqual = skips
        change()
        skipsEqual = outer
    }

    // MARK: Adding

    /// Makes an unmanaged object, and everything that it leads to, part of the Realm.
    func add(_ object: ObjectBase, _ policy: Realm.UpdatePolicy) {
        let (outer, isOutermost) = (self.policy, !isAdding)
        self.policy = policy
        isAdding = true
        ObjectAdder(self, policy).add(object)
        if isOutermost {
            finishPostponed()
            isAdding = false
        }
        self.policy = outer
    }

    /// Leaves a change for when all rows are there.
    func postpone(_ change: @escaping () -> Void) { postponed.append(change) }

    /// Writes the links of cycles, once every row of them is there.
    private func finishPostponed() {
        while !postponed.isEmpty {
            let changes = postponed
            postponed.removeAll()
            for change in changes where failure == nil { change() }
        }
    }

    /// Adds a row. What it leads to is there.
    func insert(
        _ access: ClassAccess, _ key: RowKey, _ cells: UnsafeBufferPointer<Cell>
    ) throws(StorageError) {
        try transaction.insert(access.table, key: key, cells)
        instance.marks.markInserted(access.table, key.rawValue, instance.stamp &+ 1)
        unique.note(access, key.rawValue)
        instance.invalidateMarked()
    }

    /// Gives an unmanaged object a primary key that the database numbers.
    /// - Returns: the row key that goes with it; nil, and the write marked, when there is no number left.
    func number(_ object: ObjectBase, _ access: ClassAccess, _ field: PlanField) throws(StorageError) -> RowKey? {
        let next = try numbers.next(access, transaction)
        guard field.field.setStored(object._field(field.offset), .integer(next)) else {
            fail(
                Realm.Error(
                    .invalidInput, "'\(access.name).\(field.name)' has no number left: \(next) is too large for it"))
            return nil
        }
        return RowKey(next)
    }

    // MARK: Links

    /// The key by which `object` can be linked to; an unmanaged object is added first. Nil, and the write marked, when
    /// it cannot.
    func linkKey(of object: ObjectBase) -> RowKey? {
        if object._frame == nil { add(object, policy) }
        guard let other = object._instance else { return nil }
        if other.migration?.isOld == true, instance.isMigration {
            if let twin = instance.twin(of: object) { return RowKey(twin._key) }
            fail(object._access.deletedError(object))
            return nil
        }
        let isOfHere = other.store === instance.store && !other.isFrozen
        if other === instance || isOfHere {
            if object._access.instance.isInWrite || !object.isInvalidated { return checkedKey(object) }
        }
        let reason =
            isOfHere
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

    // MARK: Embedded objects

    // Each has exactly one parent. Invariant: between calls, every embedded row of the write is led to by exactly one
    // link, or is `parentless` because the call that gives it to its parent comes next. What is left there when the
    // write is committed is deleted.

    /// A row that was made for a parent to be.
    func noteParentless(_ access: ClassAccess, _ key: Int64) {
        parentless.insert(EmbeddedRow(table: access.table, key: key))
    }

    /// A row whose parent is known.
    func noteParent(_ access: ClassAccess, _ key: Int64) {
        parentless.remove(EmbeddedRow(table: access.table, key: key))
    }

    /// Makes `new` the children of one property in the place of `old`.
    /// - Returns: those of `old` that are children no more; nil, and the write marked, when one of `new` has a parent.
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
                    Realm.Error(
                        .invalidInput,
                        "the embedded \(target.name) has a parent already; give this one an object of its own, such as "
                            + "detached()"))
                return nil
            }
        }
        return old.filter { !kept.contains($0) }
    }

    /// The children that a column holds.
    func children(_ object: ObjectBase, _ property: BoundProperty) -> [Int64] {
        guard let view = instance.currentView, object._stamp == instance.stamp || object._relocate(),
            let location = object._location
        else { return [] }
        do throws(StorageError) {
            if !property.isCollection { return try view.integer(location, property.column).map { [$0] } ?? [] }
            return try view.links(location, object._key, property)
        } catch {
            fail(Realm.Error(error))
            return []
        }
    }

    /// Deletes what was made for a parent and never got one.
    func deleteParentless() {
        if parentless.isEmpty { return }
        let rows = parentless.sorted { ($0.table, $0.key) < ($1.table, $1.key) }
        parentless.removeAll()
        for row in rows {
            guard let access = instance.knownAccess(ofTable: row.table) else { continue }
            deleteChildren([row.key], access)
        }
    }

    /// Deletes embedded objects that nothing leads to any more, and theirs.
    func deleteChildren(_ keys: [Int64], _ target: ClassAccess) {
        #if Zoo
            if PlantedMistake.childKept.isPlanted { return }
        #endif
        if keys.isEmpty { return }
        delete(keys.map { DeleteRun.Row(access: target, key: $0) })
    }

    // MARK: Deleting

    /// Deletes rows, and what their classes' delete rules take with them.
    func delete(_ rows: [DeleteRun.Row]) {
        walks.settleAll()
        instance.migration?.noteDeletion()
        var run = DeleteRun(self)
        do throws(StorageError) {
            if let denied = try run.delete(rows) { fail(denied) }
        } catch {
            fail(Realm.Error(error))
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
            fail(Realm.Error(error))
        }
        instance.invalidatePlaces()
    }

    // MARK: Unique keys

    private func checkUniqueKeys() {
        guard failure == nil, let view = instance.currentView else { return }
        do throws(StorageError) {
            if let offence = try unique.offence(in: instance, view) { fail(offence) }
        } catch {
            fail(Realm.Error(error))
        }
    }
}
