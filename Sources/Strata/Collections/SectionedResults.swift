/// Results in sections: elements with the same key together, sections in the order in which their keys first appear.
///
///     let byLetter = people.sectioned(by: { String($0.name.prefix(1)) }, sortDescriptors: ["name"])
///     for section in byLetter { print(section.key, section.map(\.name)) }
///
/// Live like the results: keys are asked for again when the Realm shows something else.
public struct SectionedResults<Key: Hashable, Element: ObjectBase>: RandomAccessCollection {
    private let sections: Sections<Key, Element>

    init(_ results: Results<Element>, _ key: @escaping (Element) -> Key) {
        sections = Sections(results, key)
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { sections.current.count }
    public subscript(position: Int) -> ResultsSection<Key, Element> { sections.current[position] }

    /// What an element's section is.
    var sectionKey: (Element) -> Key { sections.key }
    /// The keys of all sections, in order.
    public var allKeys: [Key] { sections.current.map(\.key) }
    /// The results before they were put in sections.
    public var results: Results<Element> { sections.results }
    public var realm: Realm? { results.realm }
    public var isInvalidated: Bool { results.isInvalidated }
    public var isFrozen: Bool { results.isFrozen }

    /// The section with a key; nil when there is none.
    public func section(for key: Key) -> ResultsSection<Key, Element>? { first { $0.key == key } }
}

/// The elements of one key.
public struct ResultsSection<Key: Hashable, Element: ObjectBase>: RandomAccessCollection {
    public let key: Key
    private let source: ObjectSource
    private let keys: [Int64]

    init(_ key: Key, _ source: ObjectSource, _ keys: [Int64]) {
        self.key = key
        self.source = source
        self.keys = keys
    }

    /// The rows of the elements, in order.
    var rowKeys: [Int64] { keys }
    public var startIndex: Int { 0 }
    public var endIndex: Int { keys.count }

    /// An object of the section as it was when the section was asked for; it may be deleted by now.
    public subscript(position: Int) -> Element {
        let context = source.context
        return Element._decodeElement(.link(keys[position]), context) ?? Element._substituteElement(context)
    }
}

/// The sections of one version, made again for another.
private final class Sections<Key: Hashable, Element: ObjectBase> {
    let results: Results<Element>
    let key: (Element) -> Key
    private var made: (stamp: UInt64, sections: [ResultsSection<Key, Element>])?

    init(_ results: Results<Element>, _ key: @escaping (Element) -> Key) {
        self.results = results
        self.key = key
    }

    /// - Complexity: an object and a key for every element, once per version.
    var current: [ResultsSection<Key, Element>] {
        let source = results.source
        source.instance.checkConfinement()
        let stamp = source.instance.stamp
        if let made, made.stamp == stamp { return made.sections }
        var order: [Key] = []
        var members: [Key: [Int64]] = [:]
        for (element, rowKey) in zip(results, source.keys()) {
            let key = key(element)
            if members[key] == nil { order.append(key) }
            members[key, default: []].append(rowKey)
        }
        let sections = order.map { ResultsSection<Key, Element>($0, source, members[$0] ?? []) }
        made = (stamp, sections)
        return sections
    }
}

extension RealmCollection where Element: ObjectBase {
    /// In sections by a property, in its order.
    public func sectioned<Key: Hashable>(
        by keyPath: KeyPath<Element, Key>, ascending: Bool = true
    ) -> SectionedResults<Key, Element> {
        sectioned(
            by: keyPath, sortDescriptors: [SortDescriptor(keyPath: _name(for: keyPath), ascending: ascending)])
    }

    /// In sections by a property or by what a key path makes of it. The first descriptors should keep sections
    /// together: these stand in the order in which their keys first appear.
    public func sectioned<Key: Hashable, Descriptors: Sequence<SortDescriptor>>(
        by keyPath: KeyPath<Element, Key>, sortDescriptors: Descriptors
    ) -> SectionedResults<Key, Element> {
        sectioned(by: { $0[keyPath: keyPath] }, sortDescriptors: sortDescriptors)
    }

    /// In sections by whatever a closure says.
    public func sectioned<Key: Hashable, Descriptors: Sequence<SortDescriptor>>(
        by key: @escaping (Element) -> Key, sortDescriptors: Descriptors
    ) -> SectionedResults<Key, Element> {
        let descriptors = Array(sortDescriptors)
        let results = descriptors.isEmpty ? Results<Element>(requiredSource) : sorted(by: descriptors)
        return SectionedResults(results, key)
    }
}
