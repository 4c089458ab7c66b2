import StrataStorage
import Synchronization

/// A value that belongs to a thread, queue or actor, and can be found again on another one.
public protocol ThreadConfined {
    /// The Realm that manages it; nil if unmanaged.
    var realm: Realm? { get }
    /// Whether it was deleted.
    var isInvalidated: Bool { get }
    /// For ``ThreadSafeReference`` and ``ThreadSafe``.
    func _detached() -> _DetachedValue?
    static func _found(_ value: _DetachedValue, in realm: Realm) -> Self?
}

/// A reference to an object or a collection, for any thread.
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

/// A reference to an object or a collection for another thread: made here, and resolved once there.
///
///     let reference = ThreadSafeReference(to: person)
///     queue.async { let person = try Realm(configuration: configuration).resolve(reference) }
///
/// A reference to an object pins no version, however long it waits: changes of the object meanwhile are seen when it is
/// resolved. A reference to a collection pins the version that its Realm showed, so that a Realm that was not read yet
/// shows the same elements there; the file keeps that version's pages until the reference is resolved or released.
public final class ThreadSafeReference<Confined: ThreadConfined>: Sendable {
    private let target: Mutex<ReferenceTarget?>

    /// - Parameter target: managed; for a deleted or uncommitted one, the reference is invalidated.
    public init(to target: Confined) {
        guard let instance = target.realm?.instance else {
            fatalError("an unmanaged value belongs to no thread; pass it as it is, or add it to a Realm first")
        }
        self.target = Mutex(target._detached().map { ReferenceTarget($0, of: instance) })
    }

    /// Whether it cannot be resolved: it was resolved already, or made from something deleted.
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

/// The target of a reference, and the version in which a collection was read.
struct ReferenceTarget: Sendable {
    let value: _DetachedValue
    /// Nil for an object, for a frozen value, and for one read inside a write.
    private let version: Snapshot?
    private let file: ObjectIdentifier

    init(_ value: _DetachedValue, of instance: RealmInstance) {
        self.value = value
        version = value.isCollection && !instance.isFrozen && !instance.isInWrite ? instance.snapshot : nil
        file = ObjectIdentifier(instance.file.store)
    }

    /// Lets a Realm of the same file show the version, if the program has read nothing in that Realm yet.
    func show(in instance: RealmInstance) {
        guard let version, file == ObjectIdentifier(instance.file.store), instance.isUnread else { return }
        if instance.snapshotVersion != version.version { instance.show(version) }
    }
}

extension Realm {
    /// The object or collection where this Realm lives; nil if it was deleted, or the reference was used before.
    ///
    /// A Realm that is behind is refreshed first; inside a write the write's own state is used. A Realm that was not
    /// read yet, such as one opened for this, shows the version of a collection's reference until it is refreshed.
    public func resolve<Confined>(_ reference: ThreadSafeReference<Confined>) -> Confined? {
        instance.checkConfinement()
        guard let target = reference.take() else { return nil }
        target.show(in: instance)
        return Confined._found(target.value, in: self)
    }
}

/// Holds an object or a collection so that every thread, queue or actor reads its own instance. Nil if it was deleted.
///
///     @ThreadSafe var person = realm.objects(Person.self).first
///     queue.async { print(person?.name ?? "gone") }
///
/// Keeps the file open but pins no version. Reading it refreshes the reader's Realm first, so a reader never sees an
/// older version than an earlier reader saw.
@propertyWrapper
public final class ThreadSafe<Confined: ThreadConfined>: Sendable {
    private struct Kept {
        var value: _DetachedValue
        var configuration: RealmConfiguration
        var shared: SharedStore
        /// The newest version in which it was read.
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
            guard let instance = newValue.realm?.instance, let shared = instance.file.shared else {
                fatalError("@ThreadSafe keeps what a Realm manages; add the value to one first")
            }
            let made = newValue._detached().map {
                Kept(
                    value: $0, configuration: instance.file.configuration, shared: shared,
                    version: Self.seen(by: instance))
            }
            kept.withLock { $0 = made }
        }
    }

    /// The version that an instance shows; inside a write the version that the write will make.
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
