import Foundation
import Measuring
import Testing

@testable import Strata

/// `IN` with many texts, identifiers, dates, decimals or values of any type once scanned the column for each value, or
/// all values for each row: ten thousand keys in a hundred thousand rows took seconds.
@Suite struct ManyValuesTests {
    final class Plain: Object {
        @Persisted(primaryKey: true) var name = ""
        @Persisted var number = 0
        @Persisted var small: Int16?
        @Persisted var ratio: Double?
        @Persisted var weight: Float?
        @Persisted var text: String?
        @Persisted var data: Data?
        @Persisted var code: UUID?
        @Persisted var identifier: ObjectId?
        @Persisted var day: Date?
        @Persisted var price: Decimal128?
        @Persisted var any: AnyRealmValue
        @Persisted var next: Plain?
        @Persisted var texts: List<String?>
        @Persisted var numbers: MutableSet<Double>
        @Persisted var anys: List<AnyRealmValue>
    }
    final class Indexed: Object {
        @Persisted(primaryKey: true) var name = ""
        @Persisted(indexed: true) var number = 0
        @Persisted(indexed: true) var small: Int16?
        @Persisted(indexed: true) var ratio: Double?
        @Persisted(indexed: true) var weight: Float?
        @Persisted(indexed: true) var text: String?
        @Persisted(indexed: true) var data: Data?
        @Persisted(indexed: true) var code: UUID?
        @Persisted(indexed: true) var identifier: ObjectId?
        @Persisted(indexed: true) var day: Date?
        @Persisted var price: Decimal128?
        @Persisted var any: AnyRealmValue
        @Persisted var next: Indexed?
        @Persisted var texts: List<String?>
        @Persisted var numbers: MutableSet<Double>
        @Persisted var anys: List<AnyRealmValue>
    }

    private static let texts: [String] =
        ["", "a", "A", "b", "caf\u{e9}", "cafe\u{301}", "CAF\u{c9}", "stra\u{df}e", "STRASSE", "x\u{0}"]
        + (0..<30).map { "text \($0)" }
    private static let doubles: [Double] =
        [.nan, 0, -0.0, .infinity, -1.5, 9_007_199_254_740_992, 9_007_199_254_740_994, 0.1]
        + (0..<30).map { Double($0) }
    private static let integers: [Int] = [9_007_199_254_740_993, 9_007_199_254_740_992, -3] + Array(0..<30)
    private static let decimals =
        ["1.50", "1.5", "0.1", "NaN", "9007199254740993", "-0"].map { Decimal128(stringLiteral: $0) }
        + (0..<30).map { Decimal128($0) }

    private static func list<Value>(_ values: some Sequence<Value>) -> [Any?] { values.map { $0 as Any? } }

    /// Queried values of a property, some of which no row has.
    private static var pools: [String: [Any?]] {
        let none: [Any?] = [nil]
        let (texts, doubles, integers) = (list(texts), list(doubles), list(integers))
        let some: [Any?] = [1.0, 2.0, 2.5, 9e15, Double.nan]
        var pools: [String: [Any?]] = [:]
        pools["name"] = texts
        for name in ["text", "texts", "next.text"] { pools[name] = none + texts }
        pools["number"] = integers + some
        pools["small"] = none + some + list(0..<30) + [70_000]
        pools["ratio"] = none + doubles + list(3..<5)
        pools["weight"] = none + doubles + [Float(0.1)]
        pools["data"] = none + list(Self.texts.map { Data($0.utf8) })
        pools["code"] = none + list((0..<40).map { uuid($0) })
        pools["identifier"] = none + list((0..<40).map { identifier($0) })
        pools["day"] = none + list(Self.doubles.map { Date(timeIntervalSinceReferenceDate: $0) })
        pools["price"] = none + list(decimals) + doubles + integers
        pools["numbers"] = doubles + integers
        pools["texts.@count"] = list(0..<12)
        pools["any"] = anyPool
        pools["anys"] = anyPool
        return pools
    }

    private static var anyPool: [Any?] {
        var values: [Any?] = [nil, true, false]
        values += list(texts.prefix(12)) + list(doubles.prefix(12)) + list(integers.prefix(8))
        values += list(decimals.prefix(8)) + list((0..<4).map { uuid($0) })
        values += list(doubles.prefix(4).map { Date(timeIntervalSinceReferenceDate: $0) })
        values += list(texts.prefix(4).map { Data($0.utf8) })
        return values
    }

    private static func uuid(_ number: Int) -> UUID {
        UUID(uuidString: "00000000-0000-0000-0000-0000000000\(number + 10)") ?? UUID()
    }

    private static func identifier(_ number: Int) -> ObjectId {
        ObjectId(text: "0123456789abcdef012345\(number + 10)") ?? ObjectId()
    }

    private func fill<Row: Object>(_ type: Row.Type) throws -> Results<Row> {
        let realm = try makeRealm([type])
        let pools = Self.pools
        try realm.write {
            for (place, key) in Self.texts.enumerated() {
                func any(_ name: String, _ step: Int = 1) -> Any? {
                    pools[name].flatMap { $0[(place * step) % $0.count] }
                }
                var values: [String: Any?] = ["name": key, "number": Self.integers[place % Self.integers.count]]
                values["small"] = .some(place % 5 == 0 ? nil : place)
                values["weight"] = .some(place % 5 == 2 ? nil : Float(Self.doubles[(place * 3) % Self.doubles.count]))
                values["price"] = .some(place % 7 == 0 ? nil : Self.decimals[place % Self.decimals.count])
                for name in ["ratio", "text", "data", "code", "identifier", "day", "any"] {
                    values[name] = .some(any(name, 3))
                }
                values["texts"] = [any("texts", 5), any("texts", 7)]
                values["numbers"] = [
                    Self.doubles[place % Self.doubles.count], Self.doubles[(place * 5) % Self.doubles.count],
                ]
                values["anys"] = [any("any", 5), any("any", 7)]
                realm.create(type, value: values)
            }
            let rows = Array(realm.objects(type))
            for (place, row) in rows.enumerated() where place % 4 > 0 { row["next"] = rows[(place * 5) % rows.count] }
        }
        return realm.objects(type)
    }

    private func check<Row: Object>(_ rows: Results<Row>, _ name: (Row) -> String) throws {
        // Compared by bytes: two spellings of a name differ.
        func key(_ row: Row) -> [UInt8] { Array(name(row).utf8) }
        var dice = Dice(state: 7)
        let pools = Self.pools
        for (name, pool) in pools.sorted(by: { $0.key < $1.key }) {
            for quantifier in ["", "ANY ", "NONE ", "NOT "] {
                if ["ANY ", "NONE "].contains(quantifier) != ["texts", "numbers", "anys"].contains(name) { continue }
                for round in 0..<12 {
                    let count = [1, 3, 9, 12, 20, pool.count][round % 6]
                    let values = (0..<count).map { _ in dice.pick(pool) }
                    let options = round > 5 && name.hasSuffix("ext") || name == "name" && round > 8 ? "[cd]" : ""
                    let positive = quantifier == "NONE " ? "ANY " : ""
                    var found: Set<[UInt8]> = []
                    for value in values {
                        found.formUnion(rows.filter("\(positive)\(name) ==\(options) %@", value).map(key))
                    }
                    let isNegated = ["NONE ", "NOT "].contains(quantifier)
                    let expected = rows.map(key).filter { found.contains($0) != isNegated }
                    let asked = try rows.filter("\(quantifier)\(name) IN\(options) %@", arguments: [values])
                    let comment: Comment = "\(quantifier)\(name) IN\(options), round \(round)"
                    #expect(asked.map(key) == expected, comment)
                    // Combined with another condition, which is evaluated over known rows.
                    let both = "\(quantifier)\(name) IN\(options) %@ AND number > -9"
                    let narrowed = try rows.filter(both, arguments: [values])
                    #expect(narrowed.count == expected.count, comment)
                    let sorted = try rows.sorted(byKeyPath: "number").filter(
                        "\(quantifier)\(name) IN\(options) %@", arguments: [values])
                    #expect(Set(sorted.map(key)) == Set(expected), comment)
                    if isNegated || count > 20 { continue }
                    let chain = Array(repeating: "\(positive)\(name) ==\(options) %@", count: count).joined(
                        separator: " OR ")
                    let chained = try rows.filter(chain, arguments: values)
                    #expect(chained.map(key) == expected, comment)
                }
            }
        }
    }

    @Test("a query for many values finds what single queries find")
    func sameAsSingleQueries() throws {
        try check(try fill(Plain.self)) { $0.name }
    }

    @Test("the same with indexes")
    func sameWithIndexes() throws {
        try check(try fill(Indexed.self)) { $0.name }
    }

    @Test("plain values of a list")
    func plainValues() throws {
        let realm = try makeRealm([Plain.self])
        let row = try realm.write {
            let row = realm.create(Plain.self, value: ["name": "x"])
            row.texts.append(objectsIn: Self.texts + [nil])
            return row
        }
        let wanted: [String?] = ["caf\u{e9}", "A", nil] + (0..<30).map { "text \($0 * 2)" }
        let keys = Set(wanted.map { $0.map { Array($0.utf8) } })
        #expect(
            row.texts.filter("SELF IN %@", wanted).count == row.texts.count { keys.contains($0.map { Array($0.utf8) }) }
        )
    }

    @Test("a chain of alternatives for one property becomes one query")
    func chainOfAlternatives() throws {
        let rows = try fill(Indexed.self)
        let chain = Array(repeating: "text == %@", count: 20).joined(separator: " OR ")
        let found = try rows.filter(
            "number > 100 OR (\(chain)) OR number == 3", arguments: (0..<20).map { "text \($0)" })
        #expect(
            found.count == rows.filter("number > 100 OR text IN %@ OR number == 3", (0..<20).map { "text \($0)" }).count
        )
        let texts = try rows.filter(chain, arguments: (0..<20).map { "text \($0)" })
        #expect(texts.explain().contains("index on 'text', 20 values"), "\(texts.explain())")
    }

    /// A scan of all values for each row takes 256 million comparisons for each query; a hash lookup takes a hundred
    /// thousand.
    @Test("many values of each type in many rows") func many() throws {
        let growth = try ProcessorTime.growth(from: 2_000, to: 16_000, look)
        #expect(growth < 3, "a value among 16 000 costs \(growth) times what one among 2 000 does")
    }

    private func look(count: Int) throws {
        final class Entry: Object {
            @Persisted(primaryKey: true) var name = ""
            @Persisted var text = ""
            @Persisted var price = Decimal128()
            @Persisted var ratio = 0.0
            @Persisted var any: AnyRealmValue
            @Persisted var code = UUID()
            @Persisted var texts: List<String>
        }
        let realm = try makeRealm([Entry.self])
        try realm.write {
            for place in 0..<count {
                let entry = realm.create(Entry.self, value: ["name": "key \(place)"])
                entry.text = "text \(place)"
                entry.price = Decimal128(place)
                entry.ratio = Double(place)
                entry.any = place % 2 == 0 ? .int(place) : .string("text \(place)")
                entry.texts.append("text \(place)")
            }
        }
        let entries = realm.objects(Entry.self)
        let places = (0..<count).map { $0 * 2 }
        let texts = places.map { "text \($0)" }
        #expect(entries.filter("name IN %@", places.map { "key \($0)" }).count == count / 2)
        #expect(entries.filter("text IN %@", texts).count == count / 2)
        #expect(entries.filter("text IN[c] %@", texts).count == count / 2)
        #expect(entries.filter("price IN %@", places.map { Decimal128($0) }).count == count / 2)
        #expect(entries.filter("ratio IN %@", places.map { Double($0) }).count == count / 2)
        #expect(entries.filter("any IN %@", places + [1]).count == count / 2)
        #expect(entries.filter("code IN %@", places.map { _ in UUID() }).isEmpty)
        #expect(entries.filter("ANY texts IN %@", texts).count == count / 2)
        #expect(entries.where { $0.text.in(texts) }.count == count / 2)
        let chain = Array(repeating: "text == %@", count: count).joined(separator: " OR ")
        let chained = try entries.filter(chain, arguments: texts)
        #expect(chained.count == count / 2)
    }
}

extension RealmCollection where Element: ObjectBase {
    fileprivate func filter(_ format: String, arguments: [Any?]) throws -> Results<Element> {
        try matching(try PredicateParser.parse(format, arguments))
    }
}
