/// Which objects a query wants. Made by ``Query`` or by the parser; knows names, not columns.
indirect enum Predicate {
    case constant(Bool)
    case comparison(Comparison)
    case not(Predicate)
    case and(Predicate, Predicate)
    case or(Predicate, Predicate)

    struct Comparison {
        /// Property names from the object itself; a list on the way makes several values.
        var path: [String]
        var quantifier = Quantifier.any
        var aggregate: Aggregate?
        var comparator: Comparator
        var value: Operand
        var ignoresCase = false
    }

    enum Quantifier { case any, all, none }
    enum Aggregate: String { case count, min, max, sum, avg }

    enum Comparator {
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
        case contains, beginsWith, endsWith, like
        /// One of several values.
        case isIn
        /// At least the first, at most the second.
        case between
    }

    enum Operand {
        case value(_StoredValue)
        case object(ObjectBase)
        case values([Operand])
        case path([String])
    }

    /// The names that the predicate looks at, one path per comparison.
    var paths: [[String]] {
        switch self {
        case .constant: return []
        case .comparison(let comparison):
            if case .path(let other) = comparison.value { return [comparison.path, other] }
            return [comparison.path]
        case .not(let inner): return inner.paths
        case .and(let a, let b), .or(let a, let b): return a.paths + b.paths
        }
    }

    /// The parts that must all hold.
    var conjuncts: [Predicate] {
        if case .and(let a, let b) = self { return a.conjuncts + b.conjuncts }
        return [self]
    }
}
