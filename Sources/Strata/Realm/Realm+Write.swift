import StrataStorage

extension Realm {
    /// What to do when an added object's primary key is there already.
    public enum UpdatePolicy: Int, Sendable {
        /// The write fails.
        case error = 1
        /// Writes the properties that differ.
        case modified = 3
        /// Writes all properties.
        case all = 2
    }

    /// Runs a transaction: all of it, or nothing.
    ///
    /// The Realm shows the newest version first. When `body` throws, or does something that cannot be done - adding a
    /// duplicate key, changing a deleted object -, everything is rolled back and the error thrown.
    /// - Throws: ``Realm/Error``, or what `body` threw.
    @discardableResult
    public func write<Result>(
        withoutNotifying tokens: [NotificationToken] = [], _ body: () throws -> Result
    ) throws -> Result {
        try instance.begin()
        let result: Result
        do {
            result = try body()
        } catch {
            if instance.isInWrite { instance.cancel() }
            throw error
        }
        if instance.isInWrite { try instance.commit(withoutNotifying: tokens) }
        return result
    }

    /// Begins a transaction, after other threads' and other instances'.
    /// Stops the program when it cannot; ``write(withoutNotifying:_:)`` throws instead.
    public func beginWrite() {
        do { try instance.begin() } catch { fatalError("\(error)") }
    }

    /// Makes the transaction durable, as `Configuration.durability` says, and visible; then tells this Realm's
    /// observers.
    public func commitWrite(withoutNotifying tokens: [NotificationToken] = []) throws {
        guard instance.isInWrite else { throw Realm.Error(.wrongState, "commitWrite without beginWrite") }
        try instance.commit(withoutNotifying: tokens)
    }

    /// Gives the transaction up. Objects that it added are invalid, those that it deleted are back.
    public func cancelWrite() {
        precondition(instance.isInWrite, "cancelWrite without beginWrite")
        instance.cancel()
    }

    // MARK: Adding

    /// Makes an object, and what it leads to, part of the Realm. Nothing happens when it is already.
    public func add(_ object: Object, update: UpdatePolicy = .error) { instance.add(object, update) }

    public func add<Objects: Sequence>(_ objects: Objects, update: UpdatePolicy = .error)
    where Objects.Element: Object {
        for object in objects { instance.add(object, update) }
    }

    /// Makes an object from a dictionary by name, an array in order of declaration, or another object.
    ///
    /// With an update policy, and a primary key that is there already, properties that `value` does not name stay.
    @discardableResult
    public func create<Element: Object>(
        _ type: Element.Type, value: Any = [String: Any](), update: UpdatePolicy = .error
    ) -> Element {
        let made = instance.create(requireAccess(type), value, update)
        return unsafeDowncast(made, to: type)
    }

    // MARK: Deleting

    /// Deletes an object, by the delete rules of its class.
    public func delete(_ object: ObjectBase) { instance.delete([object]) }

    public func delete<Objects: Sequence>(_ objects: Objects) where Objects.Element: ObjectBase {
        instance.delete(Array(objects))
    }

    public func delete<Element: ObjectBase>(_ objects: Results<Element>) { instance.delete(objects.source) }
    public func delete<Element: ObjectBase>(_ objects: List<Element>) { instance.delete(Array(objects)) }
    public func delete<Element: ObjectBase>(_ objects: MutableSet<Element>) { instance.delete(Array(objects)) }

    /// Deletes the objects of a map; their keys stay, and lead to nothing.
    public func delete<Key, Element: ObjectBase>(_ map: Map<Key, Element?>) {
        instance.delete(map.values.compactMap { $0 })
    }

    /// Deletes every object of every class.
    public func deleteAll() { instance.deleteAll() }
}

extension RealmInstance {
    /// Begins a write on the newest version.
    func begin() throws {
        checkConfinement()
        guard kind == .live else { throw Realm.Error(.wrongState, "a frozen Realm cannot be written to; thaw it") }
        guard !configuration.readOnly else {
            throw Realm.Error(.filePermissionDenied, "\(configuration.path) was opened with readOnly")
        }
        guard transaction == nil else { throw Realm.Error(.wrongState, "the Realm is already in a write") }
        refresh()
        let transaction: WriteTransaction
        do throws(StorageError) { transaction = try store.beginWrite() } catch { throw Realm.Error(error) }
        guard hasOwnSchema(transaction.view) else {
            transaction.rollback()
            throw Realm.Error(
                .schemaMismatch,
                "\(configuration.path) was migrated to schema version \(transaction.view.schema.userVersion) since it "
                    + "was opened with \(configuration.schemaVersion); let go of it, and open it with the new classes")
        }
        show(transaction, number: writeNumber &+ 1)
    }

    /// Whether a version has the schema that the Realm was opened with. After a migration by somebody else the Realm
    /// stays at the last version that has.
    private func hasOwnSchema(_ view: ReadView) -> Bool { view.schema.userVersion == configuration.schemaVersion }

    /// - Throws: why the write was marked, or what storage said; the write is rolled back then.
    func commit(withoutNotifying tokens: [NotificationToken]) throws {
        checkConfinement()
        guard let running = transaction else { return }
        deleteUnowned()
        if let failure {
            cancel()
            throw failure
        }
        do throws(StorageError) {
            _ = try running.commit()
        } catch {
            endWrite(cancelled: true)
            showNewest()
            throw Realm.Error(error)
        }
        endWrite(cancelled: false)
        advance(silencing: tokens)
    }

    func cancel() {
        checkConfinement()
        guard let running = transaction else { return }
        running.rollback()
        endWrite(cancelled: true)
        if let snapshot { show(snapshot) } else { showNewest() }
    }

    /// Shows the newest version without telling anybody.
    private func showNewest() {
        do throws(StorageError) { show(try store.snapshot()) } catch {
            noteDamage(Realm.Error(error))
            if let snapshot { show(snapshot) } else { invalidate() }
        }
    }

    /// Shows the newest version, if there is one, and tells observers.
    @discardableResult
    func refresh() -> Bool {
        guard kind == .live, transaction == nil else { return false }
        if let snapshot, currentView != nil, store.newestVersion == snapshot.version { return false }
        return advance(silencing: [])
    }

    /// Goes from the version that observers know to the newest one.
    @discardableResult
    private func advance(silencing tokens: [NotificationToken]) -> Bool {
        let old = snapshot
        do throws(StorageError) {
            let new = try store.snapshot()
            guard hasOwnSchema(new.view) else { return false }
            if let old, old.version == new.version {
                show(old)
                return false
            }
            let changes = old.flatMap { observation.changes(from: $0, to: new) }
            show(new)
            if let changes { observation.deliver(changes, silencing: tokens) }
            return true
        } catch {
            noteDamage(Realm.Error(error))
            if let old { show(old) }
            return false
        }
    }
}
