import Foundation
import StrataStorage
import Testing

@testable import Strata

final class QueryItem: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var small = 0
    @Persisted var maybe: Int?
    @Persisted var isOn = false
    @Persisted var score = 0.0
    @Persisted var ratio: Double?
    @Persisted var weight: Float = 0
    @Persisted var tag = ""
    @Persisted var note: String?
    @Persisted var blob: Data?
    @Persisted var day = Date(timeIntervalSinceReferenceDate: 0)
    @Persisted var code: UUID?
    @Persisted var price = Decimal128()
    @Persisted var next: QueryItem?
    @Persisted var ints: List<Int>
    @Persisted var texts: List<String?>
    @Persisted var ratios: List<Double>
    @Persisted var prices: List<Decimal128>
    @Persisted var friends: List<QueryItem>
    @Persisted var scores: Map<String, Int>
    @Persisted var words: Map<String, String?>
    @Persisted var pals: Map<String, QueryItem?>
    @Persisted(originProperty: "next") var linkedBy: LinkingObjects<QueryItem>
    @Persisted(originProperty: "friends") var friendOf: LinkingObjects<QueryItem>
}

final class IndexedItem: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted(indexed: true) var small = 0
    @Persisted(indexed: true) var maybe: Int?
    @Persisted(indexed: true) var isOn = false
    @Persisted(indexed: true) var score = 0.0
    @Persisted(indexed: true) var ratio: Double?
    @Persisted(indexed: true) var weight: Float = 0
    @Persisted(indexed: true) var tag = ""
    @Persisted(indexed: true) var note: String?
    @Persisted(indexed: true) var blob: Data?
    @Persisted(indexed: true) var day = Date(timeIntervalSinceReferenceDate: 0)
    @Persisted(indexed: true) var code: UUID?
    @Persisted var price = Decimal128()
    @Persisted var next: IndexedItem?
    @Persisted var ints: List<Int>
    @Persisted var texts: List<String?>
    @Persisted var ratios: List<Double>
    @Persisted var prices: List<Decimal128>
    @Persisted var friends: List<IndexedItem>
    @Persisted var scores: Map<String, Int>
    @Persisted var words: Map<String, String?>
    @Persisted var pals: Map<String, IndexedItem?>
    @Persisted(originProperty: "next") var linkedBy: LinkingObjects<IndexedItem>
    @Persisted(originProperty: "friends") var friendOf: LinkingObjects<IndexedItem>
}

/// Every query against a naive evaluation, with and without indexes, in both syntaxes.
@Suite struct RandomQueryTests {
    private struct World {
        let realm: Realm
        var model = NaiveModel()
        var random: RandomPredicates

        init(_ seed: UInt64, rows: Int) throws {
            realm = try makeRealm([QueryItem.self, IndexedItem.self])
            model.inverses = ["linkedBy": "next", "friendOf": "friends"]
            var dice = Dice(state: seed)
            let keys = (0..<rows).map { Int64($0 * (dice.roll(9) == 0 ? 2 : 1)) }
            random = RandomPredicates(dice: dice, keys: Array(Set(keys)).sorted())
            for key in random.keys { model.rows[key] = row(key) }
            try realm.write { for key in random.keys { create(key, links: false) } }
            // Changes after the commit: patches and deleted rows.
            let changed = random.keys.filter { _ in random.dice.roll(4) == 0 }
            for key in changed { model.rows[key] = row(key) }
            try realm.write { for key in random.keys { create(key, links: true) } }
            try realm.write { for key in changed { create(key, links: true) } }
            let deleted = random.keys.filter { _ in random.dice.roll(12) == 0 }
            try realm.write { for key in deleted { delete(key) } }
            model.indexInverses()
        }

        private mutating func row(_ key: Int64) -> [String: NaiveValue] {
            var row: [String: NaiveValue] = ["id": .integer(key)]
            let optional: Set = ["maybe", "ratio", "note", "blob", "code", "next"]
            for (name, kind) in RandomPredicates.scalars where name != "id" {
                let isNull = optional.contains(name) && random.dice.roll(3) == 0
                row[name] = isNull ? .null : NaiveValue(random.value(kind))
            }
            for (name, kind) in RandomPredicates.collections.prefix(5) {
                row[name] = .list(
                    (0..<random.dice.roll(4)).map { _ in
                        name == "texts" && random.dice.roll(4) == 0 ? .null : NaiveValue(random.value(kind))
                    })
            }
            for (name, kind) in RandomPredicates.maps {
                var map: [String: NaiveValue] = [:]
                for key in RandomPredicates.mapKeys where random.dice.roll(3) == 0 {
                    map[key] = kind != .int && random.dice.roll(4) == 0 ? .null : NaiveValue(random.value(kind))
                }
                row[name] = .map(map)
            }
            return row
        }

        private func create(_ key: Int64, links: Bool) {
            guard let row = model.rows[key] else { return }
            for type in [QueryItem.self, IndexedItem.self] as [Object.Type] {
                var values: [String: Any?] = [:]
                for (name, value) in row where links || !["next", "friends", "pals"].contains(name) {
                    values[name] = plain(value, name, type)
                }
                if type == QueryItem.self {
                    realm.create(QueryItem.self, value: values, update: .all)
                } else {
                    realm.create(IndexedItem.self, value: values, update: .all)
                }
            }
        }

        private func plain(_ value: NaiveValue, _ name: String, _ type: Object.Type) -> Any? {
            switch value {
            case .null: return nil
            case .integer(let value): return name == "isOn" ? (value != 0) as Any : Int(value) as Any
            case .double(let value):
                if name.hasPrefix("price") { return Decimal128(value) }
                return name == "day" ? Date(timeIntervalSinceReferenceDate: value) as Any : value as Any
            case .text(let text): return text
            case .bytes(let bytes): return name == "code" ? UUID._from(.bytes(bytes)) as Any? : Data(bytes) as Any?
            case .link(let key): return object(type, key)
            case .list(let values): return values.map { plain($0, name, type) }
            case .map(let entries): return entries.mapValues { plain($0, name, type) as Any }
            }
        }

        func object(_ type: Object.Type, _ key: Int64) -> Object? {
            type == QueryItem.self
                ? realm.object(ofType: QueryItem.self, forPrimaryKey: Int(key))
                : realm.object(ofType: IndexedItem.self, forPrimaryKey: Int(key))
        }

        private mutating func delete(_ key: Int64) {
            for type in [QueryItem.self, IndexedItem.self] as [Object.Type] {
                if let object = object(type, key) { realm.delete(object) }
            }
            model.rows[key] = nil
            for other in model.rows.keys {
                if model.rows[other]?["next"] == .link(key) { model.rows[other]?["next"] = .null }
                if case .list(let list)? = model.rows[other]?["friends"] {
                    model.rows[other]?["friends"] = .list(list.filter { $0 != .link(key) })
                }
                if case .map(let map)? = model.rows[other]?["pals"] {
                    model.rows[other]?["pals"] = .map(map.mapValues { $0 == .link(key) ? .null : $0 })
                }
            }
        }
    }

    private static func repeating(_ seed: UInt64, _ text: String) -> Comment {
        "seed \(seed): swift test --filter RandomQueryTests: \(text)"
    }

    @Test("every query finds what a naive evaluation finds, in both syntaxes", arguments: UInt64(1)...4)
    func naive(seed: UInt64) throws {
        var world = try World(seed, rows: seed % 2 == 0 ? 20 : 90)
        for _ in 0..<(seed % 2 == 0 ? 80 : 30) {
            let predicate = world.random.predicate(3)
            let expected = world.model.matches(predicate)
            let comment = Self.repeating(seed, "\(predicate)")
            try check(world.realm.objects(QueryItem.self), predicate, expected, world, comment)
            try check(world.realm.objects(IndexedItem.self), predicate, expected, world, comment)
        }
    }

    private func check<Item: Object>(
        _ items: Results<Item>, _ predicate: Predicate, _ expected: [Int64], _ world: World, _ comment: Comment
    ) throws {
        let found = try items.matching(predicate)
        #expect(found.count == expected.count, comment)
        #expect(found.source.keys() == expected, comment)
        // A deleted target reads as a missing one.
        var writer = FormatWriter(world.random.dice) { world.object(Item.self, $0) ?? Item() }
        let format = writer.write(predicate)
        do {
            let parsed = try items.matching(try PredicateParser.parse(format, writer.arguments))
            #expect(parsed.source.keys() == expected, "\(comment), as \(format)")
        } catch {
            Issue.record(error, "\(comment), as \(format)")
        }
        let first = found.source.keys().first
        #expect(items.source.index(of: first ?? -1) == expected.first.flatMap { items.source.index(of: $0) })
    }

    @Test("sorts, distinct values and limits compose in call order", arguments: UInt64(1)...4)
    func order(seed: UInt64) throws {
        var world = try World(seed, rows: seed % 2 == 0 ? 20 : 90)
        for _ in 0..<10 {
            var results = world.realm.objects(QueryItem.self)
            var expected = world.model.rows.keys.sorted()
            var steps: [String] = []
            for _ in 0..<(1 + world.random.dice.roll(4)) {
                switch world.random.dice.roll(5) {
                case 0:
                    let predicate = world.random.predicate(1)
                    results = try results.matching(predicate)
                    expected = expected.filter { world.model.holds(predicate, ["": $0]) }
                    steps.append("\(predicate)")
                case 1:
                    let names = (0..<(1 + world.random.dice.roll(2))).map { _ in keyPath(&world.random.dice) }
                    results = results.distinct(by: names)
                    expected = distinct(expected, names, world.model)
                    steps.append("distinct \(names)")
                case 2:
                    let count = world.random.dice.roll(50)
                    let offset = world.random.dice.roll(5)
                    results = results.limit(count, offset: offset)
                    expected = Array(expected.dropFirst(offset).prefix(count))
                    steps.append("limit \(count) offset \(offset)")
                default:
                    let descriptors = (0..<(1 + world.random.dice.roll(3))).map { _ in
                        SortDescriptor(keyPath: keyPath(&world.random.dice), ascending: world.random.dice.roll(2) == 0)
                    }
                    results = results.sorted(by: descriptors)
                    expected = sorted(expected, descriptors, world.model)
                    steps.append("\(descriptors)")
                }
            }
            #expect(results.map { Int64($0.id) } == expected, Self.repeating(seed, "\(steps)"))
            checkAggregates(results, expected, world.model, Self.repeating(seed, "\(steps)"))
        }
    }

    private func keyPath(_ dice: inout Dice) -> String {
        let name = dice.pick(RandomPredicates.scalars.filter { $0.kind != .object }).name
        return dice.roll(4) == 0 ? "next.\(name)" : name
    }

    private func value(_ key: Int64, _ keyPath: String, _ model: NaiveModel) -> NaiveValue {
        model.values(Predicate.Path(names: keyPath.split(separator: ".").map(String.init)), ["": key]).first ?? .null
    }

    private func rank(_ value: NaiveValue) -> Int {
        if value == .null { return 0 }
        return value.number?.isNaN == true ? 1 : 2
    }

    private func sorted(_ keys: [Int64], _ descriptors: [SortDescriptor], _ model: NaiveModel) -> [Int64] {
        keys.enumerated().sorted { a, b in
            for descriptor in descriptors {
                let first = value(a.element, descriptor.keyPath, model)
                let second = value(b.element, descriptor.keyPath, model)
                let ranks = (rank(first), rank(second))
                if ranks.0 != ranks.1 { return (ranks.0 < ranks.1) == descriptor.ascending }
                if ranks.0 < 2 { continue }
                if model.less(first, second) { return descriptor.ascending }
                if model.less(second, first) { return !descriptor.ascending }
            }
            return a.offset < b.offset
        }.map(\.element)
    }

    private func distinct(_ keys: [Int64], _ names: [String], _ model: NaiveModel) -> [Int64] {
        var seen: [[NaiveValue]] = []
        return keys.filter { key in
            // A property behind a missing link has no value.
            for name in names where name.hasPrefix("next.") && model.rows[key]?["next"] == .null { return false }
            let values = names.map { value(key, $0, model) }
            let isKnown = seen.contains { known in
                zip(known, values).allSatisfy { a, b in
                    rank(a) == rank(b) && (rank(a) < 2 || model.equal(a, b, []))
                }
            }
            if !isKnown { seen.append(values) }
            return !isKnown
        }
    }

    private func checkAggregates(
        _ results: Results<QueryItem>, _ keys: [Int64], _ model: NaiveModel, _ comment: Comment
    ) {
        func numbers(_ name: String) -> [Double] { keys.compactMap { value($0, name, model).number } }
        let ids = numbers("id")
        #expect((results.sum(of: \.id) as Int) == Int(ids.reduce(0, +)), comment)
        #expect(results.min(of: \.id).map(Double.init) == ids.min(), comment)
        let ratios = numbers("ratio")
        let ordered = ratios.filter { !$0.isNaN }
        #expect((results.max(of: \.ratio) as Double?) == ordered.max(), comment)
        #expect((results.min(of: \.ratio) as Double?) == ordered.min(), comment)
        let average = results.average(of: \.ratio)
        #expect((average == nil) == ratios.isEmpty, comment)
        let sum: Double = results.sum(of: \.ratio)
        #expect(sum == ratios.reduce(0, +) || sum.isNaN && ratios.reduce(0, +).isNaN, comment)
        let prices = numbers("price")
        let total: Decimal128 = results.sum(of: \.price)
        #expect(total == Decimal128(prices.reduce(0, +)), comment)
        #expect(results.min(of: \.price).map(\.doubleValue) == prices.min(), comment)
        #expect(results.max(of: \.price) == prices.max().map { Decimal128($0) }, comment)
        let mean: Decimal128? = results.average(of: \.price)
        #expect(mean == (prices.isEmpty ? nil : total / Decimal128(Int64(prices.count))), comment)
    }

    @Test("a property that is read repeatedly follows every change", arguments: UInt64(1)...2)
    func heldReads(seed: UInt64) throws {
        var dice = Dice(state: seed)
        let realm = try World(seed, rows: 60).realm
        let items = Array(realm.objects(QueryItem.self))
        var model = items.map { ($0.small, $0.maybe, $0.score.bitPattern) }
        for _ in 0..<8 {
            func check() {
                for _ in 0..<150 {
                    let place = dice.roll(items.count)
                    for _ in 0..<3 {
                        #expect(items[place].small == model[place].0, "seed \(seed)")
                        #expect(items[place].maybe == model[place].1, "seed \(seed)")
                        #expect(items[place].score.bitPattern == model[place].2, "seed \(seed)")
                    }
                }
            }
            check()
            try realm.write {
                for _ in 0..<30 {
                    let place = dice.roll(items.count)
                    model[place] = (
                        dice.roll(300), dice.roll(2) == 0 ? nil : dice.roll(99), Double(dice.roll(9)).bitPattern
                    )
                    items[place].small = model[place].0
                    items[place].maybe = model[place].1
                    items[place].score = Double(bitPattern: model[place].2)
                }
                check()
            }
        }
    }
}
