import StrataStorage

extension Realm {
    /// How to add an object whose primary key exists already.
    public enum UpdatePolicy: Int, Sendable {
        /// The write fails.
        case error = 1
        /// Writes the properties that differ.
        case modified = 3
        /// Writes all properties of an object that is added; of a value or JSON, all that it names, also those that
        /// do not differ.
        case all = 2
    }

    /// Runs a transaction: all of its changes are committed, or none.
    ///
    /// The Realm shows the newest version first. If `body` throws, or does something impossible - adding a duplicate
    /// key, changing a deleted object -, all changes are rolled back and the error is thrown.
    ///
    /// The Realm shows the committed version when this returns. If too many versions are in use for that (991 pinned
    /// by this process, or `Configuration.maximumNumberOfActiveVersions`), the call throws `tooManyVersions`, and
    /// `body` does not run.
    /// - Throws: ``Realm/Error``, or the error of `body`.
    @discardableResult
    public func write<Result>(
        withoutNotifying tokens: [NotificationToken] = [], _ body: () throws -> Result
    ) throws -> Result {
        try instance.writing.begin()
        let result: Result
        do {
            result = try body()
        } catch {
            if instance.isInWrite { instance.writing.cancel() }
            throw error
        }
        if instance.isInWrite { try instance.writing.commit(withoutNotifying: tokens) }
        return result
    }

    /// Begins a transaction, after those of other threads and processes have ended. Stops the program if it cannot;
    /// ``write(withoutNotifying:_:)`` throws instead.
    public func beginWrite() {
        do { try instance.writing.begin() } catch { fatalError("\(error)") }
    }

    /// Commits the transaction: makes it durable, in the sense of `Configuration.durability`, and visible; then
    /// notifies this Realm's observers, except those of `tokens`, which miss this one commit.
    /// - Throws: ``Realm/Error``; the transaction is rolled back then.
    public func commitWrite(withoutNotifying tokens: [NotificationToken] = []) throws {
        try instance.requireHere()
        guard instance.isInWrite else {
            throw RealmError(.wrongState, "commitWrite without beginWrite; begin a write first, or use write { ... }")
        }
        try instance.writing.commit(withoutNotifying: tokens)
    }

    /// Rolls the transaction back. Objects that it added are invalidated, those that it deleted exist again.
    public func cancelWrite() {
        instance.checkConfinement()
        if !instance.isInWrite { fatalError("cancelWrite without beginWrite; begin a write first") }
        instance.writing.cancel()
    }

    // MARK: Adding

    /// Adds an object, and the objects that it links to, to the Realm. No effect on an object that this Realm manages
    /// already.
    public func add(_ object: Object, update: UpdatePolicy = .error) { instance.add(object, update) }

    public func add<Objects: Sequence>(_ objects: Objects, update: UpdatePolicy = .error)
    where Objects.Element: Object {
        for object in objects { instance.add(object, update) }
    }

    /// Creates an object from a dictionary by name, an array in order of declaration, or another object.
    ///
    /// With an update policy and an existing primary key, properties that `value` does not name are kept. A class that
    /// this Realm does not have fails the write.
    @discardableResult
    public func create<Element: Object>(
        _ type: Element.Type, value: Any = [String: Any](), update: UpdatePolicy = .error
    ) -> Element {
        guard let access = instance.access(for: type) else {
            let refusal = ClassPlan.refusal(of: type)
            guard let write = instance.write else { fatalError(refusal.description) }
            write.fail(refusal)
            return type.init()
        }
        let made = instance.create(access, value, update)
        return unsafeDowncast(made, to: type)
    }

    // MARK: Deleting

    /// Deletes an object, by the delete rules of its class.
    public func delete(_ object: ObjectBase) { instance.delete([object]) }

    public func delete<Objects: Sequence>(_ objects: Objects) where Objects.Element: ObjectBase {
        // An array of a subclass would otherwise be cast element by element.
        let isDone: Void? = objects.withContiguousStorageIfAvailable { objects in
            instance.delete(UnsafeRawBufferPointer(objects).assumingMemoryBound(to: Unmanaged<ObjectBase>.self))
        }
        if isDone == nil { instance.delete(objects.map { $0 as ObjectBase }) }
    }

    /// Deletes the results of a query, without making an object per row.
    public func delete<Element: ObjectBase>(_ objects: Results<Element>) {
        let source = objects.source
        guard let write = instance.requireWrite(source.access.name) else { return }
        // Results of a frozen Realm are those of its version: rows that were added later are not deleted.
        let isWhole = source.isWholeTable && !source.instance.isFrozen
        if isWhole && source.access.ruled.isEmpty { return write.deleteAll([source.access.table]) }
        write.delete(source.keys().map { DeleteRun.Row(access: source.access, key: $0) })
    }

    public func delete<Element: ObjectBase>(_ objects: List<Element>) { instance.delete(objects.map { $0 }) }
    public func delete<Element: ObjectBase>(_ objects: MutableSet<Element>) { instance.delete(objects.map { $0 }) }

    /// Deletes the objects of a map; their keys stay, with the value nil.
    public func delete<Key, Element: ObjectBase>(_ map: Map<Key, Element?>) {
        instance.delete(map.values.compactMap { $0 })
    }

    /// Deletes every object of every class.
    public func deleteAll() { instance.deleteAll() }
}
