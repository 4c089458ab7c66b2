import Foundation

@testable import Strata

/// Seeded random numbers.
struct Dice: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return (state ^ state >> 33) &* 0xff51_afd7_ed55_8ccd
    }
    mutating func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &self) }
    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[roll(elements.count)] }
}

/// Makes predicates over the properties that ``QueryItem`` and ``IndexedItem`` share.
struct RandomPredicates {
    var dice: Dice
    let keys: [Int64]

    enum Kind { case int, bool, double, float, text, data, date, uuid, object, decimal }

    static let scalars: [(name: String, kind: Kind)] = [
        ("id", .int), ("small", .int), ("maybe", .int), ("isOn", .bool), ("score", .double), ("ratio", .double),
        ("weight", .float), ("tag", .text), ("note", .text), ("blob", .data), ("day", .date), ("code", .uuid),
        ("next", .object), ("price", .decimal),
    ]
    static let maps: [(name: String, kind: Kind)] = [("scores", .int), ("words", .text), ("pals", .object)]
    static let mapKeys = ["a", "b", "it's", "e\u{301}"]
    static let collections: [(name: String, kind: Kind)] = [
        ("ints", .int), ("texts", .text), ("ratios", .double), ("prices", .decimal), ("friends", .object),
        ("linkedBy", .object),
        ("friendOf", .object),
    ]
    static let texts = [
        "", "a", "A", "b", "ab", "aB", "é", "e\u{301}", "É", "e", "straße", "STRASSE", "Strasse", "x*y", "日本", "日",
        "\u{1F600}", "ab\r\ncd", "na\u{EF}ve", "naive", "abcdefgh", "abcdefghi", "abcdefgh\u{0}",
    ]

    // MARK: Values

    mutating func value(_ kind: Kind) -> _StoredValue {
        switch kind {
        case .int: return .integer(dice.roll(20) == 0 ? dice.pick([.min, .max, -1]) : Int64(dice.roll(40)))
        case .bool: return .integer(Int64(dice.roll(2)))
        case .double: return .double(dice.pick([.nan, -0.0, 0, 0.5, 1, 2, 3.25, 7, -.infinity, .infinity]))
        case .float: return .double(Double(Float(dice.pick([0.1, 0.5, 1.5, -3]))))
        case .text: return .text(dice.pick(Self.texts))
        case .data: return .bytes((0..<dice.roll(4)).map { _ in UInt8(dice.roll(3)) })
        case .date: return .double(Double(dice.roll(6)) * 1000)
        case .uuid: return .bytes([UInt8](repeating: UInt8(dice.roll(5)), count: 16))
        case .object: return .link(dice.pick(keys))
        case .decimal: return .decimal(dice.pick([-1.5, 0, 0.25, 1, 2.75, 7]))
        }
    }

    static func type(_ kind: Kind) -> PropertyType {
        switch kind {
        case .int: .int
        case .bool: .bool
        case .double: .double
        case .float: .float
        case .text: .string
        case .data: .data
        case .date: .date
        case .uuid: .UUID
        case .object: .object
        case .decimal: .decimal128
        }
    }

    private mutating func constant(_ kind: Kind) -> Predicate.Expression {
        if dice.roll(8) == 0 { return .value(.init(.null)) }
        if kind == .int, dice.roll(6) == 0 { return .value(.init(.double(Double(dice.roll(80)) / 2), .double)) }
        return .value(.init(value(kind), Self.type(kind)))
    }

    // MARK: Predicates

    mutating func predicate(_ depth: Int, _ variable: String? = nil) -> Predicate {
        switch depth == 0 ? 9 : dice.roll(10) {
        case 0, 1: .and(PredicateParts((0..<(2 + dice.roll(2))).map { _ in predicate(depth - 1, variable) }))
        case 2, 3: .or(PredicateParts((0..<(2 + dice.roll(2))).map { _ in predicate(depth - 1, variable) }))
        case 4: .not(predicate(depth - 1, variable))
        case 5 where dice.roll(6) == 0: .constant(dice.roll(2) == 0)
        default: .comparison(comparison(depth, variable))
        }
    }

    private mutating func path(_ variable: String?) -> (path: Predicate.Path, kind: Kind, isMany: Bool) {
        var names: [String] = []
        var isMany = false
        while dice.roll(4) == 0, names.count < 3 {
            let link = dice.pick(["next", "next", "friends", "linkedBy", "friendOf"])
            isMany = isMany || link != "next"
            names.append(link)
        }
        if dice.roll(6) == 0 { return mapPath(names, isMany, variable) }
        let takesMany = dice.roll(4) == 0
        let last = dice.pick(takesMany ? Self.collections : Self.scalars)
        return (Predicate.Path(names: names + [last.name], variable: variable), last.kind, isMany || takesMany)
    }

    /// Conditions on keys, values, the value of a key, or its target.
    private mutating func mapPath(
        _ names: [String], _ isMany: Bool, _ variable: String?
    ) -> (path: Predicate.Path, kind: Kind, isMany: Bool) {
        let map = dice.pick(Self.maps)
        let part = dice.pick([Predicate.MapPart.keys, .values, .entry(dice.pick(Self.mapKeys))])
        var names = names + [map.name]
        if part != .values || dice.roll(2) == 0 { names.append(part.name) }
        if part == .keys { return (Predicate.Path(names: names, variable: variable), .text, true) }
        let isMany = isMany || part == .values
        guard map.kind == .object, dice.roll(2) == 0 else {
            return (Predicate.Path(names: names, variable: variable), map.kind, isMany)
        }
        let last = dice.pick(Self.scalars)
        return (Predicate.Path(names: names + [last.name], variable: variable), last.kind, isMany)
    }

    private mutating func comparison(_ depth: Int, _ variable: String?) -> Predicate.Comparison {
        let (path, kind, isMany) = self.path(variable)
        if isMany, dice.roll(4) == 0 { return aggregate(path, kind, depth, variable) }
        var made = Predicate.Comparison(left: .path(path), comparator: .equal, right: constant(kind))
        let ordered: [Predicate.Comparator] = [.less, .lessOrEqual, .greater, .greaterOrEqual, .between]
        switch kind {
        case .object: made.comparator = dice.pick([.equal, .notEqual, .isIn])
        case .text, .data:
            made.comparator = dice.pick(
                [.equal, .notEqual, .isIn, .contains, .beginsWith, .endsWith, .like] + ordered)
        default: made.comparator = dice.pick([.equal, .equal, .notEqual, .isIn] + ordered)
        }
        if kind == .text, dice.roll(2) == 0 {
            made.options = dice.pick([.ignoringCase, .ignoringDiacritics, [.ignoringCase, .ignoringDiacritics]])
        }
        if dice.roll(3) == 0 || isMany && made.comparator == .contains {
            made.quantifier = dice.pick([.any, .all, .none])
            made.isQuantified = true
        }
        switch made.comparator {
        case .isIn: made.right = .values((0..<dice.roll(5)).map { _ in constant(kind) })
        case .between: made.right = .values([constant(kind), constant(kind)])
        case .like where kind == .text && dice.roll(2) == 0:
            made.right = .value(.init(.text(dice.pick(["*", "a*", "*e", "?", "??", "*s?e*", "*ß*", "a?"])), .string))
        default:
            let other = self.path(variable)
            if dice.roll(6) == 0, other.kind == kind, !other.isMany { made.right = .path(other.path) }
        }
        return made
    }

    private mutating func aggregate(
        _ path: Predicate.Path, _ kind: Kind, _ depth: Int, _ variable: String?
    ) -> Predicate.Comparison {
        var aggregate = Predicate.Aggregate.count
        if [.int, .double, .float, .decimal].contains(kind) {
            aggregate = dice.pick([.count, .min, .max, .sum, .avg])
        }
        var left = Predicate.Expression.aggregate(path, aggregate)
        if kind == .object, dice.roll(2) == 0 {
            // Uses the last collection, since a link at the end has no elements.
            var collection = path
            collection.names = [dice.pick(["friends", "linkedBy", "friendOf"])]
            let name = "$v\(depth)"
            left = .subquery(
                collection, variable: name, predicate(max(0, depth - 2), dice.roll(4) == 0 ? variable : name))
        }
        let right = Predicate.Expression.value(.init(.integer(Int64(dice.roll(5))), .int))
        let comparator = dice.pick([Predicate.Comparator.equal, .notEqual, .less, .greaterOrEqual, .greater])
        return Predicate.Comparison(left: left, comparator: comparator, right: right)
    }
}

/// Spells a predicate as a format with arguments.
struct FormatWriter {
    var dice: Dice
    /// Finds the object of a key.
    let object: (Int64) -> ObjectBase?
    private(set) var arguments: [Any?] = []

    init(_ dice: Dice, _ object: @escaping (Int64) -> ObjectBase?) {
        self.dice = dice
        self.object = object
    }

    mutating func write(_ predicate: Predicate) -> String {
        switch predicate {
        case .constant(let value): return value ? "TRUEPREDICATE" : "falsepredicate"
        case .tooDeep: return "\(predicate)"
        case .not(let inner): return dice.pick(["NOT ", "!", "not "]) + "(" + write(inner) + ")"
        case .and(let parts): return join(Array(parts), dice.pick([" AND ", " && ", " and "]))
        case .or(let parts): return join(Array(parts), dice.pick([" OR ", " || ", " or "]))
        case .comparison(let comparison):
            var text = comparison.isQuantified ? comparison.quantifier.rawValue.uppercased() + " " : ""
            text += write(comparison.left) + " " + comparison.comparator.symbol
            let letters =
                (comparison.options.contains(.ignoringCase) ? "c" : "")
                + (comparison.options.contains(.ignoringDiacritics) ? "d" : "")
            return text + (letters.isEmpty ? "" : "[\(letters)]") + " " + write(comparison.right)
        }
    }

    private mutating func join(_ parts: [Predicate], _ word: String) -> String {
        var texts: [String] = []
        for part in parts { texts.append("(" + write(part) + ")") }
        return texts.joined(separator: word)
    }

    private mutating func write(_ expression: Predicate.Expression) -> String {
        switch expression {
        case .path(let path):
            if dice.roll(5) == 0, path.variable == nil, !path.names.contains(where: { $0.hasPrefix("[") }) {
                arguments.append("\(path)")
                return "%K"
            }
            return "\(path)"
        case .subquery(let path, let variable, let inner):
            return "SUBQUERY(\(path), \(variable), \(write(inner))).@count"
        case .aggregate, .object, .members, .shape: return "\(expression)"
        case .values(let parts):
            var texts: [String] = []
            for part in parts { texts.append(write(part)) }
            return "{" + texts.joined(separator: ", ") + "}"
        case .value(let constant): return write(constant)
        }
    }

    private mutating func write(_ constant: Predicate.Constant) -> String {
        var isLiteral = false
        switch constant.stored {
        case .integer, .text, .null: isLiteral = dice.roll(2) == 0
        case .double(let value): isLiteral = constant.type == .double && value.isFinite && dice.roll(2) == 0
        default: break
        }
        if isLiteral { return "\(constant)" }
        arguments.append(argument(constant))
        return "%@"
    }

    private func argument(_ constant: Predicate.Constant) -> Any? {
        switch constant.stored {
        case .integer(let value): return constant.type == .bool ? (value != 0) as Any : value as Any
        case .double(let value):
            return constant.type == .date ? Date(timeIntervalSinceReferenceDate: value) as Any : value as Any
        case .text(let text): return text
        case .bytes(let bytes):
            return constant.type == .UUID ? UUID._from(.bytes(bytes)) as Any? : Data(bytes) as Any?
        case .link(let key): return object(key)
        case .decimal(let value): return value
        case .null: return nil
        }
    }
}
