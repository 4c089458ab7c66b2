import Strata
import Testing

/// Objects in sets of values of any type.
@Suite struct AnyValueSetTests {
    final class Badge: Object {
        @Persisted var text = ""
        convenience init(_ text: String) {
            self.init()
            self.text = text
        }
    }
    final class Holder: Object {
        @Persisted var values: MutableSet<AnyRealmValue>
    }

    @Test("objects are found, removed and compared as any other member")
    func objectsAreMembers() throws {
        let realm = try makeRealm([Holder.self, Badge.self])
        let badges = ["a", "b", "c"].map { Badge($0) }
        let values: [AnyRealmValue] = badges.map { .object($0) } + [.int(1), .none]
        let (all, some) = try realm.write {
            let (all, some) = (realm.create(Holder.self), realm.create(Holder.self))
            all.values.insert(objectsIn: values)
            for badge in badges { #expect(!all.values.insert(.object(badge)).inserted) }
            some.values.insert(values[0])
            return (all, some)
        }
        #expect(all.values.count == 5 && values.allSatisfy { all.values.contains($0) })
        #expect(some.values.isSubset(of: all.values) && some.values.intersects(all.values))
        #expect(!some.values.contains(values[1]) && !all.values.contains(.object(Badge("a"))))
        try realm.write { all.values.remove(values[0]) }
        #expect(all.values.count == 4 && !all.values.contains(values[0]) && all.values.contains(values[1]))
        #expect(!some.values.isSubset(of: all.values) && !some.values.intersects(all.values))
        try realm.write { all.values.subtract([values[1], .int(1)]) }
        #expect(all.values.count == 2 && all.values.contains(values[2]) && all.values.contains(.none))
        #expect(realm.objects(Badge.self).count == 3)
        try realm.store.checkInvariants()
    }
}
