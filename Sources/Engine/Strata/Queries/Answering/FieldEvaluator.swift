import StrataStorage

/// Evaluates a predicate on an unmanaged object, by reading its fields.
///
/// A condition means the same as in a Realm. There are no tables to check it against before the first object, so an
/// error is thrown with the first object that it does not suit.
struct FieldEvaluator {
    private enum Value {
        case plain(_StoredValue, PropertyType?)
        /// Of a property of any type.
        case any(_StoredValue, PropertyType?)
        case object(ObjectBase)
    }

    /// The evaluated object, under "", and the objects that variables of subqueries stand for.
    private var scope: [String: ObjectBase]

    /// - Throws: `invalidInput` for an unknown property, and for what only a Realm can answer.
    static func matches(_ predicate: Predicate, _ object: ObjectBase) throws(RealmError) -> Bool {
        try predicate.checkDepth()
        return try FieldEvaluator(scope: ["": object]).holds(predicate)
    }

    private func holds(_ predicate: Predicate) throws(RealmError) -> Bool {
        switch predicate {
        case .constant(let value): return value
        case .tooDeep: return false
        case .not(let inner): return try !holds(inner)
        case .and(let parts):
            for part in parts where try !holds(part) { return false }
            return true
        case .or(let parts):
            for part in parts where try holds(part) { return true }
            return false
        case .comparison(let comparison): return try holds(comparison)
        }
    }

    private func holds(_ written: Predicate.Comparison) throws(RealmError) -> Bool {
        var comparison = written
        if case .path(let path) = comparison.left {
            let isSingle = try self.isSingle(path)
            if let members = try MemberComparison(comparison) {
                return try holds(members.predicate(isSingle: isSingle))
            }
            if comparison.comparator == .contains, !comparison.isQuantified, !isSingle {
                comparison.comparator = .equal
            }
        }
        let operands = try values(comparison.right)
        for value in try values(comparison.left) {
            let holds = try holds(comparison, value, operands)
            if comparison.quantifier == .all ? !holds : holds { return comparison.quantifier == .any }
        }
        return comparison.quantifier != .any
    }

    /// Whether one value on the left satisfies the comparison with the operands on the right.
    private func holds(
        _ comparison: Predicate.Comparison, _ value: Value, _ operands: [Value]
    ) throws(RealmError) -> Bool {
        if case .object(let object) = value {
            let isThere = operands.contains { operand in
                if case .object(let other) = operand { return object === other || object.isSameRow(as: other) }
                return false
            }
            switch comparison.comparator {
            case .equal, .isIn: return isThere
            case .notEqual: return !isThere
            default:
                throw RealmError(
                    .invalidInput, "objects have no order: '\(comparison.left)' can be compared with ==, != and IN")
            }
        }
        var isAny = false
        for case .any in [value] + operands { isAny = true }
        let test = ValueTest(comparator: comparison.comparator, options: comparison.options, isAny: isAny)
        return test.holds(stored(value, asAny: isAny), operands.map { stored($0, asAny: isAny) })
    }

    /// An object that is compared with plain values equals none of them, not even null.
    private func stored(_ value: Value, asAny: Bool) -> _StoredValue {
        switch value {
        case .plain(let value, let type), .any(let value, let type):
            return asAny ? AnyComparable.value(value, type) : value
        case .object: return .link(LinkPayload.null)
        }
    }

    // MARK: Operands

    private func values(_ expression: Predicate.Expression) throws(RealmError) -> [Value] {
        switch expression {
        case .path(let path): return try values(path)
        case .aggregate(let path, let aggregate):
            let found = try values(path)
            if aggregate == .count { return [.plain(.integer(Int64(found.count)), .int)] }
            return [.plain(aggregate.of(found.map { stored($0, asAny: false) }), nil)]
        case .subquery(let path, let variable, let inner):
            var count: Int64 = 0
            for case .object(let object) in try values(path) {
                var deeper = self
                deeper.scope[variable] = object
                if try deeper.holds(inner) { count += 1 }
            }
            return [.plain(.integer(count), .int)]
        case .value(let constant) where constant.type == .any:
            throw RealmError(.invalidInput, "a list or a dictionary cannot be compared; compare its elements")
        case .value(let constant): return [.plain(constant.stored, constant.type)]
        case .object(let object): return [.object(object)]
        case .values(let parts):
            var all: [Value] = []
            for part in parts { all += try values(part) }
            return all
        case .members, .shape:
            throw RealmError(.invalidInput, "'\(expression)' can only be queried in a Realm")
        }
    }

    private func values(_ path: Predicate.Path) throws(RealmError) -> [Value] {
        guard let start = scope[path.variable ?? ""] else {
            throw RealmError(.invalidInput, "'\(path.variable ?? "")' is not a variable of an enclosing SUBQUERY")
        }
        return try follow(path.names[...], start, isSingle: try isSingle(path))
    }

    private func isSingle(_ path: Predicate.Path) throws(RealmError) -> Bool {
        guard let start = scope[path.variable ?? ""] else { return true }
        var plan: ClassPlan? = ClassPlan.plan(for: type(of: start))
        for (place, name) in path.names.enumerated() where Predicate.MapPart(name) == nil {
            guard let field = plan?.field(named: name) else { return true }
            if field.shape.type == .any {
                let inside = path.names[(place + 1)...].compactMap { Predicate.MapPart($0) }
                if inside.contains(.each) { return false }
            }
            let part = place + 1 < path.names.count ? Predicate.MapPart(path.names[place + 1]) : nil
            if case .entry? = part {
            } else if field.shape.collection != .none || field.shape.type == .linkingObjects {
                return false
            }
            plan = field.shape.objectType.map { ClassPlan.plan(for: $0) }
        }
        return true
    }

    /// The values at the end of a path of names from an object. A missing link counts as null if the path has one
    /// value.
    private func follow(
        _ names: ArraySlice<String>, _ object: ObjectBase, isSingle: Bool
    ) throws(RealmError) -> [Value] {
        guard let name = names.first else { return [.object(object)] }
        let plan = ClassPlan.plan(for: type(of: object))
        guard let field = plan.field(named: name) else {
            throw RealmError(
                .invalidInput,
                "'\(plan.name)' has no property '\(name)'; it has "
                    + plan.fields.map(\.name).joined(separator: ", "))
        }
        var rest = names.dropFirst()
        let part = field.shape.collection == .none ? nil : rest.first.flatMap { Predicate.MapPart($0) }
        if part != nil { rest.removeFirst() }
        var inside: [Predicate.MapPart] = []
        if field.shape.type == .any {
            inside = rest.prefix { Predicate.MapPart($0) != nil }.compactMap { Predicate.MapPart($0) }
            rest = rest.dropFirst(inside.count)
        }
        var found: [Value] = []
        for value in elements(object[name], part, field.shape).flatMap({ Self.elements($0, inside[...]) }) {
            guard !rest.isEmpty else {
                found.append(try self.value(value, field.shape.type))
                continue
            }
            if let target = value as? ObjectBase {
                found += try follow(rest, target, isSingle: isSingle)
            } else if isSingle {
                found.append(.plain(.null, nil))
            }
        }
        return found
    }

    private func elements(_ value: Any?, _ part: Predicate.MapPart?, _ shape: _PropertyShape) -> [Any?] {
        if let collection = value as? any UntypedCollection, shape.collection != .none {
            switch part {
            case .keys?: return collection.anyKeys
            case .entry(let key)?:
                let place = collection.anyKeys.firstIndex(of: key)
                return [place.flatMap { _flatten(collection.anyElements[$0]) }]
            case .values?, .index?, .each?, nil: return collection.anyElements.map { _flatten($0) }
            }
        }
        if shape.type == .linkingObjects {
            return (value as? any Sequence).map { $0.map { $0 as Any? } } ?? []
        }
        return [_flatten(value)]
    }

    /// The elements of the nested lists and dictionaries of a value of any type.
    private static func elements(_ value: Any?, _ parts: ArraySlice<Predicate.MapPart>) -> [Any?] {
        guard let part = parts.first else { return [_flatten(value)] }
        let value = _flatten(value)
        let any = value as? AnyRealmValue
        let list = value as? List<AnyRealmValue> ?? any?.listValue
        let map = value as? Map<String, AnyRealmValue> ?? any?.dictionaryValue
        let found: [AnyRealmValue]
        switch part {
        case .index(let place): found = list.map { $0.indices.contains(place) ? [$0[place]] : [] } ?? []
        case .entry(let key): found = map?[key].map { [$0] } ?? []
        case .each: found = list.map { Array($0) } ?? map?.values ?? []
        case .keys, .values: found = []
        }
        if found.isEmpty, part != .each { return [nil] }
        return found.flatMap { elements($0.content, parts.dropFirst()) }
    }

    private func value(_ value: Any?, _ type: PropertyType) throws(RealmError) -> Value {
        // No other value equals a list or a dictionary.
        if type == .any, value is List<AnyRealmValue> || value is Map<String, AnyRealmValue> {
            return .any(.bytes(AnyRealmValue(any: value).flatMap { AnyEncoding.encode($0) } ?? []), .any)
        }
        switch PredicateParser.value(value) {
        case .object(let object)?: return .object(object)
        case .value(let constant)?:
            return type == .any ? .any(constant.stored, constant.type) : .plain(constant.stored, constant.type)
        default: throw RealmError(.invalidInput, "a value of type \(type) can only be queried in a Realm")
        }
    }
}

extension ObjectBase {
    /// Whether both are accessors of one row.
    fileprivate func isSameRow(as other: ObjectBase) -> Bool {
        _frame != nil && other._frame != nil && _access.instance.file.store === other._access.instance.file.store
            && _key == other._key && _creation == other._creation && _access.tableID == other._access.tableID
    }
}
