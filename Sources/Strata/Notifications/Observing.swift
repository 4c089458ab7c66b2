import Dispatch

extension Realm {
    /// Tells of every new version that the Realm shows. See ``Observation`` for when.
    public func observe(_ block: @escaping (Notification, Realm) -> Void) -> NotificationToken {
        instance.checkConfinement()
        let observer = RealmObserver(instance, block)
        instance.observation.add(observer)
        return NotificationToken(observer)
    }
}

/// Carries values to the queue that they are used on.
private struct Carried<Value>: @unchecked Sendable {  // handed over: the sender does not use it again
    let value: Value
}

extension RealmCollection where Element: ObjectBase {
    /// Tells what the collection is, and then every change of it.
    ///
    ///     token = results.observe { change in
    ///         switch change {
    ///         case .initial: table.reloadData()
    ///         case .update(_, let deletions, let insertions, let modifications): ...
    ///         case .error(let error): ...
    ///         }
    ///     }
    /// - Parameters:
    ///   - keyPaths: properties whose change counts as a modification; nil for all.
    ///   - queue: where to be told; nil for the Realm's own thread, at its commits, refreshes and begins of writes.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        guard let source = _source else {
            fatalError("an unmanaged collection cannot be observed; add its owner to a Realm first")
        }
        source.instance.checkConfinement()
        precondition(!source.instance.isFrozen, "a frozen collection does not change")
        let token = NotificationToken(nil)
        if let queue {
            observe(source, keyPaths, queue, token, block)
        } else {
            Self.start(source, keyPaths, self, token, block)
        }
        return token
    }

    public func observe<Value>(
        keyPaths: [KeyPath<Element, Value>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { _name(for: $0) }, on: queue, block)
    }

    private static func start(
        _ source: ObjectSource, _ keyPaths: [String]?, _ collection: Self, _ token: NotificationToken,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) {
        let observer = CollectionObserver(source, keyPaths: keyPaths) { delta in
            block(
                .update(
                    collection, deletions: delta.deletions, insertions: delta.insertions,
                    modifications: delta.modifications))
        }
        guard token.hold(observer) else { return }
        source.instance.observation.add(observer)
        block(.initial(collection))
    }

    private func observe(
        _ source: ObjectSource, _ keyPaths: [String]?, _ queue: DispatchQueue, _ token: NotificationToken,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) {
        let configuration = source.instance.configuration
        guard let frozen = source.instance.frozen().flatMap({ source.moved(to: $0) }) else { return }
        let start: (RealmInstance, NotificationToken) -> Void = { instance, token in
            guard let moved = frozen.moved(to: instance), let collection = Self._make(moved) else { return }
            Self.start(moved, keyPaths, collection, token, block)
        }
        let fail: (any Error) -> Void = { block(.error($0)) }
        onQueue(queue, configuration, token, Carried(value: (start, fail)))
    }
}

/// Opens a queue's own Realm there, and starts an observer on it.
private func onQueue(
    _ queue: DispatchQueue, _ configuration: Realm.Configuration, _ token: NotificationToken,
    _ carried: Carried<(start: (RealmInstance, NotificationToken) -> Void, fail: (any Error) -> Void)>
) {
    queue.async { [weak token] in
        guard let token, token.isActive else { return }
        do {
            let instance = try InstanceCache.instance(configuration, queue: queue)
            instance.refresh()
            carried.value.start(instance, token)
        } catch {
            carried.value.fail(error)
        }
    }
}

extension List where Element: _Scalar {
    /// Tells what the list is, and then every change of it; on the Realm's own thread.
    public func observe(_ block: @escaping (RealmCollectionChange<List>) -> Void) -> NotificationToken {
        guard let instance = owner?._instance else {
            fatalError("an unmanaged list cannot be observed; add its owner to a Realm first")
        }
        instance.checkConfinement()
        let observer = ValueListObserver(self) { delta in
            block(.update(self, deletions: delta.deletions, insertions: delta.insertions, modifications: []))
        }
        instance.observation.add(observer)
        let token = NotificationToken(observer)
        block(.initial(self))
        return token
    }
}

extension _CheckedReading {
    /// Tells of every change of the object, and of its end.
    /// - Parameter queue: where to be told; nil for the Realm's own thread.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        guard let instance = _instance, !isInvalidated else {
            fatalError("only a managed object that is there can be observed")
        }
        precondition(!instance.isFrozen, "a frozen object does not change")
        let token = NotificationToken(nil)
        guard let queue else {
            Self.start(self, keyPaths, token, block)
            return token
        }
        let configuration = instance.configuration
        guard let frozen = instance.frozen().flatMap({ $0.twin(of: self) }) else { return token }
        let start: (RealmInstance, NotificationToken) -> Void = { instance, token in
            guard let live = instance.twin(of: frozen) as? Self else { return block(.deleted) }
            Self.start(live, keyPaths, token, block)
        }
        onQueue(queue, configuration, token, Carried(value: (start, { block(.error($0)) })))
        return token
    }

    private static func start(
        _ object: Self, _ keyPaths: [String]?, _ token: NotificationToken,
        _ block: @escaping (ObjectChange<Self>) -> Void
    ) {
        let observer = ObjectObserver(object, keyPaths: keyPaths) { event in
            switch event {
            case .change(let properties): block(.change(object, properties))
            case .deleted: block(.deleted)
            }
        }
        guard token.hold(observer) else { return }
        object._access.instance.observation.add(observer)
    }
}
