import StrataStorage

extension PredicateEvaluator.Node {
    /// The same question in terms of columns, which storage answers over packed values; nil when there is none.
    ///
    /// It is exact or it is not there: a comparison that storage would answer differently, because types differ or
    /// case does not count, stays with the evaluator.
    var rowFilter: RowFilter? {
        switch self {
        case .constant(let value): return value ? .everything : .nothing
        case .not(let inner): return inner.rowFilter.map { .not($0) }
        case .and(let a, let b):
            guard let a = a.rowFilter, let b = b.rowFilter else { return nil }
            return .and([a, b])
        case .or(let a, let b):
            guard let a = a.rowFilter, let b = b.rowFilter else { return nil }
            return .or([a, b])
        case .comparison(let bound): return bound.rowFilter
        }
    }

    /// The parts that must all hold.
    var conjuncts: [PredicateEvaluator.Node] {
        if case .and(let a, let b) = self { return a.conjuncts + b.conjuncts }
        return [self]
    }
}

extension PredicateEvaluator.BoundComparison {
    /// The column of the object itself that is compared with constants.
    private var property: BoundProperty? {
        guard path.steps.count == 1, comparison.aggregate == nil, otherPath == nil, !comparison.ignoresCase else {
            return nil
        }
        let property = path.steps[0].property
        guard property.tag.collection == .none, !property.isLinkingObjects else { return nil }
        return property.column >= Int(ColumnSlot.key) ? property : nil
    }

    var rowFilter: RowFilter? {
        guard let property else { return nil }
        var filter: RowFilter
        switch comparison.comparator {
        case .isIn:
            let parts = constants.map { Self.test(property, .equal, $0) }
            guard parts.allSatisfy({ $0 != nil }) else { return nil }
            filter = .or(parts.compactMap { $0 })
        case .between:
            guard constants.count == 2, let low = Self.test(property, .greaterOrEqual, constants[0]),
                let high = Self.test(property, .lessOrEqual, constants[1])
            else { return nil }
            filter = .and([low, high])
        default:
            guard constants.count == 1, let test = Self.test(property, comparison.comparator, constants[0]) else {
                return nil
            }
            filter = test
        }
        if comparison.quantifier == .none { filter = .not(filter) }
        return filter
    }

    private static func test(
        _ property: BoundProperty, _ comparator: Predicate.Comparator, _ constant: _StoredValue
    ) -> RowFilter? {
        if comparator == .notEqual { return test(property, .equal, constant).map { .not($0) } }
        // Storage compares bytes, and these have an order and an equality of their own.
        if [.any, .decimal128].contains(property.tag.type) { return nil }
        let column = property.column
        let comparison = RowFilter.Comparison(comparator)
        if column == Int(ColumnSlot.key) {
            guard let comparison, case .integer(let value) = constant else { return nil }
            return .key(comparison, value)
        }
        switch (property.tag.columnType, constant) {
        case (_, .null): return comparison == .equal ? .null(column) : nil
        case (.integer, .integer(let value)): return comparison.map { .integer(column, $0, value) }
        case (.link, .link(let key)): return comparison == .equal ? .integer(column, .equal, key) : nil
        case (.double, _):
            guard let comparison, let value = constant.number else { return nil }
            return .double(column, comparison, value)
        case (.bytes, .text(let text)) where property.tag.type == .string:
            return bytesTest(comparator, Array(text.utf8)).map { .bytes(column, $0) }
        case (.bytes, .bytes(let bytes)) where property.tag.type != .string:
            return bytesTest(comparator, bytes).map { .bytes(column, $0) }
        default: return nil
        }
    }

    private static func bytesTest(_ comparator: Predicate.Comparator, _ bytes: [UInt8]) -> RowFilter.BytesTest? {
        switch comparator {
        case .equal: return .equal(bytes)
        case .beginsWith: return .prefix(bytes)
        case .contains: return .contains(bytes)
        default: return RowFilter.Comparison(comparator).map { .ordered($0, bytes) }
        }
    }
}

extension RowFilter.Comparison {
    fileprivate init?(_ comparator: Predicate.Comparator) {
        switch comparator {
        case .equal: self = .equal
        case .less: self = .less
        case .lessOrEqual: self = .lessOrEqual
        case .greater: self = .greater
        case .greaterOrEqual: self = .greaterOrEqual
        case .notEqual, .contains, .beginsWith, .endsWith, .like, .isIn, .between: return nil
        }
    }
}
