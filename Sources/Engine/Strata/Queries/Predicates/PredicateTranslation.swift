#if canImport(FoundationEssentials)
    import FoundationEssentials

    /// The type that the macro `#Predicate` makes, which the module's own ``Predicate`` hides.
    public typealias _MacroPredicate<Element> = FoundationEssentials.Predicate<Element>
#else
    import Foundation

    /// The type that the macro `#Predicate` makes, which the module's own ``Predicate`` hides.
    public typealias _MacroPredicate<Element> = Foundation.Predicate<Element>
#endif

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension RealmCollection where Element: ObjectBase {
    /// The objects that match a Foundation predicate.
    ///
    ///     let name = "Ta"
    ///     try people.where(#Predicate<Person> { $0.age > 3 && $0.name.contains(name) })
    ///
    /// The predicate means the same as the typed condition: text is compared by its bytes, and null is less than no
    /// value. The macro cannot capture objects; compare their keys.
    /// - Throws: ``Realm/Error`` with `invalidInput` for a part that the database cannot evaluate, such as a method of
    ///   the program's own or arithmetic with a property; the message shows the part.
    public func `where`(_ predicate: _MacroPredicate<Element>) throws(RealmError) -> Results<Element> {
        try matching(PredicateTranslation().predicate(predicate))
    }

    /// `where(_:)` under the name of Foundation's own method for sequences.
    public func filter(_ predicate: _MacroPredicate<Element>) throws(RealmError) -> Results<Element> {
        try `where`(predicate)
    }
}

/// Translates the tree of a `#Predicate` to a ``Predicate``.
///
/// A node without a variable is evaluated at once. Every other kind of node defines its own translation, see
/// ``TranslatableExpression``.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
final class PredicateTranslation {
    /// The translation of a node.
    indirect enum Operand {
        case expression(Predicate.Expression, Predicate.Quantifier?)
        case condition(Predicate)
        /// `value ?? other`
        case coalesced(Predicate.Expression, Predicate.Expression)
        /// An optional value, and a condition on it: nil if the value is missing.
        case optionalCondition(Predicate.Expression, Predicate)
        /// The matching objects of a collection.
        case filtered(Predicate.Path, variable: String, Predicate)
        /// A lower bound, an upper bound, or both.
        case range(Predicate.Expression?, Predicate.Expression?, includesUpper: Bool)
    }

    private var bindings: [PredicateExpressions.VariableID: Operand] = [:]
    private var variables = 0

    func predicate<Element>(_ predicate: _MacroPredicate<Element>) throws(RealmError) -> Predicate {
        bindings[predicate.variable.key] = .expression(.path(Predicate.Path()), nil)
        return try condition(predicate.expression)
    }

    // MARK: Nodes

    func operand(_ node: some PredicateExpression) throws(RealmError) -> Operand {
        if let constant = constant(node) { return .expression(constant, nil) }
        guard let known = node as? any TranslatableExpression else { throw refusal(node) }
        return try known.operand(in: self)
    }

    /// The value of a node without variables.
    private func constant(_ node: some PredicateExpression) -> Predicate.Expression? {
        do {
            let value = try node.evaluate(PredicateBindings())
            // A range is a sequence too, and may be infinite.
            return value is any TranslatableRange ? nil : PredicateParser.value(value)
        } catch {
            return nil
        }
    }

    func condition(_ node: some PredicateExpression) throws(RealmError) -> Predicate {
        switch try operand(node) {
        case .condition(let predicate): return predicate
        case .expression(.value(let constant), _):
            guard case .integer(let value) = constant.stored, constant.type == .bool else { throw refusal(node) }
            return .constant(value != 0)
        case .expression(let expression, let quantifier):
            return comparison(expression, .equal, .value(.init(.integer(1), .bool)), quantifier: quantifier)
        case .coalesced(let value, let other):
            return try compare(
                .coalesced(value, other), .equal, .expression(.value(.init(.integer(1), .bool)), nil), at: node)
        case .optionalCondition, .filtered, .range: throw refusal(node)
        }
    }

    func expression(_ node: some PredicateExpression) throws(RealmError) -> Predicate.Expression {
        guard case .expression(let expression, nil) = try operand(node) else { throw refusal(node) }
        return expression
    }

    func path(_ node: some PredicateExpression) throws(RealmError) -> Predicate.Path {
        guard case .expression(.path(let path), _) = try operand(node) else { throw refusal(node) }
        return path
    }

    func refusal(_ node: some PredicateExpression, _ reason: String? = nil) -> RealmError {
        let kind = "\(type(of: node))".prefix { $0 != "<" }
        return RealmError(
            .invalidInput,
            "the database cannot answer this part of a #Predicate: \(reason ?? String(kind)), in \(node); ask with "
                + "where { }, or filter the objects in memory")
    }

    // MARK: Variables

    func bound(_ variable: PredicateExpressions.VariableID) -> Operand? { bindings[variable] }

    /// Runs `body` with a variable bound to a value.
    func binding<Value>(
        _ variable: PredicateExpressions.VariableID, to operand: Operand,
        _ body: () throws(RealmError) -> Value
    ) throws(RealmError) -> Value {
        bindings[variable] = operand
        defer { bindings[variable] = nil }
        return try body()
    }

    /// Translates a condition on the objects of a collection.
    func subquery(
        _ variable: PredicateExpressions.VariableID, _ test: some PredicateExpression
    ) throws(RealmError) -> (variable: String, predicate: Predicate) {
        variables += 1
        let name = "$\(variables)"
        let predicate = try binding(variable, to: .expression(.path(Predicate.Path(variable: name)), nil)) {
            () throws(RealmError) in try condition(test)
        }
        return (name, predicate)
    }

    /// Translates a condition on plain values: one comparison, which applies to the collection itself.
    func quantified(
        _ quantifier: Predicate.Quantifier, over path: Predicate.Path,
        binding variable: PredicateExpressions.VariableID,
        test: some PredicateExpression
    ) throws(RealmError) -> Predicate {
        let predicate = try binding(variable, to: .expression(.path(path), quantifier)) { () throws(RealmError) in
            try condition(test)
        }
        guard case .comparison(let comparison) = predicate, comparison.isQuantified else {
            throw refusal(test, "more than one comparison of plain values")
        }
        return predicate
    }

    // MARK: Comparisons

    private func comparison(
        _ left: Predicate.Expression, _ comparator: Predicate.Comparator, _ right: Predicate.Expression,
        quantifier: Predicate.Quantifier?
    ) -> Predicate {
        var comparison = Predicate.Comparison(left: left, comparator: comparator, right: right)
        comparison.quantifier = quantifier ?? .any
        comparison.isQuantified = quantifier != nil
        return .comparison(comparison)
    }

    func compare(
        _ left: Operand, _ comparator: Predicate.Comparator, _ right: Operand, at node: some PredicateExpression
    ) throws(RealmError) -> Predicate {
        switch (left, right) {
        case (.expression(let a, let quantifier), .expression(let b, let other)):
            if a.isConstant {
                guard let mirrored = comparator.mirrored, !b.isConstant else { throw refusal(node) }
                return comparison(b, mirrored, a, quantifier: other)
            }
            if other != nil && quantifier != nil { throw refusal(node) }
            if other != nil {
                guard let mirrored = comparator.mirrored else { throw refusal(node) }
                return comparison(b, mirrored, a, quantifier: other)
            }
            return comparison(a, comparator, b, quantifier: quantifier)
        case (.coalesced(let value, .value(let fallback)), .expression(.value(let constant), _)):
            // For a missing value, the fallback is compared.
            let holds = ValueTest(comparator: comparator, options: [], isAny: false).holds(
                fallback.stored, [constant.stored])
            let compared = comparison(value, comparator, .value(constant), quantifier: nil)
            let isNull = comparison(value, .equal, .value(.init(.null)), quantifier: nil)
            return holds ? .or([isNull, compared]) : .and([.not(isNull), compared])
        case (.expression(.value, _), .coalesced):
            guard let mirrored = comparator.mirrored else { throw refusal(node) }
            return try compare(right, mirrored, left, at: node)
        case (.condition(let predicate), .expression(.value(let constant), _)):
            return try compare(predicate, comparator, constant, at: node)
        case (.optionalCondition(let value, let predicate), .expression(.value(let constant), _)):
            let isNull = comparison(value, .equal, .value(.init(.null)), quantifier: nil)
            if comparator == .notEqual { return .not(try compare(left, .equal, right, at: node)) }
            if constant.stored.isNull, comparator == .equal { return isNull }
            return .and([.not(isNull), try compare(predicate, comparator, constant, at: node)])
        case (.expression(.value, _), .condition), (.expression(.value, _), .optionalCondition):
            guard comparator == .equal || comparator == .notEqual else { throw refusal(node) }
            return try compare(right, comparator, left, at: node)
        default: throw refusal(node)
        }
    }

    /// A condition compared with true or false.
    private func compare(
        _ predicate: Predicate, _ comparator: Predicate.Comparator, _ constant: Predicate.Constant,
        at node: some PredicateExpression
    ) throws(RealmError) -> Predicate {
        guard constant.type == .bool, comparator == .equal || comparator == .notEqual else { throw refusal(node) }
        let wanted = (constant.stored == .integer(1)) == (comparator == .equal)
        return wanted ? predicate : .not(predicate)
    }

    /// `a ?? b` if `a` is a condition on an optional value.
    func coalesce(_ value: Predicate.Expression, _ predicate: Predicate, _ otherwise: Predicate) -> Predicate {
        let isNull = comparison(value, .equal, .value(.init(.null)), quantifier: nil)
        return .or([.and([.not(isNull), predicate]), .and([isNull, otherwise])])
    }

    func isBetween(
        _ value: Predicate.Expression, quantifier: Predicate.Quantifier?, from low: Predicate.Expression?,
        to high: Predicate.Expression?, includesUpper: Bool
    ) -> Predicate {
        switch (low, high) {
        case (let low?, let high?):
            return comparison(value, includesUpper ? .between : .within, .values([low, high]), quantifier: quantifier)
        case (let low?, nil): return comparison(value, .greaterOrEqual, low, quantifier: quantifier)
        case (nil, let high?):
            return comparison(value, includesUpper ? .lessOrEqual : .less, high, quantifier: quantifier)
        case (nil, nil): return .constant(true)
        }
    }

    func isIn(
        _ value: Predicate.Expression, _ quantifier: Predicate.Quantifier?, _ values: [Predicate.Expression]
    ) -> Predicate { comparison(value, .isIn, .values(values), quantifier: quantifier) }

    func counts(
        in path: Predicate.Path, variable: String, where predicate: Predicate, compared comparator: Predicate.Comparator
    ) -> Predicate {
        comparison(
            .subquery(path, variable: variable, predicate), comparator, .value(.init(.integer(0), .int)),
            quantifier: nil)
    }

    func test(
        _ value: Operand, _ comparator: Predicate.Comparator, _ part: Operand, at node: some PredicateExpression
    ) throws(RealmError) -> Predicate {
        guard case .expression(let value, let quantifier) = value, case .expression(let part, nil) = part,
            !value.isConstant
        else { throw refusal(node) }
        return comparison(value, comparator, part, quantifier: quantifier)
    }
}
