/// A comparison with an object that is not a row, as comparisons of each of its persisted properties.
///
/// Custom types may be stored as embedded objects, which have no identity that a program could refer to.
struct MemberComparison {
    private let left: Predicate.Expression
    private let objects: [Predicate.Expression]
    private let isNegated: Bool
    private let quantifier: Predicate.Quantifier

    /// Nil for a comparison without such an object.
    /// - Throws: `invalidInput` for operators other than `==`, `!=` and `IN`.
    init?(_ comparison: Predicate.Comparison) throws(RealmError) {
        switch comparison.right {
        case .members: objects = [comparison.right]
        case .values(let parts):
            guard parts.contains(where: { if case .members = $0 { true } else { false } }) else { return nil }
            objects = parts
        default: return nil
        }
        switch comparison.comparator {
        case .equal, .isIn: isNegated = false
        case .notEqual: isNegated = true
        default:
            throw RealmError(
                .invalidInput, "objects have no order: '\(comparison.left)' can be compared with ==, != and IN")
        }
        left = comparison.left
        quantifier = comparison.quantifier
    }

    /// - Parameter isSingle: whether the path leads to at most one object; of several, each is tested by itself.
    /// - Throws: `invalidInput` for objects with links or collections.
    func predicate(isSingle: Bool) throws(RealmError) -> Predicate {
        guard case .path(let path) = left else { return .constant(false) }
        if isSingle {
            let holds = try matches(path)
            return isNegated != (quantifier == .none) ? .not(holds) : holds
        }
        let variable = "$member"
        let holds = try matches(Predicate.Path(variable: variable))
        return .comparison(.counting(isNegated ? .not(holds) : holds, of: path, variable, quantifier))
    }

    /// Whether one object equals one of the given ones.
    private func matches(_ path: Predicate.Path) throws(RealmError) -> Predicate {
        var parts: [Predicate] = []
        for object in objects {
            if case .members(let members) = object {
                parts.append(.and(PredicateParts(try self.members(members, path))))
            } else {
                parts.append(.comparison(Predicate.Comparison(left: .path(path), comparator: .equal, right: object)))
            }
        }
        return parts.count == 1 ? parts[0] : .or(PredicateParts(parts))
    }

    private func members(_ members: ObjectMembers, _ path: Predicate.Path) throws(RealmError) -> [Predicate] {
        if let refusal = members.refusal { throw RealmError(.invalidInput, refusal) }
        var parts: [Predicate] = []
        // An object whose values are all null still differs from a missing object.
        if !path.names.isEmpty {
            parts.append(
                .comparison(
                    Predicate.Comparison(left: .path(path), comparator: .notEqual, right: .value(.init(.null)))))
        }
        for (names, value) in members.values {
            var member = path
            member.names += names
            parts.append(.comparison(Predicate.Comparison(left: .path(member), comparator: .equal, right: value)))
        }
        return parts
    }
}

extension Predicate.Comparison {
    /// Whether a condition on each object of a path holds for any, for all or for none.
    static func counting(
        _ condition: Predicate, of path: Predicate.Path, _ variable: String, _ quantifier: Predicate.Quantifier
    ) -> Predicate.Comparison {
        Predicate.Comparison(
            left: .subquery(path, variable: variable, quantifier == .all ? .negated(condition) : condition),
            comparator: quantifier == .any ? .greater : .equal, right: .value(.init(.integer(0), .int)))
    }
}

/// The persisted properties of an unmanaged object, and of those embedded in it, as constants.
struct ObjectMembers {
    let className: String
    private(set) var values: [(names: [String], value: Predicate.Expression)] = []
    /// Why objects of the class cannot be compared this way.
    private(set) var refusal: String?

    init(_ object: ObjectBase) {
        className = type(of: object).className()
        add(object, [])
    }

    private mutating func add(_ object: ObjectBase, _ names: [String]) {
        let owner = type(of: object).className()
        guard names.count < PredicateBinder.longestPath else {
            refusal =
                "objects with more than \(PredicateBinder.longestPath) embedded ones inside one another are not "
                + "compared by their properties"
            return
        }
        for field in ClassPlan.plan(for: type(of: object)).fields {
            guard field.shape.collection == .none, field.shape.type != .linkingObjects else {
                refusal = "'\(owner).\(field.name)' is a collection, by which objects are not compared"
                return
            }
            if let target = field.shape.objectType, !(target is EmbeddedObject.Type) {
                refusal = "'\(owner).\(field.name)' is a link, by which objects are not compared"
                return
            }
            let value = _flatten(object[field.name])
            if let embedded = value as? EmbeddedObject {
                add(embedded, names + [field.name])
            } else if let constant = PredicateParser.value(value) {
                values.append((names + [field.name], constant))
            } else {
                refusal = "'\(owner).\(field.name)' has a value that no query can compare"
            }
        }
    }
}
