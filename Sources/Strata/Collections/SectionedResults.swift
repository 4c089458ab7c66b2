#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Results in sections: elements with the same key together, sections in the order in which their keys first appear.
///
///     let byLetter = people.sectioned(by: { String($0.name.prefix(1)) }, sortDescriptors: ["name"])
///     for section in byLetter { print(section.key, section.map(\.name)) }
///
/// Live like the results: keys are asked for again when the Realm shows something else.
public struct SectionedResults<Key: Hashable, SectionElement: RealmCollectionValue>: RandomAccessCollection {
    public typealias Element = ResultsSection<Key, SectionElement>

    fileprivate let sections: Sections<Key, SectionElement>

    init(_ results: Results<SectionElement>, _ key: @escaping (SectionElement) -> Key) {
        sections = Sections(results, key)
    }

    fileprivate init(_ sections: Sections<Key, SectionElement>) { self.sections = sections }

    public var startIndex: Int { 0 }
    public var endIndex: Int { sections.current.count }
    public subscript(position: Int) -> Element { sections.section(at: position) }
    /// An element by its section and its place in it.
    public subscript(indexPath: IndexPath) -> SectionElement { self[indexPath[0]][indexPath[1]] }

    /// What an element's section is.
    var sectionKey: (SectionElement) -> Key { sections.key }
    /// The keys of all sections, in order.
    public var allKeys: [Key] { sections.current.map(\.key) }
    /// The results before they were put in sections.
    public var results: Results<SectionElement> { sections.results }
    public var realm: Realm? { results.realm }
    public var isInvalidated: Bool { results.isInvalidated }
    public var isFrozen: Bool { results.isFrozen }

    /// The section with a key; nil when there is none.
    public func section(for key: Key) -> Element? { first { $0.key == key } }

    /// The section of a key as it is now; an empty one where there is none.
    func current(_ key: Key) -> Element { sections.section(key) }

    /// The sections as they are now, for ever, on any thread.
    public func freeze() -> SectionedResults { SectionedResults(results.freeze(), sectionKey) }

    /// The live sections on this thread, queue or actor; nil when what they are of was deleted.
    public func thaw() -> SectionedResults? { results.thaw().map { SectionedResults($0, sectionKey) } }
}

extension SectionedResults: Equatable {
    /// Whether both were made by one call: two closures cannot be compared.
    public static func == (a: SectionedResults, b: SectionedResults) -> Bool { a.sections === b.sections }
}

/// The elements of one key.
public struct ResultsSection<Key: Hashable, SectionElement: RealmCollectionValue>: RandomAccessCollection, Identifiable
{
    public let key: Key
    fileprivate let sections: Sections<Key, SectionElement>
    /// As the section was when it was asked for.
    fileprivate let members: [_StoredValue]

    public var id: Key { key }
    /// The rows of objects, in order.
    var rowKeys: [Int64] { members.compactMap(\.linkKey) }
    public var startIndex: Int { 0 }
    public var endIndex: Int { members.count }
    public var realm: Realm? { sections.results.realm }
    public var isInvalidated: Bool { sections.results.isInvalidated }
    public var isFrozen: Bool { sections.results.isFrozen }

    /// An element of the section as it was when the section was asked for; an object may be deleted by now.
    public subscript(position: Int) -> SectionElement {
        let context = sections.results.elementContext
        return SectionElement._element(members[position], context)
    }

    /// The sections that this is one of.
    var all: SectionedResults<Key, SectionElement> { SectionedResults(sections) }

    /// The section as it is now, for ever, on any thread; empty when its key is gone.
    public func freeze() -> ResultsSection { all.freeze().sections.section(key) }

    /// The live section on this thread, queue or actor, empty when its key is gone; nil when what it is of was deleted.
    public func thaw() -> ResultsSection? { all.thaw()?.sections.section(key) }
}

extension ResultsSection: Equatable {
    /// Whether both are the section of one key, of sections that one call made.
    public static func == (a: ResultsSection, b: ResultsSection) -> Bool { a.key == b.key && a.sections === b.sections }
}

/// The sections of one version, made again for another.
private final class Sections<Key: Hashable, SectionElement: RealmCollectionValue> {
    typealias Members = (key: Key, members: [_StoredValue])

    let results: Results<SectionElement>
    let key: (SectionElement) -> Key
    private var made: (stamp: UInt64, sections: [Members])?

    init(_ results: Results<SectionElement>, _ key: @escaping (SectionElement) -> Key) {
        self.results = results
        self.key = key
        // Many threads may read a frozen Realm's: they are made before anybody gets them, and stay.
        if let instance = results.realm?.instance, instance.isFrozen { made = (instance.stamp, grouped()) }
    }

    /// The section of a key as it is now; empty when there is none.
    func section(_ key: Key) -> ResultsSection<Key, SectionElement> {
        let members = current.first { $0.key == key }?.members ?? []
        return ResultsSection(key: key, sections: self, members: members)
    }

    func section(at position: Int) -> ResultsSection<Key, SectionElement> {
        let (key, members) = current[position]
        return ResultsSection(key: key, sections: self, members: members)
    }

    /// - Complexity: an element and a key for each, once per version.
    var current: [Members] {
        guard let instance = results.realm?.instance else { return [] }
        instance.checkConfinement()
        let stamp = instance.stamp
        if let made, made.stamp == stamp { return made.sections }
        let sections = grouped()
        made = (stamp, sections)
        return sections
    }

    private func grouped() -> [Members] {
        var order: [Key] = []
        var members: [Key: [_StoredValue]] = [:]
        for (element, stored) in zip(results, results.storedElements) {
            let key = key(element)
            if members[key] == nil { order.append(key) }
            members[key, default: []].append(stored)
        }
        return order.map { ($0, members[$0] ?? []) }
    }
}

extension Results {
    /// What the elements are stored as, in their order.
    fileprivate var storedElements: [_StoredValue] {
        _values?.source.values ?? _source?.keys().map { .link($0) } ?? []
    }

    /// For elements; good while the results are.
    fileprivate var elementContext: _ElementContext {
        _source?.context ?? _values?.source.column.context ?? .unmanaged
    }
}
