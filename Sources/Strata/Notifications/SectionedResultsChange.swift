import Dispatch

/// How sections came to be what they are now.
///
/// An update applied to the old sections gives the new ones, in this order: deletions, each from the back; sections
/// that went; sections that came, empty; insertions.
public enum SectionedResultsChange<Key: Hashable, Element: ObjectBase> {
    /// The first notification.
    case initial(SectionedResults<Key, Element>)
    /// Deletions, modifications and `sectionsToDelete` as places before the change, insertions and `sectionsToInsert`
    /// as places after it; each ascending. The elements of a section that goes are not listed; those of one that comes
    /// are.
    case update(
        SectionedResults<Key, Element>, deletions: [SectionPlace], insertions: [SectionPlace],
        modifications: [SectionPlace], sectionsToInsert: [Int], sectionsToDelete: [Int])
    case error(any Error)
}

/// Where an element stands.
public struct SectionPlace: Hashable, Comparable, Sendable {
    public let section: Int
    public let item: Int

    public init(section: Int, item: Int) {
        self.section = section
        self.item = item
    }

    public static func < (a: SectionPlace, b: SectionPlace) -> Bool { (a.section, a.item) < (b.section, b.item) }
}

extension SectionedResults {
    /// Tells what the sections are, and then every change of them.
    ///
    ///     let token = byLetter.observe { change in
    ///         switch change {
    ///         case .initial: table.reloadData()
    ///         case .update(_, let deletions, let insertions, let modifications, let came, let went): ...
    ///         case .error(let error): ...
    ///         }
    ///     }
    ///
    /// - Parameters:
    ///   - keyPaths: what counts as a modification, as for results. Where a section's key follows from more than the
    ///     elements' own properties, name that too.
    ///   - queue: where to be told; nil for where the Realm lives.
    /// - Complexity: a key per element for each change.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (SectionedResultsChange<Key, Element>) -> Void
    ) -> NotificationToken {
        let follower = SectionFollower<Key, Element>(sectionKey, block)
        return results.observe(keyPaths: keyPaths, on: queue) { follower.receive($0) }
    }
}

/// Turns changes of results into changes of their sections.
private final class SectionFollower<Key: Hashable, Element: ObjectBase> {
    private typealias Frame = [(key: Key, rows: [Int64])]

    private let key: (Element) -> Key
    private let block: (SectionedResultsChange<Key, Element>) -> Void
    private var sections: SectionedResults<Key, Element>?
    private var known: Frame = []
    /// The rows of the results, in their order.
    private var rows: [Int64] = []

    init(_ key: @escaping (Element) -> Key, _ block: @escaping (SectionedResultsChange<Key, Element>) -> Void) {
        self.key = key
        self.block = block
    }

    func receive(_ change: RealmCollectionChange<Results<Element>>) {
        switch change {
        case .initial(let results):
            let sections = SectionedResults(results, key)
            self.sections = sections
            remember(sections)
            block(.initial(sections))
        case .update(_, let deletions, let insertions, let modifications):
            guard let sections else { return }
            let (before, oldRows) = (known, rows)
            remember(sections)
            // What went from one place of the results to another may differ as well.
            let came = Set(insertions.map { rows[$0] })
            var changed = Set(deletions.map { oldRows[$0] }).intersection(came)
            changed.formUnion(modifications.map { oldRows[$0] })
            tell(sections, before, changed)
        case .error(let error): block(.error(error))
        }
    }

    private func remember(_ sections: SectionedResults<Key, Element>) {
        known = sections.map { ($0.key, $0.rowKeys) }
        rows = sections.results.source.keys()
    }

    private func tell(_ sections: SectionedResults<Key, Element>, _ before: Frame, _ changed: Set<Int64>) {
        let difference = SequenceDifference(from: before.map(\.key), to: known.map(\.key))
        var deletions: [SectionPlace] = []
        var insertions: [SectionPlace] = []
        var modifications: [SectionPlace] = []
        for section in difference.insertions {
            insertions += known[section].rows.indices.map { SectionPlace(section: section, item: $0) }
        }
        for (old, new) in difference.kept {
            let rows = SequenceDifference(from: before[old].rows, to: known[new].rows)
            deletions += rows.deletions.map { SectionPlace(section: old, item: $0) }
            insertions += rows.insertions.map { SectionPlace(section: new, item: $0) }
            for place in rows.kept where changed.contains(before[old].rows[place.old]) {
                modifications.append(SectionPlace(section: old, item: place.old))
            }
        }
        if deletions.isEmpty && insertions.isEmpty && modifications.isEmpty && difference.deletions.isEmpty { return }
        block(
            .update(
                sections, deletions: deletions.sorted(), insertions: insertions.sorted(),
                modifications: modifications.sorted(), sectionsToInsert: difference.insertions.sorted(),
                sectionsToDelete: difference.deletions.sorted()))
    }
}
