#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A node of a `#Predicate` that the database can evaluate.
///
/// A node's own type holds the types of its children, so each node is translated by itself, whatever its children are.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
protocol TranslatableExpression {
    func operand(in translation: PredicateTranslation) throws(RealmError) -> PredicateTranslation.Operand
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Variable: TranslatableExpression {
    func operand(in translation: PredicateTranslation) throws(RealmError) -> PredicateTranslation.Operand {
        guard let known = translation.bound(key) else { throw translation.refusal(self, "an unknown variable") }
        return known
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.NilLiteral: TranslatableExpression {
    func operand(in _: PredicateTranslation) -> PredicateTranslation.Operand {
        .expression(.value(.init(.null)), nil)
    }
}

// MARK: Properties

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.KeyPath: TranslatableExpression {
    func operand(in translation: PredicateTranslation) throws(RealmError) -> PredicateTranslation.Operand {
        let root = try translation.operand(root)
        if let type = Root.Output.self as? any TracedRoot.Type, case .expression(.path(var path), let quantifier) = root
        {
            guard let name = KeyPathTrace.property(type, keyPath) else {
                throw translation.refusal(self, "'\(Output.self)' of \(type.className()) is no @Persisted property")
            }
            path.names.append(name)
            return .expression(.path(path), quantifier)
        }
        let counted = Root.Output.self as? any CountedCollection.Type
        switch (root, kind) {
        case (.expression(.path(let path), nil), _) where counted?._countKeyPath == keyPath:
            return .expression(.aggregate(path, .count), nil)
        case (.expression(.path(let path), nil), _) where counted?._isEmptyKeyPath == keyPath:
            return .condition(.isZero(.aggregate(path, .count)))
        case (.expression(let text, let quantifier), .collectionIsEmpty?) where Root.Output.self is String.Type:
            return .condition(
                try translation.compare(
                    .expression(text, quantifier), .equal, .expression(.value(.init(.text(""), .string)), nil), at: self
                ))
        case (.filtered(let path, let variable, let predicate), .collectionCount?):
            return .expression(.subquery(path, variable: variable, predicate), nil)
        case (.filtered(let path, let variable, let predicate), .collectionIsEmpty?):
            return .condition(translation.counts(in: path, variable: variable, where: predicate, compared: .equal))
        default:
            throw translation.refusal(self, "a property of \(Root.Output.self)")
        }
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.ForcedUnwrap: TranslatableExpression {
    /// Nothing is unwrapped: a missing value is compared as null.
    func operand(in translation: PredicateTranslation) throws(RealmError) -> PredicateTranslation.Operand {
        try translation.operand(inner)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
    func operand(in translation: PredicateTranslation) throws(RealmError) -> PredicateTranslation.Operand {
        let value = try translation.operand(wrapped)
        guard case .expression(let expression, nil) = value else { throw translation.refusal(self) }
        let made = try translation.binding(variable.key, to: value) { () throws(RealmError) in
            try translation.operand(transform)
        }
        if case .condition(let predicate) = made { return .optionalCondition(expression, predicate) }
        return made
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.NilCoalesce: TranslatableExpression {
    func operand(in translation: PredicateTranslation) throws(RealmError) -> PredicateTranslation.Operand {
        switch try translation.operand(lhs) {
        case .expression(let value, nil): return .coalesced(value, try translation.expression(rhs))
        case .optionalCondition(let value, let predicate):
            return .condition(translation.coalesce(value, predicate, try translation.condition(rhs)))
        default: throw translation.refusal(self)
        }
    }
}

// MARK: Logic

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Conjunction: TranslatableExpression {
    func operand(in translation: PredicateTranslation) throws(RealmError) -> PredicateTranslation.Operand {
        .condition(.both(try translation.condition(lhs), try translation.condition(rhs)))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Disjunction: TranslatableExpression {
    func operand(in translation: PredicateTranslation) throws(RealmError) -> PredicateTranslation.Operand {
        .condition(.either(try translation.condition(lhs), try translation.condition(rhs)))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Negation: TranslatableExpression {
    func operand(in translation: PredicateTranslation) throws(RealmError) -> PredicateTranslation.Operand {
        .condition(.negated(try translation.condition(wrapped)))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Conditional: TranslatableExpression {
    func operand(in translation: PredicateTranslation) throws(RealmError) -> PredicateTranslation.Operand {
        let test = try translation.condition(test)
        return .condition(
            .or([
                .and([test, try translation.condition(trueBranch)]),
                .and([.negated(test), try translation.condition(falseBranch)]),
            ]))
    }
}

// MARK: Comparisons

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Equal: TranslatableExpression {
    func operand(in translation: PredicateTranslation) throws(RealmError) -> PredicateTranslation.Operand {
        .condition(
            try translation.compare(try translation.operand(lhs), .equal, try translation.operand(rhs), at: self))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.NotEqual: TranslatableExpression {
    func operand(in translation: PredicateTranslation) throws(RealmError) -> PredicateTranslation.Operand {
        .condition(
            try translation.compare(try translation.operand(lhs), .notEqual, try translation.operand(rhs), at: self))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Comparison: TranslatableExpression {
    func operand(in translation: PredicateTranslation) throws(RealmError) -> PredicateTranslation.Operand {
        let comparator: Predicate.Comparator
        switch op {
        case .lessThan: comparator = .less
        case .lessThanOrEqual: comparator = .lessOrEqual
        case .greaterThan: comparator = .greater
        case .greaterThanOrEqual: comparator = .greaterOrEqual
        @unknown default: throw translation.refusal(self)
        }
        return .condition(
            try translation.compare(try translation.operand(lhs), comparator, try translation.operand(rhs), at: self))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.ClosedRange: TranslatableExpression {
    func operand(in translation: PredicateTranslation) throws(RealmError) -> PredicateTranslation.Operand {
        .range(try translation.expression(lower), try translation.expression(upper), includesUpper: true)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Range: TranslatableExpression {
    func operand(in translation: PredicateTranslation) throws(RealmError) -> PredicateTranslation.Operand {
        .range(try translation.expression(lower), try translation.expression(upper), includesUpper: false)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Value: TranslatableExpression {
    /// Values that a property can have were evaluated before; only ranges get here.
    func operand(in translation: PredicateTranslation) throws(RealmError) -> PredicateTranslation.Operand {
        guard let range = value as? any TranslatableRange, let bounds = range.bounds else {
            throw translation.refusal(self, "a value of type \(Output.self)")
        }
        return .range(
            bounds.low.map { .value($0) }, bounds.high.map { .value($0) }, includesUpper: range.includesHighest)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.RangeExpressionContains: TranslatableExpression {
    func operand(in translation: PredicateTranslation) throws(RealmError) -> PredicateTranslation.Operand {
        guard case .range(let low, let high, let includesUpper) = try translation.operand(range),
            case .expression(let value, let quantifier) = try translation.operand(element)
        else { throw translation.refusal(self) }
        return .condition(
            translation.isBetween(value, quantifier: quantifier, from: low, to: high, includesUpper: includesUpper))
    }
}

/// Ranges of values that a property can have.
protocol TranslatableRange {
    var lowest: Any? { get }
    var highest: Any? { get }
    var includesHighest: Bool { get }
}

extension TranslatableRange {
    /// Nil for values that no property can have.
    fileprivate var bounds: (low: Predicate.Constant?, high: Predicate.Constant?)? {
        let low = lowest.flatMap { Predicate.Constant(argument: $0) }
        let high = highest.flatMap { Predicate.Constant(argument: $0) }
        return (low == nil) == (lowest == nil) && (high == nil) == (highest == nil) ? (low, high) : nil
    }
}

extension ClosedRange: TranslatableRange {
    var lowest: Any? { lowerBound }
    var highest: Any? { upperBound }
    var includesHighest: Bool { true }
}

extension Range: TranslatableRange {
    var lowest: Any? { lowerBound }
    var highest: Any? { upperBound }
    var includesHighest: Bool { false }
}

extension PartialRangeFrom: TranslatableRange {
    var lowest: Any? { lowerBound }
    var highest: Any? { nil }
    var includesHighest: Bool { true }
}

extension PartialRangeThrough: TranslatableRange {
    var lowest: Any? { nil }
    var highest: Any? { upperBound }
    var includesHighest: Bool { true }
}

extension PartialRangeUpTo: TranslatableRange {
    var lowest: Any? { nil }
    var highest: Any? { upperBound }
    var includesHighest: Bool { false }
}
