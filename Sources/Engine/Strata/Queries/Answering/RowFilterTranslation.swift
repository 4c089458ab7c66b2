import StrataStorage

/// Translates a predicate to a filter over columns, which storage evaluates over packed values.
///
/// The filter is exact, or nil: what storage would answer differently stays with the evaluator.
struct FilterTranslation {
    /// Queries linked classes for conditions behind links; nil if the caller wants no such queries: then these
    /// conditions have no filter.
    let inner: InnerQueries?

    func filter(_ node: BoundPredicate) throws(StorageError) -> RowFilter? {
        switch node {
        case .constant(let value): return value ? .everything : .nothing
        case .not(let inner): return try filter(inner).map { .not($0) }
        case .and(let parts): return try filters(parts).map { .and($0) }
        case .or(let parts): return try filters(parts).map { .or($0) }
        case .comparison(let comparison): return try filter(comparison)
        case .located: return nil
        }
    }

    private func filters(_ nodes: [BoundPredicate]) throws(StorageError) -> [RowFilter]? {
        var filters: [RowFilter] = []
        for node in nodes {
            guard let filter = try filter(node) else { return nil }
            filters.append(filter)
        }
        return filters
    }

    private func filter(_ comparison: BoundComparison) throws(StorageError) -> RowFilter? {
        switch comparison.left {
        case .path(let path):
            guard path.scope == 0, let constants = comparison.right.constants else { return nil }
            if let step = path.ownStep {
                guard step.inside.isEmpty else { return nil }
                if step.isMany || step.isEntry { return collection(comparison, step, constants) }
                let filter = ScalarFilter(comparison, step.property).filter(constants)
                return comparison.quantifier == .none ? filter.map { .not($0) } : filter
            }
            if path.steps.isEmpty { return Self.object(comparison, constants) }
            return try inner?.filter(comparison, path)
        case .aggregate(let path, let aggregate):
            guard path.scope == 0, let step = path.ownStep, step.property.column >= 0, step.inside.isEmpty,
                let operands = comparison.right.constants
            else { return nil }
            return self.aggregate(comparison, of: aggregate, over: step, with: operands)
        case .subquery(let path, _, let alone):
            guard let alone, path.scope == 0, comparison.right.constants != nil else { return nil }
            return try inner?.filter(comparison, path, matching: alone)
        case .constants, .several: return nil
        }
    }

    /// `SELF == object`, `SELF IN objects`.
    private static func object(_ comparison: BoundComparison, _ constants: [_StoredValue]) -> RowFilter? {
        let keys = constants.compactMap { value -> Int64? in
            if case .link(let key) = value, key != LinkPayload.null { return key }
            return nil
        }
        let filter: RowFilter = keys.isEmpty ? .nothing : .keys(IntegerSet(keys))
        switch comparison.comparator {
        case .equal, .isIn: return comparison.quantifier == .none ? .not(filter) : filter
        case .notEqual: return comparison.quantifier == .none ? filter : .not(filter)
        default: return nil
        }
    }

    // MARK: Collections

    /// The elements of a collection of the queried object, or the value of one key of a map.
    private func collection(
        _ comparison: BoundComparison, _ step: BoundPath.Step, _ constants: [_StoredValue]
    ) -> RowFilter? {
        let property = step.property
        guard property.column >= 0 else { return nil }
        let asksForLinks = property.tag.type == .any && comparison.asksForLinks
        if asksForLinks && inner == nil { return nil }
        let version = asksForLinks ? inner?.view : nil
        if !step.isEntry, let links = Self.linkSet(comparison, constants), property.tag.columnType == .links {
            return links.filter(property, comparison.quantifier, skipsNull: false)
        }
        let tag = property.tag
        let part = step.part
        let quantifier = comparison.quantifier
        let test = comparison.test
        let wanted = Self.integers(comparison, tag: tag, part: part, constants: constants)
        return Self.matching(property) { (reader) throws(StorageError) in
            if let wanted, quantifier != .all {
                for value in wanted where try reader.firstPlace(of: .integer(value)) != nil {
                    return quantifier == .any
                }
                return quantifier != .any
            }
            // The walk ends at the element that decides: for ALL one that fails, for ANY and NONE one that matches.
            var isDecided = false
            try CollectionValues.forEach(in: reader, tag: tag, part: part, shownBy: version) { value in
                isDecided = test.holds(value, constants) != (quantifier == .all)
                return !isDecided
            }
            return isDecided == (quantifier == .any)
        }
    }

    /// The few integers that an equality or an IN asks for: storage finds them in packed values. Nil for other
    /// comparisons.
    private static func integers(
        _ comparison: BoundComparison, tag: ColumnTag, part: Predicate.MapPart, constants: [_StoredValue]
    ) -> [Int64]? {
        guard tag.type == .int, part.isValues, comparison.comparator == .equal || comparison.comparator == .isIn,
            constants.count <= 4
        else { return nil }
        var wanted: [Int64] = []
        for constant in constants {
            guard case .integer(let value) = constant else { return nil }
            wanted.append(value)
        }
        return wanted
    }

    /// The objects that an equality or a membership test is for.
    private static func linkSet(_ comparison: BoundComparison, _ constants: [_StoredValue]) -> LinkSetTest? {
        guard comparison.comparator == .equal || comparison.comparator == .isIn else { return nil }
        let keys = constants.compactMap { value -> Int64? in
            if case .link(let key) = value { return key }
            return nil
        }
        return keys.count == constants.count ? LinkSetTest(IntegerSet(keys.filter { $0 != LinkPayload.null })) : nil
    }

    private func aggregate(
        _ comparison: BoundComparison, of aggregate: Predicate.Aggregate, over step: BoundPath.Step,
        with operands: [_StoredValue]
    ) -> RowFilter? {
        let property = step.property
        let isNegated = comparison.quantifier == .none
        let test = comparison.test
        let tag = property.tag
        let part = step.part
        guard let view = inner?.view else { return nil }
        return Self.matching(property) { (reader) throws(StorageError) in
            let value: _StoredValue
            if aggregate == .count {
                value = .integer(Int64(try CollectionValues.count(in: reader, tag: tag, part: part, at: view)))
            } else if part.isValues, let total = try CollectionValues.total(aggregate, reader, tag) {
                value = total
            } else {
                value = aggregate.of(try CollectionValues.all(in: reader, tag: tag, part: part, at: view))
            }
            return test.holds(value, operands) != isNegated
        }
    }

    /// The filter for rows whose collection passes a test; nil for a property that is no collection.
    static func matching(
        _ property: BoundProperty, _ holds: @escaping @Sendable (CollectionReader) throws(StorageError) -> Bool
    ) -> RowFilter? {
        guard let elements = property.elements else { return nil }
        return .collection(
            property.column, CollectionMatcher(elements, isLinks: property.tag.type == .object, holds))
    }
}

/// Whether links lead to one of some objects.
struct LinkSetTest {
    let keys: IntegerSet

    init(_ keys: IntegerSet) { self.keys = keys }

    /// The filter for a collection of links.
    /// - Parameters:
    ///   - quantifier: how many of the links must match.
    ///   - skipsNull: whether entries without an object are left out.
    func filter(_ property: BoundProperty, _ quantifier: Predicate.Quantifier, skipsNull: Bool) -> RowFilter? {
        let keys = keys
        let isAll = quantifier == .all
        let isNone = quantifier == .none
        return FilterTranslation.matching(property) { (reader) throws(StorageError) in
            var isDecided = false
            try reader.forEachPart { (part) throws(StorageError) in
                for place in part.first..<part.end {
                    let link = try part.value(at: place)
                    if skipsNull, link.isNull { continue }
                    if (link.kind == .integer && keys.contains(link.integerValue)) != isAll {
                        isDecided = true
                        return false
                    }
                }
                return true
            }
            return (isDecided != isAll) != isNone
        }
    }
}

/// A comparison of one column with constants.
struct ScalarFilter {
    private let comparison: BoundComparison
    private let property: BoundProperty

    init(_ comparison: BoundComparison, _ property: BoundProperty) {
        self.comparison = comparison
        self.property = property
    }

    func filter(_ constants: [_StoredValue]) -> RowFilter? {
        // Storage compares bytes; values of some types have their own order and equality.
        guard property.column >= Int(ColumnSlot.key), !property.tag.comparesByItself else { return nil }
        switch comparison.comparator {
        case .isIn: return oneOf(constants)
        case .between, .within:
            let upper = comparison.comparator == .between ? Predicate.Comparator.lessOrEqual : .less
            guard constants.count == 2, let low = test(.greaterOrEqual, constants[0]),
                let high = test(upper, constants[1])
            else { return nil }
            return RowFilter.merged([low, high])
        default: return constants.count == 1 ? test(comparison.comparator, constants[0]) : nil
        }
    }

    /// Many values become one set, with one look-up for each row.
    private func oneOf(_ constants: [_StoredValue]) -> RowFilter? {
        guard let members = Members(constants, property) else { return nil }
        var parts: [RowFilter] = []
        if let part = integers(members.integers) { parts.append(part) }
        if members.doubles.count > MemberSet.few {
            parts.append(.doubles(property.column, among: members.doubles))
        } else {
            parts += members.doubles.compactMap { test(.equal, .double($0)) }
        }
        if members.bytes.count > MemberSet.few {
            parts.append(bytes(among: members.bytes))
        } else {
            let options = property.tag.type == .string ? comparison.options : []
            parts += members.bytes.map { bytes(.equal, $0, options) }
        }
        if members.hasNull, let part = test(.equal, .null) { parts.append(part) }
        return parts.count == 1 ? parts[0] : .or(parts)
    }

    private func integers(_ values: [Int64]) -> RowFilter? {
        guard values.count > 1 else {
            let isLink = property.column >= 0 && property.tag.columnType == .link
            return values.first.flatMap { test(.equal, isLink ? .link($0) : .integer($0)) }
        }
        let set = IntegerSet(values)
        return property.column < 0 ? .keys(set) : .integers(property.column, set)
    }

    private func bytes(among values: [[UInt8]]) -> RowFilter {
        let options = comparison.options
        guard property.tag.type == .string, !options.isEmpty else {
            return .bytes(property.column, .oneOf(BytesSet(values)))
        }
        let set = BytesSet(values.map { value in value.withUnsafeBytes { TextFolding.fold($0, options) } })
        let matcher = BytesMatcher { text in
            TextFolding.fold(text, options).withUnsafeBytes { set.contains($0) }
        }
        return .bytes(property.column, .matches(matcher))
    }

    /// The constants of one comparison, each in the form of the column.
    private struct Members {
        var integers: [Int64] = []
        var doubles: [Double] = []
        var bytes: [[UInt8]] = []
        var hasNull = false

        /// Nil if storage cannot decide the comparison.
        init?(_ constants: [_StoredValue], _ property: BoundProperty) {
            let isText = property.tag.type == .string
            for constant in constants {
                switch (property.tag.columnType, constant) {
                case (_, .null): hasNull = true
                case (.integer, .integer(let value)), (.link, .link(let value)): integers.append(value)
                case (.integer, _):
                    guard let exact = ScalarFilter.integer(.equal, constant) else { return nil }
                    if let exact { integers.append(exact.1) }
                case (.double, _):
                    guard let number = constant.number else { return nil }
                    doubles.append(number)
                case (.bytes, .text(let text)) where isText: bytes.append(Array(text.utf8))
                case (.bytes, .bytes(let value)) where !isText: bytes.append(value)
                default: return nil
                }
            }
        }
    }

    private func test(_ comparator: Predicate.Comparator, _ constant: _StoredValue) -> RowFilter? {
        if comparator == .notEqual { return test(.equal, constant).map { .not($0) } }
        let column = property.column
        let comparison = RowFilter.Comparison(comparator)
        if column == Int(ColumnSlot.key) {
            if constant.isNull { return .nothing }
            return comparison.flatMap { comparison in
                Self.integer(comparison, constant).map { $0.map { .key($0, $1) } ?? .nothing }
            }
        }
        switch (property.tag.columnType, constant) {
        case (_, .null): return comparison.map { null($0, column) }
        case (.integer, _):
            return comparison.flatMap { comparison in
                Self.integer(comparison, constant).map { $0.map { .integer(column, $0, $1) } ?? .nothing }
            }
        case (.link, .link(let key)): return comparison == .equal ? .integer(column, .equal, key) : nil
        case (.double, _):
            guard let comparison, let value = constant.number else { return nil }
            return .double(column, comparison, value)
        case (.bytes, .text(let text)) where property.tag.type == .string:
            return bytes(comparator, Array(text.utf8), self.comparison.options)
        case (.bytes, .bytes(let bytes)) where property.tag.type != .string && property.tag.type != .any:
            return self.bytes(comparator, bytes, [])
        default: return nil
        }
    }

    /// A comparison with null.
    private func null(_ comparison: RowFilter.Comparison, _ column: Int) -> RowFilter {
        let isText = property.tag.type == .string
        switch comparison {
        case .equal, .lessOrEqual: return .null(column)
        case .greaterOrEqual: return isText ? .everything : .null(column)
        case .greater: return isText ? .not(.null(column)) : .nothing
        case .less: return .nothing
        }
    }

    /// The comparison of an integer with a number, as one with an integer. The outer nil: storage cannot decide it. The
    /// inner nil: no integer satisfies it.
    private static func integer(
        _ comparison: RowFilter.Comparison, _ constant: _StoredValue
    ) -> (RowFilter.Comparison, Int64)?? {
        if case .integer(let value) = constant { return (comparison, value) }
        guard case .double(let value) = constant else { return nil }
        if value.isNaN { return .some(nil) }
        // The evaluator compares integers with a larger number as their nearest doubles; storage does not.
        guard value.magnitude < 9e15 else { return nil }
        if value == value.rounded() { return (comparison, Int64(value)) }
        switch comparison {
        case .equal: return .some(nil)
        case .less, .lessOrEqual: return (.lessOrEqual, Int64(value.rounded(.down)))
        case .greater, .greaterOrEqual: return (.greaterOrEqual, Int64(value.rounded(.up)))
        }
    }

    private func bytes(
        _ comparator: Predicate.Comparator, _ bytes: [UInt8], _ options: TextOptions
    ) -> RowFilter {
        let column = property.column
        if options.isEmpty {
            switch comparator {
            case .equal: return .bytes(column, .equal(bytes))
            case .beginsWith: return .bytes(column, .prefix(bytes))
            case .contains: return .bytes(column, .contains(bytes))
            default:
                if let comparison = RowFilter.Comparison(comparator) {
                    return .bytes(column, .ordered(comparison, bytes))
                }
            }
        }
        let test = TextTest(comparator, bytes, options)
        return .bytes(column, .matches(BytesMatcher { test.holds($0) }))
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
        case .notEqual, .contains, .beginsWith, .endsWith, .like, .isIn, .between, .within: return nil
        }
    }
}
