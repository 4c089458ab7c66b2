import StrataStorage
import Testing

@testable import Strata

/// Queries that storage answers over packed columns against a look at one row after the other.
@Suite struct RandomQueryTests {
    final class Item: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var small = 0
        @Persisted var maybe: Int?
        @Persisted(indexed: true) var tag = ""
        @Persisted var name = ""
        @Persisted var note: String?
        @Persisted var score = 0.0
        @Persisted var ratio: Double?
        @Persisted var isOn = false
        @Persisted var next: Item?
    }

    /// Numbers that a seed determines.
    struct Dice: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state ^ state >> 33) &* 0xff51_afd7_ed55_8ccd
        }
        mutating func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &self) }
    }

    private static func change(_ item: Item, _ dice: inout Dice) {
        switch dice.roll(8) {
        case 0: item.small = dice.roll(50)
        case 1: item.maybe = dice.roll(3) == 0 ? nil : dice.roll(1 << 20)
        case 2: item.tag = ["a", "b", "c"][dice.roll(3)]
        case 3: item.name = "name-\(dice.roll(30))"
        case 4: item.note = dice.roll(3) == 0 ? nil : String(repeating: "x", count: dice.roll(9)) + "\(dice.roll(3))"
        case 5: item.score = [Double.nan, -0.0, 0.5, 3, 99][dice.roll(5)]
        case 6: item.ratio = dice.roll(2) == 0 ? nil : Double(dice.roll(10))
        default: item.isOn.toggle()
        }
    }

    private static func makeItems(_ dice: inout Dice) throws -> Realm {
        let realm = try makeRealm([Item.self])
        try realm.write {
            for id in 0..<600 {
                let item = Item()
                item.id = id * (1 + dice.roll(2))
                if realm.object(ofType: Item.self, forPrimaryKey: item.id) != nil { continue }
                for _ in 0..<12 { change(item, &dice) }
                realm.add(item)
            }
        }
        try realm.write {
            let items = Array(realm.objects(Item.self))
            for item in items where dice.roll(3) == 0 { change(item, &dice) }
            for item in items where dice.roll(5) == 0 { item.next = items[dice.roll(items.count)] }
            for item in items where dice.roll(9) == 0 { realm.delete(item) }
        }
        return realm
    }

    private static func predicate(_ depth: Int, _ dice: inout Dice) -> Predicate {
        switch depth == 0 ? 5 : dice.roll(8) {
        case 0: .and(predicate(depth - 1, &dice), predicate(depth - 1, &dice))
        case 1, 2: .or(predicate(depth - 1, &dice), predicate(depth - 1, &dice))
        case 3: .not(predicate(depth - 1, &dice))
        default: .comparison(comparison(&dice))
        }
    }

    private static func comparison(_ dice: inout Dice) -> Predicate.Comparison {
        let name = ["id", "small", "maybe", "tag", "name", "note", "score", "ratio", "isOn", "next"][dice.roll(10)]
        var path = [name]
        if name == "next" && dice.roll(2) == 0 { path.append("small") }
        var comparison = Predicate.Comparison(path: path, comparator: .equal, value: .value(constant(&dice)))
        comparison.comparator =
            [
                Predicate.Comparator.equal, .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
                .contains,
                .beginsWith, .endsWith, .isIn, .between,
            ][dice.roll(12)]
        comparison.quantifier = [.any, .any, .any, .all, .none][dice.roll(5)]
        comparison.ignoresCase = dice.roll(8) == 0
        switch comparison.comparator {
        case .isIn: comparison.value = .values((0..<dice.roll(4)).map { _ in .value(constant(&dice)) })
        case .between: comparison.value = .values([.value(constant(&dice)), .value(constant(&dice))])
        default: break
        }
        return comparison
    }

    private static func constant(_ dice: inout Dice) -> _StoredValue {
        switch dice.roll(9) {
        case 0: .null
        case 1, 2, 3: .integer(Int64(dice.roll(60)))
        case 4: .double([Double.nan, 0, 0.5, 3, 7][dice.roll(5)])
        case 5: .link(Int64(dice.roll(600)))
        case 6: .text("name-\(dice.roll(30))")
        case 7: .text(["", "a", "b", "x", "xx1"][dice.roll(5)])
        default: .integer(Int64(dice.roll(1 << 20)))
        }
    }

    @Test("storage finds, counts and adds what the evaluator finds row by row", arguments: UInt64(1)...12)
    func naive(seed: UInt64) throws {
        var dice = Dice(state: seed)
        let realm = try Self.makeItems(&dice)
        let results = realm.objects(Item.self)
        let source = try #require(results._source)
        let view = try #require(source.instance.currentView)
        for _ in 0..<150 {
            let predicate = Self.predicate(3, &dice)
            let evaluator = PredicateEvaluator(source.instance, source.access, predicate)
            let expected = try source.keys().filter { try evaluator.matches(RowKey($0), view) }
            let comment: Comment = "seed \(seed): \(predicate)"
            #expect(source.filtered(predicate).count == expected.count, comment)
            let found = Results<Item>(source.filtered(predicate))
            #expect((found.sum(of: \.small) as Int) == Self.values(realm, expected, \.small).reduce(0, +), comment)
            #expect((found.max(of: \.small) as Int?) == Self.values(realm, expected, \.small).max(), comment)
            #expect((found.min(of: \.maybe) as Int?) == Self.values(realm, expected, \.maybe).compactMap { $0 }.min())
            #expect(source.filtered(predicate).keys() == expected, comment)
        }
    }

    private static func values<Value>(_ realm: Realm, _ keys: [Int64], _ path: KeyPath<Item, Value>) -> [Value] {
        keys.compactMap { realm.object(ofType: Item.self, forPrimaryKey: Int($0))?[keyPath: path] }
    }

    @Test("a property that is read again and again follows every change", arguments: UInt64(1)...6)
    func heldReads(seed: UInt64) throws {
        var dice = Dice(state: seed)
        let realm = try Self.makeItems(&dice)
        let items = Array(realm.objects(Item.self))
        var model = items.map { ($0.small, $0.maybe, $0.score.bitPattern) }
        for _ in 0..<20 {
            func check() {
                for _ in 0..<300 {
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
