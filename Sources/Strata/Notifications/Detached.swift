import StrataStorage

/// What leads to an object from any thread. Keeps no version: what became of the row is seen where it is found again.
struct DetachedObject: Sendable {
    private let className: String
    private let isTyped: Bool
    let key: Int64
    private let creation: UInt64
    /// The object was seen in this version.
    private let version: TransactionID
    /// Of an object that was made in a write that ran: whether there is such an object at all.
    private let fate: WriteFate?
    #if Zoo
        private let pin: Snapshot?
    #endif

    /// Nil for an object that is gone.
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

    /// The object there; nil when it is gone. A Realm that is behind catches up first.
    func found(in instance: RealmInstance) -> ObjectBase? {
        if let fate, !fate.isCommitted, instance.write?.isMeant(by: fate) != true { return nil }
        instance.catchUp(version)
        guard let access = instance.access(named: className, typed: isTyped),
            let object = instance.materialize(access, RowKey(key)), object._creation == creation
        else { return nil }
        return object
    }
}

/// What leads to a collection from any thread. Keeps no version.
struct DetachedSource: @unchecked Sendable {  // immutable values; predicates were rid of objects
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

    /// The collection there.
    /// - Parameter allowsGone: one whose owner is gone is empty and invalidated; nil otherwise.
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

/// What leads to the values of a list, a set or a map from any thread, and to what a query finds among them. Keeps no
/// version.
struct DetachedValues: @unchecked Sendable {  // immutable; the closures of the steps hold values alone
    private let owner: DetachedObject
    private let property: String
    private let steps: [ValueSource.Step]
    /// Where a collection stands that stands in a value of any type, and the version in which it does: the only one
    /// that says where it went, so it is kept where the collection stands in an element of a list.
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

    /// The values there; nil when their owner is gone.
    func found(in instance: RealmInstance) -> ValueSource? {
        guard let owner = owner.found(in: instance), let place = owner._access.positions[property] else { return nil }
        guard let nested else { return ValueSource(_CollectionColumn(owner, place), steps: steps) }
        guard let standing = standing(nested.standing, nested.version, owner, place, instance) else { return nil }
        let column = _CollectionColumn(owner, place, standing)
        return column.isInvalidated ? nil : ValueSource(column, steps: steps)
    }

    private func standing(
        _ standing: NestedSteps, _ version: Snapshot?, _ owner: ObjectBase, _ place: Int, _ instance: RealmInstance
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

/// What leads to a collection of elements of any type from any thread. Keeps no version.
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

    /// The collection there; one whose owner is gone is empty and invalidated.
    func found(in instance: RealmInstance) -> CollectionSource? {
        switch kind {
        case .objects(let source): return source.found(in: instance, allowsGone: true).map { .objects($0) }
        case .values(let values, let name, let steps):
            if let found = values?.found(in: instance) { return .values(found) }
            return name.gone(in: instance).map { .values(ValueSource($0, steps: steps)) }
        }
    }
}

/// The name of a collection's property, by which any thread makes one that is gone.
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

    /// What stands there for the collection once its owner is deleted; nil where the class is not there either.
    func gone(in instance: RealmInstance) -> _CollectionColumn? {
        guard let access = instance.access(named: className, typed: isTyped), let place = access.positions[property]
        else { return nil }
        return _CollectionColumn(
            instance.invalidObject(access, key: nil), place, isNested ? NestedPlace(nil) : nil)
    }
}

extension ValueSource {
    /// What leads here from any thread; nil for an owner that is gone, or that no commit has made yet.
    var detached: DetachedValues? { DetachedValues(column, steps) }
}

extension RealmInstance {
    /// Shows at least a version, unless that is impossible now.
    func catchUp(_ version: TransactionID) {
        if isFrozen || isInWrite { return }
        if let snapshot, snapshot.version >= version { return }
        refresh()
    }
}
