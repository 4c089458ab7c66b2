import Foundation
import Testing

@testable import Strata

/// Results of all objects of a frozen Realm were once computed eagerly, even only to count them.
@Suite struct FrozenTableTests {
    @Test("all objects of a frozen Realm are counted and indexed without a scan")
    func countedWithoutAScan() throws {
        let realm = try makeRealm([Counter.self])
        try realm.write { for id in 0..<2000 { realm.add(Counter(id * 2, count: id)) } }
        let frozen = realm.freeze()
        try realm.write {
            realm.delete(realm.objects(Counter.self).filter("id < 100"))
            realm.add(Counter(7))
        }
        let all = frozen.objects(Counter.self)
        #expect(all.count == 2000 && !all.isEmpty && all[70].id == 140 && all.first?.id == 0 && all.last?.id == 3998)
        #expect(all.index(of: all[5]) == 5 && realm.objects(Counter.self).freeze().count == 1951)
        #expect(all.source.cache == nil && !all.source.hasFrozenKeys)
        #expect(all.map(\.id) == (0..<2000).map { $0 * 2 } && all.source.hasFrozenKeys)
        #expect(all.filter("count < 3").count == 3 && all.sorted(byKeyPath: "id", ascending: false).first?.id == 3998)
    }

    @Test("many threads read one such collection")
    func manyThreads() throws {
        let realm = try makeRealm([Counter.self])
        try realm.write { for id in 0..<500 { realm.add(Counter(id)) } }
        let all = Carried(value: realm.freeze().objects(Counter.self))
        let sums = Locked<[Int]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            let sum = all.value.reduce(0) { $0 + $1.id } + all.value.count
            sums.with { $0.append(sum) }
        }
        #expect(sums.current == Array(repeating: 499 * 250 + 500, count: 8))
    }

    @Test("deleting a frozen Realm's objects does not delete later ones")
    func laterObjectsStay() throws {
        let realm = try makeRealm([Counter.self])
        try realm.write { realm.add([Counter(1), Counter(2)]) }
        let old = realm.freeze().objects(Counter.self)
        try realm.write { realm.add(Counter(3)) }
        try realm.write { realm.delete(old) }
        #expect(realm.objects(Counter.self).map(\.id) == [3])
    }
}
