import StrataStorage

extension _CheckedReading {
    /// A frozen copy of the object: it shows the present version for ever, on any thread. Inside a write that is the
    /// last committed version.
    ///
    /// A deleted object, or one added in the running write, is in no version: the frozen object is invalidated, reads
    /// like any deleted one, and the access follows `Configuration.invalidAccess`. An unmanaged object ends the
    /// program.
    /// - Complexity: O(log rows). The first object that is frozen in a version pins that version.
    public func freeze() -> Self {
        guard let instance = _instance else {
            fatalError("an unmanaged object cannot be frozen; add it to a Realm first")
        }
        let frozen = instance.twins.frozenOrEmpty()
        if let made = frozen.twin(of: self) as? Self { return made }
        _GoneAccess(self).tell(gone: "only a committed object that is not deleted can be frozen")
        return frozen === instance ? self : frozen.goneTwin(of: self) as? Self ?? self
    }

    /// The live object on this thread, queue or actor; nil if it was deleted.
    public func thaw() -> Self? {
        guard let instance = _instance else { return nil }
        instance.checkConfinement()
        guard instance.isFrozen else { return self }
        guard let live = InstanceCache.live(instance) else { return nil }
        instance.snapshot.map { live.catchUp($0.version) }
        return live.twin(of: self) as? Self
    }
}

extension RealmCollection {
    /// A frozen copy of the collection: it shows the present version for ever, on any thread. Inside a write that is
    /// the last committed version.
    ///
    /// If its owner was deleted, the frozen collection is empty and invalidated, and the access follows
    /// `Configuration.invalidAccess`. An unmanaged collection ends the program.
    /// - Complexity: O(1) for a list or a set; for results the cost of their query.
    public func freeze() -> Self {
        guard let instance = realm?.instance else {
            fatalError("an unmanaged collection cannot be frozen; add its owner to a Realm first")
        }
        let frozen = instance.twins.frozenOrEmpty()
        if let made = moved(to: frozen, allowsGone: false) { return made }
        _gone.tell(gone: "a collection whose owner is gone cannot be frozen")
        return frozen === instance ? self : moved(to: frozen, allowsGone: true) ?? self
    }

    private func moved(to instance: RealmInstance, allowsGone: Bool) -> Self? {
        if let source = _source {
            return source.moved(to: instance, allowsGone: allowsGone).flatMap { Self._make($0) }
        }
        return _values?.source.moved(to: instance, allowsGone: allowsGone)
            .flatMap { Self._make(_ValueSource(source: $0)) }
    }

    /// The live collection on this thread, queue or actor; nil if its owner was deleted.
    public func thaw() -> Self? {
        guard let instance = realm?.instance else { return nil }
        guard instance.isFrozen else { return self }
        guard let live = InstanceCache.live(instance) else { return nil }
        return _detached().flatMap { Self._found($0, in: Realm(live)) }
    }
}

extension Map {
    /// A frozen copy of the map: it shows the present version for ever, on any thread. Inside a write that is the last
    /// committed version.
    ///
    /// If its owner was deleted, the frozen map is empty and invalidated, and the access follows
    /// `Configuration.invalidAccess`. An unmanaged map ends the program.
    /// - Complexity: O(1).
    public func freeze() -> Self {
        guard let column = _column, let instance = column.owner._instance else {
            fatalError("an unmanaged map cannot be frozen; add its owner to a Realm first")
        }
        let frozen = instance.twins.frozenOrEmpty()
        if let moved = column.moved(to: frozen) { return Self(_column: moved) }
        _GoneAccess(column, "map").tell(gone: "a map whose owner is gone cannot be frozen")
        return frozen === instance ? self : column.moved(to: frozen, allowsGone: true).map { Self(_column: $0) } ?? self
    }

    /// The live map on this thread, queue or actor; nil if its owner was deleted.
    public func thaw() -> Self? {
        guard let instance = _column?.owner._instance else { return nil }
        guard instance.isFrozen else { return self }
        guard let live = InstanceCache.live(instance) else { return nil }
        return _detached().flatMap { Self._found($0, in: Realm(live)) }
    }
}

/// Contains a frozen object, collection or Realm, and may be sent to any thread. A type of its own, because the
/// compiler cannot tell a frozen object from a live one.
///
///     let shown = Frozen(person)
///     Task.detached { print(shown.value.name) }
public struct Frozen<Value>: @unchecked Sendable {  // what is frozen never changes, and any thread may read it
    /// The frozen value; its `thaw()` returns the live one.
    public let value: Value

    init(frozen value: Value) { self.value = value }
}

extension Frozen where Value: _CheckedReading {
    /// Freezes an object, unless it is frozen.
    public init(_ value: Value) { self.init(frozen: value.freeze()) }
}

extension Frozen where Value: RealmCollection {
    /// Freezes a collection, unless it is frozen.
    public init(_ value: Value) { self.init(frozen: value.freeze()) }
}

extension Frozen<Realm> {
    /// Freezes a Realm, unless it is frozen.
    public init(_ value: Realm) { self.init(frozen: value.freeze()) }
}

extension ResultsSnapshot: @unchecked Sendable {}  // its source is frozen, and found before it is handed out

// Live objects, collections and Realms belong to the thread, queue or actor that read them: the compiler rejects
// sending them elsewhere.

@available(*, unavailable, message: "a Realm belongs to its thread, queue or actor; open another one there")
extension Realm: Sendable {}

@available(*, unavailable, message: "an object belongs to its Realm's thread; pass a ThreadSafeReference or a Frozen")
extension ObjectBase: Sendable {}

@available(*, unavailable, message: "results belong to their Realm's thread; pass a ThreadSafeReference or a Frozen")
extension Results: Sendable {}

@available(*, unavailable, message: "a collection belongs to its Realm's thread; pass a ThreadSafeReference")
extension AnyRealmCollection: Sendable {}

@available(*, unavailable, message: "a list belongs to its Realm's thread; pass a ThreadSafeReference or a Frozen")
extension List: Sendable {}

@available(*, unavailable, message: "linking objects belong to their Realm's thread; pass a ThreadSafeReference")
extension LinkingObjects: Sendable {}

@available(*, unavailable, message: "a set belongs to its Realm's thread; pass a ThreadSafeReference or a Frozen")
extension MutableSet: Sendable {}

@available(*, unavailable, message: "a map belongs to its Realm's thread; pass a ThreadSafeReference to its owner")
extension Map: Sendable {}
