import Foundation
import StrataStorage
import Testing

@testable import Strata

/// Each access to linking objects once searched for all links again.
@Suite struct InverseLinkTests {
    final class Spoke: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var hub: Hub?
        @Persisted var list: List<Hub>
        @Persisted var set: MutableSet<Hub>
        @Persisted var map: Map<String, Hub?>

        convenience init(_ id: Int, _ hub: Hub? = nil) {
            self.init()
            self.id = id
            self.hub = hub
        }
    }

    final class Hub: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted(originProperty: "hub") var single: LinkingObjects<Spoke>
        @Persisted(originProperty: "list") var listed: LinkingObjects<Spoke>
        @Persisted(originProperty: "set") var inSets: LinkingObjects<Spoke>
        @Persisted(originProperty: "map") var mapped: LinkingObjects<Spoke>

        convenience init(_ id: Int) {
            self.init()
            self.id = id
        }
    }

    private struct History {
        let realm: Realm
        var dice: Dice
        var spokes: Results<Spoke> { realm.objects(Spoke.self) }
        var hubs: Results<Hub> { realm.objects(Hub.self) }

        init(_ seed: UInt64) throws {
            realm = try makeRealm([Spoke.self, Hub.self])
            dice = Dice(state: seed)
            try realm.write {
                for id in 0..<4 { realm.add(Hub(id)) }
                for id in 0..<150 { realm.add(Spoke(id * 3 - 100)) }
                for _ in 0..<200 { change() }
            }
        }

        mutating func change() {
            let spoke = spokes[dice.roll(spokes.count)]
            let hub = hubs[dice.roll(hubs.count)]
            switch dice.roll(14) {
            case 0: if spokes.count > 100 { realm.delete(spoke) }
            case 1: realm.add(Spoke(dice.roll(10_000) + 1000, hub), update: .modified)
            case 2: spoke.hub = nil
            case 3, 4, 5: spoke.hub = hub
            case 6: spoke.list.append(objectsIn: Array(repeating: hub, count: dice.roll(200)))
            case 7: spoke.list.append(hub)
            case 8: if !spoke.list.isEmpty { spoke.list.remove(at: dice.roll(spoke.list.count)) }
            case 9: spoke.list.removeAll()
            case 10: spoke.set.insert(hub)
            case 11: spoke.set.remove(hub)
            case 12: spoke.map["\(dice.roll(5))"] = hub
            default: spoke.map["\(dice.roll(5))"] = .some(nil)
            }
        }

        /// Compares linking objects with the links of all spokes.
        func check(_ hub: Hub, _ spokes: Results<Spoke>) {
            func expected(_ links: (Spoke) -> Int) -> [Int] {
                spokes.flatMap { Array(repeating: $0.id, count: links($0)) }
            }
            check(hub.single, expected { $0.hub?.id == hub.id ? 1 : 0 })
            check(hub.listed, expected { spoke in spoke.list.count { $0.id == hub.id } })
            check(hub.inSets, expected { spoke in spoke.set.count { $0.id == hub.id } })
            check(hub.mapped, expected { spoke in spoke.map.values.count { $0?.id == hub.id } })
        }

        private func check(_ links: LinkingObjects<Spoke>, _ expected: [Int]) {
            #expect(links.count == expected.count && links.isEmpty == expected.isEmpty)
            #expect(links.first?.id == expected.first && links.last?.id == expected.last)
            #expect(links.map(\.id) == expected && AnyRealmCollection(links).map(\.id) == expected)
            #expect(links.prefix(20).map(\.id) == Array(expected.prefix(20)))
            for place in stride(from: 0, to: expected.count, by: max(1, expected.count / 9)) {
                let spoke = links[place]
                #expect(spoke.id == expected[place] && links.index(of: spoke) == expected.firstIndex(of: spoke.id))
            }
            #expect(links.filter("id > 0").map(\.id) == expected.filter { $0 > 0 })
            #expect(links._source?.key(at: expected.count) == nil)
        }
    }

    @Test("linking objects are the links of all objects, in a write and behind it", arguments: 0..<3 as Range<UInt64>)
    func linksOfAllObjects(seed: UInt64) throws {
        var history = try History(seed)
        for step in 0..<6 {
            for hub in history.hubs { history.check(hub, history.spokes) }
            let frozen = history.realm.freeze()
            history.realm.beginWrite()
            for _ in 0..<15 { history.change() }
            for hub in history.hubs { history.check(hub, history.spokes) }
            history.change()
            history.check(history.hubs[0], history.spokes)
            if step == 3 { history.realm.cancelWrite() } else { try history.realm.commitWrite() }
            history.check(frozen.objects(Hub.self)[1], frozen.objects(Spoke.self))
        }
    }

    @Test("count, first, places and the beginning of a walk cost no pass over the links")
    func countWithoutAPass() throws {
        let realm = try makeRealm([Spoke.self, Hub.self])
        let hub = Hub(1)
        try realm.write {
            realm.add(hub)
            for id in 0..<20_000 {
                let spoke = Spoke(id, hub)
                spoke.set.insert(hub)
                realm.add(spoke)
            }
        }
        let frozen = try #require(realm.freeze().object(ofType: Hub.self, forPrimaryKey: 1))
        for hub in [hub, frozen] {
            for links in [hub.single, hub.inSets] {
                let before = WorkSteps.taken
                #expect(links.count == 20_000 && !links.isEmpty && links.first?.id == 0 && links.last?.id == 19_999)
                #expect(links[12_345].id == 12_345 && links.index(of: links[777]) == 777)
                #expect(links.prefix(20).map(\.id) == Array(0..<20))
                var walk = links.makeIterator()
                #expect(walk.next()?.id == 0 && walk.next()?.id == 1)
                #expect(WorkSteps.taken - before < 300, "\(WorkSteps.taken - before) steps")
            }
        }
    }

    @Test("a walk has the links of its beginning, whatever is deleted meanwhile")
    func walkKeepsItsLinks() throws {
        let realm = try makeRealm([Spoke.self, Hub.self])
        let hub = Hub(1)
        try realm.write {
            realm.add(hub)
            for id in 0..<6000 { realm.add(Spoke(id, hub)) }
        }
        var seen = 0
        for spoke in hub.single {
            seen += 1
            if seen == 50 { try realm.write { realm.delete(realm.objects(Spoke.self).where { $0.id >= 5000 }) } }
            if seen <= 5000 { #expect(spoke.id == seen - 1) } else { #expect(spoke.isInvalidated) }
        }
        #expect(seen == 6000 && hub.single.count == 5000)
        try realm.write {
            var left = 5000
            for spoke in hub.single {
                if left == 5000 { realm.delete(realm.objects(Spoke.self).where { $0.id >= 4000 }) }
                left -= 1
                if !spoke.isInvalidated { realm.delete(spoke) }
            }
            #expect(left == 0 && hub.single.isEmpty && hub.single.first == nil)
        }
    }
}
