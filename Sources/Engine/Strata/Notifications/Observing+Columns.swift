import Dispatch
import StrataStorage

extension _ColumnCollection {
    /// Starts an observer of the owner's column, here or on a queue.
    /// - Parameters:
    ///   - gone: called if the owner was deleted before.
    ///   - start: called on the thread or queue that will observe, with the collection as it is there.
    fileprivate func observeColumn(
        on queue: DispatchQueue?, gone: @escaping (Self) -> Void, failed: @escaping (any Error) -> Void,
        _ start: @escaping (Self, _CollectionColumn, NotificationToken) -> Void
    ) -> NotificationToken {
        guard let column = _column, let instance = column.owner._instance else {
            fatalError("an unmanaged collection cannot be observed; add its owner to a Realm first")
        }
        instance.checkConfinement()
        if instance.isFrozen { fatalError("a frozen collection does not change; thaw it to observe it") }
        let token = NotificationToken(nil)
        guard let queue else {
            start(self, column, token)
            return token
        }
        let detached = DetachedValues(column)
        let name = CollectionName(column)
        let begin: (RealmInstance, NotificationToken) -> Void = { instance, token in
            guard let column = detached?.found(in: instance)?.column else {
                return gone(name.gone(in: instance).map { Self(_column: $0) } ?? Self())
            }
            start(Self(_column: column), column, token)
        }
        instance.start(on: queue, token, Carried(value: (begin, failed)))
        return token
    }
}

extension ValueSource {
    /// An observer that reports changes of the values, as places.
    func observer(
        failed: @escaping (any Error) -> Void, _ tell: @escaping (PlaceChanges) -> Void
    ) -> ColumnObserver {
        func tellMore(_ changes: PlaceChanges) {
            if changes.isEmpty { return }
            #if Zoo
                tell(changes.withMistake)
            #else
                tell(changes)
            #endif
        }
        let pastDamage = ColumnObserver.PastDamage(failed: { failed($0) }) { old, new in
            tellMore(self.changes(from: old.values, to: new.values))
        }
        return ColumnObserver(column, nil, pastDamage: pastDamage) { (versions, _) throws(StorageError) in
            if !versions.isEmpty { tellMore(try self.changes(versions)) }
        }
    }

    /// - Complexity: that of the versions; for a query of the values O(values).
    private func changes(_ versions: ColumnVersions) throws(StorageError) -> PlaceChanges {
        if steps.isEmpty, tag.collection != .map {
            return PlaceChanges(
                deletions: versions.deletions, insertions: versions.insertions,
                modifications: versions.changed.map(\.old))
        }
        let old = try versions.old?.all().values ?? []
        return changes(from: old, to: try versions.new?.all().values ?? [])
    }

    private func changes(from old: [_StoredValue], to new: [_StoredValue]) -> PlaceChanges {
        let difference = SequenceDifference(from: found(among: old), to: found(among: new))
        return PlaceChanges(deletions: difference.deletions.sorted(), insertions: difference.insertions.sorted())
    }
}

extension Map {
    /// Reports the map, and then every change of it.
    /// - Parameter keyPaths: changes of an object that count as a modification of its entry; nil for its own properties
    ///   and those of objects that it leads to by at most four links.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (RealmMapChange<Map>) -> Void
    ) -> NotificationToken {
        observeColumn(on: queue, gone: { block(.initial($0)) }, failed: { block(.error($0)) }) { map, column, token in
            map.start(column, keyPaths: keyPaths, token: token, telling: block)
        }
    }

    /// As ``observe(keyPaths:on:_:)`` without key paths, for protocol conformances.
    public func observe(
        on queue: DispatchQueue?, _ block: @escaping (RealmMapChange<Map>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: nil, on: queue, block)
    }

    /// Calls an actor with the map before this returns, and then with every change of it.
    public func observe<Place: Actor>(
        keyPaths: [String]? = nil, on actor: Place, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Place, RealmMapChange<Map>) -> Void
    ) async -> NotificationToken {
        guard let column = _column, let instance = column.owner._instance else {
            fatalError("an unmanaged collection cannot be observed; add its owner to a Realm first")
        }
        instance.checkConfinement()
        if instance.isFrozen { fatalError("a frozen collection does not change; thaw it to observe it") }
        let detached = DetachedValues(column)
        let name = CollectionName(column)
        return await instance.start(on: actor, isolation) { [weak actor] instance, token in
            let tell: (RealmMapChange<Map>) -> Void = { change in
                let carried = Carried(value: change)
                actor?.assumeIsolated { block($0, carried.value) }
            }
            guard let instance else { return }
            guard let column = detached?.found(in: instance)?.column else {
                return tell(.initial(name.gone(in: instance).map { Map(_column: $0) } ?? Map()))
            }
            Map(_column: column).start(column, keyPaths: keyPaths, token: token, telling: tell)
        }
    }

    public func observe<Place: Actor, Target: ObjectBase>(
        keyPaths: [PartialKeyPath<Target>], on actor: Place, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Place, RealmMapChange<Map>) -> Void
    ) async -> NotificationToken where Value == Target? {
        await observe(keyPaths: keyPaths.map { _name(for: $0) }, on: actor, isolation: isolation, block)
    }

    private func start(
        _ column: _CollectionColumn, keyPaths: [String]?, token: NotificationToken,
        telling block: @escaping (RealmMapChange<Map>) -> Void
    ) {
        do throws(RealmError) {
            let filter = try column.context.target.map { (target) throws(RealmError) in
                try KeyPathFilter(keyPaths, target)
            }
            let pastDamage = ColumnObserver.PastDamage(failed: { block(.error($0)) }) { old, new in
                let before = Dictionary(zip(old.keys, old.values), uniquingKeysWith: { $1 })
                let after = Dictionary(zip(new.keys, new.values), uniquingKeysWith: { $1 })
                block(
                    .update(
                        self, deletions: old.keys.filter { after[$0] == nil }.compactMap { Key._from(mapKey: $0) },
                        insertions: new.keys.filter { before[$0] == nil }.compactMap { Key._from(mapKey: $0) },
                        modifications: new.keys.filter { before[$0] != nil && before[$0] != after[$0] }
                            .compactMap { Key._from(mapKey: $0) }))
            }
            let observer = ColumnObserver(column, filter, pastDamage: pastDamage) {
                (versions, touched) throws(StorageError) in
                let changes = try EntryChanges(versions, touched)
                if changes.isEmpty { return }
                block(
                    .update(
                        self, deletions: changes.deletions.compactMap { Key._from(mapKey: $0) },
                        insertions: changes.insertions.compactMap { Key._from(mapKey: $0) },
                        modifications: changes.modifications.compactMap { Key._from(mapKey: $0) }))
            }
            column.owner._access.instance.start(observer, token) { block(.initial(self)) }
        } catch {
            block(.error(error))
        }
    }
}

/// Differences between the entries of a map.
private struct EntryChanges {
    private(set) var deletions: [String] = []
    private(set) var insertions: [String] = []
    private(set) var modifications: [String] = []

    var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }

    init(_ versions: ColumnVersions, _ touched: Set<Int64>) throws(StorageError) {
        deletions = try Self.keys(versions.deletions, versions.old)
        insertions = try Self.keys(versions.insertions, versions.new)
        var changed = Set(versions.modifications)
        if !touched.isEmpty {
            let new = Set(versions.insertions)
            for (place, _) in try versions.newPlaces(of: touched) where !new.contains(place) { changed.insert(place) }
        }
        modifications = try Self.keys(changed.sorted(), versions.new)
    }

    private static func keys(_ places: [Int], _ contents: CollectionContents?) throws(StorageError) -> [String] {
        guard let contents else { return [] }
        var keys: [String] = []
        for place in places { keys.append(try contents.part(at: place).text(at: place)) }
        try contents.view.confirm()
        return keys
    }
}
