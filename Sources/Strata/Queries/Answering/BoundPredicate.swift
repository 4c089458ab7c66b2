/// A predicate whose names were followed to columns: what the evaluator, the planner and the translation work on.
indirect enum BoundPredicate {
    case constant(Bool)
    case comparison(BoundComparison)
    case not(BoundPredicate)
    case and([BoundPredicate])
    case or([BoundPredicate])
    case located(BoundLocation)
}

/// Whether the place that an object stands for lies in a shape.
struct BoundLocation {
    /// Longitude and latitude.
    let coordinates: BoundPath
    /// What the object says that it is.
    let type: BoundPath
    let shape: _GeoShape
}

struct BoundComparison {
    var left: BoundExpression
    var test: ValueTest
    var right: BoundExpression
    var quantifier: Predicate.Quantifier
    /// The comparison with the one text or data on the right, made ready.
    var text: TextTest?
    /// Of values of any type, whether the answer for a link may be another than that for none.
    let asksForLinks: Bool

    init(
        _ left: BoundExpression, _ comparator: Predicate.Comparator, _ right: BoundExpression,
        _ quantifier: Predicate.Quantifier, _ options: TextOptions, isAny: Bool
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

    /// The same question to the values of another path.
    func asked(of path: BoundPath) -> BoundComparison {
        var copy = self
        copy.left = .path(path)
        return copy
    }

    /// Whether a value is one of others.
    func asked(for constants: [_StoredValue]) -> BoundComparison {
        BoundComparison(left, .isIn, .constants(constants), quantifier, options, isAny: test.isAny)
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
    /// Whether values are those of ``AnyComparable``.
    let isAny: Bool
    /// For IN with many values, the same ones that ``holds(_:_:)`` is handed.
    var members: MemberSet?

    /// Whether one value on the left stands to those on the right as it should.
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
        isAny ? AnyComparable.holds(comparator, value, operand, options) : comparator.holds(value, operand, options)
    }
}

indirect enum BoundExpression {
    case path(BoundPath)
    case aggregate(BoundPath, Predicate.Aggregate)
    /// `alone` is the predicate as one of the objects at the end of the path; nil when it looks at others too.
    case subquery(BoundPath, BoundPredicate, alone: BoundPredicate?)
    case constants([_StoredValue])
    case several([BoundExpression])

    /// What its values are, where that is known.
    var type: PropertyType? {
        guard case .path(let path) = self, let step = path.steps.last else { return nil }
        return step.part == .keys ? .string : step.property.tag.type
    }

    var constants: [_StoredValue]? {
        if case .constants(let values) = self { return values }
        return nil
    }
}

/// The properties on the way, each in the class that has it.
struct BoundPath {
    /// The object that it starts at: 0 for the one that the query looks at, more for variables of subqueries.
    var scope: Int
    var root: ClassAccess
    var steps: [Step]
    /// Whether a missing link on the way counts as null: where the whole path, as it was written, has one value.
    var missingIsNull: Bool

    struct Step {
        /// The class that the step starts at.
        let access: ClassAccess
        let property: BoundProperty
        /// The class of the objects that it leads to.
        let target: ClassAccess?
        /// For linking objects: the column of `target` that leads here.
        let originColumn: Int
        /// Of a map, what is asked of it.
        var part = Predicate.MapPart.values
        /// Of a value of any type, what is asked of the lists and maps in it, from the outermost on.
        var inside: [Predicate.MapPart] = []

        var isMany: Bool {
            inside.contains(.each) || !isEntry && (property.tag.collection != .none || property.isLinkingObjects)
        }
        /// Whether it is the value of one key of a map.
        var isEntry: Bool {
            if case .entry = part { return true }
            return false
        }
    }

    /// Whether there is at most one value.
    var isSingle: Bool { !steps.contains(where: \.isMany) }

    /// What is left after the first step.
    var tail: BoundPath? {
        guard let first = steps.first, let target = first.target else { return nil }
        return BoundPath(
            scope: 0, root: target, steps: Array(steps.dropFirst()), missingIsNull: missingIsNull)
    }

    /// The only step, when it starts at the object that the query looks at.
    var ownStep: Step? { scope == 0 && steps.count == 1 ? steps[0] : nil }
}

extension BoundPredicate {
    var conjuncts: [BoundPredicate] {
        if case .and(let parts) = self { return parts.flatMap(\.conjuncts) }
        return [self]
    }
}
