import StrataStorage

/// Reports changes of a collection of objects, as places.
///
/// Complexity of a change of c rows: for a whole class O(c log rows), without keeping its keys; for a filter, with or
/// without sorts, O(c log rows) and a small part of the collection, once for all observers of equal collections
/// (``FollowedRows``); the same for inverse links; for lists and sets the changed leaves, without keeping their keys. A
/// collection that counts or skips elements is compared as a whole if something that it depends on has changed.
final class CollectionObserver: Observer, RowFollower {
    let isActive = ActiveFlag()
    let source: ObjectSource
    private let keyPaths: [String]?
    /// The same as one text.
    private let paths: String
    private let call: (Result<PlaceChanges, RealmError>) -> Void
    private var filter: KeyPathFilter
    private var tracking: Tracking
    /// Rows of the collection in the last reported version, for ``Tracking/matches``.
    @exclusivity(unchecked) private var followed: FollowedRows?
    /// Keys of the collection in the last reported version, where neither storage nor `followed` knows them.
    private var keys: KeySequence

    /// How changes of the collection are found.
    enum Tracking {
        /// All rows of a class, ordered by key.
        case table
        /// Matching rows of a class, ordered by key or by sorts.
        case matches
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
        _ source: ObjectSource, keyPaths: [String]?, _ call: @escaping (Result<PlaceChanges, RealmError>) -> Void
    ) throws(RealmError) {
        self.source = source
        self.keyPaths = keyPaths
        paths = keyPaths.map { "of " + $0.joined(separator: " ") } ?? ""
        self.call = call
        filter = try KeyPathFilter(keyPaths, source.access)
        tracking = .table
        keys = KeySequence([])
        track()
    }

    /// Finds the collection in the version that is shown.
    private func track() {
        tracking = Self.tracking(of: source)
        source.follower.set(self, isNew: true)
        follow(nil)
        keys = KeySequence([])
        switch tracking {
        case .table, .column: break
        case .matches:
            if let rows = FollowedRows.of(source) { return follow(rows) }
            tracking = .compared(Dependencies(source))
            keys = KeySequence(source.keys())
        case .backlinks, .compared, .readable: keys = KeySequence(source.keys())
        }
    }

    /// The source needs no keys of its own while the rows are followed.
    private func follow(_ rows: FollowedRows?) {
        followed = rows
        hasFollowed()
    }

    @inline(__always)
    private func hasFollowed() {
        source.follower.set(self, isNew: false)
        if followed != nil, source.cache != nil, !source.instance.isInWrite { source.cache = nil }
    }

    var knownRows: (any KnownRows)? { followed }

    private static func tracking(of source: ObjectSource) -> Tracking {
        switch source.base {
        case .table where source.steps.isEmpty: return .table
        case .table: return .matches
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
            let failure = (error as? RealmError) ?? RealmError(.fail, "\(error)")
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
            RealmError(
                .invalidDatabase,
                "some \(source.access.name) of \(source.instance.file.configuration.path) cannot be read; Realm.damage "
                    + "lists what is lost. The collection goes on without them"), false)
    }

    private func goOnWithReadable(_ failure: RealmError, _ isSilenced: Bool) {
        tracking = .readable
        follow(nil)
        keys = KeySequence(source.keys())
        if !isSilenced { call(.failure(failure)) }
    }

    private func changes(_ batch: ChangeBatch) throws -> PlaceChanges {
        if source.changedRows.isEmpty, !batch.schemaDiffers, let known = FollowedRows.known(&followed, batch, paths) {
            hasFollowed()
            return known
        }
        if batch.schemaDiffers || isReadable { source.changedRows.tell(nil) }
        if batch.schemaDiffers { filter = try KeyPathFilter(keyPaths, source.access) }
        if isReadable { return readableChanges(batch) }
        do throws(StorageError) {
            let touched = try filter.touched(batch)
            if !source.changedRows.isEmpty {
                // Sections need changes that the observer does not report, too.
                let all = try batch.modified(of: source.access.tableID, within: KeyPathFilter.linksFollowed)
                source.changedRows.tell(touched.union(all))
            }
            if batch.schemaDiffers { return try tracked(touched, batch) }
            return try changes(touched, batch)
        } catch {
            source.note(error)
            throw RealmError(error)
        }
    }

    private func changes(_ touched: Set<Int64>, _ batch: ChangeBatch) throws(StorageError) -> PlaceChanges {
        switch tracking {
        case .table: return try placed(touched, batch)
        case .column(let column): return try differing(column, touched, batch)
        case .matches: if followed != nil { return try matched(touched, batch) }
        case .backlinks(let owner, let property):
            if let patch = LinkPatch(owner, property, source.access),
                let candidates = try patch.candidates(batch, limit: OrderedPatch<LinkPatch>.limit(keys.count))
            {
                return try patched(candidates, touched: touched, batch: batch, members: patch)
            }
        case .compared(let dependencies):
            if try !dependencies.mayDiffer(batch) {
                var changes = PlaceChanges()
                for (place, key) in keys.keys.enumerated() where touched.contains(key) {
                    changes.modifications.append(place)
                }
                return changes
            }
        case .readable: break
        }
        return try compared(touched, batch)
    }

    /// The schema has changed: the collection is tracked anew.
    private func tracked(_ touched: Set<Int64>, _ batch: ChangeBatch) throws(StorageError) -> PlaceChanges {
        let old: [Int64]
        switch tracking {
        case .table, .column:
            tracking = Self.tracking(of: source)
            return try changes(touched, batch)
        case .matches: old = followed?.keys ?? []
        case .backlinks, .compared, .readable: old = keys.keys
        }
        track()
        let recreated = try batch.difference(of: source.access.tableID).recreated
        return PlaceChanges(from: old, to: followed?.keys ?? keys.keys, touched, recreated: recreated)
    }

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

    private func matched(_ touched: Set<Int64>, _ batch: ChangeBatch) throws(StorageError) -> PlaceChanges {
        guard var rows = followed.take() else { return PlaceChanges() }
        defer { follow(rows) }
        return try FollowedRows.advance(&rows, along: batch, paths: paths, touched: touched) { source.keys() }
    }

    private func patched(
        _ candidates: Set<Int64>, touched: Set<Int64>, batch: ChangeBatch, members: LinkPatch
    ) throws(StorageError) -> PlaceChanges {
        let difference = try batch.difference(of: source.access.tableID)
        let patch = OrderedPatch(
            members: members, old: batch.old.view, new: batch.new.view, recreated: difference.recreated)
        // Rows whose place cannot have changed.
        var changes = PlaceChanges()
        changes.modifications = try patch.places(of: touched.subtracting(candidates), in: keys).map(\.place)
        let outcome = try patch.apply(candidates, to: &keys)
        (changes.deletions, changes.insertions) = (outcome.deletions, outcome.insertions)
        if outcome.isChange { seed() }
        let gone = Set(outcome.deletions)
        for (place, key) in outcome.removed
        where touched.contains(key) && !difference.wasInserted(key) && !gone.contains(place) {
            changes.modifications.append(place)
        }
        changes.modifications.sort()
        return changes
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
        return PlaceChanges(from: old, to: new, touched, recreated: recreated)
    }
}

extension PlaceChanges {
    /// Between the keys of two versions.
    /// - Parameters:
    ///   - touched: rows that count as modified if they stay.
    ///   - recreated: rows that were deleted and created again under their keys.
    init(from old: [Int64], to new: [Int64], _ touched: Set<Int64>, recreated: Set<Int64>) {
        let difference = SequenceDifference(from: old, to: new)
        self.init(deletions: difference.deletions, insertions: difference.insertions)
        if !recreated.isEmpty || !touched.isEmpty {
            for (before, after) in difference.kept {
                if recreated.contains(old[before]) {
                    deletions.append(before)
                    insertions.append(after)
                } else if touched.contains(old[before]) {
                    modifications.append(before)
                }
            }
        }
        deletions.sort()
        insertions.sort()
        modifications.sort()
    }
}
