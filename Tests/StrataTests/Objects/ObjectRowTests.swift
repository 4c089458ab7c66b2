import Foundation
import Strata
import Testing

/// Documented promises of objects and lists, a test each.
@Suite struct ObjectRowTests {
    final class Crate: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var notes: List<Note>
        @Persisted var maybe: List<Int?>
        @Persisted var small: Int8 = 0
        @Persisted var smalls: List<Int16>
        @Persisted var floats: List<Float>
        @Persisted var flags: List<Bool>
        @Persisted var ids: List<ObjectId>
        @Persisted var datas: List<Data>
        @Persisted var next: Crate?
    }

    @Test("adding an object managed here does nothing, adding a deleted one is an error")
    func addedAgain() throws {
        let realm = try makeRealm([Crate.self])
        let crate = Crate(value: ["id": 1])
        try realm.write {
            realm.add(crate)
            realm.add(crate)
            realm.add(crate, update: .all)
        }
        #expect(realm.objects(Crate.self).count == 1)
        try realm.write { realm.delete(crate) }
        #expect(throws: Realm.Error.self) { try realm.write { realm.add(crate) } }
    }

    @Test("a list keeps optional values and every plain type")
    func optionalAndPlainValues() throws {
        let realm = try makeRealm([Crate.self])
        let crate = Crate()
        let ids = [ObjectId.generate(), ObjectId.generate()]
        crate.maybe.append(objectsIn: [1, nil, -300])
        crate.smalls.append(objectsIn: [.min, .max])
        crate.floats.append(objectsIn: [0.5, -.infinity])
        crate.flags.append(objectsIn: [true, false])
        crate.ids.append(objectsIn: ids)
        crate.datas.append(objectsIn: [Data(), Data([1, 0])])
        try realm.write { realm.add(crate) }
        #expect(Array(crate.maybe) == [1, nil, -300] && Array(crate.smalls) == [.min, .max])
        #expect(Array(crate.floats) == [0.5, -.infinity] && Array(crate.flags) == [true, false])
        #expect(Array(crate.ids) == ids && Array(crate.datas) == [Data(), Data([1, 0])])
        try realm.write {
            crate.maybe.replaceSubrange(1..<3, with: [nil, 7])
            crate.maybe.removeAll { $0 == nil }
            crate.flags.move(fromOffsets: [1], toOffset: 0)
            crate.ids.remove(atOffsets: [0, 0, 1])
        }
        #expect(Array(crate.maybe) == [1, 7] && Array(crate.flags) == [false, true] && crate.ids.isEmpty)
    }

    @Test("a list finds the index of its elements")
    func indexOfElements() throws {
        let realm = try makeRealm([Crate.self])
        let crate = Crate()
        let notes = ["a", "b", "c"].map { Note($0) }
        crate.notes.append(objectsIn: notes + [notes[0]])
        try realm.write { realm.add(crate) }
        #expect(crate.notes.index(of: notes[1]) == 1 && crate.notes.index(of: notes[0]) == 0)
        #expect(crate.notes.index(of: Note("d")) == nil && crate.notes.index(matching: { $0.text == "c" }) == 2)
        #expect(crate.notes.objects(at: [3, 1, 3]).map(\.text) == ["b", "a"])
        #expect(crate.notes.first == notes[0] && crate.notes.last == notes[0] && crate.notes.count == 4)
        #expect(!crate.notes.isInvalidated)
        let held = crate.notes
        try realm.write { realm.delete(crate) }
        #expect(held.isInvalidated && held.isEmpty && Array(held).isEmpty)
    }

    @Test("an integer out of its type's range is refused")
    func integerOutOfRange() throws {
        let realm = try makeRealm([Crate.self])
        for value in [["id": 1, "small": 128] as [String: Any], ["id": 1, "smalls": [40_000]]] {
            #expect(throws: Realm.Error.self) { try realm.write { _ = realm.create(Crate.self, value: value) } }
        }
        try realm.write { realm.create(Crate.self, value: ["id": 1, "small": -128, "smalls": [7]]) }
        #expect(realm.objects(Crate.self).first?.small == -128)
    }

    @Test("long cyclic object graphs are added")
    func longCyclicGraphs() throws {
        let realm = try makeRealm([Crate.self])
        let crates = (0..<2_000).map { Crate(value: ["id": $0]) }
        for (crate, next) in zip(crates, crates.dropFirst() + [crates[0]]) { crate.next = next }
        try realm.write { realm.add(crates[0]) }
        #expect(realm.objects(Crate.self).count == 2_000 && crates[1_999].next == crates[0])
        for crate in crates { #expect(!crate.isInvalidated) }
        let copies = crates[0].detached()
        #expect(copies.next?.next?.id == 2)
        // Unmanaged objects in a cycle keep each other alive.
        copies.next = nil
    }
}
