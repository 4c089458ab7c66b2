import Foundation
import Strata
import Testing

@Suite struct AnyRealmCollectionTests {
    final class Harbour: Object {
        @Persisted var name = ""
        @Persisted var boats: List<Boat>
        @Persisted var fast: MutableSet<Boat>
        @Persisted var depths: List<Int>
    }

    final class Boat: Object {
        @Persisted var name = ""
        @Persisted var length = 0
        @Persisted(originProperty: "boats") var harbours: LinkingObjects<Harbour>

        convenience init(_ name: String, _ length: Int) {
            self.init()
            self.name = name
            self.length = length
        }
    }

    private func filled() throws -> (Realm, Harbour) {
        let realm = try makeRealm([Harbour.self, Boat.self])
        let harbour = Harbour()
        try realm.write {
            realm.add(harbour)
            harbour.boats.append(objectsIn: [Boat("Ida", 9), Boat("Ole", 14), Boat("Una", 11)])
            harbour.fast.insert(harbour.boats[1])
            harbour.depths.append(objectsIn: [4, 8, 6])
        }
        return (realm, harbour)
    }

    @Test("lists, results, sets and linking objects are walked, queried and observed alike")
    func everyKindAlike() throws {
        let (realm, harbour) = try filled()
        let shown: [AnyRealmCollection<Boat>] = [
            AnyRealmCollection(realm.objects(Boat.self)), AnyRealmCollection(harbour.boats),
            AnyRealmCollection(harbour.fast), AnyRealmCollection(AnyRealmCollection(harbour.boats)),
        ]
        #expect(shown.map(\.count) == [3, 3, 1, 3])
        #expect(shown.map { $0.map(\.name).joined() } == ["IdaOleUna", "IdaOleUna", "Ole", "IdaOleUna"])
        #expect(shown.map { $0.filter("length > 10").count } == [2, 2, 1, 2])
        #expect(shown.map { $0.where { $0.length < 12 }.count } == [2, 2, 0, 2])
        #expect(shown[1].sorted(by: \.length).map(\.length) == [9, 11, 14])
        #expect(shown[1].index(of: harbour.boats[2]) == 2)
        #expect(shown.allSatisfy { $0.realm == realm && !$0.isInvalidated && !$0.isFrozen })
        #expect(AnyRealmCollection(harbour.boats[0].harbours).map(\.name) == [harbour.name])

        var changes: [String] = []
        let token = shown[1].observe { (change: RealmCollectionChange<AnyRealmCollection<Boat>>) in
            if case .update(let boats, _, let insertions, _) = change { changes.append("\(boats.count) \(insertions)") }
        }
        try realm.write { harbour.boats.append(Boat("Pia", 20)) }
        #expect(changes == ["4 [3]"])
        #expect(shown.map(\.count) == [4, 4, 1, 4])
        token.invalidate()

        try realm.write { realm.delete(harbour) }
        #expect(shown.map(\.isInvalidated) == [false, true, true, true])
        #expect(shown.map(\.isEmpty) == [false, true, true, true])
    }

    @Test("frozen, thawed and resolved it is the same collection")
    func sameWhenFrozen() throws {
        let (realm, harbour) = try filled()
        let boats = AnyRealmCollection(harbour.boats)
        let frozen = boats.freeze()
        let reference = ThreadSafeReference(to: boats)
        try realm.write { harbour.boats.remove(at: 0) }
        #expect(frozen.isFrozen)
        #expect(frozen.map(\.name) == ["Ida", "Ole", "Una"])
        #expect(frozen.thaw()?.map(\.name) == ["Ole", "Una"])
        #expect(realm.resolve(reference)?.map(\.name) == ["Ole", "Una"])
    }

    @Test("plain values and unmanaged collections")
    func unmanagedAndPlain() throws {
        let (_, harbour) = try filled()
        let depths = AnyRealmCollection(harbour.depths)
        #expect(Array(depths) == [4, 8, 6])
        #expect(depths.max() == 8)
        #expect(depths.sum() == 18)
        let loose = List<Boat>()
        loose.append(Boat("Eva", 3))
        let unmanaged = AnyRealmCollection(loose)
        #expect(unmanaged.realm == nil)
        #expect(unmanaged.map(\.name) == ["Eva"])
        #expect(unmanaged.first === loose[0])
    }
}
