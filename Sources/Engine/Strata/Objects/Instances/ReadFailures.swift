import StrataFiles
import StrataStorage
import Synchronization

/// Handles failed reads of an instance: notes damage in the store's register, reports it to the program, marks the
/// running write as failed, and finds the rows that are still readable.
///
/// Concurrency: confined with its instance. For a frozen one, which many threads read, only members that say "any
/// thread" are used.
final class ReadFailures {
    /// The instance owns this object.
    private unowned(unsafe) let instance: RealmInstance
    /// The first failure since ``collecting(_:)`` began.
    private var first: RealmError?
    /// As `first`, for a frozen instance: by the number of each thread that is in ``collecting(_:)``.
    private let collected = Mutex<[UInt64: RealmError?]>([:])
    /// The last collection that was read without its lost elements, as a cache. Neither read nor set for an instance
    /// that several threads read.
    var lastCollection: ReadableElements?
    /// The last result of ``_CollectionColumn/shown(_:_:)``: the members that the program sees of a set. Any thread.
    let shownSet = Mutex<ReadableElements?>(nil)

    init(_ instance: RealmInstance) { self.instance = instance }

    private var register: DamageRegister { instance.file.store.damage }

    /// Called after another thread or process found damage: drops the results from before. A frozen instance only notes
    /// the change, since what it shows must not change. Any thread.
    @inline(never)
    func adopt() {
        instance.damage.follow(register.generation)
        tellNew()
        // Several threads may be here at once for a shared instance, which keeps no last collection.
        guard !instance.isShared else { return }
        lastCollection = nil
        if instance.currentView != nil { instance.invalidatePlaces() }
        // Observers are notified as after a commit: automatically if the Realm can be woken, else by a refresh.
        if instance.observation.isEmpty { return }
        instance.observation.isBehind = true
        let reference = instance.reference
        instance.confinement.scheduler? { reference.instance?.wakeUp() }
    }

    // MARK: Noting failures

    /// Notes a failed read. Any thread.
    /// - Parameters:
    ///   - access: the class that was read; nil for none in particular.
    ///   - loss: the unreadable value, if the caller knows it and no row is lost.
    /// - Returns: whether the failure is damage of a page, which has been reported then.
    @discardableResult
    func note(_ error: StorageError, in access: ClassAccess?, _ loss: DamagedPlace.Loss = .unknown) -> Bool {
        let told = RealmError(error)
        remember(told)
        guard let place = DamagedPlace(error, table: access?.tableID, loss: loss) else {
            instance.write?.fail(told)
            return false
        }
        if !register.isAcknowledged(place) { instance.write?.fail(told) }
        if !register.knows(place) { register.note(survey(place, access)) }
        instance.followDamage()
        return true
    }

    /// Notes damaged places that a survey of the file found. Any thread.
    func noteFound(_ places: [DamagedPlace]) {
        register.note(places)
        instance.followDamage()
    }

    /// Notes a failure that is no damage of a page, for ``collecting(_:)``, and marks the running write as failed.
    func note(_ error: RealmError) {
        remember(error)
        instance.write?.fail(error)
    }

    private func remember(_ error: RealmError) {
        guard instance.isShared else {
            if first == nil { first = error }
            return
        }
        collected.withLock { collected in
            if case .some(.none) = collected[CallingContext.thread] { collected[CallingContext.thread] = error }
        }
    }

    /// What is lost with an unreadable page: surveys the table that was read, and the others if the page is not one of
    /// that table's.
    private func survey(_ place: DamagedPlace, _ access: ClassAccess?) -> [DamagedPlace] {
        guard let view = instance.currentView else { return [place] }
        var tables = Array(view.schema.tables.indices)
        if let own = access?.table, let at = tables.firstIndex(of: own) { tables.swapAt(0, at) }
        for table in tables {
            do throws(StorageError) {
                let places = try view.readableRows(table).places
                if places.contains(where: { $0.page == place.page }) { return places }
            } catch { continue }
        }
        return [place]
    }

    /// Reports each damaged place once per process, including those that another or an earlier process found.
    private func tellNew() {
        guard let schema = instance.currentView?.schema else { return }
        let configuration = instance.file.configuration
        for place in register.takeUntold() {
            configuration.tell(
                .damage(Realm.Damage(place, schema, configuration.path, isAcknowledged: register.isAcknowledged(place)))
            )
        }
    }

    // MARK: Readable rows

    /// The readable rows of a class with known damage; nil if all are readable. Any thread.
    func readableRows(_ access: ClassAccess) -> ReadableRows? {
        guard instance.damage.isKnown, let view = instance.currentView else { return nil }
        do throws(StorageError) {
            let rows = try register.readableRows(access.table, view)
            if register.hasUntold { tellNew() }
            return rows
        } catch {
            remember(RealmError(error))
            return nil
        }
    }

    /// Whether a row exists and cannot be read; false if there is no such row. Any thread.
    func cannotRead(_ key: Int64, _ access: ClassAccess) -> Bool {
        guard instance.damage.isKnown, let view = instance.currentView else { return false }
        do throws(StorageError) {
            guard let place = try view.locate(access.table, RowKey(key)) else { return false }
            _ = try view.creationVersion(place)
        } catch {
            return true
        }
        guard let rows = readableRows(access) else { return false }
        return !rows.contains(key)
    }

    /// The error for a write to an unreadable object.
    func refusal(_ key: RowKey, _ access: ClassAccess) -> RealmError {
        RealmError(
            .invalidDatabase,
            "the \(access.name) with key \(key) cannot be read, so it is not changed; Realm.damage lists what is lost")
    }

    /// Whether a collection's elements, or a long value, are known to be lost. Any thread.
    func isDamaged(_ object: ObjectBase, column: Int) -> Bool {
        guard instance.damage.isKnown, let column = columnID(object._access, column) else { return false }
        return register.isValueDamaged(object._access.tableID, row: object._key, column: column)
    }

    /// The loss of an unreadable property's value.
    func loss(_ object: ObjectBase, column: Int?) -> DamagedPlace.Loss {
        .value(row: object._key, column: column.flatMap { columnID(object._access, $0) })
    }

    private func columnID(_ access: ClassAccess, _ column: Int) -> UInt16? {
        guard let view = instance.currentView else { return nil }
        let columns = view.schema.tables[access.table].columns
        return columns.indices.contains(column) ? columns[column].id.rawValue : nil
    }

    // MARK: Throwing callers

    /// Runs `read`, and throws the first failure that was noted during it. Any thread.
    func collecting<Value>(_ read: () -> Value) throws(RealmError) -> Value {
        if instance.isShared { return try collectingOnThread(read) }
        let before = first
        first = nil
        defer { first = before }
        let value = read()
        if let first { throw first }
        return value
    }

    private func collectingOnThread<Value>(_ read: () -> Value) throws(RealmError) -> Value {
        let thread = CallingContext.thread
        let before = collected.withLock { $0.updateValue(nil, forKey: thread) }
        let value = read()
        let failure = collected.withLock { collected in
            let failure = collected[thread] ?? nil
            collected[thread] = before
            return failure
        }
        if let failure { throw failure }
        return value
    }
}
