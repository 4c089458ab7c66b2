import Dispatch
import StrataStorage

/// A notification of a Realm as a whole.
public typealias NotificationBlock = (_ notification: Realm.Notification, _ realm: Realm) -> Void

extension Realm {
    /// Reports every new version that the Realm shows, and newer ones that it does not follow automatically: on the
    /// Realm's own thread, at its commits, refreshes and beginnings of writes.
    public func observe(_ block: @escaping NotificationBlock) -> NotificationToken {
        instance.checkConfinement()
        if instance.isFrozen { fatalError("a frozen Realm does not change; thaw it to observe it") }
        let observer = RealmObserver(instance, block)
        return NotificationToken(instance.add(observer) ? observer : nil)
    }
}

extension RealmCollection {
    /// Reports the collection, and then every change of it.
    ///
    ///     token = results.observe { change in
    ///         switch change {
    ///         case .initial: table.reloadData()
    ///         case .update(_, let deletions, let insertions, let modifications): ...
    ///         case .error(let error): ...
    ///         }
    ///     }
    ///
    /// A collection whose owner is deleted reports a last update that deletes all elements; if the owner was deleted
    /// before, `.initial` has an empty collection and is the last notification. A plain value that is replaced is
    /// deleted and inserted.
    /// - Parameters:
    ///   - keyPaths: changes that count as a modification of an element: `"name"`, or `"dogs.name"` for the dogs that
    ///     it links to and for their names. Nil for the properties of the elements and of objects that they lead to by
    ///     at most four links; for projections, for the projected properties. Plain values have none.
    ///   - queue: the queue to be called on; nil for the thread, queue or actor of the Realm, at its commits, refreshes
    ///     and beginnings of writes.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        let source = observableSource(keyPaths)
        let token = NotificationToken(nil)
        guard let queue else {
            Self.start(source, keyPaths: keyPaths, showing: self, token: token, telling: block)
            return token
        }
        let detached = DetachedCollection(source)
        let start: (RealmInstance, NotificationToken) -> Void = { instance, token in
            Self.start(detached, in: instance, keyPaths: keyPaths, token: token, telling: block)
        }
        source.instance.start(on: queue, token, Carried(value: (start, { block(.error($0)) })))
        return token
    }

    /// As `observe(keyPaths:on:_:)` without key paths, for protocol conformances.
    public func observe(
        on queue: DispatchQueue?, _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: nil, on: queue, block)
    }

    /// Calls an actor with the collection before this returns, and then with every change of it.
    public func observe<Place: Actor>(
        keyPaths: [String]? = nil, on actor: Place, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Place, RealmCollectionChange<Self>) -> Void
    ) async -> NotificationToken {
        let source = observableSource(keyPaths)
        let detached = DetachedCollection(source)
        return await source.instance.start(on: actor, isolation) { [weak actor] instance, token in
            let tell: (RealmCollectionChange<Self>) -> Void = { change in
                let carried = Carried(value: change)
                actor?.assumeIsolated { block($0, carried.value) }
            }
            guard let instance else { return }
            Self.start(detached, in: instance, keyPaths: keyPaths, token: token, telling: tell)
        }
    }

    /// The source to be observed.
    ///
    /// Stops the program at an invalid key path: it is a programmer's mistake, and `observe` cannot throw.
    func observableSource(_ keyPaths: [String]?) -> CollectionSource {
        guard let source = managedSource else {
            fatalError("an unmanaged collection cannot be observed; add its owner to a Realm first")
        }
        source.instance.checkConfinement()
        if source.instance.isFrozen { fatalError("a frozen collection does not change; thaw it to observe it") }
        switch source {
        case .objects(let objects):
            do throws(RealmError) { _ = try KeyPathFilter(keyPaths, objects.access) } catch {
                fatalError(error.message)
            }
        case .values(let values):
            if let keyPath = keyPaths?.first(where: { $0.lowercased() != "self" }) {
                fatalError(
                    "'\(values.name)' holds plain values, which have no properties: '\(keyPath)' cannot be observed")
            }
        }
        return source
    }

    static func start(
        _ detached: DetachedCollection, in instance: RealmInstance, keyPaths: [String]?, token: NotificationToken,
        telling block: @escaping (RealmCollectionChange<Self>) -> Void
    ) {
        guard let source = detached.found(in: instance), let collection = made(of: source) else { return }
        start(source, keyPaths: keyPaths, showing: collection, token: token, telling: block)
    }

    private static func made(of source: CollectionSource) -> Self? {
        switch source {
        case .objects(let source): _make(source)
        case .values(let source): _make(_ValueSource(source: source))
        }
    }

    private static func start(
        _ source: CollectionSource, keyPaths: [String]?, showing collection: Self, token: NotificationToken,
        telling block: @escaping (RealmCollectionChange<Self>) -> Void
    ) {
        if source.owner?.isInvalidated ?? false { return block(.initial(collection)) }
        func tell(_ changes: PlaceChanges) {
            block(
                .update(
                    collection, deletions: changes.deletions, insertions: changes.insertions,
                    modifications: changes.modifications))
        }
        do throws(RealmError) {
            let observer: any Observer
            switch source {
            case .objects(let source):
                let watched = (Element.self as? any _RowElement.Type)?._watchedPaths
                observer = try CollectionObserver(source, keyPaths: keyPaths ?? watched) { result in
                    switch result {
                    case .success(let changes): tell(changes)
                    case .failure(let error): block(.error(error))
                    }
                }
            case .values(let source): observer = source.observer(failed: { block(.error($0)) }, tell)
            }
            source.instance.start(observer, token) { block(.initial(collection)) }
        } catch {
            block(.error(error))
        }
    }
}

extension RealmCollection where Element: _RowElement {
    public func observe(
        keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { _name(for: $0) }, on: queue, block)
    }

    public func observe<Place: Actor>(
        keyPaths: [PartialKeyPath<Element>], on actor: Place, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Place, RealmCollectionChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths.map { _name(for: $0) }, on: actor, isolation: isolation, block)
    }
}

extension _CheckedReading {
    /// Reports every change of the object, and its deletion.
    ///
    /// For an object that is deleted already, the access follows `Configuration.invalidAccess`: its observer gets
    /// `.deleted` before this returns, or first on the queue, and no more. An unmanaged or a frozen object ends the
    /// program.
    /// - Parameters:
    ///   - keyPaths: the observed changes: `"name"`, or `"dogs.name"` for the dogs that it links to and their names;
    ///     nil for the object's own properties.
    ///   - queue: the queue to be called on; nil for the thread, queue or actor of the Realm.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        follow(keyPaths, queue, Self.told(block))
    }

    /// As ``observe(keyPaths:on:_:)``, for callers that know the object by a base class.
    @_disfavoredOverload
    public func observe<Seen: ObjectBase>(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Seen>) -> Void
    ) -> NotificationToken {
        follow(keyPaths, queue) { object, event in
            switch event {
            case .change(let properties, _): if let seen = object as? Seen { block(.change(seen, properties)) }
            case .deleted: block(.deleted)
            case .error(let error): block(.error(error))
            }
        }
    }

    public func observe(
        keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue? = nil,
        _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { _name(for: $0) }, on: queue, block)
    }

    /// Calls an actor with every change of the object, and with its deletion.
    public func observe<Place: Actor>(
        keyPaths: [String]? = nil, on actor: Place, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Place, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        await follow(keyPaths, on: actor, isolation) { [weak actor] object, event in
            Self.told { change in
                let carried = Carried(value: change)
                actor?.assumeIsolated { block($0, carried.value) }
            }(object, event)
        }
    }

    public func observe<Place: Actor>(
        keyPaths: [PartialKeyPath<Self>], on actor: Place, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Place, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths.map { _name(for: $0) }, on: actor, isolation: isolation, block)
    }

    // MARK: Shared by objects and projections

    /// Callback of an object's observer. The object is nil once it is deleted.
    typealias ObjectTeller = (Self?, ObjectObserver.Event) -> Void

    static func told(_ block: @escaping (ObjectChange<Self>) -> Void) -> ObjectTeller {
        { object, event in
            switch event {
            case .change(let properties, _): if let object { block(.change(object, properties)) }
            case .deleted: block(.deleted)
            case .error(let error): block(.error(error))
            }
        }
    }

    func follow(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, _ tell: @escaping ObjectTeller
    ) -> NotificationToken {
        let instance = observableInstance(keyPaths)
        let token = NotificationToken(nil)
        guard let queue else {
            if isInvalidated {
                token.invalidate()
                tell(nil, .deleted)
            } else {
                Self.start(self, keyPaths: keyPaths, token: token, telling: tell)
            }
            return token
        }
        let start = Self.starting(DetachedObject(self), keyPaths, tell)
        instance.start(on: queue, token, Carried(value: (start, { tell(nil, .error($0)) })))
        return token
    }

    func follow(
        _ keyPaths: [String]?, on actor: some Actor, _ isolation: isolated (any Actor)?,
        _ tell: @escaping ObjectTeller
    ) async -> NotificationToken {
        let instance = observableInstance(keyPaths)
        let detached = DetachedObject(self)
        return await instance.start(on: actor, isolation) { instance, token in
            guard let instance else { return }
            Self.starting(detached, keyPaths, tell)(instance, token)
        }
    }

    /// The Realm of an object to be observed. For a deleted object an invalid access is reported, and its observer gets
    /// the deletion only.
    func observableInstance(_ keyPaths: [String]?) -> RealmInstance {
        guard let instance = _instance else {
            fatalError("an unmanaged object cannot be observed; add it to a Realm first")
        }
        instance.checkConfinement()
        if instance.isFrozen { fatalError("a frozen object does not change; thaw it to observe it") }
        do throws(RealmError) { _ = try KeyPathFilter(keyPaths, _access, links: 0) } catch {
            fatalError(error.message)
        }
        if isInvalidated { _GoneAccess(self).tell(gone: "nothing of it can be observed any more") }
        return instance
    }

    static func starting(
        _ detached: DetachedObject?, _ keyPaths: [String]?, _ tell: @escaping ObjectTeller
    ) -> (RealmInstance, NotificationToken) -> Void {
        { instance, token in
            guard let live = detached?.found(in: instance) as? Self else { return tell(nil, .deleted) }
            start(live, keyPaths: keyPaths, token: token, telling: tell)
        }
    }

    private static func start(
        _ object: Self, keyPaths: [String]?, token: NotificationToken, telling tell: @escaping ObjectTeller
    ) {
        do throws(RealmError) {
            let observer = try ObjectObserver(object, keyPaths: keyPaths) { tell(object, $0) }
            object._access.instance.start(observer, token) {}
        } catch {
            tell(object, .error(error))
        }
    }
}
