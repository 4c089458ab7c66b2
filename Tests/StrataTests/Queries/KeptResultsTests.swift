import Foundation
import StrataStorage
import Testing

@testable import Strata

/// Results that are read repeatedly inside a write.
@Suite struct KeptResultsTests {
    private func counters(_ count: Int) throws -> (Realm, Results<Counter>) {
        let realm = try makeRealm([Counter.self, Note.self])
        try realm.write {
            for id in 0..<count { realm.add(Counter(id, "name-\(id % 7)", count: id % 10)) }
            realm.add(Note("other"))
        }
        return (realm, realm.objects(Counter.self))
    }

    @Test("a write that changes another class or property keeps the found results")
    func otherClassOrProperty() throws {
        let (realm, counters) = try counters(200)
        let note = try #require(realm.objects(Note.self).first)
        let named = counters.where { $0.count > 4 }.sorted(by: \.name)
        let distinct = counters.distinct(by: ["name"])
        try realm.write {
            let before = (named.source.keys(), distinct.source.keys())
            note.rank = 3
            realm.add(Note("another"))
            realm.delete(note)
            named[0].score = 2
            #expect(named.source.keptKeys() == before.0 && distinct.source.keptKeys() == before.1)
            named[0].name = "z"
            #expect(named.source.keptKeys()?.last == before.0[0])
            #expect(distinct.source.keptKeys() == nil)
        }
    }

    @Test("objects that leave, enter or move are updated in place")
    func updatedInPlace() throws {
        let (realm, counters) = try counters(100)
        let high = counters.where { $0.count > 4 }
        let named = high.sorted(by: [SortDescriptor(keyPath: "name", ascending: false), "id"])
        try realm.write {
            #expect(high.count == 50 && named.count == 50)
            counters[0].count = 9
            counters[99].count = 0
            named[3].name = "a"
            realm.delete(counters[5])
            realm.add(Counter(500, "name-3", count: 7))
            #expect(high.source.keptKeys() != nil && named.source.keptKeys() != nil)
            #expect(high.count == 50 && high.first?.id == 0 && high.last?.id == 500)
            #expect(
                Array(named).map(\.id)
                    == counters.filter { $0.count > 4 }.sorted {
                        $0.name == $1.name ? $0.id < $1.id : $0.name > $1.name
                    }.map(\.id))
        }
    }

    @Test("a loop that takes the first match until there is none reaches every object")
    func takingTheFirst() throws {
        let (realm, counters) = try counters(300)
        let open = counters.where { $0.count > 2 }.sorted(by: \.name)
        var seen: Set<Int> = []
        try realm.write {
            while let next = open.first {
                seen.insert(next.id)
                if next.id % 2 == 0 { next.count = 0 } else { realm.delete(next) }
            }
        }
        #expect(seen.count == 210 && open.isEmpty && counters.count == 180)
    }

    @Test("a cancelled write leaves nothing in results")
    func cancelledWrite() throws {
        let (realm, counters) = try counters(20)
        let high = counters.where { $0.count > 4 }
        realm.beginWrite()
        #expect(high.count == 10)
        counters[0].count = 9
        #expect(high.count == 11)
        realm.cancelWrite()
        #expect(high.count == 10 && high.first?.id == 5)
    }

    @Test("results on a link notice its removal by a deletion")
    func removedLink() throws {
        let realm = try makeRealm([QueryItem.self])
        try realm.write {
            for id in 0..<4 { realm.create(QueryItem.self, value: ["id": id]) }
            let items = realm.objects(QueryItem.self)
            items[0].next = items[3]
            items[1].friends.append(items[3])
            let linked = items.where { $0.next != nil }
            let befriended = items.where { $0.friends.count > 0 }
            let backlinks = try #require(items[3].friendOf._source)
            #expect(linked.count == 1 && befriended.count == 1 && backlinks.keys() == [1])
            realm.delete(items[1])
            #expect(backlinks.keys() == [] && linked.count == 1)
            realm.delete(items[2])
            #expect(linked.isEmpty && befriended.isEmpty && items.count == 2)
        }
    }

    private struct History {
        let realm: Realm
        var random: RandomPredicates
        var kept: [(held: ObjectSource, steps: String)] = []
        var nextKey = 1000

        init(_ seed: UInt64) throws {
            realm = try makeRealm([QueryItem.self])
            random = RandomPredicates(dice: Dice(state: seed), keys: Array(0..<40))
            try realm.write { for key in random.keys { realm.create(QueryItem.self, value: ["id": Int(key)]) } }
        }

        var items: Results<QueryItem> { realm.objects(QueryItem.self) }

        mutating func hold() throws {
            var results = items
            if random.dice.roll(5) == 0 {
                let owner = items[random.dice.roll(items.count)]
                let source = random.dice.roll(2) == 0 ? owner.friends._source : owner.linkedBy._source
                if let source { results = Results(source) }
            }
            for _ in 0..<random.dice.roll(3) {
                switch random.dice.roll(6) {
                case 0: results = results.distinct(by: [random.dice.pick(["tag", "small", "next.small"])])
                case 1: results = results.limit(random.dice.roll(30))
                case 2, 3:
                    let path = random.dice.pick(["tag", "small", "score", "ratio", "next.small"])
                    results = results.sorted(byKeyPath: path, ascending: random.dice.roll(2) == 0)
                default: results = try results.matching(random.predicate(1))
                }
            }
            kept.append((results.source, results.explain()))
        }

        mutating func change() {
            let item = items[random.dice.roll(items.count)]
            let other = items[random.dice.roll(items.count)]
            switch random.dice.roll(14) {
            case 0: item.small = random.dice.roll(40)
            case 1: item.tag = random.dice.pick(RandomPredicates.texts)
            case 2: item.score = random.dice.pick([.nan, 0, 1, 2, -.infinity])
            case 3: item.ratio = random.dice.roll(3) == 0 ? nil : Double(random.dice.roll(4))
            case 4: item.next = random.dice.roll(3) == 0 ? nil : other
            case 5: item.friends.append(other)
            case 6: item.friends.removeAll()
            case 7: item.ints.append(random.dice.roll(40))
            case 8, 9: if items.count > 10 { realm.delete(item) }
            case 10:
                nextKey += 1
                realm.create(QueryItem.self, value: ["id": nextKey, "next": other, "small": random.dice.roll(40)])
            case 11: realm.create(QueryItem.self, value: ["id": item.id, "tag": "ab"], update: .modified)
            case 12: for one in items.where({ $0.small < 5 }) { one.maybe = random.dice.roll(9) }
            default: item.isOn.toggle()
            }
        }
    }

    @Test("kept results equal new ones, whatever a write does", arguments: UInt64(1)...8)
    func random(seed: UInt64) throws {
        var history = try History(seed)
        for round in 0..<6 {
            history.realm.beginWrite()
            history.kept.removeAll()
            for _ in 0..<12 { try history.hold() }
            for step in 0..<60 {
                history.change()
                for (held, steps) in history.kept where history.random.dice.roll(3) > 0 {
                    let comment: Comment = "seed \(seed), round \(round), step \(step): \(steps)"
                    let anew = ObjectSource(held.access, held.base, steps: held.steps)
                    let expected = anew.keys()
                    if history.random.dice.roll(2) == 0 { #expect(held.count == expected.count, comment) }
                    #expect(held.keys() == expected, comment)
                }
            }
            if round % 2 == 0 { try history.realm.commitWrite() } else { history.realm.cancelWrite() }
        }
    }
}
