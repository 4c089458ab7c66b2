import StrataStorage

/// Moves changed rows of an ordered collection to their new places, from one version to another.
struct OrderedPatch<Members: Patching> {
    let members: Members
    let old: ReadView
    let new: ReadView
    /// Rows that were deleted and created again under their keys.
    let recreated: Set<Int64>

    struct Outcome {
        /// Candidates that were members, with their places before.
        var removed: [(place: Int, key: Int64)] = []
        /// Deletions as places before the change, insertions as places after it; both ascending.
        var deletions: [Int] = []
        var insertions: [Int] = []
        var isChange = false
    }

    /// - Parameter candidates: rows that may have been added, removed or moved.
    func apply(_ candidates: Set<Int64>, to keys: inout KeySequence) throws(StorageError) -> Outcome {
        var outcome = Outcome()
        outcome.removed = try places(of: candidates, in: keys)
        for (place, _) in outcome.removed.reversed() { keys.remove(at: place) }
        let inserted = try insert(candidates, into: &keys)
        outcome.isChange = !outcome.removed.isEmpty || !inserted.isEmpty
        let kept = kept(outcome.removed, inserted)
        let stay = Set(kept.map(\.old))
        let come = Set(kept.map(\.new))
        for (place, _) in outcome.removed where !stay.contains(place) { outcome.deletions.append(place) }
        for (place, _) in inserted where !come.contains(place) { outcome.insertions.append(place) }
        return outcome
    }

    /// Inserts the candidates that are members now.
    private func insert(
        _ candidates: Set<Int64>, into keys: inout KeySequence
    ) throws(StorageError) -> [(place: Int, key: Int64)] {
        var present: [Int64] = []
        for key in candidates {
            for _ in 0..<(try members.multiplicity(of: key, new)) { present.append(key) }
        }
        var inserted: [(place: Int, key: Int64)] = []
        for key in try members.ordered(present, new) {
            // Behind equal elements, so that the places of rows that were inserted earlier stay valid.
            let place = try keys.partition { (other) throws(StorageError) -> Bool in
                if other == key { return true }
                return try members.precedes(other, key, new)
            }
            keys.insert(key, at: place)
            inserted.append((place, key))
        }
        return inserted
    }

    /// Candidates that are between the same neighbours, and in the same order, as before.
    private func kept(
        _ removed: [(place: Int, key: Int64)], _ inserted: [(place: Int, key: Int64)]
    ) -> [(old: Int, new: Int)] {
        var places: [Int64: [(place: Int, gap: Int)]] = [:]
        for (index, entry) in inserted.enumerated() {
            places[entry.key, default: []].append((entry.place, entry.place - index))
        }
        var pairs: [(old: Int, new: Int)] = []
        for (index, entry) in removed.enumerated() where !recreated.contains(entry.key) {
            guard let new = places[entry.key]?.first else { continue }
            places[entry.key]?.removeFirst()
            if new.gap == entry.place - index { pairs.append((entry.place, new.place)) }
        }
        return SequenceDifference.longestAscending(pairs.map(\.new)).map { pairs[$0] }
    }

    /// Places of keys in the old collection, ascending.
    func places(of wanted: Set<Int64>, in keys: KeySequence) throws(StorageError) -> [(place: Int, key: Int64)] {
        var places: [(place: Int, key: Int64)] = []
        if wanted.isEmpty { return places }
        if wanted.count > Self.limit(keys.count) {
            for (place, key) in keys.keys.enumerated() where wanted.contains(key) { places.append((place, key)) }
            return places
        }
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

    /// With more changed rows than this, evaluating the collection again is cheaper.
    static func limit(_ count: Int) -> Int { 64 + count / 8 }
}
