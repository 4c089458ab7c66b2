/// A predicate whose names are resolved to columns: the input of the evaluator, the planner and the translation.
indirect enum BoundPredicate {
    case constant(Bool)
    case comparison(BoundComparison)
    case not(BoundPredicate)
    case and([BoundPredicate])
    case or([BoundPredicate])
    case located(BoundLocation)
}

/// Whether the position that an object stores lies in a shape.
struct BoundLocation {
    /// Longitude and latitude.
    let coordinates: BoundPath
    /// The object's property `type`, which must be a point.
    let type: BoundPath
    let shape: _GeoShape
}

/// A comparison whose operands are resolved, and prepared for testing many values.
struct BoundComparison {
    var left: BoundExpression
    var test: ValueTest
    var right: BoundExpression
    var quantifier: Predicate.Quantifier
    /// The test prepared for the one text or data on the right.
    var text: TextTest?
    /// For values of any type: whether a link may compare differently from null.
    let asksForLinks: Bool

    init(
        _ left: BoundExpression, _ comparator: Predicate.Comparator, _ right: BoundExpression,
        quantifier: Predicate.Quantifier, options: TextOptions, isAny: Bool
    ) {
        self.left = left
        test = ValueTest(comparator: comparator, options: options, isAny: isAny)
        self.right = right
        self.quantifier = quantifier
        asksForLinks = isAny && Self.asksForLinks(right)
        guard case .constants(let constants) = right else { return }
        if comparator == .isIn, constants.count > MemberSet.few {
            test.members = MemberSet(constants, options, left.type)
        }
        guard constants.count == 1, comparator != .between else { return }
        let comparator = comparator == .isIn ? Predicate.Comparator.equal : comparator
        switch constants[0] {
        case .text(let part): text = TextTest(comparator, Array(part.utf8), options)
        case .bytes(let part): text = TextTest(comparator, part, [])
        default: break
        }
    }

    /// This comparison, asked of the values of another path.
    func asked(of path: BoundPath) -> BoundComparison {
        var copy = self
        copy.left = .path(path)
        return copy
    }

    /// This comparison's left side, compared with `constants` by IN.
    func asked(for constants: [_StoredValue]) -> BoundComparison {
        BoundComparison(left, .isIn, .constants(constants), quantifier: quantifier, options: options, isAny: test.isAny)
    }

    func asked(_ quantifier: Predicate.Quantifier) -> BoundComparison {
        var copy = self
        copy.quantifier = quantifier
        return copy
    }

    private static func asksForLinks(_ right: BoundExpression) -> Bool {
        guard case .constants(let constants) = right else { return true }
        return constants.contains { constant in
            if case .bytes(let bytes) = constant { return bytes.first == PropertyType.object.rawValue }
            return constant.isNull
        }
    }

    var comparator: Predicate.Comparator { test.comparator }
    var options: TextOptions { test.options }
}

/// How a value is compared.
struct ValueTest: Sendable {
    let comparator: Predicate.Comparator
    let options: TextOptions
    /// Whether values compare as in ``AnyComparable``.
    let isAny: Bool
    /// For IN with many values: the operands of ``holds(_:_:)`` as a set.
    var members: MemberSet?

    /// Whether one value on the left satisfies the comparison with the operands on the right.
    func holds(_ value: _StoredValue, _ operands: [_StoredValue]) -> Bool {
        switch comparator {
        case .isIn:
            if let members {
                WorkSteps.note(1)
                return members.contains(value)
            }
            WorkSteps.note(operands.count)
            return operands.contains { holds(.equal, value, $0) }
        case .between, .within:
            let upper = comparator == .between ? Predicate.Comparator.lessOrEqual : .less
            return operands.count == 2 && holds(.greaterOrEqual, value, operands[0])
                && holds(upper, value, operands[1])
        default: return operands.contains { holds(comparator, value, $0) }
        }
    }

    private func holds(_ comparator: Predicate.Comparator, _ value: _StoredValue, _ operand: _StoredValue) -> Bool {
        isAny
            ? AnyComparable.holds(comparator, between: value, and: operand, options: options)
            : comparator.holds(value, operand, options)
    }
}

indirect enum BoundExpression {
    case path(BoundPath)
    case aggregate(BoundPath, Predicate.Aggregate)
    /// `alone` is the predicate evaluated on one of the objects at the end of the path; nil if it refers to others too.
    case subquery(BoundPath, BoundPredicate, alone: BoundPredicate?)
    case constants([_StoredValue])
    case several([BoundExpression])

    /// The type of its values, if known.
    var type: PropertyType? {
        guard case .path(let path) = self, let step = path.steps.last else { return nil }
        return step.part == .keys ? .string : step.property.tag.type
    }

    var constants: [_StoredValue]? {
        if case .constants(let values) = self { return values }
        return nil
    }
}

/// The properties along a key path, each in its class.
struct BoundPath {
    /// The object that the path starts at: 0 for the queried object, more for the variables of subqueries.
    var scope: Int
    var root: ClassAccess
    var steps: [Step]
    /// Whether a missing link counts as null. It does if the whole path has one value; ``tail`` takes the answer over.
    var missingIsNull: Bool

    struct Step {
        /// The class that the step starts at.
        let access: ClassAccess
        let property: BoundProperty
        /// The class of the objects that the step leads to.
        let target: ClassAccess?
        /// For linking objects: the column of `target` with the links.
        let originColumn: Int
        /// For a map: the part that is compared.
        var part = Predicate.MapPart.values
        /// For a value of any type: the parts of its nested lists and maps, from the outermost on.
        var inside: [Predicate.MapPart] = []

        var isMany: Bool {
            inside.contains(.each) || !isEntry && (property.tag.collection != .none || property.isLinkingObjects)
        }
        /// Whether the step is the value of one key of a map.
        var isEntry: Bool {
            if case .entry = part { return true }
            return false
        }
    }

    /// Whether there is at most one value.
    var isSingle: Bool { !steps.contains(where: \.isMany) }

    /// The path without its first step.
    var tail: BoundPath? {
        guard let first = steps.first, let target = first.target else { return nil }
        return BoundPath(
            scope: 0, root: target, steps: Array(steps.dropFirst()), missingIsNull: missingIsNull)
    }

    /// The only step, if it starts at the queried object.
    var ownStep: Step? { scope == 0 && steps.count == 1 ? steps[0] : nil }
}

extension BoundPredicate {
    var conjuncts: [BoundPredicate] {
        if case .and(let parts) = self { return parts.flatMap(\.conjuncts) }
        return [self]
    }
}
