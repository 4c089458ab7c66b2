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
    ///
    /// What it commits is shown when it returns. Where this process keeps so many versions that it could not be
    /// (1 008, or `Configuration.maximumNumberOfActiveVersions`), it throws `tooManyVersions` and does not begin.
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
    /// observers, but those of `tokens`, who miss this one commit.
    /// - Throws: ``Realm/Error``; the transaction is rolled back then.
    public func commitWrite(withoutNotifying tokens: [NotificationToken] = []) throws {
        try instance.requireHere()
        guard instance.isInWrite else {
            throw Realm.Error(.wrongState, "commitWrite without beginWrite; begin a write first, or use write { ... }")
        }
        try instance.commit(withoutNotifying: tokens)
    }

    /// Gives the transaction up. Objects that it added are invalid, those that it deleted are back.
    public func cancelWrite() {
        instance.checkConfinement()
        if !instance.isInWrite { fatalError("cancelWrite without beginWrite; begin a write first") }
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
    /// With an update policy, and a primary key that is there already, properties that `value` does not name stay. A
    /// class that is none of this Realm fails the write.
    @discardableResult
    public func create<Element: Object>(
        _ type: Element.Type, value: Any = [String: Any](), update: UpdatePolicy = .error
    ) -> Element {
        guard let access = instance.access(for: type) else {
            let refusal = instance.refusal(of: type)
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
        // Known to be objects: an array of a subclass would be cast one by one.
        instance.delete(objects.map { $0 as ObjectBase })
    }

    /// Deletes what a query finds, without an object per row.
    public func delete<Element: ObjectBase>(_ objects: Results<Element>) {
        let source = objects.source
        guard let write = instance.requireWrite(source.access.name) else { return }
        // Of a frozen Realm, rows that came later are none of them.
        let isWhole = source.isWholeTable && !source.instance.isFrozen
        if isWhole && source.access.ruled.isEmpty { return write.deleteAll([source.access.table]) }
        write.delete(source.keys().map { DeleteRun.Row(access: source.access, key: $0) })
    }

    public func delete<Element: ObjectBase>(_ objects: List<Element>) { instance.delete(objects.map { $0 }) }
    public func delete<Element: ObjectBase>(_ objects: MutableSet<Element>) { instance.delete(objects.map { $0 }) }

    /// Deletes the objects of a map; their keys stay, and lead to nothing.
    public func delete<Key, Element: ObjectBase>(_ map: Map<Key, Element?>) {
        instance.delete(map.values.compactMap { $0 })
    }

    /// Deletes every object of every class.
    public func deleteAll() { instance.deleteAll() }
}
