import Strata
import StrataStorage
import Testing

/// Objects whose delete rules lead to one another, and what is done to others after them in the same write.
@Suite struct DeletionCycleTests {
    final class Knot: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted(indexed: true) var name = ""
        @Persisted(deleteRule: .cascade) var next: Knot?
        @Persisted(deleteRule: .cascade) var others: List<Knot>
        @Persisted(deleteRule: .cascadeIfLast) var shared: List<Knot>
    }

    private func filled(_ count: Int) throws -> Realm {
        let realm = try makeRealm([Knot.self])
        try realm.write { for id in 0..<count { realm.add(Knot(value: ["id": id, "name": "knot \(id)"])) } }
        return realm
    }

    private func knot(_ realm: Realm, _ id: Int) throws -> Knot {
        try #require(realm.object(ofType: Knot.self, forPrimaryKey: id))
    }

    @Test func `after a ring that is deleted at once, an object that changes and goes leaves no name behind`() throws {
        let realm = try filled(60)
        try realm.write {
            let ring = try (10..<13).map { try knot(realm, $0) }
            for (place, knot) in ring.enumerated() { knot.next = ring[(place + 1) % ring.count] }
        }
        try realm.write {
            realm.delete(realm.objects(Knot.self).where { $0.id >= 10 && $0.id < 13 })
            let other = try knot(realm, 20)
            other.name = "changed"
            try knot(realm, 21).name = "stays"
            realm.delete(other)
        }
        try realm.store.checkInvariants()
        #expect(realm.objects(Knot.self).map(\.id) == (0..<60).filter { !(10..<13).contains($0) && $0 != 20 })
        #expect(realm.objects(Knot.self).where { $0.name == "changed" || $0.name == "knot 20" }.isEmpty)
        #expect(realm.objects(Knot.self).where { $0.name == "stays" }.map(\.id) == [21])
    }

    @Test func `an object that several of a wave lead to, and that leads back to them, goes once`() throws {
        let realm = try filled(40)
        try realm.write {
            let (a, b, c) = (try knot(realm, 1), try knot(realm, 2), try knot(realm, 3))
            a.others.append(objectsIn: [b, c, b])
            b.others.append(objectsIn: [a, c])
            c.next = c
            c.shared.append(objectsIn: [try knot(realm, 4), try knot(realm, 5), try knot(realm, 5)])
            // What one more leads to stays.
            try knot(realm, 6).shared.append(try knot(realm, 5))
        }
        try realm.write { realm.delete([try knot(realm, 1), try knot(realm, 3)]) }
        try realm.store.checkInvariants()
        #expect(realm.objects(Knot.self).map(\.id) == [0] + Array(5..<40))
        try realm.write { realm.delete(try knot(realm, 6)) }
        #expect(realm.objects(Knot.self).map(\.id) == [0] + Array(7..<40))
        try realm.store.checkInvariants()
    }
}
