import CStrataShim
internal import Synchronization

/// Index from keys to positions in a list, such as from column ids to a table's columns. The first look-up builds it,
/// so that later ones do not search a list of thousands. The list's owner makes a new index when it changes the list;
/// copies of the list share one index.
///
/// Two indexes always compare equal, so that definitions that contain them compare by their lists alone. Concurrency:
/// any thread may look up; concurrent builds give the same result.
package final class DefinitionPlaces<Key: Hashable & Sendable>: Sendable, Equatable {
    private final class Found: Sendable {
        let places: [Key: Int]
        init(_ places: [Key: Int]) { self.places = places }
    }

    private let found = AtomicLazyReference<Found>()
    /// Lists of up to this many elements are searched linearly: that allocates no index.
    private static var mostWalked: Int { 16 }

    package init() {}

    /// Position of the first element with a key.
    /// - Complexity: O(elements) for the first look-up, then O(1).
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
