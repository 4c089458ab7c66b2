import Seeds
import Strata
import StrataStorage
import Testing

/// Objects with cyclic delete rules, and later changes of other objects in the same write.
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

    /// 10^12 paths lead to the last objects: a deletion that followed each path would never end.
    @Test("a shared target is deleted once, however many paths lead to it")
    func sharedTarget() throws {
        let realm = try filled(130)
        try realm.write {
            for id in 0..<120 {
                let next = (id / 10 + 1) * 10
                try knot(realm, id).others.append(objectsIn: (next..<(next + 10)).map { try knot(realm, $0) })
            }
            for id in 0..<10 { try knot(realm, 120 + id).shared.append(knot(realm, 120 + (id + 1) % 10)) }
        }
        try realm.write { realm.delete(try (0..<5).map { try knot(realm, $0) }) }
        #expect(realm.objects(Knot.self).map(\.id).sorted() == Array(5..<10))
        try realm.store.checkInvariants()
    }

    /// A deletion follows a cycle back to rows that it has already deleted; then the same write changes other rows of
    /// their row groups.
    @Test("after deleted cycles, changed and deleted objects leave no stale values", arguments: Array(UInt64(1)...4))
    func noStaleValues(seed: UInt64) throws {
        var random = RandomStream(Seed(seed))
        let realm = try filled(700)
        var names = Dictionary(uniqueKeysWithValues: (0..<700).map { ($0, "knot \($0)") })
        func some(_ count: Int) -> [Int] { Array(names.keys.sorted().shuffled(using: &random).prefix(count)) }
        for round in 0..<12 {
            let ring = some(3)
            try realm.write {
                for (place, id) in ring.enumerated() {
                    try knot(realm, id).next = try knot(realm, ring[(place + 1) % ring.count])
                }
            }
            try realm.write {
                realm.delete(try ring.map { try knot(realm, $0) })
                for id in ring { names[id] = nil }
                // The changes are so few that storage writes each at once, and so long that it rebuilds their row
                // group.
                let changed = some(12)
                for id in changed {
                    let name = String(repeating: "x", count: Int.random(in: 0..<900, using: &random)) + "\(id) \(round)"
                    try knot(realm, id).name = name
                    names[id] = name
                }
                for id in changed.prefix(4) {
                    realm.delete(try knot(realm, id))
                    names[id] = nil
                }
            }
            try realm.store.checkInvariants()
            let found = realm.objects(Knot.self).map { ($0.id, $0.name) }
            #expect(Dictionary(uniqueKeysWithValues: found) == names, "seed \(seed), round \(round)")
            for id in some(20) {
                #expect(realm.objects(Knot.self).where { $0.name == names[id] ?? "" }.map(\.id) == [id])
            }
        }
    }

    @Test("an object with links from and to several deleted ones is deleted once")
    func deletedOnce() throws {
        let realm = try filled(40)
        try realm.write {
            let (a, b, c) = (try knot(realm, 1), try knot(realm, 2), try knot(realm, 3))
            a.others.append(objectsIn: [b, c, b])
            b.others.append(objectsIn: [a, c])
            c.next = c
            c.shared.append(objectsIn: [try knot(realm, 4), try knot(realm, 5), try knot(realm, 5)])
            // A target with another link stays.
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
