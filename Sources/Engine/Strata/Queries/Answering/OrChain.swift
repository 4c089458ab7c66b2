/// Merges equalities of one property in a disjunction: `a == 1 OR a == 2` becomes `a IN {1, 2}`, which an index or a
/// set answers without a pass for each.
struct OrChain {
    private var parts: [BoundPredicate] = []
    /// The place of a property's comparison in `parts`, and its constants.
    private var places: [Subject: Int] = [:]
    private var values: [Int: [_StoredValue]] = [:]

    private struct Subject: Hashable {
        let path: BoundPath.Identity
        let options: TextOptions
        let isAny: Bool
    }

    /// The disjunction of `parts`.
    /// - Complexity: O(parts and their constants).
    static func merged(_ parts: [BoundPredicate]) -> BoundPredicate {
        var chain = OrChain()
        for part in parts { chain.append(part) }
        return chain.predicate
    }

    private mutating func append(_ part: BoundPredicate) {
        if case .or(let inner) = part {
            for part in inner { append(part) }
            return
        }
        guard case .comparison(let comparison) = part, comparison.quantifier == .any,
            comparison.comparator == .equal || comparison.comparator == .isIn,
            case .path(let path) = comparison.left, let constants = comparison.right.constants
        else { return parts.append(part) }
        let subject = Subject(path: path.identity, options: comparison.options, isAny: comparison.test.isAny)
        if let place = places[subject] {
            values[place, default: []] += constants
        } else {
            places[subject] = parts.count
            values[parts.count] = constants
            parts.append(part)
        }
    }

    private var predicate: BoundPredicate {
        var merged = parts
        for (place, values) in values {
            guard case .comparison(let comparison) = parts[place], let known = comparison.right.constants,
                values.count > known.count
            else { continue }
            merged[place] = .comparison(comparison.asked(for: values))
        }
        return merged.count == 1 ? merged[0] : .or(merged)
    }
}

extension BoundPath {
    /// Equal for two paths that lead to the same values.
    struct Identity: Hashable {
        fileprivate struct Step: Hashable {
            let access: ObjectIdentifier
            let name: String
            let part: Predicate.MapPart
            let inside: [Predicate.MapPart]
        }

        fileprivate let scope: Int
        fileprivate let missingIsNull: Bool
        fileprivate let steps: [Step]
    }

    var identity: Identity {
        Identity(
            scope: scope, missingIsNull: missingIsNull,
            steps: steps.map {
                Identity.Step(
                    access: ObjectIdentifier($0.access), name: $0.property.name, part: $0.part, inside: $0.inside)
            })
    }
}
