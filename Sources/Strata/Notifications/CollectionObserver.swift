import StrataStorage

/// Reports changes of a collection of objects, as places.
///
/// Complexity of a change of c rows: for a whole class O(c log rows), without keeping its keys; for a filter, with or
/// without sorts, O(c log rows) and a small part of the collection; the same for inverse links; for lists and sets the
/// changed leaves, without keeping their keys. A collection that counts or skips elements is compared as a whole if
/// something that it depends on has changed.
final class CollectionObserver: Observer {
    let isActive = ActiveFlag()
    let source: ObjectSource
    private let keyPaths: [String]?
    private let call: (Result<PlaceChanges, Realm.Error>) -> Void
    private var filter: KeyPathFilter
    private var tracking: Tracking
    /// Keys of the collection in the last reported version; empty for a whole class, whose places storage knows.
    private(set) var keys: KeySequence

    /// How changes of the collection are found.
    enum Tracking {
        /// All rows of a class, ordered by key.
        case table
        /// Matching rows of a class, ordered by key or by sorts.
        case matches(Membership)
        /// Rows whose property links to the owner.
        case backlinks(ObjectBase, BoundProperty)
        /// A stored list or set: its two versions are compared.
        case column(_CollectionColumn)
        /// Any other collection.
        case compared(Dependencies)
        /// A partly unreadable collection: the readable rows are found again for each version.
        case readable
    }

    /// - Throws: `invalidInput` for an invalid key path.
    init(
        _ source: ObjectSource, keyPaths: [String]?, _ call: @escaping (Result<PlaceChanges, Realm.Error>) -> Void
    ) throws(Realm.Error) {
        self.source = source
        self.keyPaths = keyPaths
        self.call = call
        filter = try KeyPathFilter(keyPaths, source.access)
        tracking = Self.tracking(of: source)
        keys = KeySequence(Self.keepsKeys(tracking) ? source.keys() : [])
    }

    private static func keepsKeys(_ tracking: Tracking) -> Bool {
        switch tracking {
        case .table, .column: false
        case .matches, .backlinks, .compared, .readable: true
        }
    }

    private static func tracking(of source: ObjectSource) -> Tracking {
        switch source.base {
        case .table where source.steps.isEmpty: return .table
        case .table: if let membership = Membership(source) { return .matches(membership) }
        case .backlinks(let owner, let origin, let property) where source.steps.isEmpty:
            return .backlinks(owner, origin.properties[property])
        case .list(let owner, let property) where source.steps.isEmpty:
            // The places of a map's values are not those of its objects.
            if !owner._access.properties[property].isMap { return .column(_CollectionColumn(owner, property)) }
        default: break
        }
        return .compared(Dependencies(source))
    }

    func update(_ batch: ChangeBatch, isSilenced: Bool) {
        do {
            #if Zoo
                let changes = try changes(batch).withMistake
                if PlantedMistake.observerTwice.isPlanted, !changes.isEmpty, !isSilenced { call(.success(changes)) }
            #else
                let changes = try changes(batch)
            #endif
            if !changes.isEmpty && !isSilenced { call(.success(changes)) }
        } catch {
            let failure = (error as? Realm.Error) ?? Realm.Error(.fail, "\(error)")
            if failure.code == .invalidDatabase, !isReadable { return goOnWithReadable(failure, isSilenced) }
            isActive.clear()
            if !isSilenced { call(.failure(failure)) }
        }
    }

    private var isReadable: Bool {
        if case .readable = tracking { return true }
        return false
    }

    /// Called once rows of the collection are known to be lost: reports an error once, and continues with the other
    /// rows.
    func damageIsKnown() {
        guard !isReadable, source.isDegraded else { return }
        goOnWithReadable(
            Realm.Error(
                .invalidDatabase,
                "some \(source.access.name) of \(source.instance.configuration.path) cannot be read; Realm.damage "
                    + "lists what is lost. The collection goes on without them"), false)
    }

    private func goOnWithReadable(_ failure: Realm.Error, _ isSilenced: Bool) {
        tracking = .readable
        keys = KeySequence(source.keys())
        if !isSilenced { call(.failure(failure)) }
    }

    private func changes(_ batch: ChangeBatch) throws -> PlaceChanges {
        if batch.schemaDiffers || isReadable { source.changedRows.tell(nil) }
        if batch.schemaDiffers {
            filter = try KeyPathFilter(keyPaths, source.access)
            if !isReadable { tracking = Self.tracking(of: source) }
        }
        if isReadable { return readableChanges(batch) }
        do throws(StorageError) {
            let touched = try filter.touched(batch)
            if !source.changedRows.isEmpty {
                // Sections need changes that the observer does not report, too.
                let all = try batch.modified(of: source.access.tableID, within: KeyPathFilter.linksFollowed)
                source.changedRows.tell(touched.union(all))
            }
            switch tracking {
            case .table: return try placed(touched, batch)
            case .column(let column): return try differing(column, touched, batch)
            case .matches(let membership):
                if !batch.schemaDiffers, let candidates = try membership.candidates(batch, limit: patchLimit) {
                    return try patched(candidates, touched, batch, membership)
                }
            case .backlinks(let owner, let property):
                if !batch.schemaDiffers, let patch = LinkPatch(owner, property, source.access),
                    let candidates = try patch.candidates(batch, limit: patchLimit)
                {
                    return try patched(candidates, touched, batch, patch)
                }
            case .compared(let dependencies):
                let mayDiffer = batch.schemaDiffers ? true : try dependencies.mayDiffer(batch)
                if !mayDiffer {
                    var changes = PlaceChanges()
                    for (place, _) in places(of: touched) { changes.modifications.append(place) }
                    return changes
                }
            case .readable: break
            }
            return try compared(touched, batch)
        } catch {
            source.note(error)
            throw Realm.Error(error)
        }
    }

    /// With more changed rows than this, evaluating the collection again is cheaper.
    private var patchLimit: Int { 64 + keys.count / 8 }

    // MARK: A whole class

    /// Takes places from the row trees of the two versions.
    private func placed(_ touched: Set<Int64>, _ batch: ChangeBatch) throws(StorageError) -> PlaceChanges {
        let table = source.access.tableID
        let difference = try batch.difference(of: table)
        var changes = PlaceChanges()
        if let before = batch.old.view.schema.position(of: table) {
            for key in difference.deleted {
                changes.deletions.append(try batch.old.view.rank(of: RowKey(key), in: before))
            }
            // A row with a lost link may be deleted itself.
            let gone = Set(difference.deleted)
            for key in touched.sorted() where !difference.wasInserted(key) && !gone.contains(key) {
                if let place = try batch.old.view.ordinal(of: RowKey(key), in: before) {
                    changes.modifications.append(place)
                }
            }
        }
        guard let after = batch.new.view.schema.position(of: table) else { return changes }
        for range in difference.inserted {
            let first = try batch.new.view.rank(of: RowKey(range.lowerBound), in: after)
            changes.insertions += Array(first..<(first + range.count))
        }
        return changes
    }

    // MARK: A list or a set

    private func differing(
        _ column: _CollectionColumn, _ touched: Set<Int64>, _ batch: ChangeBatch
    ) throws(StorageError) -> PlaceChanges {
        let versions = try ColumnVersions(column, batch)
        var changes = PlaceChanges(deletions: versions.deletions, insertions: versions.insertions)
        let recreated = try batch.difference(of: source.access.tableID).recreated
        for (place, key) in try versions.oldPlaces(of: touched.union(recreated)) {
            guard let now = versions.newPlace(of: place) else { continue }
            if recreated.contains(key) {
                changes.deletions.append(place)
                changes.insertions.append(now)
            } else {
                changes.modifications.append(place)
            }
        }
        changes.deletions.sort()
        changes.insertions.sort()
        return changes
    }

    // MARK: Patching

    private func patched(
        _ candidates: Set<Int64>, _ touched: Set<Int64>, _ batch: ChangeBatch, _ members: some Patching
    ) throws(StorageError) -> PlaceChanges {
        let difference = try batch.difference(of: source.access.tableID)
        let isTouched = { (key: Int64) in touched.contains(key) && !difference.wasInserted(key) }
        var changes = PlaceChanges()
        // Rows whose place cannot have changed.
        for (place, _) in try places(of: touched.subtracting(candidates), batch.old.view, members) {
            changes.modifications.append(place)
        }
        let removed = try places(of: candidates, batch.old.view, members)
        for (place, _) in removed.reversed() { keys.remove(at: place) }
        let inserted = try insert(candidates, batch.new.view, members)
        if !removed.isEmpty || !inserted.isEmpty { seed() }
        let kept = Self.kept(removed, inserted) { !difference.recreated.contains($0) }
        let stay = Set(kept.map(\.old))
        let come = Set(kept.map(\.new))
        for (place, _) in removed where !stay.contains(place) { changes.deletions.append(place) }
        for (place, _) in inserted where !come.contains(place) { changes.insertions.append(place) }
        for pair in kept where isTouched(pair.key) { changes.modifications.append(pair.old) }
        changes.modifications.sort()
        return changes
    }

    /// Inserts the candidates that are members now.
    private func insert(
        _ candidates: Set<Int64>, _ view: ReadView, _ members: some Patching
    ) throws(StorageError) -> [(place: Int, key: Int64)] {
        var present: [Int64] = []
        for key in candidates {
            for _ in 0..<(try members.multiplicity(of: key, view)) { present.append(key) }
        }
        var inserted: [(place: Int, key: Int64)] = []
        for key in try members.ordered(present, view) {
            // After equal elements, so that earlier insertions keep their places.
            let place = try keys.partition { (other) throws(StorageError) -> Bool in
                if other == key { return true }
                return try members.precedes(other, key, view)
            }
            keys.insert(key, at: place)
            inserted.append((place, key))
        }
        return inserted
    }

    /// Candidates that are between the same neighbours, and in the same order, as before.
    private static func kept(
        _ removed: [(place: Int, key: Int64)], _ inserted: [(place: Int, key: Int64)], _ mayStay: (Int64) -> Bool
    ) -> [(key: Int64, old: Int, new: Int)] {
        var places: [Int64: [(place: Int, gap: Int)]] = [:]
        for (index, entry) in inserted.enumerated() {
            places[entry.key, default: []].append((entry.place, entry.place - index))
        }
        var pairs: [(key: Int64, old: Int, new: Int)] = []
        for (index, entry) in removed.enumerated() where mayStay(entry.key) {
            guard let new = places[entry.key]?.first else { continue }
            places[entry.key]?.removeFirst()
            if new.gap == entry.place - index { pairs.append((entry.key, entry.place, new.place)) }
        }
        return SequenceDifference.longestAscending(pairs.map(\.new)).map { pairs[$0] }
    }

    /// Places of keys in the old collection, ascending.
    private func places(
        of wanted: Set<Int64>, _ old: ReadView, _ members: some Patching
    ) throws(StorageError) -> [(place: Int, key: Int64)] {
        if wanted.count > patchLimit { return places(of: wanted) }
        var places: [(place: Int, key: Int64)] = []
        for key in wanted {
            var place = try keys.partition { (other) throws(StorageError) -> Bool in
                if other == key { return false }
                return try members.precedes(other, key, old)
            }
            while keys.key(at: place) == key {
                places.append((place, key))
                place += 1
            }
        }
        return places.sorted { $0.place < $1.place }
    }

    /// As ``places(of:_:_:)``, by a walk over all keys.
    private func places(of wanted: Set<Int64>) -> [(place: Int, key: Int64)] {
        var places: [(place: Int, key: Int64)] = []
        if wanted.isEmpty { return places }
        for (place, key) in keys.keys.enumerated() where wanted.contains(key) { places.append((place, key)) }
        return places
    }

    /// Stores the new keys in the source, which need not be evaluated again in the notification.
    private func seed() {
        let keys = keys
        source.seed { keys.keys }
    }

    // MARK: Past damage

    /// Compares the readable rows of both versions. If the changed rows are unknown, all count as modified.
    private func readableChanges(_ batch: ChangeBatch) -> PlaceChanges {
        let old = keys.keys
        let new = source.keys()
        keys = KeySequence(new)
        let difference = SequenceDifference(from: old, to: new)
        var changes = PlaceChanges(deletions: difference.deletions, insertions: difference.insertions)
        do throws(StorageError) {
            let touched = try filter.touched(batch)
            for (before, _) in difference.kept where touched.contains(old[before]) {
                changes.modifications.append(before)
            }
        } catch {
            source.note(error)
            changes.modifications = difference.kept.map(\.old)
        }
        changes.deletions.sort()
        changes.insertions.sort()
        changes.modifications.sort()
        return changes
    }

    // MARK: Comparing

    /// Evaluates the collection again, and compares both results.
    private func compared(_ touched: Set<Int64>, _ batch: ChangeBatch) throws(StorageError) -> PlaceChanges {
        let old = keys.keys
        let new = source.keys()
        keys = KeySequence(new)
        let recreated = try batch.difference(of: source.access.tableID).recreated
        let difference = SequenceDifference(from: old, to: new)
        var changes = PlaceChanges(deletions: difference.deletions, insertions: difference.insertions)
        if !recreated.isEmpty || !touched.isEmpty {
            for (before, after) in difference.kept {
                if recreated.contains(old[before]) {
                    changes.deletions.append(before)
                    changes.insertions.append(after)
                } else if touched.contains(old[before]) {
                    changes.modifications.append(before)
                }
            }
        }
        changes.deletions.sort()
        changes.insertions.sort()
        changes.modifications.sort()
        return changes
    }
}
