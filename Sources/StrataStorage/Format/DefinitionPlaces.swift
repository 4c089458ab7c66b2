import CStrataShim
internal import Synchronization

/// Where the elements of a list stand by a key: found at the first question, so that a list of thousands is not walked
/// for each. The owner of the list makes new places when it changes the list; copies of the list share them.
///
/// Two places are always equal: they say nothing that the list does not say.
/// Concurrency: any thread may ask; what two threads find at once is the same.
package final class DefinitionPlaces<Key: Hashable & Sendable>: Sendable, Equatable {
    private final class Found: Sendable {
        let places: [Key: Int]
        init(_ places: [Key: Int]) { self.places = places }
    }

    private let found = AtomicLazyReference<Found>()
    /// Shorter lists are walked: that costs less than a hash.
    private static var mostWalked: Int { 16 }

    package init() {}

    /// The place of the first element with a key.
    /// - Complexity: O(elements) for the first question, then O(1).
    @inline(__always)
    package func first<Element>(_ key: Key, in elements: [Element], by keyOf: (Element) -> Key) -> Int? {
        if elements.count <= Self.mostWalked { return elements.firstIndex { keyOf($0) == key } }
        if let found = found.load() { return found.places[key] }
        return find(elements, by: keyOf)[key]
    }

    @inline(never)
    private func find<Element>(_ elements: [Element], by keyOf: (Element) -> Key) -> [Key: Int] {
        strata_note_steps(elements.count)
        let places = Dictionary(elements.enumerated().map { (keyOf($1), $0) }, uniquingKeysWith: { first, _ in first })
        return found.storeIfNil(Found(places)).places
    }

    package static func == (a: DefinitionPlaces, b: DefinitionPlaces) -> Bool { true }
}
