import Foundation
import StrataStorage
import Testing

@testable import Strata

/// A program that read the first rows of a sorted or a filtered query once made it find, and sort, all of its rows.
@Suite struct EarlyRowsTests {
    final class Ranked: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted(indexed: true) var small = 0
        @Persisted(indexed: true) var maybe: Int?
        @Persisted(indexed: true) var score = 0.0
        @Persisted(indexed: true) var ratio: Double?
        @Persisted(indexed: true) var isOn = false
        @Persisted(indexed: true) var day = Date(timeIntervalSinceReferenceDate: 0)
        @Persisted(indexed: true) var name = ""
        @Persisted var plain = 0
        @Persisted var whole: Int?
        @Persisted var half = 0.0
        @Persisted var weight: Float?
        @Persisted var tag = ""
        @Persisted var note: String?
        @Persisted var blob = Data()
        @Persisted var code: UUID?
        @Persisted var price = Decimal128()
        @Persisted var next: Ranked?
    }

    private static let names = [
        "id", "small", "maybe", "score", "ratio", "isOn", "day", "name", "plain", "whole", "half", "weight", "tag",
        "note", "blob", "code", "price", "next", "next.plain",
    ]

    /// Random changes of a class's objects, and random queries on them.
    private struct History {
        let realm: Realm
        var dice: Dice
        let hasNaN: Bool
        private let texts = RandomPredicates.texts + (0..<9).map { "a long beginning \($0)" }

        init(_ seed: UInt64, count: Int) throws {
            realm = try makeRealm([Ranked.self])
            dice = Dice(state: seed)
            hasNaN = seed % 2 == 1
            try realm.write { for _ in 0..<count { add() } }
        }

        mutating func add() {
            let item = Ranked()
            item.id = dice.roll(40) == 0 ? dice.pick([.min + 1, .max, -1]) : dice.roll(1 << 30) - 1 << 29
            fill(item)
            if realm.object(ofType: Ranked.self, forPrimaryKey: item.id) == nil { realm.add(item) }
        }

        private mutating func integer() -> Int { dice.roll(30) == 0 ? dice.pick([.min, .max, -1]) : dice.roll(50) }

        private mutating func double() -> Double {
            let rare: [Double] = [-0.0, 0, .infinity, -.infinity] + (hasNaN ? [.nan, -.nan] : [])
            return dice.roll(30) == 0 ? dice.pick(rare) : Double(dice.roll(200)) / 4
        }

        mutating func fill(_ item: Ranked) {
            item.small = integer()
            item.maybe = dice.roll(4) == 0 ? nil : integer()
            item.score = double()
            item.ratio = dice.roll(4) == 0 ? nil : double()
            item.isOn = dice.roll(3) == 0
            item.day = Date(timeIntervalSinceReferenceDate: Double(dice.roll(100)))
            item.name = dice.pick(texts)
            item.plain = integer()
            item.whole = dice.roll(4) == 0 ? nil : integer()
            item.half = double()
            item.weight = dice.roll(4) == 0 ? nil : Float(double())
            item.tag = dice.pick(texts)
            item.note = dice.roll(4) == 0 ? nil : dice.pick(texts)
            item.blob = Data((0..<dice.roll(12)).map { _ in UInt8(dice.roll(2)) })
            item.code = dice.roll(4) == 0 ? nil : UUID(uuidString: "0000000\(dice.roll(9))-0000-0000-0000-000000000000")
            item.price = Decimal128(dice.roll(9))
        }

        mutating func change() {
            let all = realm.objects(Ranked.self)
            for _ in 0..<20 {
                let item = all[dice.roll(all.count)]
                switch dice.roll(6) {
                case 0: realm.delete(item)
                case 1: add()
                case 2: item.next = all[dice.roll(all.count)]
                case 3: item.maybe = nil
                default: fill(item)
                }
            }
        }

        /// A query, made anew with each call.
        mutating func query() -> () throws -> Results<Ranked> {
            var orders: [[SortDescriptor]] = []
            for _ in 0..<(dice.roll(5) == 0 ? 2 : 1) {
                orders.append(
                    (0..<(dice.roll(3) == 0 ? 2 : 1)).map { _ in
                        let order: TextOrder = dice.roll(8) == 0 ? .ignoringCase : .scalars
                        return SortDescriptor(
                            keyPath: dice.pick(EarlyRowsTests.names), ascending: dice.roll(2) == 0, order: order)
                    })
            }
            if dice.roll(6) == 0 { orders[0] = [orders[0][0], "id"] }
            let filters = [
                "small >= 0", "plain < 30 AND tag != 'a'", "note LIKE '*b*'", "maybe == NULL", "next.plain > 3",
            ]
            let filter = dice.roll(3) == 0 ? dice.pick(filters) : nil
            if filter != nil, dice.roll(2) == 0 { orders = [] }
            return { [realm, orders] in
                var results = realm.objects(Ranked.self)
                if let filter { results = results.filter(filter) }
                for order in orders { results = results.sorted(by: order) }
                return results
            }
        }

        mutating func check(_ query: () throws -> Results<Ranked>) throws {
            let keys = try query().source.keys()
            let asked = try query()
            var places = [0, 1, 19, 63, 64, 65, 300, 1023, 1024, keys.count - 1, keys.count]
            if dice.roll(2) == 0 { places.shuffle(using: &dice) }
            for place in places where place >= 0 {
                #expect(asked.source.key(at: place) == (place < keys.count ? keys[place] : nil), "\(place) of \(asked)")
            }
            let (first, part, whole) = (try query(), try query(), try query())
            #expect(first.isEmpty == keys.isEmpty && first.first?._key == keys.first && first.count == keys.count)
            #expect(part.prefix(20).map(\._key) == Array(keys.prefix(20)))
            #expect(whole.count == keys.count && whole.last?._key == keys.last)
        }
    }

    @Test("every place has the row that the whole query has there", arguments: 0..<3 as Range<UInt64>)
    func everyPlace(seed: UInt64) throws {
        var history = try History(seed, count: 1400)
        for step in 0..<6 {
            let queries = (0..<4).map { _ in history.query() }
            for query in queries { try history.check(query) }
            history.realm.beginWrite()
            history.change()
            for query in queries { try history.check(query) }
            history.change()
            for query in queries.prefix(2) { try history.check(query) }
            if step % 3 == 2 { history.realm.cancelWrite() } else { try history.realm.commitWrite() }
            for query in queries { try history.check(query) }
        }
    }

    private func counters(_ count: Int) throws -> Results<Counter> {
        let realm = try makeRealm([Counter.self])
        try realm.write {
            for id in 0..<count {
                let counter = Counter(id, "name \(id * 7919 % count)", count: id * 104_729 % count)
                counter.score = Double(counter.count)
                realm.add(counter)
            }
        }
        return realm.objects(Counter.self)
    }

    private func steps(_ body: () throws -> Void) rethrows -> UInt64 {
        let before = WorkSteps.taken
        try body()
        return WorkSteps.taken - before
    }

    @Test("an order that storage has costs no pass over the rows")
    func storedOrder() throws {
        let all = try counters(20_000)
        for ascending in [true, false] {
            for name in ["id", "count"] {
                let sorted = all.sorted(byKeyPath: name, ascending: ascending)
                let taken = steps {
                    #expect(sorted.count == 20_000 && !sorted.isEmpty)
                    let first = sorted.prefix(20).map { name == "id" ? $0.id : $0.count }
                    #expect(first == (0..<20).map { ascending ? $0 : 19_999 - $0 })
                    #expect(sorted[12_345].isInvalidated == false && sorted.last != nil)
                }
                #expect(taken < 100 && sorted.source.cache == nil, "\(name) took \(taken) steps")
            }
        }
    }

    @Test("nulls at the beginning of an index cost no pass over the rows")
    func nullsAtTheBeginning() throws {
        let realm = try makeRealm([Ranked.self])
        try realm.write {
            for id in 0..<3000 {
                let item = Ranked()
                item.id = id
                item.maybe = id % 2 == 0 ? nil : id
                item.whole = id < 6 ? .min : item.maybe
                realm.add(item)
            }
        }
        let sorted = realm.objects(Ranked.self).sorted(byKeyPath: "maybe")
        let taken = steps { #expect(sorted.prefix(20).map(\.id) == (0..<20).map { $0 * 2 }) }
        #expect(taken < 200, "\(taken) steps")
        // In the index, Int.min has the same entry key as null.
        try realm.write { for item in realm.objects(Ranked.self).where({ $0.id < 6 }) { item.maybe = .min } }
        #expect(sorted.prefix(3).map(\.id) == [6, 8, 10] && sorted[1497].id == 0 && sorted[1502].id == 5)
        #expect(sorted[1503].id == 7 && sorted.first?.id == 6)
        let whole = realm.objects(Ranked.self).sorted(byKeyPath: "whole")
        #expect(whole.prefix(64).map(\.id) == (0..<64).map { 6 + $0 * 2 })
    }

    @Test("another order takes one pass for its first rows, and more are kept when they are asked for")
    func otherOrder() throws {
        let all = try counters(20_000)
        for name in ["score", "name"] {
            let sorted = all.sorted(byKeyPath: name, ascending: false)
            let taken = steps { #expect(sorted.prefix(64).count == 64 && sorted[63].id != sorted[0].id) }
            #expect(taken < 21_000 && sorted.source.cache == nil, "\(name) took \(taken) steps")
            let whole = all.sorted(byKeyPath: name, ascending: false).source.keys()
            #expect(sorted.prefix(1024).map(\._key) == Array(whole.prefix(1024)) && sorted.source.cache == nil)
            #expect(sorted[15_000]._key == whole[15_000] && sorted.source.cache != nil)
        }
        // Half of the rows are equal in the first property.
        let realm = try #require(all.realm)
        try realm.write { for counter in all where counter.id % 2 == 0 { counter.score = -1 } }
        let tied = all.sorted(by: ["score", SortDescriptor(keyPath: "name", ascending: false)])
        let whole = all.sorted(by: ["score", SortDescriptor(keyPath: "name", ascending: false)]).source.keys()
        #expect(tied.prefix(64).map(\._key) == Array(whole.prefix(64)))
    }

    @Test("a filter is left when it has enough rows")
    func enoughRows() throws {
        let all = try counters(40_000)
        let filters = ["score >= 0", "name LIKE 'n*'"]
        for filter in filters {
            let taken = steps {
                #expect(all.filter(filter).first?.id == 0 && !all.filter(filter).isEmpty)
                #expect(all.filter(filter).prefix(20).map(\.id) == Array(0..<20))
            }
            #expect(taken < 40_000, "\(filter) took \(taken) steps")
            let found = all.filter(filter)
            #expect(found[9000].id == 9000 && found.source.cache == nil)
            #expect(found[39_999].id == 39_999 && found.count == 40_000)
        }
        let rare = all.filter("id == 39999 OR id == 39998")
        #expect(rare.first?.id == 39_998 && rare.prefix(20).count == 2 && rare.count == 2)
        #expect(all.filter("score < 0").isEmpty && all.filter("score < 0").prefix(3).isEmpty)
    }

    @Test("a result that was found early keeps no version, and follows the next one")
    func earlyResultFollows() throws {
        let all = try counters(3000)
        let realm = try #require(all.realm)
        let sorted = all.sorted(byKeyPath: "score", ascending: false)
        let indexed = all.sorted(byKeyPath: "count")
        #expect(sorted.first?.count == 2999 && indexed.first?.count == 0)
        try realm.write {
            realm.delete(all.where { $0.count == 2999 })
            all.where { $0.count == 0 }.first?.count = 5000
            #expect(sorted.first?.count == 2998 && indexed.first?.count == 1 && indexed.last?.count == 5000)
        }
        #expect(sorted.first?.count == 2998 && indexed.first?.count == 1 && indexed.count == 2999)
        let frozen = indexed.freeze()
        try realm.write { realm.delete(all) }
        #expect(sorted.isEmpty && indexed.first == nil && frozen.first?.count == 1 && frozen.count == 2999)
    }
}
