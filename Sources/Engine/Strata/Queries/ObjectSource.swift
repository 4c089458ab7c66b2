import StrataStorage

/// A query of objects: its base, and the steps that filter, sort and limit it. It is evaluated when read, and again
/// when the Realm's visible state has changed.
///
/// Concurrency: confined with its Realm. That of a frozen Realm may be read on any thread: its keys are found before
/// the source is published; those of a whole class, and of all links to an object, on first use, under a lock.
public final class ObjectSource {
    enum Base {
        /// All rows of the class, by key.
        case table
        /// The list at an index of the owner's properties.
        case list(ObjectBase, property: Int)
        /// The rows of `origin` whose property at `property` links to the owner.
        case backlinks(ObjectBase, origin: ClassAccess, property: Int)
        /// Known rows; deleted ones keep their places.
        case keys([Int64])
    }

    let instance: RealmInstance
    let access: ClassAccess
    let base: Base
    let steps: [Step]
    var cache: (stamp: UInt64, keys: [Int64])?
    private var counted: (stamp: UInt64, count: Int)?
    #if Zoo
        private var countBefore: Int?
    #endif
    /// What the keys depend on, with the stamp of the schema; nil if unknown.
    var knownDependencies: (stamp: UInt64, dependencies: ResultDependencies?)?
    /// The binding of a filter of the whole class, with the stamp of the schema.
    private var bound: (stamp: UInt64, node: BoundPredicate)?
    /// Rows at some places, found without all keys.
    var early: EarlyRows?
    /// For a frozen Realm, whose cache never changes.
    private let frozenKeys = FrozenKeys()
    /// Notified by an observer of the collection, for caches by row.
    @exclusivity(unchecked) var changedRows = ChangedRowsWanted()
    /// Keys that an observer computed from the changes.
    private var known: (stamp: UInt64, keys: () -> [Int64])?
    /// The observer that followed the rows last.
    @exclusivity(unchecked) var follower = LastFollower()

    enum Step {
        case filter(Predicate)
        case sort([SortDescriptor])
        /// The first of the rows with equal values.
        case distinct([String])
        /// At most `limit` rows, without the first `offset`.
        case limit(Int, offset: Int)
    }

    init(_ access: ClassAccess, _ base: Base, steps: [Step] = []) {
        instance = access.instance
        self.access = access
        self.base = base
        self.steps = steps
        #if Zoo
            if PlantedMistake.frozenListed.isPlanted, instance.isFrozen { _ = evaluate() }
        #endif
        if instance.isFrozen, !isStored { cache = (instance.stamp, evaluate()) }
    }

    private var isTable: Bool {
        if case .table = base { return steps.isEmpty }
        return false
    }

    /// Whether it is all rows of a class, sorted or not.
    var hasEveryRow: Bool {
        guard case .table = base else { return false }
        return steps.allSatisfy { if case .sort = $0 { true } else { false } }
    }

    /// Whether storage counts its rows and finds them by place.
    private var isStored: Bool {
        if case .backlinks = base { return steps.isEmpty }
        return isTable
    }

    /// Whether the keys of the visible state are not known.
    var hasNoKeys: Bool {
        if instance.isFrozen { return isStored && !hasFrozenKeys }
        return cache?.stamp != instance.stamp && known?.stamp != instance.stamp
    }

    /// An invalid access: the subject does not exist.
    func gone(_ subject: String) -> _GoneAccess {
        let subject = "\(subject) of '\(access.name)'"
        return owner.map { _GoneAccess($0, subject) } ?? _GoneAccess(access, subject)
    }

    /// For elements; valid as long as the source.
    var context: _ElementContext { _ElementContext(instance: instance, target: access) }

    /// - Parameter bound: the binding of the predicate, from checking it.
    func filtered(_ predicate: Predicate, _ bound: BoundPredicate) -> ObjectSource {
        let made = adding(.filter(predicate))
        if steps.isEmpty, case .table = base, !instance.isFrozen { made.bound = (instance.stamp, bound) }
        return made
    }

    func sorted(_ descriptors: [SortDescriptor]) -> ObjectSource { adding(.sort(descriptors)) }

    /// The source with a further step. A filter moves in front of sorts: the result is the same, with fewer rows to
    /// sort. Two adjacent filters become one, so that the planner chooses the better access path.
    func adding(_ step: Step) -> ObjectSource {
        var steps = steps
        guard case .filter(let predicate) = step else { return ObjectSource(access, base, steps: steps + [step]) }
        var place = steps.count
        while place > 0, case .sort = steps[place - 1] { place -= 1 }
        if place > 0, case .filter(let earlier) = steps[place - 1] {
            steps[place - 1] = .filter(.both(earlier, predicate))
        } else {
            steps.insert(step, at: place)
        }
        return ObjectSource(access, base, steps: steps)
    }

    /// Whether it is the whole class in key order, which storage counts and searches itself.
    var isWholeTable: Bool { isTable && !isDegraded }

    /// Whether the base is known to be damaged: then count and places come from the keys of the readable rows.
    @inline(__always)
    var isDegraded: Bool {
        instance.followDamage()
        return instance.damage.isKnown && isDegradedByWhatIsKnown()
    }

    @inline(never)
    private func isDegradedByWhatIsKnown() -> Bool {
        if instance.failures.readableRows(access) != nil { return true }
        guard case .list(let owner, let property) = base else { return false }
        return instance.failures.isDamaged(owner, column: owner._access.properties[property].column)
    }

    /// The unchanged list or set that it is, which counts and searches itself.
    private var wholeColumn: _CollectionColumn? {
        guard case .list(let owner, let property) = base, steps.isEmpty, !owner._access.properties[property].isMap,
            !isDegraded
        else {
            return nil
        }
        return _CollectionColumn(owner, property)
    }

    /// The filter, if storage can evaluate the whole collection: all rows of the class, or those that match a filter.
    func rowFilter(_ view: ReadView) -> RowFilter? {
        guard case .table = base, !instance.isFrozen, !isDegraded else { return nil }
        if steps.isEmpty { return .everything }
        guard let first = steps.first, case .filter(let predicate) = first else { return onlySorts ? .everything : nil }
        guard onlySorts else { return nil }
        return attempt { () throws(StorageError) in try tableQuery(predicate).rowFilter(view) } ?? nil
    }

    func tableQuery(_ predicate: Predicate) -> TableQuery {
        TableQuery(instance, access, predicate, bound: bound?.stamp == instance.stamp ? bound?.node : nil)
    }

    /// Whether only sorts follow a filter: they change no count, no sum and no extreme.
    private var onlySorts: Bool {
        steps.enumerated().allSatisfy { place, step in
            switch step {
            case .filter: return place == 0
            case .sort: return true
            case .distinct, .limit: return false
            }
        }
    }

    /// The owner of a list or of backlinks.
    var owner: ObjectBase? {
        switch base {
        case .list(let owner, _), .backlinks(let owner, _, _): return owner
        case .table, .keys: return nil
        }
    }

    var isInvalidated: Bool { instance.currentView == nil || owner?.isInvalidated ?? false }

    var count: Int {
        #if Zoo
            if PlantedMistake.staleCount.isPlanted, !instance.isFrozen {
                let now = keys().count
                if counted?.stamp != instance.stamp {
                    countBefore = counted?.count
                    counted = (instance.stamp, now)
                }
                return countBefore ?? now
            }
        #endif
        instance.checkConfinement()
        return countByStorage ?? keys().count
    }

    /// The count if storage or an earlier query knows it; nil if the keys must be found.
    private var countByStorage: Int? {
        if hasEveryRow, !isDegraded, let view = instance.currentView {
            return attempt { () throws(StorageError) in try view.rowCount(access.table) }
        }
        if let column = wholeColumn { return column.count }
        if let rows = followedRows { return rows.count }
        if let count = InverseLinks(self)?.read({ (links) throws(StorageError) in try links.count() }) { return count }
        if cache?.stamp == instance.stamp { return nil }
        if let counted, counted.stamp == instance.stamp { return counted.count }
        guard !isWorthKeeping, let view = instance.currentView, let filter = rowFilter(view),
            let count = attempt({ () throws(StorageError) in try view.count(access.table, where: filter) })
        else { return nil }
        if !instance.isFrozen { counted = (instance.stamp, count) }
        return count
    }

    /// The key at a place; nil behind the end.
    func key(at place: Int) -> Int64? {
        instance.checkConfinement()
        guard place >= 0 else { return nil }
        if isWholeTable {
            guard let view = instance.currentView else { return nil }
            let found = attempt { () throws(StorageError) in try view.key(at: place, in: access.table) }
            if let found { return found?.rawValue }
        }
        if let rows = followedRows { return rows.key(at: place) }
        if let links = InverseLinks(self) {
            let found = links.read { (links) throws(StorageError) in try links.origin(at: place) }
            if let found { return found?.rawValue }
        }
        switch EarlyRows.row(at: place, of: self) {
        case .row(let key): return key
        case .end: return nil
        case .all, .unknown: break
        }
        let keys = keys()
        return place < keys.count ? keys[place] : nil
    }

    /// The key now at a place, after the row of `key`, which was there, proved unreadable: the places are counted
    /// without it.
    func key(at place: Int, past key: Int64) -> Int64? {
        guard instance.damage.isKnown, let other = self.key(at: place), other != key else { return nil }
        return other
    }

    func index(of key: Int64) -> Int? {
        if isWholeTable {
            guard let view = instance.currentView else { return nil }
            let found = attempt { () throws(StorageError) in try view.ordinal(of: RowKey(key), in: access.table) }
            if let found { return found }
        }
        if let column = wholeColumn { return column.firstPlace(of: .link(key)) }
        if let rows = followedRows { return rows.place(of: key) }
        if let links = InverseLinks(self) {
            let found = links.read { (links) throws(StorageError) in try links.firstPlace(of: RowKey(key)) }
            if let found { return found }
        }
        return keys().firstIndex(of: key)
    }

    /// All keys, in order.
    /// - Complexity: O(1) while the visible state is unchanged; else that of the query.
    func keys() -> [Int64] {
        #if Zoo
            if PlantedMistake.writeStale.isPlanted, instance.isInWrite, let cache { return cache.keys }
        #endif
        instance.followDamage()
        if let cache, cache.stamp == instance.stamp {
            return instance.isFrozen ? frozenKeys.readable(cache.keys, instance, access) : cache.keys
        }
        instance.checkConfinement()
        if instance.isFrozen, isStored { return keptFrozenKeys() }
        if let kept = keptKeys() { return kept }
        let keys =
            followedRows?.keys ?? (known?.stamp == instance.stamp ? known?.keys() ?? evaluate() : evaluate())
        known = nil
        if !instance.isFrozen { cache = (instance.stamp, keys) }
        followChanges()
        return keys
    }

    /// Whether all keys of a class, or all links to an object, of a frozen Realm were needed.
    var hasFrozenKeys: Bool { frozenKeys.areKnown }

    private func keptFrozenKeys() -> [Int64] {
        frozenKeys.readable(frozenKeys.all { evaluate() }, instance, access)
    }

    /// The rows that an observer follows, if they are those of the visible state.
    var followedRows: (any KnownRows)? {
        guard let followed = follower.observer?.knownRows, !instance.isInWrite, let snapshot = instance.snapshot,
            followed.version == snapshot.version,
            instance.currentView === snapshot.view, !isDegraded
        else { return nil }
        return followed
    }

    /// Sets keys computed by other means for the visible version; `keys` runs on first use.
    func seed(_ keys: @escaping () -> [Int64]) {
        if !instance.isFrozen { known = (instance.stamp, keys) }
    }

    /// Runs `body`; reports a storage error and returns nil. The failures then hold what is unreadable.
    func attempt<Value>(_ body: () throws(StorageError) -> Value) -> Value? {
        do throws(StorageError) { return try body() } catch {
            note(error)
            return nil
        }
    }

    func note(_ error: StorageError) {
        let isTold = instance.failures.note(error, in: access)
        instance.report(access.name, nil, RealmError(error).description, isTold: isTold)
    }

    /// The same query in another instance of the same file; nil if the owner of a list does not exist there.
    /// - Parameter allowsGone: whether a query of a missing owner is an empty result instead.
    func moved(to other: RealmInstance, allowsGone: Bool = false) -> ObjectSource? {
        guard let access = other.twin(of: access) else { return nil }
        func twin(_ owner: ObjectBase) -> ObjectBase? {
            other.twin(of: owner) ?? (allowsGone ? other.goneTwin(of: owner) : nil)
        }
        switch base {
        case .table, .keys: return ObjectSource(access, base, steps: steps)
        case .list(let owner, let property):
            guard let owner = twin(owner) else { return nil }
            return ObjectSource(access, .list(owner, property: property), steps: steps)
        case .backlinks(let owner, let origin, let property):
            guard let owner = twin(owner), let origin = other.twin(of: origin) else { return nil }
            return ObjectSource(access, .backlinks(owner, origin: origin, property: property), steps: steps)
        }
    }

    private func evaluate() -> [Int64] {
        guard let view = instance.currentView else { return [] }
        if !isDegraded {
            do throws(StorageError) { return try evaluate(view) } catch {
                note(error)
                if !error.isUnreadable { return [] }
            }
        }
        return DegradedQuery(self, view).keys()
    }

    private func evaluate(_ view: ReadView) throws(StorageError) -> [Int64] {
        var steps = steps[...]
        var keys: [Int64]
        if case .table = base, case .filter(let predicate)? = steps.first {
            steps.removeFirst()
            if let found = try PropertyEquality.keys(where: predicate, of: access, view) {
                keys = found
            } else {
                keys = try tableQuery(predicate).run(view)
            }
        } else {
            keys = try baseKeys(view)
            WorkSteps.note(keys.count)
        }
        for step in steps {
            switch step {
            case .filter(let predicate): keys = try filter(keys, predicate, view)
            case .sort(let descriptors): keys = try RowSort(instance, access, descriptors).sorted(keys, view)
            case .distinct(let keyPaths): keys = try RowDistinction(instance, access, keyPaths).kept(keys, view)
            case .limit(let count, let offset):
                #if Zoo
                    let count = PlantedMistake.limitOneMore.isPlanted ? count + 1 : count
                #endif
                keys = Array(keys.dropFirst(offset).prefix(count))
            }
        }
        return keys
    }

    /// Deleted rows match nothing. For many rows the whole class is queried.
    private func filter(
        _ keys: [Int64], _ predicate: Predicate, _ view: ReadView
    ) throws(StorageError) -> [Int64] {
        if try keys.count > 64 + view.rowCount(access.table) / 16 {
            let found = IntegerSet(try TableQuery(instance, access, predicate).run(view))
            return keys.filter { found.contains($0) }
        }
        let evaluator = PredicateEvaluator(instance, access, predicate)
        WorkSteps.note(keys.count)
        var kept: [Int64] = []
        for key in keys where try view.locate(access.table, RowKey(key)) != nil {
            if try evaluator.matches(RowKey(key), view) { kept.append(key) }
        }
        return kept
    }

    private func baseKeys(_ view: ReadView) throws(StorageError) -> [Int64] {
        switch base {
        case .table: return try view.keys(access.table)
        case .keys(let keys): return keys
        case .list(let owner, let property):
            return try view.links(owner, owner._access.properties[property])
        case .backlinks(let owner, let origin, let property):
            guard !owner.isInvalidated else { return [] }
            return try view.backlinks(to: owner, origin, column: origin.properties[property].column)
        }
    }
}
