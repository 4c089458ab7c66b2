/// The condition of a query. Made by ``Query`` or by the parser; it holds names, not columns.
indirect enum Predicate {
    case constant(Bool)
    case comparison(Comparison)
    case not(Predicate)
    /// Holds if all parts do, and if there are none.
    case and(PredicateParts)
    /// Holds if one part does.
    case or(PredicateParts)
    /// A condition nested deeper than ``deepest``. Its parts are dropped, so that no release recurses deep enough to
    /// overflow the stack; binding it throws the error.
    case tooDeep

    /// Deeper conditions are refused: evaluating one takes stack for each level.
    static let deepest = 200

    struct Comparison {
        var left: Expression
        var comparator: Comparator
        var right: Expression
        /// How many of the values of `left` must match.
        var quantifier = Quantifier.any
        /// Whether the quantifier was written. Without it, `tags CONTAINS 'x'` means membership, with it a part of a
        /// member.
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
        /// At least the first, less than the second. Formats cannot express it.
        case within
    }

    /// One side of a comparison.
    indirect enum Expression {
        case path(Path)
        case aggregate(Path, Aggregate)
        /// How many objects at the end of the path match. The predicate refers to each of them by the variable.
        case subquery(Path, variable: String, Predicate)
        case value(Constant)
        case object(ObjectBase)
        /// The stored form of a value of a custom type.
        case members(ObjectMembers)
        case values([Expression])
        /// An area on the earth.
        case shape(_GeoShape)
    }

    /// Property names, starting at an object. A collection in the path makes several values; an empty path is the
    /// object.
    struct Path: Hashable {
        var names: [String] = []
        /// The variable of a subquery that the path starts at; nil for the queried object.
        var variable: String?
        /// How many of the names lead to the first collection. Set only by typed queries.
        var collectionLength: Int?
    }

    /// The part of a map, or of the nested lists and maps of a value of any type, written as a name behind the
    /// property's.
    enum MapPart: Hashable {
        /// Any of its values, as for other collections.
        case values
        case keys
        /// The value of one key; null if the map does not have it.
        case entry(String)
        /// The element at an index of a list in a value of any type; null if the list does not have it.
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

        /// `@allKeys`, `@allValues`, `[` and a key, or `]` and an index or nothing.
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
        /// The type of the argument, if a stored value does not tell: a date is stored as a double. Nil if the compiler
        /// checked the type.
        var type: PropertyType?
        /// For an object: its whole identity, by which values of any type are compared.
        var link: AnyEncoding.Link?

        init(_ stored: _StoredValue, _ type: PropertyType? = nil) {
            self.stored = stored
            self.type = type
        }
    }

    /// The names that the predicate refers to, one path per operand, from the queried object.
    var paths: [[String]] { paths([:]) }

    /// - Parameter prefixes: the paths to the objects that variables stand for.
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

    /// The parts of an AND or of an OR; the predicate itself if it is neither.
    private func parts(ofAnd: Bool) -> PredicateParts {
        switch self {
        case .and(let parts) where ofAnd: return parts
        case .or(let parts) where !ofAnd: return parts
        default: return [self]
        }
    }

    private var orTooDeep: Predicate { depth > Self.deepest ? .tooDeep : self }

    /// - Throws: `invalidInput` if conditions are nested deeper than allowed.
    func checkDepth() throws(RealmError) {
        guard depth > Self.deepest else { return }
        throw RealmError(
            .invalidInput,
            "the query is nested deeper than \(Self.deepest) levels; simplify or split it: a chain of && or of || is "
                + "one level, however long")
    }

    /// Nesting depth.
    /// - Complexity: O(1) if made of parts by AND and OR.
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
    /// The comparator for exchanged sides; nil if there is none.
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

    /// In the spelling of format strings.
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
