import StrataStorage
import Synchronization

/// What belongs to a thread, queue or actor, and can be found again on another one.
public protocol ThreadConfined {
    /// The Realm that manages it; nil for what is unmanaged.
    var realm: Realm? { get }
    /// Whether it is gone.
    var isInvalidated: Bool { get }
    /// For ``ThreadSafeReference`` and ``ThreadSafe``.
    func _detached() -> _DetachedValue?
    static func _found(_ value: _DetachedValue, in realm: Realm) -> Self?
}

/// What leads to an object or a collection from any thread.
public struct _DetachedValue: Sendable {
    enum Kind: Sendable {
        case object(DetachedObject)
        case source(DetachedSource)
        case values(DetachedValues)
    }

    let kind: Kind

    var isCollection: Bool {
        if case .object = kind { return false }
        return true
    }
}

/// Leads to an object or to a collection from another thread: made here, resolved once over there.
///
///     let reference = ThreadSafeReference(to: person)
///     queue.async { let person = try Realm(configuration: configuration).resolve(reference) }
///
/// One that leads to an object keeps no version, however long it waits: what happened to the object meanwhile is seen
/// when it is resolved. One that leads to a collection keeps the version that its Realm showed, so that a Realm which
/// nothing was asked of yet shows the same elements there; the file keeps what that version needs until the reference
/// is resolved or let go of.
public final class ThreadSafeReference<Confined: ThreadConfined>: Sendable {
    private let target: Mutex<ReferenceTarget?>

    /// - Parameter target: managed; of one that is gone, or that no commit has made yet, the reference is invalidated.
    public init(to target: Confined) {
        guard let instance = target.realm?.instance else {
            fatalError("an unmanaged value belongs to no thread; pass it as it is, or add it to a Realm first")
        }
        self.target = Mutex(target._detached().map { ReferenceTarget($0, of: instance) })
    }

    /// Whether it leads nowhere: resolved already, or made from something deleted.
    public var isInvalidated: Bool { target.withLock { $0 == nil } }

    func take() -> ReferenceTarget? {
        #if Zoo
            if PlantedMistake.referenceReused.isPlanted { return target.withLock { $0 } }
        #endif
        return target.withLock { target in
            defer { target = nil }
            return target
        }
    }
}

/// What a reference leads to, and the version that a collection was seen in.
struct ReferenceTarget: Sendable {
    let value: _DetachedValue
    /// Nil for an object, for what is frozen, and for what was found in a write.
    private let version: Snapshot?
    private let file: ObjectIdentifier

    init(_ value: _DetachedValue, of instance: RealmInstance) {
        self.value = value
        version = value.isCollection && !instance.isFrozen && !instance.isInWrite ? instance.snapshot : nil
        file = ObjectIdentifier(instance.store)
    }

    /// Lets a Realm of the same file show the version, unless the program has seen another one there.
    func show(in instance: RealmInstance) {
        guard let version, file == ObjectIdentifier(instance.store), instance.isUnread else { return }
        if instance.snapshotVersion != version.version { instance.show(version) }
    }
}

extension Realm {
    /// The object or collection where this Realm lives; nil when it was deleted, or the reference used before.
    ///
    /// A Realm that is behind shows the newest version first; inside a write it shows the write's own. One that nothing
    /// was asked of yet, as a Realm that was opened for this, shows the version in which a collection was seen, until
    /// it is refreshed.
    public func resolve<Confined>(_ reference: ThreadSafeReference<Confined>) -> Confined? {
        instance.checkConfinement()
        guard let target = reference.take() else { return nil }
        target.show(in: instance)
        return Confined._found(target.value, in: self)
    }
}

/// Keeps an object or a collection so that every thread, queue or actor reads its own one. Nil when it was deleted.
///
///     @ThreadSafe var person = realm.objects(Person.self).first
///     queue.async { print(person?.name ?? "gone") }
///
/// It keeps the file open, and no version. Who reads it sees what anybody saw before who read it: a Realm that is
/// behind is refreshed first.
@propertyWrapper
public final class ThreadSafe<Confined: ThreadConfined>: Sendable {
    private struct Kept {
        var value: _DetachedValue
        var configuration: Realm.Configuration
        var shared: SharedStore
        /// The newest version that it was read at.
        var version: TransactionID
    }

    private let kept = Mutex<Kept?>(nil)

    public init(wrappedValue: Confined?) { self.wrappedValue = wrappedValue }

    public var wrappedValue: Confined? {
        get {
            guard let known = kept.withLock({ $0 }),
                let instance = InstanceCache.live(known.configuration, known.shared)
            else { return nil }
            if instance.snapshotVersion < known.version, !instance.isInWrite { instance.refresh() }
            let shown = Self.seen(by: instance)
            kept.withLock { kept in if let version = kept?.version { kept?.version = max(version, shown) } }
            return Confined._found(known.value, in: Realm(instance))
        }
        set {
            guard let newValue else { return kept.withLock { $0 = nil } }
            guard let instance = newValue.realm?.instance, let shared = instance.shared else {
                fatalError("@ThreadSafe keeps what a Realm manages; add the value to one first")
            }
            let made = newValue._detached().map {
                Kept(
                    value: $0, configuration: instance.configuration, shared: shared, version: Self.seen(by: instance))
            }
            kept.withLock { $0 = made }
        }
    }

    /// The version that an instance shows; inside a write the one that the write is to make.
    private static func seen(by instance: RealmInstance) -> TransactionID {
        instance.write.map { TransactionID($0.version) } ?? instance.snapshotVersion
    }
}

extension ObjectBase: ThreadConfined {
    public func _detached() -> _DetachedValue? { DetachedObject(self).map { _DetachedValue(kind: .object($0)) } }

    public static func _found(_ value: _DetachedValue, in realm: Realm) -> Self? {
        guard case .object(let object) = value.kind else { return nil }
        return object.found(in: realm.instance) as? Self
    }
}

extension RealmCollection {
    public func _detached() -> _DetachedValue? {
        if isInvalidated { return nil }
        if let source = _source { return _DetachedValue(kind: .source(DetachedSource(source))) }
        return _values?.source.detached.map { _DetachedValue(kind: .values($0)) }
    }

    public static func _found(_ value: _DetachedValue, in realm: Realm) -> Self? {
        switch value.kind {
        case .object: return nil
        case .source(let source): return source.found(in: realm.instance).flatMap { _make($0) }
        case .values(let values): return values.found(in: realm.instance).flatMap { _make(_ValueSource(source: $0)) }
        }
    }
}

extension Map: ThreadConfined {
    public func _detached() -> _DetachedValue? {
        _column.flatMap { DetachedValues($0) }.map { _DetachedValue(kind: .values($0)) }
    }

    public static func _found(_ value: _DetachedValue, in realm: Realm) -> Self? {
        guard case .values(let values) = value.kind else { return nil }
        return values.found(in: realm.instance).map { Self(_column: $0.column) }
    }
}
