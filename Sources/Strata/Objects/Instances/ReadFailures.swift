import StrataFiles
import StrataStorage
import Synchronization

/// What an instance does about reads that fail: it tells the store's register and the program, marks the running write,
/// and from then on answers with what can be read.
///
/// Concurrency: confined with its instance. Of a frozen one, which many threads read, only what says so is used.
final class ReadFailures {
    /// The instance has it, and it goes with the instance.
    private unowned(unsafe) let instance: RealmInstance
    /// The first failure since a caller that can throw began to collect them.
    private var first: Realm.Error?
    /// The same for each thread that reads a frozen instance, while a caller on it collects.
    private let collected = Mutex<[UInt64: Realm.Error?]>([:])
    /// The collection that was read last past what is lost.
    var lastCollection: ReadableElements?

    init(_ instance: RealmInstance) { self.instance = instance }

    private var register: DamageRegister { instance.store.damage }

    /// Voids what was found before another thread or process met damage. Any thread, but that a frozen instance, whose
    /// results stay, only takes note.
    @inline(never)
    func adopt() {
        instance.followedDamage.store(register.generation, ordering: .relaxed)
        tellNew()
        lastCollection = instance.isShared ? lastCollection : nil
        guard !instance.isShared else { return }
        if instance.currentView != nil { instance.invalidatePlaces() }
        // Observers hear of it as of a commit: by themselves where the Realm's place can be woken, else by a refresh.
        if instance.observation.isEmpty { return }
        instance.observation.isBehind = true
        let reference = instance.reference
        instance.confinement.scheduler? { reference.instance?.wakeUp() }
    }

    // MARK: Taking note

    /// A read failed. Any thread.
    /// - Parameters:
    ///   - access: the class whose objects were read; nil for none in particular.
    ///   - loss: what cannot be read because of it, where the caller knows and no row is lost.
    /// - Returns: whether the program was told of the page.
    @discardableResult
    func note(_ error: StorageError, in access: ClassAccess?, _ loss: DamagedPlace.Loss = .unknown) -> Bool {
        let told = Realm.Error(error)
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

    /// A survey found places. Any thread.
    func noteFound(_ places: [DamagedPlace]) {
        register.note(places)
        instance.followDamage()
    }

    /// Remembers a failure that is about no page, for callers that can throw, and marks the running write.
    func note(_ error: Realm.Error) {
        remember(error)
        instance.write?.fail(error)
    }

    private func remember(_ error: Realm.Error) {
        guard instance.isShared else {
            if first == nil { first = error }
            return
        }
        collected.withLock { collected in
            if case .some(.none) = collected[CallingContext.thread] { collected[CallingContext.thread] = error }
        }
    }

    /// What a page that cannot be read has held: found by a walk over the table in question, and over the others where
    /// it is none of its pages.
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

    /// Tells the program of each place once in this process, also of those that another process or an earlier session
    /// has found.
    private func tellNew() {
        guard let schema = instance.currentView?.schema else { return }
        let configuration = instance.configuration
        for place in register.takeUntold() {
            configuration.tell(
                .damage(Realm.Damage(place, schema, configuration.path, isAcknowledged: register.isAcknowledged(place)))
            )
        }
    }

    // MARK: What can be read

    /// The rows of a class that can be read, where some of it is known to be damaged; nil where all can. Any thread.
    func readableRows(_ access: ClassAccess) -> ReadableRows? {
        guard instance.knowsDamage, let view = instance.currentView else { return nil }
        do throws(StorageError) {
            let rows = try register.readableRows(access.table, view)
            if register.hasUntold { tellNew() }
            return rows
        } catch {
            remember(Realm.Error(error))
            return nil
        }
    }

    /// Whether a row cannot be read, as against not being there. Any thread.
    func cannotRead(_ key: Int64, _ access: ClassAccess) -> Bool {
        guard instance.knowsDamage, let view = instance.currentView else { return false }
        do throws(StorageError) {
            guard let place = try view.locate(access.table, RowKey(key)) else { return false }
            _ = try view.creationVersion(place)
        } catch {
            return true
        }
        guard let rows = readableRows(access) else { return false }
        return !rows.contains(key)
    }

    /// Why an object that cannot be read is not written over.
    func refusal(_ key: RowKey, _ access: ClassAccess) -> Realm.Error {
        Realm.Error(
            .invalidDatabase,
            "the \(access.name) with key \(key) cannot be read, so it is not changed; Realm.damage lists what is lost")
    }

    /// Whether elements of a collection, or a long value, are known to be lost. Any thread.
    func isDamaged(_ object: ObjectBase, column: Int) -> Bool {
        guard instance.knowsDamage, let column = columnID(object._access, column) else { return false }
        return register.isValueDamaged(object._access.tableID, row: object._key, column: column)
    }

    /// What is lost when the value of a property cannot be read.
    func loss(_ object: ObjectBase, column: Int?) -> DamagedPlace.Loss {
        .value(row: object._key, column: column.flatMap { columnID(object._access, $0) })
    }

    private func columnID(_ access: ClassAccess, _ column: Int) -> UInt16? {
        guard let view = instance.currentView else { return nil }
        let columns = view.schema.tables[access.table].columns
        return columns.indices.contains(column) ? columns[column].id.rawValue : nil
    }

    // MARK: For callers that can throw

    /// Runs `read`, and throws the first failure in it.
    func collecting<Value>(_ read: () -> Value) throws(Realm.Error) -> Value {
        if instance.isShared { return try collectingOnThread(read) }
        let before = first
        first = nil
        defer { first = before }
        let value = read()
        if let first { throw first }
        return value
    }

    private func collectingOnThread<Value>(_ read: () -> Value) throws(Realm.Error) -> Value {
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
