#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Results in sections: elements with equal keys together, sections in the order of their first elements.
///
///     let byLetter = people.sectioned(by: { String($0.name.prefix(1)) }, sortDescriptors: ["name"])
///     for section in byLetter { print(section.key, section.map(\.name)) }
///
/// Live like the results: keys are computed again when the Realm shows another version. Missing places follow
/// `Configuration.invalidAccess`, as those of results do.
public struct SectionedResults<Key: Hashable, SectionElement: RealmCollectionValue>: _PlacedCollection {
    public typealias Element = ResultsSection<Key, SectionElement>

    fileprivate let sections: Sections<Key, SectionElement>

    init(_ results: Results<SectionElement>, _ key: @escaping (SectionElement) -> Key) {
        sections = Sections(results, key)
    }

    fileprivate init(_ sections: Sections<Key, SectionElement>) { self.sections = sections }

    public var startIndex: Int { 0 }
    public var endIndex: Int { sections.current.count }
    /// The section at a place. Beyond the end, if sections were removed since the caller counted them, an empty one
    /// with the last key at that place.
    public subscript(position: Int) -> Element {
        let current = sections.current
        guard current.indices.contains(position) else { return _goneElement(position, current.indices) }
        return sections.section(current[position].key, current[position].members)
    }

    /// An element by its section and its place in it. A path with fewer than two indices has none.
    public subscript(indexPath: IndexPath) -> SectionElement {
        let places = Array(indexPath)
        guard places.count >= 2 else { return self[places.first ?? -1]._goneElement(-1, 0..<0) }
        return self[places[0]][places[1]]
    }

    public var _gone: _GoneAccess { results._gone }

    public func _goneElement(_ position: Int, _ bounds: Range<Int>) -> Element {
        _gone.tell(place: position, in: bounds)
        return sections.section(sections.keyOfGone(position), .values([]))
    }

    /// Iterates over the present sections.
    public func makeIterator() -> AnyIterator<Element> {
        var members = sections.current.makeIterator()
        return AnyIterator { members.next().map { sections.section($0.key, $0.members) } }
    }

    /// Computes an element's section key.
    var sectionKey: (SectionElement) -> Key { sections.key }
    /// The keys of all sections, in order.
    public var allKeys: [Key] { sections.current.map(\.key) }
    /// The results without sections.
    public var results: Results<SectionElement> { sections.results }
    public var realm: Realm? { results.realm }
    public var isInvalidated: Bool { results.isInvalidated }
    public var isFrozen: Bool { results.isFrozen }

    /// The section of a key; nil if there is none.
    /// - Complexity: O(1), once the sections of the version are computed.
    public func section(for key: Key) -> Element? { sections.known(key) }

    /// The section key of a row's object.
    func key(ofRow row: Int64) -> Key { sectionKey(SectionElement._element(.link(row), results.elementContext)) }

    /// Adopts sections computed by an observer for the version that is shown.
    func seed(_ found: [(key: Key, rows: [Int64])]) { sections.seed(.frame(found)) }

    /// Adopts sections that are runs of adjacent rows.
    func seed(_ runs: [(key: Key, count: Int)], of rows: IndexedKeys) { sections.seed(.runs(runs, of: rows)) }

    /// The present section of a key; an empty one if there is none.
    func current(_ key: Key) -> Element { sections.section(key) }

    /// A frozen copy of the sections, for any thread.
    public func freeze() -> SectionedResults { SectionedResults(results.freeze(), sectionKey) }

    /// The live sections on this thread, queue or actor; nil if their collection was deleted.
    public func thaw() -> SectionedResults? { results.thaw().map { SectionedResults($0, sectionKey) } }
}

extension SectionedResults: Equatable {
    /// Whether both come from the same call: closures cannot be compared.
    public static func == (a: SectionedResults, b: SectionedResults) -> Bool { a.sections === b.sections }
}

/// The elements of one key.
public struct ResultsSection<Key: Hashable, SectionElement: RealmCollectionValue>: _PlacedCollection, Identifiable {
    public let key: Key
    fileprivate let sections: Sections<Key, SectionElement>
    /// Elements at the time of the access to the section.
    let members: SectionMembers

    public var id: Key { key }
    public var startIndex: Int { 0 }
    public var endIndex: Int { members.count }
    public var realm: Realm? { sections.results.realm }
    public var isInvalidated: Bool { sections.results.isInvalidated }
    public var isFrozen: Bool { sections.results.isFrozen }

    /// An element as of the access to the section; an object may have been deleted since. Beyond the end as
    /// ``Results``.
    public subscript(position: Int) -> SectionElement {
        guard position >= 0, position < members.count else { return _goneElement(position, 0..<members.count) }
        return SectionElement._element(members[position], sections.results.elementContext)
    }

    public var _gone: _GoneAccess { sections.results._gone }

    public func _goneElement(_ position: Int, _ bounds: Range<Int>) -> SectionElement {
        _gone.tell(place: position, in: bounds)
        return SectionElement._substituteElement(sections.results.elementContext)
    }

    /// The sections that this one belongs to.
    var all: SectionedResults<Key, SectionElement> { SectionedResults(sections) }

    /// A frozen copy of the section, for any thread; empty if its key is gone.
    public func freeze() -> ResultsSection { all.freeze().sections.section(key) }

    /// The live section on this thread, queue or actor, empty if its key is gone; nil if its collection was deleted.
    public func thaw() -> ResultsSection? { all.thaw()?.sections.section(key) }
}

extension ResultsSection: Equatable {
    /// Whether both are sections of the same key, from the same call.
    public static func == (a: ResultsSection, b: ResultsSection) -> Bool { a.key == b.key && a.sections === b.sections }
}

/// The elements of a section in a version.
enum SectionMembers {
    case values([_StoredValue])
    /// A part of the rows of the results.
    case rows(IndexedKeys, first: Int, count: Int)

    var count: Int {
        switch self {
        case .values(let values): values.count
        case .rows(_, _, let count): count
        }
    }

    /// The element at a place that exists.
    subscript(place: Int) -> _StoredValue {
        switch self {
        case .values(let values): values[place]
        case .rows(let rows, let first, _): .link(rows[first + place])
        }
    }
}

/// The sections of one version, computed again for another.
private final class Sections<Key: Hashable, SectionElement: RealmCollectionValue> {
    typealias Members = (key: Key, members: SectionMembers)

    /// Sections computed by an observer.
    enum Found {
        case frame([(key: Key, rows: [Int64])])
        case runs([(key: Key, count: Int)], of: IndexedKeys)
    }

    /// Sections in order, and the index of each key.
    struct Grouped {
        var sections: [Members] = []
        var places: [Key: Int] = [:]

        init() {}

        init(_ found: Found) {
            switch found {
            case .frame(let frame):
                WorkSteps.note(frame.reduce(0) { $0 + $1.rows.count })
                for section in frame { add(section.key, .values(section.rows.map { .link($0) })) }
            case .runs(let runs, let rows):
                var first = 0
                for run in runs {
                    add(run.key, .rows(rows, first: first, count: run.count))
                    first += run.count
                }
            }
        }

        mutating func add(_ key: Key, _ members: SectionMembers) {
            places[key] = sections.count
            sections.append((key, members))
        }
    }

    let results: Results<SectionElement>
    let key: (SectionElement) -> Key
    private var made: (stamp: UInt64, sections: Grouped)?
    /// Sections computed by an observer.
    private var found: (stamp: UInt64, sections: Found)?
    /// The last key at each place; those of removed places stay at the end.
    private var lastKeys: [Key] = []

    init(_ results: Results<SectionElement>, _ key: @escaping (SectionElement) -> Key) {
        self.results = results
        self.key = key
        // Many threads may read a frozen Realm's sections: they are computed before they are returned, and never
        // change.
        if let instance = results.realm?.instance, instance.isFrozen { show(grouped(), instance.stamp) }
    }

    /// The present section of a key; empty if there is none.
    func section(_ key: Key) -> ResultsSection<Key, SectionElement> {
        known(key) ?? section(key, .values([]))
    }

    /// The present section of a key; nil if there is none.
    func known(_ key: Key) -> ResultsSection<Key, SectionElement>? {
        let now = grouping
        #if Zoo
            if PlantedMistake.sectionSearched.isPlanted {
                WorkSteps.note(now.sections.prefix { $0.key != key }.count)
            }
        #endif
        WorkSteps.note(1)
        return now.places[key].map { section(key, now.sections[$0].members) }
    }

    func section(_ key: Key, _ members: SectionMembers) -> ResultsSection<Key, SectionElement> {
        ResultsSection(key: key, sections: self, members: members)
    }

    /// The last key at a place; otherwise another section's key, or the closure's result for an invalidated element.
    func keyOfGone(_ position: Int) -> Key {
        if lastKeys.indices.contains(position) { return lastKeys[position] }
        return lastKeys.last ?? key(SectionElement._substituteElement(results.elementContext))
    }

    private func show(_ grouped: Grouped, _ stamp: UInt64) {
        made = (stamp, grouped)
        let sections = grouped.sections
        lastKeys.replaceSubrange(0..<Swift.min(lastKeys.count, sections.count), with: sections.map(\.key))
    }

    /// - Complexity: an element and a key for each, once per version.
    var current: [Members] { grouping.sections }

    private var grouping: Grouped {
        guard let instance = results.realm?.instance else { return Grouped() }
        instance.checkConfinement()
        let stamp = instance.stamp
        if let made, made.stamp == stamp { return made.sections }
        let made = found?.stamp == stamp ? found.map { Grouped($0.sections) } ?? grouped() : grouped()
        found = nil
        show(made, stamp)
        return made
    }

    func seed(_ sections: Found) {
        if let instance = results.realm?.instance, !instance.isFrozen { found = (instance.stamp, sections) }
    }

    private func grouped() -> Grouped {
        var (keys, members, places): ([Key], [[_StoredValue]], [Key: Int]) = ([], [], [:])
        let stored = results.storedElements
        WorkSteps.note(stored.count)
        for (element, stored) in zip(results, stored) {
            let key = key(element)
            if let place = places[key] {
                members[place].append(stored)
            } else {
                places[key] = keys.count
                keys.append(key)
                members.append([stored])
            }
        }
        var grouped = Grouped()
        for (key, members) in zip(keys, members) { grouped.add(key, .values(members)) }
        return grouped
    }
}

extension Results {
    /// The elements in stored form, in order.
    fileprivate var storedElements: [_StoredValue] {
        _values?.source.values ?? _source?.keys().map { .link($0) } ?? []
    }

    /// Converts elements; valid as long as the results.
    fileprivate var elementContext: _ElementContext {
        _source?.context ?? _values?.source.column.context ?? .unmanaged
    }
}
