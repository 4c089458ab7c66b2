import Foundation
import Strata
import Testing

private final class SpelledWords: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var texts: MutableSet<String>
    @Persisted var numbers: MutableSet<Double>
    @Persisted var list: List<String>
    @Persisted var values: List<Double>
    @Persisted var anys: MutableSet<AnyRealmValue>
    @Persisted var map: Map<String, Int>
    @Persisted var friends: MutableSet<SpelledWords>
}

/// Every collection distinguishes spellings, and NaN, in the same way.
/// Two spellings of é, precomposed and combining, once were one member in unmanaged sets and two in managed ones:
/// `detached()` lost half of a managed set, and `merge` counted one key twice.
@Suite struct SpellingTests {
    private static let composed = "caf\u{e9}"
    private static let decomposed = "cafe\u{301}"
    private let file = TemporaryFile()

    /// Runs the body on an unmanaged shelf, and on a managed one in a write.
    private func each(_ body: (SpelledWords) throws -> Void) throws {
        try body(SpelledWords())
        let realm = try Realm(configuration: file.configuration([SpelledWords.self]))
        try realm.write { try body(realm.create(SpelledWords.self, value: ["id": 1])) }
    }

    @Test("texts and values of any type are members of a set by their bytes")
    func sets() throws {
        try each { shelf in
            shelf.texts.insert(objectsIn: [Self.composed, Self.decomposed])
            #expect(shelf.texts.insert(Self.composed).inserted == false)
            shelf.anys.insert(objectsIn: [.string(Self.composed), .string(Self.decomposed), .double(.nan), .none])
            shelf.anys.insert(.double(.nan))
            #expect(shelf.texts.count == 2 && shelf.anys.count == 4)
            let copy = shelf.detached()
            #expect(copy.texts.count == 2 && copy.anys.count == 4)
            #expect(copy.texts.isSubset(of: shelf.texts) && shelf.texts.isSubset(of: copy.texts))
            #expect(!shelf.texts.isSubset(of: [Self.composed]))
            shelf.texts.subtract([Self.decomposed])
            #expect(shelf.texts.map { Array($0.utf8) } == [Array(Self.composed.utf8)])
            #expect(shelf.texts.contains(Self.composed) && !shelf.texts.contains(Self.decomposed))
            shelf.texts.formIntersection([Self.decomposed])
            #expect(shelf.texts.isEmpty)
            shelf.texts.insert(Self.decomposed)
            shelf.texts.remove(Self.composed)
            #expect(shelf.texts.count == 1)
        }
    }

    @Test("NaN is one number, which sets and lists find, and 0 and -0 are another")
    func numbers() throws {
        try each { shelf in
            shelf.numbers.insert(objectsIn: [.nan, 0, -0.0, 1, .nan, .infinity])
            #expect(shelf.numbers.count == 4 && shelf.numbers.contains(.nan) && shelf.numbers.contains(-0.0))
            shelf.numbers.formIntersection([.nan, 0, 1, .infinity])
            #expect(shelf.numbers.count == 4, "NaN stays")
            #expect(shelf.numbers.isSubset(of: shelf.detached().numbers))
            shelf.numbers.remove(.nan)
            #expect(shelf.numbers.count == 3)
            shelf.numbers.subtract(shelf.numbers)
            #expect(shelf.numbers.isEmpty)
            shelf.values.append(objectsIn: [1, .nan])
            #expect(shelf.values.index(of: .nan) == 1 && shelf.values.contains(.nan))
        }
    }

    @Test("elements of a list and keys of a map are found by their bytes")
    func listsAndMaps() throws {
        try each { shelf in
            shelf.list.append(objectsIn: [Self.composed, Self.decomposed])
            #expect(shelf.list.index(of: Self.decomposed) == 1 && shelf.list.firstIndex(of: Self.decomposed) == 1)
            #expect(!shelf.list.contains("cafe") && shelf.list.contains(Self.composed))
            shelf.list.remove(Self.decomposed)
            #expect(shelf.list.map { Array($0.utf8) } == [Array(Self.composed.utf8)])
            #expect(List([Self.composed]) != List([Self.decomposed]))
            (shelf.map[Self.composed], shelf.map[Self.decomposed]) = (1, 2)
            #expect(shelf.map.count == 2 && shelf.detached().map.count == 2)
            shelf.map.merge([(key: Self.composed, value: 10), (key: Self.decomposed, value: 20)]) { $0 + $1 }
            #expect(shelf.map[Self.composed] == 11 && shelf.map[Self.decomposed] == 22)
            #expect(!shelf.map.contains((key: Self.composed, value: 22)))
            shelf.map.removeAll { $0.value == 11 }
            #expect(shelf.map.keys.map { Array($0.utf8) } == [Array(Self.decomposed.utf8)])
        }
    }

    @Test("members that became managed after their insertion are found, and can be removed")
    func managedSince() throws {
        let realm = try Realm(configuration: file.configuration([SpelledWords.self]))
        let shelves = (0..<5).map { SpelledWords(value: ["id": $0]) }
        let set = MutableSet(shelves)
        try realm.write { realm.add(shelves[1..<3]) }
        let again = try #require(realm.object(ofType: SpelledWords.self, forPrimaryKey: 1))
        #expect(set.contains(shelves[1]) && set.contains(again) && !set.insert(again).inserted)
        set.remove(again)
        #expect(set.count == 4 && !set.contains(shelves[1]) && set.contains(shelves[2]) && set.contains(shelves[4]))
        set.remove(shelves[0])
        #expect(set.count == 3 && Set(set.map(\.id)) == [2, 3, 4])
    }

    @Test("each step on an unmanaged set has constant cost")
    func growth() {
        // A linear search would take 10^10 comparisons.
        let texts = MutableSet((0..<100_000).map { "member \($0)" })
        #expect(texts.count == 100_000)
        for number in stride(from: 0, to: 100_000, by: 2) { texts.remove("member \(number)") }
        #expect(texts.count == 50_000 && texts.contains("member 99999") && !texts.contains("member 0"))
    }
}
