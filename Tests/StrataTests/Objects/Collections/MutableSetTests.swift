import Foundation
import Seeds
import Strata
import Testing

@Suite struct MutableSetTests {
    final class Shelf: Object {
        @Persisted var name = ""
        @Persisted var numbers: MutableSet<Int>
        @Persisted var doubles: MutableSet<Double>
        @Persisted var words: MutableSet<String>
        @Persisted var maybe: MutableSet<String?>
        @Persisted var ids: MutableSet<UUID>
        @Persisted var moods: MutableSet<Mood>
        @Persisted var notes: MutableSet<Note>
        @Persisted(deleteRule: .cascade) var own: MutableSet<Note>
        @Persisted var shelves: MutableSet<Shelf>
        @Persisted(originProperty: "shelves") var containedIn: LinkingObjects<Shelf>
    }

    @Test("a managed set behaves like a set, for any sequence of changes")
    func managedLikeASet() throws {
        let realm = try makeRealm([Shelf.self])
        let shelf = Shelf()
        try realm.write { realm.add(shelf) }
        var model: Set<Int> = []
        var generator = RandomStream(Seed(7))
        for _ in 0..<300 {
            let value = Int.random(in: -40...40, using: &generator) << Int.random(in: 0...20, using: &generator)
            try realm.write {
                switch Int.random(in: 0..<5, using: &generator) {
                case 0, 1: #expect(shelf.numbers.insert(value).inserted == model.insert(value).inserted)
                case 2:
                    shelf.numbers.remove(value)
                    model.remove(value)
                case 3:
                    shelf.numbers.formUnion([value, value + 1])
                    model.formUnion([value, value + 1])
                default:
                    shelf.numbers.subtract([value, 0])
                    model.subtract([value, 0])
                }
            }
            #expect(shelf.numbers.count == model.count && Set(shelf.numbers) == model)
            #expect(Array(shelf.numbers) == model.sorted())
            #expect(shelf.numbers.contains(value) == model.contains(value))
        }
    }

    @Test("a set holds every kind of value once")
    func everyKindOnce() throws {
        let realm = try makeRealm([Shelf.self])
        let shelf = Shelf()
        let id = UUID()
        shelf.doubles.insert(objectsIn: [1.5, -0.0, 0.0, 1.5])
        shelf.words.insert(objectsIn: ["b", "a", "b", ""])
        shelf.maybe.insert(objectsIn: ["x", nil, "x", nil])
        shelf.ids.insert(objectsIn: [id, id])
        shelf.moods.insert(objectsIn: [.cross, .calm, .cross])
        try realm.write { realm.add(shelf) }
        #expect(Array(shelf.doubles) == [0, 1.5])
        #expect(Array(shelf.words) == ["", "a", "b"])
        #expect(Set(shelf.maybe) == ["x", nil])
        #expect(Array(shelf.ids) == [id])
        #expect(Set(shelf.moods) == [.calm, .cross])
        try realm.write {
            shelf.doubles.insert(objectsIn: [.nan, .nan, -.infinity])
            shelf.words = ["z"]
            #expect(!shelf.doubles.insert(-0.0).inserted && !shelf.doubles.insert(.nan).inserted)
            shelf.doubles.remove(-0.0)
            #expect(!shelf.doubles.contains(0) && shelf.doubles.insert(-0.0).inserted)
            #expect(shelf.doubles.contains(0) && shelf.doubles.contains(-0.0))
            #expect(shelf.doubles.filter { $0 == 0 }.map(\.sign) == [.plus])
        }
        #expect(shelf.doubles.count == 4 && shelf.doubles.contains { $0.isNaN })
        #expect(Array(shelf.words) == ["z"])
    }

    @Test("many members inserted at once join the existing ones")
    func manyInserted() throws {
        let realm = try makeRealm([Shelf.self])
        let shelf = Shelf()
        try realm.write {
            realm.add(shelf)
            shelf.numbers.insert(1000)
            shelf.numbers.insert(objectsIn: 0..<40)
            shelf.doubles.insert(0.5)
            shelf.doubles.insert(objectsIn: (-2000..<2000).map { Double($0) })
        }
        #expect(Array(shelf.numbers) == Array(0..<40) + [1000] && shelf.doubles.count == 4001)
        #expect(shelf.doubles.contains(0.5) && shelf.doubles.contains(-0.0) && !shelf.doubles.contains(.nan))
        try realm.write { #expect(!shelf.doubles.insert(-0.0).inserted && shelf.doubles.insert(.nan).inserted) }
        #expect(shelf.doubles.contains(-.nan) && shelf.doubles.first?.isNaN == true)
    }

    @Test("two instances of one row are one member, and a deleted row leaves the set")
    func oneMemberPerRow() throws {
        let realm = try makeRealm([Shelf.self])
        let shelf = Shelf()
        let (a, b) = (Note("a"), Note("b"))
        shelf.notes.insert(objectsIn: [a, b, a])
        try realm.write { realm.add(shelf) }
        let again = try #require(realm.objects(Note.self).where { $0.text == "a" }.first)
        try realm.write { #expect(!shelf.notes.insert(again).inserted) }
        #expect(shelf.notes.count == 2 && shelf.notes.contains(again) && !shelf.notes.contains(Note("a")))
        #expect(shelf.notes.where { $0.text == "b" }.count == 1)
        try realm.write { realm.delete(a) }
        #expect(shelf.notes.map(\.text) == ["b"])
        try realm.store.checkInvariants()
    }

    @Test("linking objects list a set's owner once")
    func ownerListedOnce() throws {
        let realm = try makeRealm([Shelf.self])
        let (outer, inner) = (Shelf(value: ["name": "outer"]), Shelf(value: ["name": "inner"]))
        outer.shelves.insert(objectsIn: [inner, outer])
        try realm.write { realm.add(outer) }
        #expect(inner.containedIn.map(\.name) == ["outer"])
        #expect(outer.containedIn.map(\.name) == ["outer"])
        try realm.write { outer.shelves.removeAll() }
        #expect(inner.containedIn.isEmpty)
        try realm.store.checkInvariants()
    }

    @Test("cascade follows links in a set, and a set of objects can be deleted")
    func cascadeThroughASet() throws {
        let realm = try makeRealm([Shelf.self])
        let shelf = Shelf()
        shelf.own.insert(objectsIn: [Note("mine"), Note("too")])
        shelf.notes.insert(Note("loose"))
        try realm.write { realm.add(shelf) }
        try realm.write { realm.delete(shelf) }
        #expect(realm.objects(Note.self).map(\.text) == ["loose"])
        let other = Shelf()
        other.notes.insert(objectsIn: [Note("x"), Note("y")])
        try realm.write { realm.add(other) }
        try realm.write { realm.delete(other.notes) }
        #expect(other.notes.isEmpty && realm.objects(Note.self).count == 1)
    }

    @Test("sets compare with sets")
    func comparedSets() throws {
        let realm = try makeRealm([Shelf.self])
        let (a, b) = (Shelf(), Shelf())
        a.numbers.insert(objectsIn: [1, 2, 3])
        b.numbers.insert(objectsIn: [2, 3])
        try realm.write { realm.add([a, b]) }
        #expect(b.numbers.isSubset(of: a.numbers) && !a.numbers.isSubset(of: b.numbers))
        #expect(a.numbers.intersects(b.numbers))
        try realm.write { a.numbers.formIntersection(b.numbers) }
        #expect(Array(a.numbers) == [2, 3])
    }
}
