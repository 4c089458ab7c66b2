import StrataStorage

/// The matching rows of a class in one version, for all observers of equal collections: their keys are kept once, and
/// what a commit changes is found once.
///
/// 1. `rows` are those of `version`. No observer that refers to them was told of a later version.
/// 2. The first observer that goes on makes a copy, which `step` leads the others to. An observer that is alone changes
///    the rows in place.
/// 3. Weak references, by which sources and new observers find the rows, do not count as observers.
/// 4. The rows are of one schema. After a change of it they are found anew.
///
/// Concurrency: confined with its Realm.
final class FollowedRows: KnownRows {
    let source: Description
    private let membership: Membership
    @exclusivity(unchecked) private(set) var version: TransactionID
    private var rows: RowSequence
    private var all: [Int64]?
    /// Keys read at places in this version.
    private var looks = 0
    @exclusivity(unchecked) private var step: Step?

    /// What the rows are those of.
    struct Description {
        let access: ClassAccess
        let steps: [ObjectSource.Step]
        /// The same for equal descriptions.
        let number: Int

        init(_ source: ObjectSource) {
            access = source.access
            steps = source.steps
            var hasher = Hasher()
            hasher.combine(ObjectIdentifier(access))
            for step in steps {
                switch step {
                case .filter(let predicate): hasher.combine("\(predicate)")
                case .sort(let descriptors): hasher.combine(descriptors)
                case .distinct, .limit: break
                }
            }
            number = hasher.finalize()
        }

        func isSame(as other: Description) -> Bool { access === other.access && steps.areSame(as: other.steps) }
    }

    /// The way to a later version.
    private final class Step {
        let rows: FollowedRows
        /// Places before and after, ascending.
        let deletions: [Int]
        let insertions: [Int]
        /// By the key paths of the observers, which are few.
        private var changes: [(paths: String, changes: PlaceChanges)] = []

        init(_ rows: FollowedRows, _ changes: PlaceChanges) {
            self.rows = rows
            (deletions, insertions) = (changes.deletions, changes.insertions)
        }

        func changes(_ paths: String) -> PlaceChanges? {
            for known in changes where known.paths == paths { return known.changes }
            return nil
        }

        func add(_ found: PlaceChanges, _ paths: String) { changes.append((paths, found)) }
    }

    private init(
        source: Description, membership: Membership, rows: RowSequence, version: TransactionID
    ) {
        self.source = source
        self.membership = membership
        self.rows = rows
        self.version = version
    }

    /// The rows of a source in the version that is shown: those of another observer, if there are any.
    /// - Returns: nil for a source with other steps than filters and sorts.
    /// - Complexity: that of the query for the first observer; O(1) for others.
    static func of(_ source: ObjectSource) -> FollowedRows? {
        let instance = source.instance
        guard case .table = source.base, let view = instance.currentView else { return nil }
        let description = Description(source)
        // In a write the rows may be those of no version; those that can be read are no common knowledge.
        let mayShare = !instance.isInWrite && !source.isDegraded
        if mayShare, let known = instance.observation.followed.find(description, view.version) { return known }
        guard let membership = Membership(source) else { return nil }
        let rows = source.rowSequence(ascends: membership.isAscending)
        let made = FollowedRows(source: description, membership: membership, rows: rows, version: view.version)
        if mayShare, !source.isDegraded { instance.observation.followed.add(made) }
        return made
    }

    // MARK: Reading

    var count: Int { rows.count }

    func key(at place: Int) -> Int64? {
        // A loop over all places is served by an array.
        looks += 1
        guard looks > 64 + count / 256 else { return rows.key(at: place) }
        let keys = keys
        return place >= 0 && place < keys.count ? keys[place] : nil
    }

    func place(of key: Int64) -> Int? {
        membership.isAscending ? rows.places(of: [key]).first?.place : keys.firstIndex(of: key)
    }

    func places(of wanted: Set<Int64>) throws(StorageError) -> [(place: Int, key: Int64)] {
        if wanted.isEmpty { return [] }
        if membership.isAscending { return rows.places(of: wanted.sorted()) }
        guard case .keys(let keys) = rows, let view = source.access.instance.currentView else { return [] }
        // Rows that are not members have no place among them.
        var members: Set<Int64> = []
        for key in wanted where try membership.multiplicity(of: key, view) > 0 { members.insert(key) }
        return try OrderedPatch(members: membership, old: view, new: view, recreated: []).places(of: members, in: keys)
    }

    var keys: [Int64] {
        if let all { return all }
        let made = rows.keys
        all = made
        return made
    }

    // MARK: Following

    /// The changes of a batch, if another observer with the same key paths has found them.
    static func known(_ rows: inout FollowedRows?, _ batch: ChangeBatch, _ paths: String) -> PlaceChanges? {
        guard let step = rows?.step(along: batch), let known = step.changes(paths) else { return nil }
        rows = step.rows
        return known
    }

    private func step(along batch: ChangeBatch) -> Step? {
        guard let step, step.rows.version == batch.newVersion, version == batch.oldVersion else { return nil }
        return step
    }

    /// Goes on to the batch's new version.
    /// - Parameters:
    ///   - rows: an observer's reference.
    ///   - paths: the observer's key paths, which name `touched`: the rows that count as modified, some of them new.
    ///   - evaluate: finds the keys of the rows anew.
    /// - Complexity: O(c log rows) for c changed rows, and O(rows) if they are many.
    static func advance(
        _ rows: inout FollowedRows, along batch: ChangeBatch, paths: String, touched: Set<Int64>,
        evaluate: () -> [Int64]
    ) throws(StorageError) -> PlaceChanges {
        if let step = rows.step(along: batch) {
            var changes = PlaceChanges(deletions: step.deletions, insertions: step.insertions)
            changes.modifications = try rows.modifications(touched, batch, step.deletions)
            step.add(changes, paths)
            rows = step.rows
            return changes
        }
        if isKnownUniquelyReferenced(&rows) { return try rows.move(batch, touched, evaluate) }
        let next = FollowedRows(
            source: rows.source, membership: rows.membership, rows: rows.rows, version: rows.version)
        next.all = rows.all
        let changes = try next.move(batch, touched, evaluate)
        let step = Step(next, changes)
        step.add(changes, paths)
        rows.step = step
        rows.source.access.instance.observation.followed.add(next)
        rows = next
        return changes
    }

    private func move(
        _ batch: ChangeBatch, _ touched: Set<Int64>, _ evaluate: () -> [Int64]
    ) throws(StorageError) -> PlaceChanges {
        step = nil
        looks = 0
        let changes: PlaceChanges
        let limit = OrderedPatch<Membership>.limit(rows.count)
        if version == batch.oldVersion, let candidates = try membership.candidates(batch, limit: limit) {
            changes =
                membership.isAscending
                ? try exchange(candidates, touched, batch) : try patch(candidates, touched, batch)
        } else {
            changes = try replace(batch, touched, evaluate)
        }
        version = batch.newVersion
        return changes
    }

    /// For rows that ascend by their keys: a place follows from the number of keys before it.
    private func exchange(
        _ candidates: Set<Int64>, _ touched: Set<Int64>, _ batch: ChangeBatch
    ) throws(StorageError) -> PlaceChanges {
        let recreated = try batch.difference(of: source.access.tableID).recreated
        var (gone, come): ([Int64], [Int64]) = ([], [])
        for key in candidates {
            let was = rows.contains(key)
            let isMember = try membership.multiplicity(of: key, batch.new.view) > 0
            let isOther = recreated.contains(key)
            if was, !isMember || isOther { gone.append(key) }
            if isMember, !was || isOther { come.append(key) }
        }
        gone.sort()
        come.sort()
        var changes = PlaceChanges()
        changes.deletions = rows.places(of: gone).map(\.place)
        changes.modifications = try modifications(touched, batch, changes.deletions)
        if gone.isEmpty && come.isEmpty { return changes }
        all = nil
        rows.exchange(gone, for: come)
        changes.insertions = rows.places(of: come).map(\.place)
        return changes
    }

    /// For rows in the order of sorts.
    private func patch(
        _ candidates: Set<Int64>, _ touched: Set<Int64>, _ batch: ChangeBatch
    ) throws(StorageError) -> PlaceChanges {
        guard case .keys(var keys) = rows else { return PlaceChanges() }
        let difference = try batch.difference(of: source.access.tableID)
        let patch = OrderedPatch(
            members: membership, old: batch.old.view, new: batch.new.view, recreated: difference.recreated)
        // Rows whose place cannot have changed.
        let staying = try patch.places(of: touched.subtracting(candidates), in: keys)
        rows = .keys(KeySequence([]))
        let outcome = try patch.apply(candidates, to: &keys)
        rows = .keys(keys)
        if outcome.isChange { all = nil }
        var changes = PlaceChanges(deletions: outcome.deletions, insertions: outcome.insertions)
        let gone = Set(outcome.deletions)
        changes.modifications = staying.map(\.place)
        for (place, key) in outcome.removed
        where touched.contains(key) && !difference.wasInserted(key) && !gone.contains(place) {
            changes.modifications.append(place)
        }
        changes.modifications.sort()
        return changes
    }

    private func replace(
        _ batch: ChangeBatch, _ touched: Set<Int64>, _ evaluate: () -> [Int64]
    ) throws(StorageError) -> PlaceChanges {
        let (old, new) = (keys, evaluate())
        rows = RowSequence(new, ascends: membership.isAscending)
        all = nil
        return PlaceChanges(
            from: old, to: new, touched, recreated: try batch.difference(of: source.access.tableID).recreated)
    }

    /// Places of the touched rows that stay.
    /// - Parameter deletions: places of those that do not.
    private func modifications(
        _ touched: Set<Int64>, _ batch: ChangeBatch, _ deletions: [Int]
    ) throws(StorageError) -> [Int] {
        if touched.isEmpty { return [] }
        let difference = try batch.difference(of: source.access.tableID)
        let places: [(place: Int, key: Int64)]
        if membership.isAscending {
            places = rows.places(of: touched.sorted())
        } else if case .keys(let keys) = rows {
            places = try OrderedPatch(
                members: membership, old: batch.old.view, new: batch.new.view, recreated: difference.recreated
            ).places(of: touched, in: keys)
        } else {
            places = []
        }
        let gone = Set(deletions)
        return places.compactMap { gone.contains($0.place) || difference.wasInserted($0.key) ? nil : $0.place }
    }
}

/// The rows that the observers of an instance follow, by their descriptions.
///
/// Concurrency: confined with its Realm.
final class FollowedQueries {
    private struct Known {
        weak var rows: FollowedRows?
    }

    private var known: [Int: [Known]] = [:]
    private var count = 0
    /// Number of entries at which those without observers are next removed.
    private var nextRemoval = 16

    /// The rows of a description in a version; nil if they are not followed, or cannot be compared.
    func find(_ source: FollowedRows.Description, _ version: TransactionID) -> FollowedRows? {
        if known.isEmpty { return nil }
        for case let rows? in (known[source.number] ?? []).lazy.map(\.rows)
        where rows.version == version && rows.source.isSame(as: source) {
            return rows
        }
        return nil
    }

    func add(_ rows: FollowedRows) {
        if count >= nextRemoval {
            known = known.mapValues { $0.filter { $0.rows != nil } }.filter { !$0.value.isEmpty }
            count = known.values.reduce(0) { $0 + $1.count }
            nextRemoval = max(16, 2 * count)
        }
        let number = rows.source.number
        known[number, default: []].removeAll { $0.rows == nil }
        known[number, default: []].append(Known(rows: rows))
        count += 1
    }
}
