import StrataStorage

/// A query of the plain values of a list or a set: the column, and the steps that filter, sort and limit it. It is
/// evaluated when read, and again when the Realm's visible state has changed.
///
/// Concurrency: confined with its Realm.
final class ValueSource {
    let column: _CollectionColumn
    let steps: [Step]
    private var cache: (stamp: UInt64, values: [_StoredValue])?

    enum Step {
        case filter((_StoredValue) -> Bool)
        case sort(ascending: Bool, order: TextOrder = .scalars)
        /// The first of equal values.
        case distinct
        case limit(Int, offset: Int)
    }

    init(_ column: _CollectionColumn, steps: [Step] = []) {
        self.column = column
        self.steps = steps
    }

    var tag: ColumnTag { column.tag }
    var name: String { "\(column.owner._access.name).\(column.property.name)" }

    /// The same query in another instance; nil if the owner does not exist there.
    /// - Parameter allowsGone: return a source without values instead of nil.
    func moved(to instance: RealmInstance, allowsGone: Bool = false) -> ValueSource? {
        column.moved(to: instance, allowsGone: allowsGone).map { ValueSource($0, steps: steps) }
    }

    func adding(_ step: Step) -> ValueSource { ValueSource(column, steps: steps + [step]) }

    /// The values that the steps leave, in the form of the column.
    /// - Complexity: O(values of the collection), and that of the steps; O(1) while the visible state is unchanged.
    var values: [_StoredValue] {
        let stamp = column.owner._instance?.stamp ?? 0
        if let cache, cache.stamp == stamp { return cache.values }
        let values = found(among: column.contents.values)
        // Many threads may read a frozen Realm's values, so they are not cached.
        if column.owner._instance?.isFrozen == false { cache = (stamp, values) }
        return values
    }

    /// The result of the steps on the values of the column in some version.
    func found(among all: [_StoredValue]) -> [_StoredValue] {
        let tag = tag
        var values = steps.isEmpty ? all : shown(all)
        for step in steps {
            switch step {
            case .filter(let holds): values = values.filter { holds(CollectionValues.comparable($0, tag)) }
            case .sort(let ascending, let order):
                values = Self.sorted(values, tag: tag, ascending: ascending, order: order)
            case .distinct:
                var seen: Set<DistinctValue> = []
                values = values.filter { seen.insert(DistinctValue($0)).inserted }
            case .limit(let count, let offset): values = Array(values.dropFirst(offset).prefix(count))
            }
        }
        return values
    }

    /// Values of any type as the version that the Realm shows has them: a link is null if its object is deleted.
    private func shown(_ values: [_StoredValue]) -> [_StoredValue] {
        guard tag.type == .any, let instance = column.owner._instance, let view = instance.currentView else {
            return values
        }
        var shown: [_StoredValue] = []
        do throws(StorageError) {
            for value in values { shown.append(try view.shown(value)) }
        } catch {
            instance.reportDamage(column.owner, error, column: column.property.column)
            return values
        }
        return shown
    }

    /// In the order of sorted results; the sort is stable.
    private static func sorted(
        _ values: [_StoredValue], tag: ColumnTag, ascending: Bool, order: TextOrder
    ) -> [_StoredValue] {
        var sort = SortColumn(count: values.count, order)
        for value in values {
            switch CollectionValues.comparable(value, tag) {
            case .null: sort.append(.null)
            case let value where tag.type == .any: sort.append(.other(value))
            case .integer(let value), .link(let value): sort.append(.integer(value))
            case .double(let value): sort.append(.double(value))
            case .text(let text) where tag.type == .string: Array(text.utf8).withUnsafeBytes { sort.append(.bytes($0)) }
            case .bytes(let bytes): bytes.withUnsafeBytes { sort.append(.bytes($0)) }
            case let other: sort.append(.other(other))
            }
        }
        var places = (0..<UInt32(truncatingIfNeeded: values.count)).map { $0 }
        sort.sort(&places, ascending: ascending)
        return places.map { values[Int($0)] }
    }
}

/// A condition on plain values, prepared for their type.
struct ValueCondition {
    private let tag: ColumnTag
    private let name: String

    /// - Throws: `invalidInput` for a condition on anything but the value itself, and for operands that do not suit.
    static func make(
        _ predicate: Predicate, _ tag: ColumnTag, _ name: String
    ) throws(RealmError) -> (_StoredValue) -> Bool {
        try predicate.checkDepth()
        return try ValueCondition(tag: tag, name: name).condition(predicate)
    }

    private func condition(_ predicate: Predicate) throws(RealmError) -> (_StoredValue) -> Bool {
        switch predicate {
        case .constant(let value): return { _ in value }
        case .tooDeep: return { _ in false }
        case .not(let inner):
            let holds = try condition(inner)
            return { !holds($0) }
        case .and(let parts):
            let all = try conditions(parts)
            return { value in all.allSatisfy { $0(value) } }
        case .or(let parts):
            let all = try conditions(parts)
            return { value in all.contains { $0(value) } }
        case .comparison(let comparison): return try condition(comparison)
        }
    }

    private func conditions(_ parts: PredicateParts) throws(RealmError) -> [(_StoredValue) -> Bool] {
        var made: [(_StoredValue) -> Bool] = []
        for part in parts { made.append(try condition(part)) }
        return made
    }

    private func condition(_ comparison: Predicate.Comparison) throws(RealmError) -> (_StoredValue) -> Bool {
        let type = OperandType.scalar(tag.type)
        try OperandType.check(comparison.comparator, type, "SELF")
        if comparison.comparator == .between, case .values(let bounds) = comparison.right, bounds.count != 2 {
            throw RealmError(.invalidInput, "BETWEEN needs two values, a lower and an upper one")
        }
        let left = try operand(comparison.left, type)
        let options = type.isText ? comparison.options : []
        var test = ValueTest(comparator: comparison.comparator, options: options, isAny: tag.type == .any)
        var right = try operand(comparison.right, type)
        if comparison.comparator == .isIn, comparison.right.isConstant {
            // Constants are the same for every value, so they are made once.
            let constants = right(.null)
            if constants.count > MemberSet.few { test.members = MemberSet(constants, options, tag.type) }
            right = { _ in constants }
        }
        let asked = (test: test, right: right)
        let isNegated = comparison.quantifier == .none
        return { value in left(value).contains { asked.test.holds($0, asked.right(value)) } != isNegated }
    }

    private func operand(
        _ expression: Predicate.Expression, _ type: OperandType
    ) throws(RealmError) -> (_StoredValue) -> [_StoredValue] {
        switch expression {
        case .path(let path) where path.names.isEmpty && path.variable == nil: return { [$0] }
        case .value(let constant):
            let value = try type.fitted(constant, "SELF")
            return { _ in [value] }
        case .values(let parts):
            var all: [(_StoredValue) -> [_StoredValue]] = []
            for part in parts { all.append(try operand(part, type)) }
            return { value in all.flatMap { $0(value) } }
        case .path, .aggregate, .subquery, .object, .members, .shape:
            throw RealmError(
                .invalidInput,
                "'\(name)' holds plain values, which have no properties: '\(expression)' cannot be asked; SELF is the "
                    + "value")
        }
    }
}
