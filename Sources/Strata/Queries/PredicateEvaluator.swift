import StrataStorage

/// Tells whether one row matches, by following names to columns once and then reading.
final class PredicateEvaluator {
    indirect enum Node {
        case constant(Bool)
        case comparison(BoundComparison)
        case not(Node)
        case and(Node, Node)
        case or(Node, Node)
    }

    struct BoundComparison {
        var path: BoundPath
        var comparison: Predicate.Comparison
        /// The operand, where it is the same for every row.
        var constants: [_StoredValue]
        var otherPath: BoundPath?
    }

    /// The properties on the way, each in the class that has it.
    struct BoundPath {
        var steps: [(access: ClassAccess, property: BoundProperty)]

        /// Whether there is at most one value.
        var isSingle: Bool {
            steps.allSatisfy { $0.property.tag.collection == .none && !$0.property.isLinkingObjects }
        }
    }

    let node: Node
    private let instance: RealmInstance

    init(_ instance: RealmInstance, _ access: ClassAccess, _ predicate: Predicate) {
        self.instance = instance
        do throws(Realm.Error) { node = try Self.bind(predicate, access) } catch {
            fatalError(error.description)
        }
    }

    // MARK: Names to columns

    /// - Throws: `invalidInput` for a property that the class does not have.
    static func bind(_ predicate: Predicate, _ access: ClassAccess) throws(Realm.Error) -> Node {
        switch predicate {
        case .constant(let value): return .constant(value)
        case .not(let inner): return .not(try bind(inner, access))
        case .and(let a, let b): return .and(try bind(a, access), try bind(b, access))
        case .or(let a, let b): return .or(try bind(a, access), try bind(b, access))
        case .comparison(let comparison):
            let path = try bind(comparison.path, access)
            var bound = BoundComparison(path: path, comparison: comparison, constants: [])
            switch comparison.value {
            case .path(let other): bound.otherPath = try bind(other, access)
            case .values(let values): bound.constants = values.map { constant($0) }
            default: bound.constants = [constant(comparison.value)]
            }
            return .comparison(bound)
        }
    }

    static func bind(_ names: [String], _ access: ClassAccess) throws(Realm.Error) -> BoundPath {
        var path = BoundPath(steps: [])
        var access = access
        for (place, name) in names.enumerated() {
            guard let property = access.property(name) else {
                throw Realm.Error(.invalidInput, "'\(access.name)' has no property '\(name)'")
            }
            path.steps.append((access, property))
            guard place + 1 < names.count else { break }
            guard let target = access.target(of: property) else {
                throw Realm.Error(.invalidInput, "'\(access.name).\(name)' leads to no object")
            }
            access = target
        }
        return path
    }

    private static func constant(_ operand: Predicate.Operand) -> _StoredValue {
        switch operand {
        case .value(let value): return value
        // An object that is gone has no row that anything leads to.
        case .object(let object):
            return object._frame == nil || object.isInvalidated ? .link(LinkPayload.null) : .link(object._key)
        case .values, .path: return .null
        }
    }

    // MARK: Rows

    /// - Complexity: O(log rows) per link on the way.
    func matches(_ key: RowKey, _ view: ReadView) throws(StorageError) -> Bool { try matches(node, key, view) }

    func matches(_ node: Node, _ key: RowKey, _ view: ReadView) throws(StorageError) -> Bool {
        switch node {
        case .constant(let value): return value
        case .not(let inner): return try !matches(inner, key, view)
        case .and(let a, let b):
            guard try matches(a, key, view) else { return false }
            return try matches(b, key, view)
        case .or(let a, let b):
            if try matches(a, key, view) { return true }
            return try matches(b, key, view)
        case .comparison(let comparison): return try matches(comparison, key, view)
        }
    }

    private func matches(_ bound: BoundComparison, _ key: RowKey, _ view: ReadView) throws(StorageError) -> Bool {
        var values: [_StoredValue] = []
        try gather(bound.path, 0, key, view, &values)
        if let aggregate = bound.comparison.aggregate { values = [Self.aggregate(aggregate, values)] }
        var constants = bound.constants
        if let other = bound.otherPath {
            constants = []
            try gather(other, 0, key, view, &constants)
        }
        let operands = constants
        func holds(_ value: _StoredValue) -> Bool { Self.holds(bound.comparison, value, operands) }
        switch bound.comparison.quantifier {
        case .any: return values.contains(where: holds)
        case .all: return values.allSatisfy(holds)
        case .none: return !values.contains(where: holds)
        }
    }

    static func holds(
        _ comparison: Predicate.Comparison, _ value: _StoredValue, _ constants: [_StoredValue]
    ) -> Bool {
        let ignoresCase = comparison.ignoresCase
        switch comparison.comparator {
        case .isIn:
            return constants.contains { Predicate.Comparator.equal.holds(value, $0, ignoresCase: ignoresCase) }
        case .between:
            guard constants.count == 2 else { return false }
            return Predicate.Comparator.greaterOrEqual.holds(value, constants[0], ignoresCase: false)
                && Predicate.Comparator.lessOrEqual.holds(value, constants[1], ignoresCase: false)
        default:
            return constants.contains { comparison.comparator.holds(value, $0, ignoresCase: ignoresCase) }
        }
    }

    /// Appends every value that the path leads to; a missing link on a single path counts as null.
    private func gather(
        _ path: BoundPath, _ place: Int, _ key: RowKey, _ view: ReadView, _ values: inout [_StoredValue]
    ) throws(StorageError) {
        let (access, property) = path.steps[place]
        let isLast = place + 1 == path.steps.count
        if property.isLinkingObjects {
            guard let origin = access.target(of: property), let name = property.origin,
                let column = origin.property(name)?.column, column >= 0
            else { return }
            var keys: [RowKey] = []
            try view.backlinks(to: key, of: origin.table, column) { (key, count) throws(StorageError) in
                for _ in 0..<count { keys.append(key) }
                return true
            }
            return try follow(keys, path, place, isLast, view, &values)
        }
        if property.column == Int(ColumnSlot.key) { return values.append(.integer(key.rawValue)) }
        guard property.column >= 0, let location = try view.locate(access.table, key) else {
            return values.append(.null)
        }
        if property.isList {
            guard let bytes = try view.bytes(location, property.column) else { return }
            if property.tag.type == .object {
                let keys = (LinkPayload.Reader(bytes)?.links ?? []).map { RowKey($0) }
                return try follow(keys, path, place, isLast, view, &values)
            }
            values += ListEncoding.decode(bytes) ?? []
            return
        }
        let value = try view.value(location, property.column, property.tag)
        if isLast { return values.append(value) }
        if case .link(let target) = value {
            try gather(path, place + 1, RowKey(target), view, &values)
        } else if path.isSingle {
            values.append(.null)
        }
    }

    private func follow(
        _ keys: [RowKey], _ path: BoundPath, _ place: Int, _ isLast: Bool, _ view: ReadView,
        _ values: inout [_StoredValue]
    ) throws(StorageError) {
        for key in keys {
            if isLast {
                values.append(.link(key.rawValue))
            } else {
                try gather(path, place + 1, key, view, &values)
            }
        }
    }

    private static func aggregate(_ aggregate: Predicate.Aggregate, _ values: [_StoredValue]) -> _StoredValue {
        let present = values.filter { !$0.isNull }
        let numbers = present.compactMap(\.number)
        switch aggregate {
        case .count: return .integer(Int64(values.count))
        case .min: return present.min(by: _StoredValue.precedes) ?? .null
        case .max: return present.max(by: _StoredValue.precedes) ?? .null
        case .sum: return .double(numbers.reduce(0, +))
        case .avg: return numbers.isEmpty ? .null : .double(numbers.reduce(0, +) / Double(numbers.count))
        }
    }
}
