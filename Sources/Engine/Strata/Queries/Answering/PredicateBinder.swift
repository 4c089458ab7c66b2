import StrataStorage

/// Resolves the names of a predicate to columns, and checks that the operands are comparable.
struct PredicateBinder {
    /// Longer key paths are refused: each link is another query inside the one before it.
    static let longestPath = 64

    private let instance: RealmInstance
    /// The queried object, then the variables of the enclosing subqueries.
    private var scopes: [(variable: String?, access: ClassAccess)]

    /// - Throws: `invalidInput` for a property that the class does not have, and for operands that do not suit.
    static func bind(
        _ predicate: Predicate, _ instance: RealmInstance, _ access: ClassAccess
    ) throws(RealmError) -> BoundPredicate {
        try predicate.checkDepth()
        return try PredicateBinder(instance: instance, scopes: [(nil, access)]).bind(predicate)
    }

    /// - Throws: `invalidInput` for a property that the class does not have.
    static func path(
        _ names: [String], _ instance: RealmInstance, _ access: ClassAccess
    ) throws(RealmError) -> BoundPath {
        try PredicateBinder(instance: instance, scopes: [(nil, access)]).bind(Predicate.Path(names: names))
    }

    private func bind(_ predicate: Predicate) throws(RealmError) -> BoundPredicate {
        switch predicate {
        case .constant(let value): return .constant(value)
        case .tooDeep:
            try predicate.checkDepth()
            return .constant(false)
        case .not(let inner): return .not(try bind(inner))
        case .and(let parts): return .and(try bind(parts))
        case .or(let parts): return OrChain.merged(try bind(parts))
        case .comparison(let comparison):
            if let members = try MemberComparison(comparison) {
                guard case .path(let path) = comparison.left else {
                    throw RealmError(.invalidInput, "'\(comparison.left)' is not an object and has no properties")
                }
                return try bind(members.predicate(isSingle: try bind(path).isSingle))
            }
            if case .shape(let shape) = comparison.right { return try bind(comparison, within: shape) }
            return .comparison(try bind(comparison))
        }
    }

    private func bind(_ predicates: PredicateParts) throws(RealmError) -> [BoundPredicate] {
        var bound: [BoundPredicate] = []
        for predicate in predicates { bound.append(try bind(predicate)) }
        return bound
    }

    private func bind(_ written: Predicate.Comparison) throws(RealmError) -> BoundComparison {
        var comparison = written
        // Resolved once: for a query for one row, this is most of the cost.
        let (left, right) = (try path(of: comparison.left), try path(of: comparison.right))
        if comparison.comparator == .contains, !comparison.isQuantified, left?.steps.last?.isMany == true {
            // CONTAINS asks a collection for a member, not for a part of a text.
            comparison.comparator = .equal
        }
        let leftType = try type(of: comparison.left, left)
        let rightType = try type(of: comparison.right, right)
        let known = leftType ?? rightType
        let shown = comparison.left.isConstant ? comparison.right : comparison.left
        if let known { try OperandType.check(comparison.comparator, known, "\(shown)") }
        if let leftType, let rightType, !leftType.compares(with: rightType) {
            throw RealmError(
                .invalidInput,
                "'\(comparison.left)' is \(leftType) and cannot be compared with '\(comparison.right)', \(rightType)")
        }
        let isAny = leftType?.isAny == true || rightType?.isAny == true
        if isAny, let leftType, let rightType, !leftType.comparesAsAny || !rightType.comparesAsAny {
            throw RealmError(
                .invalidInput,
                "'\(comparison.left)' is \(leftType) and cannot be compared with '\(comparison.right)', \(rightType): "
                    + "values of any type are compared with constants, numbers and text")
        }
        if comparison.comparator == .between, case .values(let bounds) = comparison.right, bounds.count != 2 {
            throw RealmError(.invalidInput, "BETWEEN needs two values, a lower and an upper one")
        }
        return BoundComparison(
            try bind(comparison.left, left, as: known, shown), comparison.comparator,
            try bind(comparison.right, right, as: known, shown), quantifier: comparison.quantifier,
            options: known.map(\.isText) ?? true ? comparison.options : [], isAny: isAny)
    }

    private func path(of expression: Predicate.Expression) throws(RealmError) -> BoundPath? {
        guard case .path(let path) = expression else { return nil }
        return try bind(path)
    }

    // MARK: Operands

    private func bind(
        _ expression: Predicate.Expression, _ path: BoundPath? = nil, as type: OperandType?,
        _ other: Predicate.Expression
    ) throws(RealmError) -> BoundExpression {
        if let path { return .path(path) }
        switch expression {
        case .path(let path): return .path(try bind(path))
        case .aggregate(let path, let aggregate): return .aggregate(try bindMany(path, aggregate.rawValue), aggregate)
        case .subquery(let path, let variable, let inner):
            let bound = try bindMany(path, "count")
            guard let target = bound.steps.last?.target, bound.steps.last?.part != .keys else {
                throw RealmError(.invalidInput, "SUBQUERY needs objects; '\(expression)' has none")
            }
            var deeper = self
            deeper.scopes.append((variable, target))
            var alone: BoundPredicate?
            if let inner = inner.standing(for: variable) {
                alone = try PredicateBinder(instance: instance, scopes: [(nil, target)]).bind(inner)
            }
            return .subquery(bound, try deeper.bind(inner), alone: alone)
        case .value(let constant):
            return .constants([try type?.fitted(constant, "\(other)") ?? constant.stored])
        case .object(let object): return .constants([try link(object, type, other)])
        case .shape: throw RealmError(.invalidInput, "'\(other)' can only be compared with a shape by IN")
        case .members:
            throw RealmError(.invalidInput, "'\(other)' cannot be compared with an object that no property holds")
        case .values(let parts):
            var bound: [BoundExpression] = []
            for part in parts { bound.append(try bind(part, as: type, other)) }
            let constants = bound.compactMap(\.constants)
            return constants.count == bound.count ? .constants(constants.flatMap { $0 }) : .several(bound)
        }
    }

    /// The link to an object; to none for a deleted or unmanaged object, or one of another file.
    private func link(
        _ object: ObjectBase, _ type: OperandType?, _ other: Predicate.Expression
    ) throws(RealmError) -> _StoredValue {
        guard object._frame != nil, !object.isInvalidated else { return .link(LinkPayload.null) }
        if type?.isAny == true {
            guard object._access.instance.file.store === instance.file.store else { return .link(LinkPayload.null) }
            return AnyComparable.link(
                table: object._access.tableID.rawValue, key: object._key, creation: object._creation)
        }
        if case .link(let expected)? = type, let expected, expected.name != object._access.name {
            throw RealmError(
                .invalidInput, "'\(other)' leads to objects of '\(expected.name)', not of '\(object._access.name)'")
        }
        guard object._access.instance.file.store === instance.file.store else { return .link(LinkPayload.null) }
        return .link(object._key)
    }

    /// `location IN %@` with a shape: in a collection of objects, each is tested by itself.
    private func bind(
        _ comparison: Predicate.Comparison, within shape: _GeoShape
    ) throws(RealmError) -> BoundPredicate {
        guard comparison.comparator == .isIn, case .path(let path) = comparison.left else {
            throw RealmError(.invalidInput, "'\(comparison.left)' can only be compared with a shape by IN")
        }
        if let fault = shape.fault { throw RealmError(.invalidInput, "invalid polygon: \(fault.reason)") }
        let bound = try bind(path)
        guard bound.isSingle else {
            let inner = Predicate.Comparison(
                left: .path(Predicate.Path(variable: "$place")), comparator: .isIn, right: .shape(shape))
            return try bind(
                .comparison(
                    .counting(.comparison(inner), of: path, "$place", comparison.quantifier)))
        }
        guard let access = bound.steps.last?.target ?? (bound.steps.isEmpty ? bound.root : nil), access.isEmbedded,
            let type = access.property("type"), type.tag.type == .string, !type.isCollection,
            let coordinates = access.property("coordinates"), coordinates.tag.type == .double, coordinates.isList
        else {
            throw RealmError(
                .invalidInput,
                "'\(path)' is not a place on the earth: an embedded object with a text 'type', which is 'Point', "
                    + "and a list of doubles 'coordinates', longitude and latitude")
        }
        var (places, kinds) = (path, path)
        places.names.append("coordinates")
        kinds.names.append("type")
        let located = BoundPredicate.located(
            BoundLocation(coordinates: try bind(places), type: try bind(kinds), shape: shape))
        return comparison.quantifier == .none ? .not(located) : located
    }

    private func bindMany(_ path: Predicate.Path, _ what: String) throws(RealmError) -> BoundPath {
        let bound = try bind(path)
        guard !bound.isSingle else {
            throw RealmError(.invalidInput, "@\(what) needs a collection; '\(path)' has a single value")
        }
        return bound
    }

    // MARK: Paths

    private func bind(_ path: Predicate.Path) throws(RealmError) -> BoundPath {
        guard let scope = scopes.lastIndex(where: { $0.variable == path.variable }) else {
            throw RealmError(.invalidInput, "'\(path.variable ?? "")' is not a variable of an enclosing SUBQUERY")
        }
        var access = scopes[scope].access
        guard path.names.count <= Self.longestPath else {
            throw RealmError(
                .invalidInput,
                "a key path of \(path.names.count) names, \(path.names.prefix(4).joined(separator: "."))...: at most "
                    + "\(Self.longestPath) are followed")
        }
        var bound = BoundPath(scope: scope, root: access, steps: [], missingIsNull: true)
        var names = path.names[...]
        while let name = names.popFirst() {
            var step = name == "@links" ? try backlinks(&names, access) : try step(name, access)
            if step.property.tag.collection != .none || step.property.tag.type != .any,
                let part = names.first.flatMap(Predicate.MapPart.init)
            {
                names.removeFirst()
                guard step.property.tag.collection == .map, part != .each, part.place == nil else {
                    throw RealmError(.invalidInput, "'\(access.name).\(name)' is no map and has no keys")
                }
                step.part = part
            }
            while let part = names.first.flatMap(Predicate.MapPart.init) {
                names.removeFirst()
                guard step.property.tag.type == .any, step.property.tag.collection == .none || step.isEntry,
                    part != .keys, part != .values
                else {
                    throw RealmError(
                        .invalidInput,
                        "'\(access.name).\(name)' is not one value of any type: no place and no key of it can be asked")
                }
                step.inside.append(part)
            }
            bound.steps.append(step)
            guard !names.isEmpty else { break }
            guard let target = step.target, step.part != .keys else {
                let type = step.part == .keys ? PropertyType.string : step.property.tag.type
                throw RealmError(.invalidInput, "'\(access.name).\(name)' is \(type) and leads to no object")
            }
            access = target
        }
        bound.missingIsNull = bound.isSingle
        return bound
    }

    private func step(_ name: String, _ access: ClassAccess) throws(RealmError) -> BoundPath.Step {
        guard let property = access.property(name) else { throw Self.unknown(name, access) }
        let target = access.target(of: property)
        guard property.isLinkingObjects else {
            return BoundPath.Step(access: access, property: property, target: target, originColumn: -1)
        }
        guard let target, let origin = property.origin.flatMap({ target.property($0) }), origin.column >= 0 else {
            throw RealmError(
                .invalidInput,
                "'\(access.name).\(name)' comes from '\(property.target ?? "?").\(property.origin ?? "?")'"
                    + ", which is not there")
        }
        return BoundPath.Step(access: access, property: property, target: target, originColumn: origin.column)
    }

    /// `@links.Class.property`: the objects of a class that link here, without a property of linking objects.
    private func backlinks(
        _ names: inout ArraySlice<String>, _ access: ClassAccess
    ) throws(RealmError) -> BoundPath.Step {
        guard let className = names.popFirst(), let name = names.popFirst() else {
            throw RealmError(.invalidInput, "@links is followed by a class and its property: @links.Person.dogs")
        }
        guard let origin = instance.access(named: className, typed: access.plan != nil) else {
            throw RealmError(.invalidInput, "@links: there is no class '\(className)'")
        }
        guard let property = origin.property(name) else { throw Self.unknown(name, origin) }
        guard property.tag.type == .object, property.column >= 0, property.target == access.name else {
            throw RealmError(.invalidInput, "@links: '\(className).\(name)' does not lead to '\(access.name)'")
        }
        let inverse = BoundProperty.inverse(of: name, in: className)
        return BoundPath.Step(access: access, property: inverse, target: origin, originColumn: property.column)
    }

    /// The error for an unknown name, with similar names.
    static func unknown(_ name: String, _ access: ClassAccess) -> RealmError {
        let known = access.properties.map(\.name)
        let near = NearMatches.of(name, among: known)
        let hint =
            near.isEmpty
            ? "it has \(known.joined(separator: ", "))"
            : "did you mean \(near.map { "'\($0)'" }.joined(separator: " or "))?"
        return RealmError(.invalidInput, "'\(access.name)' has no property '\(name)'; \(hint)")
    }

    // MARK: Types

    /// The type of an operand's values; nil for constants.
    private func type(
        of expression: Predicate.Expression, _ path: BoundPath? = nil
    ) throws(RealmError) -> OperandType? {
        if let path { return OperandType(path) }
        switch expression {
        case .value, .object, .members, .shape: return nil
        case .values(let parts):
            for part in parts { if let type = try type(of: part) { return type } }
            return nil
        case .subquery: return .number
        case .aggregate(let path, let aggregate):
            if aggregate == .count { return .number }
            let type = OperandType(try bind(path))
            guard aggregate != .sum && aggregate != .avg || type.isNumber else {
                throw RealmError(.invalidInput, "@\(aggregate) needs numbers; '\(path)' is \(type)")
            }
            return aggregate == .avg ? .number : type
        case .path(let path): return OperandType(try bind(path))
        }
    }
}
