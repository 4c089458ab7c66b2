import StrataStorage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Changes of sections.
struct SectionUpdate<Key: Hashable> {
    private let before: [Key]
    private let after: [Key]
    private(set) var deletions: [IndexPath] = []
    private(set) var insertions: [IndexPath] = []
    private(set) var modifications: [IndexPath] = []
    private let came: [Int]
    private let went: [Int]

    /// Sections with their rows; for plain values with a number for each value.
    typealias Frame = [(key: Key, rows: [Int64])]

    /// - Parameter changed: rows that count as modified if they keep their place, and as deleted and inserted if they
    ///   move within their section. None for plain values.
    init(from before: Frame, to after: Frame, _ changed: Set<Int64>) {
        self.before = before.map(\.key)
        self.after = after.map(\.key)
        let difference = SequenceDifference(from: self.before, to: self.after)
        for section in difference.insertions {
            insertions += after[section].rows.indices.map { IndexPath(indexes: [section, $0]) }
        }
        for (old, new) in difference.kept {
            let earlier = before[old].rows
            let rows = SequenceDifference(from: earlier, to: after[new].rows)
            deletions += rows.deletions.map { IndexPath(indexes: [old, $0]) }
            insertions += rows.insertions.map { IndexPath(indexes: [new, $0]) }
            for place in rows.kept where changed.contains(earlier[place.old]) {
                let (left, taken) = (IndexPath(indexes: [old, place.old]), IndexPath(indexes: [new, place.new]))
                if left == taken {
                    modifications.append(left)
                } else {
                    deletions.append(left)
                    insertions.append(taken)
                }
            }
        }
        deletions.sort()
        insertions.sort()
        modifications.sort()
        came = difference.insertions.sorted()
        went = difference.deletions.sorted()
    }

    /// From sections that are listed by their keys.
    init(
        _ before: [Key], _ after: [Key], deletions: [IndexPath], insertions: [IndexPath], modifications: [IndexPath],
        came: [Int], went: [Int]
    ) {
        (self.before, self.after) = (before, after)
        self.deletions = deletions.sorted()
        self.insertions = insertions.sorted()
        self.modifications = modifications.sorted()
        (self.came, self.went) = (came, went)
    }

    var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty && went.isEmpty }

    func change<Sections>(of sections: Sections) -> SectionedResultsChange<Sections> {
        .update(
            sections, deletions: deletions, insertions: insertions, modifications: modifications,
            sectionsToInsert: came, sectionsToDelete: went)
    }

    /// The changes of one section; nil if there are none.
    func change<Section>(of section: Section, _ key: Key) -> SectionedResultsChange<Section>? {
        let (old, new) = (before.firstIndex(of: key), after.firstIndex(of: key))
        let deletions = deletions.filter { $0[0] == old }
        let insertions = insertions.filter { $0[0] == new }
        let modifications = modifications.filter { $0[0] == old }
        let came = came.filter { $0 == new }
        let went = went.filter { $0 == old }
        if deletions.isEmpty && insertions.isEmpty && modifications.isEmpty && went.isEmpty { return nil }
        return .update(
            section, deletions: deletions, insertions: insertions, modifications: modifications,
            sectionsToInsert: came, sectionsToDelete: went)
    }
}

/// Assigns numbers to plain values of sections, which identify them like keys identify rows.
private struct ElementNumbers {
    private var known: [_StoredValue: Int64] = [:]

    mutating func number(of element: _StoredValue) -> Int64 {
        if let number = known[element] { return number }
        let number = Int64(known.count)
        known[element] = number
        return number
    }
}

/// Converts changes of results to changes of their sections.
final class SectionFollower<Key: Hashable, SectionElement: RealmCollectionValue> {
    typealias Followed = SectionedResults<Key, SectionElement>

    private let key: (SectionElement) -> Key
    /// Called without an update for the initial sections.
    private let tell: (Followed, SectionUpdate<Key>?) -> Void
    /// Receives reports of unreadable elements.
    private let configuration: RealmConfiguration?
    private var sections: Followed?
    /// The last reported sections; empty while `runs` has them.
    private var frame: SectionUpdate<Key>.Frame = []
    /// Set for results of objects whose sections are not runs.
    private var known = SectionedRows<Key>()
    /// Set for results of objects whose sections are runs, if their observer knows the rows.
    private var runs: SectionRuns<Key>?
    private let changedRows = ChangedRows()
    /// Set for results of plain values.
    private var numbers = ElementNumbers()

    init(_ sections: Followed, _ tell: @escaping (Followed, SectionUpdate<Key>?) -> Void) {
        key = sections.sectionKey
        configuration = sections.realm?.configuration
        self.tell = tell
    }

    /// Follows one section.
    convenience init(
        _ sections: Followed, of key: Key,
        _ block: @escaping (SectionedResultsChange<ResultsSection<Key, SectionElement>>) -> Void
    ) {
        self.init(sections) { sections, update in
            let section = sections.current(key)
            if let update {
                if let change = update.change(of: section, key) { block(change) }
            } else {
                block(.initial(section))
            }
        }
    }

    func receive(_ change: RealmCollectionChange<Results<SectionElement>>) {
        switch change {
        case .initial(let results):
            let sections = Followed(results, key)
            self.sections = sections
            results._source?.changedRows.add(changedRows)
            remember(sections)
            tell(sections, nil)
        case .update(_, let deletions, let insertions, let modifications):
            guard let sections else { return }
            let changes = PlaceChanges(deletions: deletions, insertions: insertions, modifications: modifications)
            let update = update(sections, changes)
            if !update.isEmpty { tell(sections, update) }
        case .error(let error):
            // The sections continue with the readable elements.
            if let sections { remember(sections) }
            configuration?.tell(
                .substituted(
                    RealmConfiguration.InvalidAccessReport(
                        className: "\(SectionElement.self)", key: nil, version: 0,
                        message: "sections lost what cannot be read: \(error)")))
        }
    }

    private func update(_ sections: Followed, _ changes: PlaceChanges) -> SectionUpdate<Key> {
        if runs != nil {
            if let update = patch(sections, changes) { return update }
            // They are no runs any more, or the changes are not those of the version that is shown.
            let (before, rows) = (runs?.frame ?? [], runs?.rows.keys ?? [])
            remember(sections)
            return compare(before, rows, changes)
        }
        let (before, rows) = (frame, known.rows)
        follow(sections, changes)
        return compare(before, rows, changes)
    }

    /// Goes on to the next rows without computing the others.
    private func patch(_ sections: Followed, _ changes: PlaceChanges) -> SectionUpdate<Key>? {
        #if Zoo
            if PlantedMistake.sectionsAnew.isPlanted { return nil }
        #endif
        guard var next = runs, let source = sections.results._source, let now = source.followedRows,
            let changed = changedRows.take(),
            let places = source.attempt({ () throws(StorageError) in try now.places(of: changed) }),
            let update = next.follow(to: now, changes, places, sections.key(ofRow:))
        else { return nil }
        runs = next
        sections.seed(next.runs, of: next.rows.indexed)
        return update
    }

    private func compare(
        _ before: SectionUpdate<Key>.Frame, _ rows: [Int64], _ changes: PlaceChanges
    ) -> SectionUpdate<Key> {
        let after = runs?.frame ?? frame
        // Rows that moved within the results may differ, too.
        let came = Set(Self.rows(runs?.rows.keys ?? known.rows, at: changes.insertions))
        var changed = Set(Self.rows(rows, at: changes.deletions)).intersection(came)
        changed.formUnion(Self.rows(rows, at: changes.modifications))
        return SectionUpdate(from: before, to: after, changed)
    }

    /// Rows at places that another observer's write may have made invalid.
    private static func rows(_ rows: [Int64], at places: [Int]) -> [Int64] {
        places.compactMap { rows.indices.contains($0) ? rows[$0] : nil }
    }

    /// Computes the section of each row.
    private func remember(_ sections: Followed) {
        _ = changedRows.take()
        guard let source = sections.results._source else {
            frame = sections.map { section in
                (section.key, section.indices.map { numbers.number(of: section.members[$0]) })
            }
            return
        }
        known = SectionedRows(source.keys(), sections.key(ofRow:))
        runs = source.followedRows == nil ? nil : SectionRuns(known)
        if let runs {
            (known, frame) = (SectionedRows(), [])
            sections.seed(runs.runs, of: runs.rows.indexed)
        } else {
            frame = known.frame
            sections.seed(frame)
        }
    }

    /// Computes the sections of new and changed rows.
    private func follow(_ sections: Followed, _ changes: PlaceChanges) {
        #if Zoo
            if PlantedMistake.sectionsAnew.isPlanted { return remember(sections) }
        #endif
        guard let source = sections.results._source, let changed = changedRows.take(),
            let followed = known.followed(to: source.keys(), changes, changed, sections.key(ofRow:))
        else { return remember(sections) }
        known = followed
        frame = known.frame
        sections.seed(frame)
    }
}
