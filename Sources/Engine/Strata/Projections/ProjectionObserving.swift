import Dispatch

extension ProjectionObservable {
    public static func _path(of keyPath: AnyKeyPath) -> String {
        guard let keyPath = keyPath as? PartialKeyPath<Self> else {
            preconditionFailure("\(keyPath) is no key path of \(Self.self)")
        }
        let names = KeyPathTrace.follow(keyPath, from: { (root: Root) in Self(projecting: root) }).names
        return names.joined(separator: ".")
    }

    public static var _watchedPaths: [String]? { Self(projecting: Root()).projectedProperties.map(\.watched) }

    /// Notifies of every change of the projected properties, and of the deletion of the object.
    ///
    /// A change has the name of the projected property. If several properties are derived from the same property of the
    /// object, each of them is reported.
    /// - Parameters:
    ///   - keyPaths: the observed changes, by names of the object's class: `"address.city"`; nil, or none, for all
    ///     projected properties.
    ///   - queue: the queue of the notifications; nil for that of the Realm.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        let observed = observedProperties(keyPaths)
        return rootObject.follow(observed.map(\.watched), queue, Self.told(observed, block))
    }

    /// - Parameter keyPaths: the observed changes, by properties of the projection.
    public func observe(
        keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue? = nil,
        _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { _name(for: $0) }, on: queue, block)
    }

    /// Notifies an actor of every change of the projected properties, and of the deletion of the object.
    public func observe<Place: Actor>(
        keyPaths: [String]? = nil, on actor: Place, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Place, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        let observed = observedProperties(keyPaths)
        let tell = Self.told(observed) { [weak actor] (change: ObjectChange<Self>) in
            let carried = Carried(value: change)
            actor?.assumeIsolated { block($0, carried.value) }
        }
        return await rootObject.follow(observed.map(\.watched), on: actor, isolation, tell)
    }

    public func observe<Place: Actor>(
        keyPaths: [PartialKeyPath<Self>], on actor: Place, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Place, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths.map { _name(for: $0) }, on: actor, isolation: isolation, block)
    }

    /// The observed properties; stops the program if a key path matches none of them.
    private func observedProperties(_ keyPaths: [String]?) -> [ProjectedProperty<Root>] {
        let all = projectedProperties
        guard let keyPaths, !keyPaths.isEmpty else { return all }
        for keyPath in keyPaths where !all.contains(where: { $0.path == keyPath }) {
            fatalError("\(Self.self) projects no '\(keyPath)'; it projects \(all.map(\.path).joined(separator: ", "))")
        }
        return all.filter { keyPaths.contains($0.path) }
    }

    private static func told(
        _ observed: [ProjectedProperty<Root>], _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> Root.ObjectTeller {
        { object, event in
            switch event {
            case .change(let changes, let before):
                guard let object else { return }
                let properties = changes.flatMap { change in observed.filter { $0.rootName == change.name } }
                block(.change(Self(projecting: object), properties.map { $0.change(before as? Root, object) }))
            case .deleted: block(.deleted)
            case .error(let error): block(.error(error))
            }
        }
    }
}

extension ProjectedProperty {
    /// The earlier contents of a collection are not reported.
    fileprivate func change(_ before: Root?, _ now: Root) -> PropertyChange {
        let new = _flatten(now[keyPath: keyPath])
        let isCollection = holdsCollection || new is any _ColumnCollection
        return PropertyChange(
            name: name, oldValue: isCollection ? nil : before.flatMap { _flatten($0[keyPath: keyPath]) }, newValue: new)
    }
}
