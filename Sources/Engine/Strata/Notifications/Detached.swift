import StrataStorage

/// A reference to an object for any thread. Pins no version: later changes of the row are seen when it is resolved.
struct DetachedObject: Sendable {
    private let className: String
    private let isTyped: Bool
    let key: Int64
    private let creation: UInt64
    /// The version in which the object was read.
    private let version: TransactionID
    /// For an object added in a running write: whether that was committed.
    private let fate: WriteFate?
    #if Zoo
        private let pin: Snapshot?
    #endif

    /// Nil for a deleted object.
    init?(_ object: ObjectBase) {
        guard let instance = object._instance, !object.isInvalidated else { return nil }
        if let write = instance.write, write.made(object) {
            version = TransactionID(write.version)
            fate = write.fate
        } else if let shown = instance.snapshot?.version, object._creation <= shown.rawValue {
            version = shown
            fate = nil
        } else {
            return nil
        }
        className = object._access.name
        isTyped = object._access.plan != nil
        key = object._key
        creation = object._creation
        #if Zoo
            pin = PlantedMistake.referencePins.isPlanted ? instance.snapshot : nil
        #endif
    }

    /// Resolves the object; nil if it was deleted. A Realm that is behind is refreshed first.
    func found(in instance: RealmInstance) -> ObjectBase? {
        if let fate, !fate.isCommitted, instance.write?.isMeant(by: fate) != true { return nil }
        instance.catchUp(version)
        guard let access = instance.access(named: className, typed: isTyped),
            let object = instance.materialize(access, RowKey(key)), object._creation == creation
        else { return nil }
        return object
    }
}

/// A reference to a collection for any thread. Pins no version.
struct DetachedSource: @unchecked Sendable {  // immutable; its predicates hold no managed objects
    private enum Base {
        case table
        case list(DetachedObject?, ownerClass: String, isTyped: Bool, property: String)
        case backlinks(DetachedObject?, ownerClass: String, isTyped: Bool, origin: String, property: String)
        case keys([Int64])
    }

    private let className: String
    private let isTyped: Bool
    private let base: Base
    private let steps: [ObjectSource.Step]
    private let version: TransactionID

    init(_ source: ObjectSource) {
        className = source.access.name
        isTyped = source.access.plan != nil
        version = source.instance.snapshot?.version ?? TransactionID(0)
        switch source.base {
        case .table: base = .table
        case .keys(let keys): base = .keys(keys)
        case .list(let owner, let property):
            let access = owner._access
            base = .list(
                DetachedObject(owner), ownerClass: access.name, isTyped: access.plan != nil,
                property: access.properties[property].name)
        case .backlinks(let owner, let origin, let property):
            let access = owner._access
            base = .backlinks(
                DetachedObject(owner), ownerClass: access.name, isTyped: access.plan != nil, origin: origin.name,
                property: origin.properties[property].name)
        }
        steps = source.steps.map { step in
            if case .filter(let predicate) = step { return .filter(predicate.detached) }
            return step
        }
    }

    /// Resolves the collection.
    /// - Parameter allowsGone: with a deleted owner, returns an empty and invalidated collection; nil otherwise.
    func found(in instance: RealmInstance, allowsGone: Bool = false) -> ObjectSource? {
        instance.catchUp(version)
        guard let access = instance.access(named: className, typed: isTyped) else { return nil }
        func owner(_ object: DetachedObject?, _ name: String, _ isTyped: Bool) -> ObjectBase? {
            if let found = object?.found(in: instance) { return found }
            guard allowsGone, let access = instance.access(named: name, typed: isTyped) else { return nil }
            return instance.invalidObject(access, key: object.map { RowKey($0.key) })
        }
        switch base {
        case .table: return ObjectSource(access, .table, steps: steps)
        case .keys(let keys): return ObjectSource(access, .keys(keys), steps: steps)
        case .list(let object, let name, let isTyped, let property):
            guard let owner = owner(object, name, isTyped), let place = owner._access.positions[property] else {
                return nil
            }
            return ObjectSource(access, .list(owner, property: place), steps: steps)
        case .backlinks(let object, let name, let isTyped, let origin, let property):
            guard let owner = owner(object, name, isTyped),
                let origin = instance.access(named: origin, typed: self.isTyped),
                let place = origin.positions[property]
            else { return nil }
            return ObjectSource(access, .backlinks(owner, origin: origin, property: place), steps: steps)
        }
    }
}

/// A reference to the values of a list, a set or a map for any thread, and to queries of them. Pins a version only for
/// a collection inside a list: see `nested`.
struct DetachedValues: @unchecked Sendable {  // immutable; the closures of the steps hold values alone
    private let owner: DetachedObject
    private let property: String
    private let steps: [ValueSource.Step]
    /// Steps to a collection nested in a value of any type. Steps that count a list's elements are valid in one version
    /// only: it is pinned, so that its difference from a later version tells where the elements are then.
    private let nested: (standing: NestedSteps, version: Snapshot?)?

    init?(_ column: _CollectionColumn, _ steps: [ValueSource.Step] = []) {
        guard let owner = DetachedObject(column.owner) else { return nil }
        self.owner = owner
        if let nested = column.nested {
            guard let standing = nested.pinned else { return nil }
            self.nested = (standing, standing.hasIndex ? column.owner._instance?.snapshot : nil)
        } else {
            nested = nil
        }
        property = column.property.name
        self.steps = steps
    }

    /// Resolves the values; nil if their owner was deleted.
    func found(in instance: RealmInstance) -> ValueSource? {
        guard let owner = owner.found(in: instance), let place = owner._access.positions[property] else { return nil }
        guard let nested else { return ValueSource(_CollectionColumn(owner, place), steps: steps) }
        guard let standing = standing(nested.standing, since: nested.version, of: owner, at: place, in: instance) else {
            return nil
        }
        let column = _CollectionColumn(owner, place, standing)
        return column.isInvalidated ? nil : ValueSource(column, steps: steps)
    }

    private func standing(
        _ standing: NestedSteps, since version: Snapshot?, of owner: ObjectBase, at place: Int,
        in instance: RealmInstance
    ) -> NestedSteps? {
        guard let old = version?.view, let new = instance.currentView,
            let holder = _CollectionColumn(owner, place).holder
        else { return standing }
        do throws(StorageError) { return try NestedFollowing(old: old, new: new).followed(holder, standing) } catch {
            instance.failures.note(error, in: owner._access)
            return nil
        }
    }
}

/// A reference to a collection of elements of any type for any thread. Pins a version only where ``DetachedValues``
/// does.
struct DetachedCollection: @unchecked Sendable {  // immutable; the closures of the steps hold values alone
    private enum Kind {
        case objects(DetachedSource)
        case values(DetachedValues?, CollectionName, [ValueSource.Step])
    }

    private let kind: Kind

    init(_ source: CollectionSource) {
        switch source {
        case .objects(let source): kind = .objects(DetachedSource(source))
        case .values(let source): kind = .values(source.detached, CollectionName(source.column), source.steps)
        }
    }

    /// Resolves the collection; with a deleted owner it is empty and invalidated.
    func found(in instance: RealmInstance) -> CollectionSource? {
        switch kind {
        case .objects(let source): return source.found(in: instance, allowsGone: true).map { .objects($0) }
        case .values(let values, let name, let steps):
            if let found = values?.found(in: instance) { return .values(found) }
            return name.gone(in: instance).map { .values(ValueSource($0, steps: steps)) }
        }
    }
}

/// The class and property of a collection, from which any thread can make an invalidated one.
struct CollectionName: Sendable {
    private let className: String
    private let isTyped: Bool
    private let property: String
    private let isNested: Bool

    init(_ column: _CollectionColumn) {
        className = column.owner._access.name
        isTyped = column.owner._access.plan != nil
        property = column.property.name
        isNested = column.nested != nil
    }

    /// The invalidated collection of a deleted owner; nil if the class does not exist there.
    func gone(in instance: RealmInstance) -> _CollectionColumn? {
        guard let access = instance.access(named: className, typed: isTyped), let place = access.positions[property]
        else { return nil }
        return _CollectionColumn(
            instance.invalidObject(access, key: nil), place, isNested ? NestedPlace(nil) : nil)
    }
}

extension ValueSource {
    /// A reference to the values; nil if their owner was deleted, or was not committed yet.
    var detached: DetachedValues? { DetachedValues(column, steps) }
}

extension RealmInstance {
    /// Refreshes the instance if it shows an older version than `version`. A frozen instance, and one in a write,
    /// stays.
    func catchUp(_ version: TransactionID) {
        if isFrozen || isInWrite { return }
        if let snapshot, snapshot.version >= version { return }
        refresh()
    }
}
