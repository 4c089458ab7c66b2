#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

// Nodes of a `#Predicate` for texts and collections.

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.CollectionContainsCollection: TranslatableExpression {
    func operand(in translation: PredicateTranslation) throws(RealmError) -> PredicateTranslation.Operand {
        guard Base.Output.self is String.Type else {
            throw translation.refusal(self, "whether \(Base.Output.self) has a part")
        }
        return .condition(
            try translation.test(
                try translation.operand(base), .contains, try translation.operand(other), at: self))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.SequenceStartsWith: TranslatableExpression {
    func operand(in translation: PredicateTranslation) throws(RealmError) -> PredicateTranslation.Operand {
        guard Base.Output.self is String.Type else {
            throw translation.refusal(self, "how \(Base.Output.self) starts")
        }
        return .condition(
            try translation.test(
                try translation.operand(base), .beginsWith, try translation.operand(prefix), at: self))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.SequenceContains: TranslatableExpression {
    func operand(in translation: PredicateTranslation) throws(RealmError) -> PredicateTranslation.Operand {
        let sequence = try translation.operand(sequence)
        let element = try translation.operand(element)
        switch (sequence, element) {
        case (.range(let low, let high, let includesUpper), .expression(let value, let quantifier)):
            return .condition(
                translation.isBetween(value, quantifier: quantifier, from: low, to: high, includesUpper: includesUpper))
        case (.expression(.values(let values), _), .expression(let value, let quantifier)):
            return .condition(translation.isIn(value, quantifier, values))
        case (.expression(.path, nil), .expression(let value, nil)) where value.isConstant:
            return .condition(try translation.compare(sequence, .equal, element, at: self))
        default: throw translation.refusal(self)
        }
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.SequenceContainsWhere: TranslatableExpression {
    func operand(in translation: PredicateTranslation) throws(RealmError) -> PredicateTranslation.Operand {
        let path = try translation.path(sequence)
        guard LHS.Output.Element.self is ObjectBase.Type else {
            return .condition(try translation.quantified(.any, over: path, binding: variable.key, test: test))
        }
        let inner = try translation.subquery(variable.key, test)
        return .condition(
            translation.counts(in: path, variable: inner.variable, where: inner.predicate, compared: .greater))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.SequenceAllSatisfy: TranslatableExpression {
    func operand(in translation: PredicateTranslation) throws(RealmError) -> PredicateTranslation.Operand {
        let path = try translation.path(sequence)
        guard LHS.Output.Element.self is ObjectBase.Type else {
            return .condition(try translation.quantified(.all, over: path, binding: variable.key, test: test))
        }
        let inner = try translation.subquery(variable.key, test)
        return .condition(
            translation.counts(in: path, variable: inner.variable, where: .negated(inner.predicate), compared: .equal))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Filter: TranslatableExpression {
    func operand(in translation: PredicateTranslation) throws(RealmError) -> PredicateTranslation.Operand {
        let path = try translation.path(sequence)
        guard LHS.Output.Element.self is ObjectBase.Type else {
            throw translation.refusal(self, "plain values that match")
        }
        let inner = try translation.subquery(variable.key, filter)
        return .filtered(path, variable: inner.variable, inner.predicate)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.SequenceMinimum: TranslatableExpression {
    func operand(in translation: PredicateTranslation) throws(RealmError) -> PredicateTranslation.Operand {
        .expression(.aggregate(try translation.path(elements), .min), nil)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.SequenceMaximum: TranslatableExpression {
    func operand(in translation: PredicateTranslation) throws(RealmError) -> PredicateTranslation.Operand {
        .expression(.aggregate(try translation.path(elements), .max), nil)
    }
}

extension Predicate {
    /// Whether a number of objects is zero.
    static func isZero(_ count: Expression) -> Predicate {
        .comparison(Comparison(left: count, comparator: .equal, right: .value(.init(.integer(0), .int))))
    }
}

/// Collections whose count a `#Predicate` may use. Foundation exposes these key paths only for its own collections.
protocol CountedCollection {
    static var _countKeyPath: AnyKeyPath { get }
    static var _isEmptyKeyPath: AnyKeyPath { get }
}

extension List: CountedCollection {
    static var _countKeyPath: AnyKeyPath { \List<Element>.count }
    static var _isEmptyKeyPath: AnyKeyPath { \List<Element>.isEmpty }
}

extension MutableSet: CountedCollection {
    static var _countKeyPath: AnyKeyPath { \MutableSet<Element>.count }
    static var _isEmptyKeyPath: AnyKeyPath { \MutableSet<Element>.isEmpty }
}

extension LinkingObjects: CountedCollection {
    static var _countKeyPath: AnyKeyPath { \LinkingObjects<Element>.count }
    static var _isEmptyKeyPath: AnyKeyPath { \LinkingObjects<Element>.isEmpty }
}

extension Map: CountedCollection {
    static var _countKeyPath: AnyKeyPath { \Map<Key, Value>.count }
    static var _isEmptyKeyPath: AnyKeyPath { \Map<Key, Value>.isEmpty }
}
