/// Which objects a query wants. Made by ``Query`` or by the parser; knows names, not columns.
indirect enum Predicate {
    case constant(Bool)
    case comparison(Comparison)
    case not(Predicate)
    /// Holds when all do; also when there are none.
    case and(PredicateParts)
    /// Holds when one does.
    case or(PredicateParts)
    /// A condition that was made of more parts inside one another than any is answered for. Its parts are let go of, so
    /// that none is deeper than a stack; binding it says so.
    case tooDeep

    /// Deeper conditions are refused: answering one takes stack for each level.
    static let deepest = 200

    struct Comparison {
        var left: Expression
        var comparator: Comparator
        var right: Expression
        /// What is asked of the values of `left`, where there are several.
        var quantifier = Quantifier.any
        /// Whether the quantifier was written down. Without it, `tags CONTAINS 'x'` asks for a member, with it for a
        /// part of one.
        var isQuantified = false
        var options = TextOptions()
    }

    enum Quantifier: String { case any, all, none }
    enum Aggregate: String, CaseIterable { case count, min, max, sum, avg }

    enum Comparator {
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
        case contains, beginsWith, endsWith, like
        /// One of several values.
        case isIn
        /// At least the first, at most the second.
        case between
        /// At least the first, less than the second. Formats have no word for it.
        case within
    }

    /// One side of a comparison.
    indirect enum Expression {
        case path(Path)
        case aggregate(Path, Aggregate)
        /// How many objects at the end of the path match. The predicate calls each of them by the variable.
        case subquery(Path, variable: String, Predicate)
        case value(Constant)
        case object(ObjectBase)
        /// What is stored of a value of a custom type.
        case members(ObjectMembers)
        case values([Expression])
        /// Of places on the earth.
        case shape(_GeoShape)
    }

    /// Property names from an object on. A collection on the way makes several values; no name at all is the object.
    struct Path: Hashable {
        var names: [String] = []
        /// The variable of a subquery that the path starts at; nil for the object that the query looks at.
        var variable: String?
        /// How many of the names lead to the first collection. Known to typed queries alone.
        var collectionLength: Int?
    }

    /// What a path asks of a map, or of the lists and maps in a value of any type, as a name behind the property's own.
    enum MapPart: Hashable {
        /// Any of its values, as of other collections.
        case values
        case keys
        /// The value of one key; null when the map does not have it.
        case entry(String)
        /// The element at a place of a list in a value of any type; null when the list does not have it.
        case index(Int)
        /// Each element of a list, or value of a map, in a value of any type.
        case each

        var place: Int? {
            if case .index(let place) = self { return place }
            return nil
        }

        var isValues: Bool {
            if case .values = self { return true }
            return false
        }

        /// `@allKeys`, `@allValues`, a bracket and a key, or a closing one and a place, or nothing.
        init?(_ name: String) {
            switch name.first {
            case "[": self = .entry(String(name.dropFirst()))
            case "]": self = Int(name.dropFirst()).map { .index($0) } ?? .each
            case "@" where name.lowercased() == "@allkeys": self = .keys
            case "@" where name.lowercased() == "@allvalues": self = .values
            default: return nil
            }
        }

        var name: String {
            switch self {
            case .values: return "@allValues"
            case .keys: return "@allKeys"
            case .entry(let key): return "[" + key
            case .index(let place): return "]\(place)"
            case .each: return "]"
            }
        }
    }

    /// A value that is the same for every object.
    struct Constant: Equatable {
        var stored: _StoredValue
        /// What the program gave, where a stored value does not tell: a date is a double. Nil when the compiler checked
        /// the type.
        var type: PropertyType?
        /// Of an object whose class only its own Realm knows: where it is.
        var link: AnyEncoding.Link?

        init(_ stored: _StoredValue, _ type: PropertyType? = nil) {
            self.stored = stored
            self.type = type
        }
    }

    /// The names that the predicate looks at, one path per operand, from the object that the query looks at.
    var paths: [[String]] { paths([:]) }

    /// - Parameter prefixes: what leads to the objects that variables stand for.
    fileprivate func paths(_ prefixes: [String: [String]]) -> [[String]] {
        switch self {
        case .constant, .tooDeep: return []
        case .comparison(let comparison): return comparison.left.paths(prefixes) + comparison.right.paths(prefixes)
        case .not(let inner): return inner.paths(prefixes)
        case .and(let parts), .or(let parts): return parts.flatMap { $0.paths(prefixes) }
        }
    }

    /// The parts that must all hold.
    var conjuncts: [Predicate] {
        if case .and(let parts) = self { return parts.flatMap(\.conjuncts) }
        return [self]
    }

    // MARK: Making

    /// - Complexity: O(log parts).
    static func both(_ a: Predicate, _ b: Predicate) -> Predicate {
        Self.and(a.parts(ofAnd: true).joined(with: b.parts(ofAnd: true))).orTooDeep
    }

    /// - Complexity: O(log parts).
    static func either(_ a: Predicate, _ b: Predicate) -> Predicate {
        Self.or(a.parts(ofAnd: false).joined(with: b.parts(ofAnd: false))).orTooDeep
    }

    static func negated(_ a: Predicate) -> Predicate {
        if case .not(let inner) = a { return inner }
        return Self.not(a).orTooDeep
    }

    /// The parts of an AND or of an OR; itself, where it is none.
    private func parts(ofAnd: Bool) -> PredicateParts {
        switch self {
        case .and(let parts) where ofAnd: return parts
        case .or(let parts) where !ofAnd: return parts
        default: return [self]
        }
    }

    private var orTooDeep: Predicate { depth > Self.deepest ? .tooDeep : self }

    /// - Throws: `invalidInput` where more conditions stand inside one another than are answered for.
    func checkDepth() throws(Realm.Error) {
        guard depth > Self.deepest else { return }
        throw Realm.Error(
            .invalidInput,
            "the query is nested deeper than \(Self.deepest) levels; simplify or split it: a chain of && or of || is "
                + "one level, however long")
    }

    /// How many parts stand inside one another.
    /// - Complexity: O(1) for what was made of parts by AND and OR.
    var depth: Int {
        switch self {
        case .constant: return 1
        case .tooDeep: return Self.deepest + 1
        case .comparison(let comparison): return 1 + max(comparison.left.depth, comparison.right.depth)
        case .not(let inner): return 1 + inner.depth
        case .and(let parts), .or(let parts): return 1 + parts.depth
        }
    }
}

extension Predicate.Expression {
    /// Whether it is the same for every object.
    var isConstant: Bool {
        switch self {
        case .value, .object, .members, .shape: return true
        case .values(let parts): return parts.allSatisfy(\.isConstant)
        case .path, .aggregate, .subquery: return false
        }
    }

    fileprivate func paths(_ prefixes: [String: [String]]) -> [[String]] {
        func whole(_ path: Predicate.Path) -> [String] {
            (path.variable.flatMap { prefixes[$0] } ?? []) + path.names.filter { Predicate.MapPart($0) == nil }
        }
        switch self {
        case .path(let path), .aggregate(let path, _): return [whole(path)]
        case .subquery(let path, let variable, let inner):
            let collection = whole(path)
            return [collection] + inner.paths(prefixes.merging([variable: collection]) { $1 })
        case .values(let parts): return parts.flatMap { $0.paths(prefixes) }
        case .value, .object, .members, .shape: return []
        }
    }

    fileprivate var depth: Int {
        switch self {
        case .subquery(_, _, let inner): return inner.depth
        case .values(let parts): return parts.map(\.depth).max() ?? 0
        default: return 0
        }
    }
}

extension Predicate.Comparator {
    /// The same with the sides exchanged; nil where there is none.
    var mirrored: Self? {
        switch self {
        case .less: return .greater
        case .lessOrEqual: return .greaterOrEqual
        case .greater: return .less
        case .greaterOrEqual: return .lessOrEqual
        case .equal, .notEqual: return self
        case .contains, .beginsWith, .endsWith, .like, .isIn, .between, .within: return nil
        }
    }

    /// As format strings spell it.
    var symbol: String {
        switch self {
        case .equal: return "=="
        case .notEqual: return "!="
        case .less: return "<"
        case .lessOrEqual: return "<="
        case .greater: return ">"
        case .greaterOrEqual: return ">="
        case .contains: return "CONTAINS"
        case .beginsWith: return "BEGINSWITH"
        case .endsWith: return "ENDSWITH"
        case .like: return "LIKE"
        case .isIn: return "IN"
        case .between: return "BETWEEN"
        case .within: return "WITHIN"
        }
    }

    var isTextual: Bool {
        switch self {
        case .contains, .beginsWith, .endsWith, .like: return true
        default: return false
        }
    }

    var isOrdering: Bool {
        switch self {
        case .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .within: return true
        default: return false
        }
    }
}
