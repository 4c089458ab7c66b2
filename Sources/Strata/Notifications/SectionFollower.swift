#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What changed in sections.
struct SectionUpdate<Key: Hashable> {
    private let before: [Key]
    private let after: [Key]
    private(set) var deletions: [IndexPath] = []
    private(set) var insertions: [IndexPath] = []
    private(set) var modifications: [IndexPath] = []
    private let came: [Int]
    private let went: [Int]

    /// Sections with their rows; of plain values, with a number that stands for each.
    typealias Frame = [(key: Key, rows: [Int64])]

    /// - Parameter changed: rows that count as modified where they stay in their place; as gone and come where they
    ///   stay in their section alone. Of plain values there are none.
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

    var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty && went.isEmpty }

    func change<Sections>(of sections: Sections) -> SectionedResultsChange<Sections> {
        .update(
            sections, deletions: deletions, insertions: insertions, modifications: modifications,
            sectionsToInsert: came, sectionsToDelete: went)
    }

    /// What of it happened to one section; nil when nothing did.
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

/// Numbers that plain values of sections are told from each other by, as rows are by their keys.
private struct ElementNumbers {
    private var known: [_StoredValue: Int64] = [:]

    mutating func number(of element: _StoredValue) -> Int64 {
        if let number = known[element] { return number }
        let number = Int64(known.count)
        known[element] = number
        return number
    }
}

/// Turns changes of results into changes of their sections.
final class SectionFollower<Key: Hashable, SectionElement: RealmCollectionValue> {
    typealias Followed = SectionedResults<Key, SectionElement>

    private let key: (SectionElement) -> Key
    /// Without an update for what the sections are at first.
    private let tell: (Followed, SectionUpdate<Key>?) -> Void
    /// Where it is told of what cannot be read.
    private let configuration: Realm.Configuration?
    private var sections: Followed?
    /// As the program was told of them last.
    private var frame: SectionUpdate<Key>.Frame = []
    /// Of results of objects.
    private var known = SectionedRows<Key>()
    private let changedRows = ChangedRows()
    /// Of results of plain values.
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
            let (before, rows) = (frame, known.rows)
            let changes = PlaceChanges(deletions: deletions, insertions: insertions, modifications: modifications)
            #if Zoo
                if PlantedMistake.sectionsAnew.isPlanted { remember(sections) } else { follow(sections, changes) }
            #else
                follow(sections, changes)
            #endif
            // What went from one place of the results to another may differ as well.
            let came = Set(Self.rows(known.rows, at: insertions))
            var changed = Set(Self.rows(rows, at: deletions)).intersection(came)
            changed.formUnion(Self.rows(rows, at: modifications))
            let update = SectionUpdate(from: before, to: frame, changed)
            if !update.isEmpty { tell(sections, update) }
        case .error(let error):
            // The sections go on with what can be read.
            if let sections { remember(sections) }
            configuration?.tell(
                .substituted(
                    Realm.Configuration.InvalidAccessReport(
                        className: "\(SectionElement.self)", key: nil, version: 0,
                        message: "sections lost what cannot be read: \(error)")))
        }
    }

    /// Rows by places that another observer's write may have outrun.
    private static func rows(_ rows: [Int64], at places: [Int]) -> [Int64] {
        places.compactMap { rows.indices.contains($0) ? rows[$0] : nil }
    }

    /// Asks for the section of each row.
    private func remember(_ sections: Followed) {
        _ = changedRows.take()
        guard let source = sections.results._source else {
            frame = sections.map { section in (section.key, section.members.map { numbers.number(of: $0) }) }
            return
        }
        known = SectionedRows(source.keys(), sections.key(ofRow:))
        frame = known.frame
        sections.seed(frame)
    }

    /// Asks for the sections of rows that are new or have changed.
    private func follow(_ sections: Followed, _ changes: PlaceChanges) {
        guard let source = sections.results._source, let changed = changedRows.take(),
            let followed = known.followed(to: source.keys(), changes, changed, sections.key(ofRow:))
        else { return remember(sections) }
        known = followed
        frame = known.frame
        sections.seed(frame)
    }
}
