import StrataStorage
import Synchronization

/// Leads to an object or to results from another thread: made here, resolved once over there.
///
///     let reference = ThreadSafeReference(to: person)
///     queue.async { let person = try Realm().resolve(reference) }
public final class ThreadSafeReference<Confined>: @unchecked Sendable {  // the target is frozen; `state` is a Mutex
    private enum Target {
        case object(ObjectBase)
        case source(ObjectSource)
    }

    private let target: Target?
    private let isUsed = Mutex(false)
    private let make: (Target) -> Confined?

    private init(_ target: Target?, _ make: @escaping (Target) -> Confined?) {
        self.target = target
        self.make = make
    }

    /// Whether it leads nowhere: resolved already, or made from something deleted.
    public var isInvalidated: Bool { target == nil || isUsed.withLock { $0 } }

    func resolve(in instance: RealmInstance) -> Confined? {
        let wasUsed = isUsed.withLock { used in
            defer { used = true }
            return used
        }
        guard !wasUsed, let target else { return nil }
        switch target {
        case .object(let frozen):
            if let version = frozen._instance?.currentView?.version, let current = instance.currentView?.version,
                version > current
            {
                instance.refresh()
            }
            return instance.twin(of: frozen).flatMap { make(.object($0)) }
        case .source(let source): return source.moved(to: instance).flatMap { make(.source($0)) }
        }
    }
}

extension ThreadSafeReference where Confined: ObjectBase {
    public convenience init(to object: Confined) {
        let frozen = object._instance?.frozen()?.twin(of: object)
        self.init(frozen.map { .object($0) }) { target in
            if case .object(let object) = target { return object as? Confined }
            return nil
        }
    }
}

extension ThreadSafeReference where Confined: RealmCollection {
    public convenience init(to collection: Confined) {
        let source = collection._source
        let frozen = source?.instance.frozen().flatMap { source?.moved(to: $0) }
        self.init(frozen.map { .source($0) }) { target in
            if case .source(let source) = target { return Confined._make(source) }
            return nil
        }
    }
}

extension Realm {
    /// The object or collection on this Realm's thread; nil when it was deleted, or the reference used before.
    public func resolve<Confined>(_ reference: ThreadSafeReference<Confined>) -> Confined? {
        instance.checkConfinement()
        return reference.resolve(in: instance)
    }
}

// MARK: Freezing

extension _CheckedReading {
    /// The object as it is now, for ever, on any thread.
    public func freeze() -> Self {
        guard let made = _instance?.frozen()?.twin(of: self) as? Self else {
            fatalError("only a managed object that is there can be frozen")
        }
        return made
    }

    /// The live object of a frozen one on this thread; nil when it was deleted.
    public func thaw() -> Self? {
        guard let instance = _instance else { return nil }
        guard instance.isFrozen else { return self }
        return InstanceCache.live(instance)?.twin(of: self) as? Self
    }
}

extension RealmCollection where Element: ObjectBase {
    /// The collection as it is now, for ever, on any thread.
    public func freeze() -> Self {
        guard let source = _source, let frozen = source.instance.frozen(), let moved = source.moved(to: frozen),
            let made = Self._make(moved)
        else { fatalError("only a managed collection can be frozen") }
        return made
    }

    /// The live collection on this thread; nil when its owner was deleted.
    public func thaw() -> Self? {
        guard let source = _source else { return nil }
        guard source.instance.isFrozen else { return self }
        return InstanceCache.live(source.instance).flatMap { source.moved(to: $0) }.flatMap { Self._make($0) }
    }
}
