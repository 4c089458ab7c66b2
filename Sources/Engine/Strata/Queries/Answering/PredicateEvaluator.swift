import StrataStorage

/// Evaluates a predicate on one row, by reading the columns that it is bound to.
///
/// Concurrency: for one thread at a time, because it keeps what it has read of the row that it evaluates.
final class PredicateEvaluator {
    let node: BoundPredicate
    private let instance: RealmInstance
    private let access: ClassAccess
    /// The queried row, then those that variables of subqueries stand for.
    private var scopes: [Int64] = [0]
    /// The location of the row, once a value was read from it.
    private var place: Place = .unknown
    private var batch: (rows: RowBatch, columns: [Int: Int], row: Int)?

    private enum Place {
        case unknown
        case missing
        case found(RowLocation)
    }

    /// Stops the program if the predicate does not suit the class.
    convenience init(_ instance: RealmInstance, _ access: ClassAccess, _ predicate: Predicate) {
        do throws(RealmError) {
            self.init(instance, access, try PredicateBinder.bind(predicate, instance, access))
        } catch {
            fatalError(error.description)
        }
    }

    init(_ instance: RealmInstance, _ access: ClassAccess, _ node: BoundPredicate) {
        self.instance = instance
        self.access = access
        self.node = node
    }

    /// - Complexity: O(log rows) per link of the path.
    func matches(_ key: RowKey, _ view: ReadView) throws(StorageError) -> Bool {
        start(key.rawValue)
        return try matches(node, view)
    }

    /// ``matches(_:_:)`` for a row of a batch, which has some of its values; `columns` maps columns to their place
    /// there.
    func matches(_ rows: RowBatch, columns: [Int: Int], at row: Int, in view: ReadView) throws(StorageError) -> Bool {
        start(rows.keys[row])
        batch = (rows, columns, row)
        defer { batch = nil }
        return try matches(node, view)
    }

    private func start(_ key: Int64) {
        scopes[0] = key
        place = .unknown
    }

    private func matches(_ node: BoundPredicate, _ view: ReadView) throws(StorageError) -> Bool {
        switch node {
        case .constant(let value): return value
        case .not(let inner): return try !matches(inner, view)
        case .and(let parts):
            for part in parts where try !matches(part, view) { return false }
            return true
        case .or(let parts):
            for part in parts where try matches(part, view) { return true }
            return false
        case .comparison(let comparison): return try matches(comparison, view)
        case .located(let location): return try matches(location, view)
        }
    }

    private func matches(_ location: BoundLocation, _ view: ReadView) throws(StorageError) -> Bool {
        guard case .text(let type)? = try single(location.type, view), type.lowercased() == "point" else {
            return false
        }
        return location.shape.contains(try values(location.coordinates, view).compactMap(\.number))
    }

    private func matches(_ comparison: BoundComparison, _ view: ReadView) throws(StorageError) -> Bool {
        if case .path(let path) = comparison.left, path.isSingle {
            guard let holds = try holds(comparison, path, view) else { return comparison.quantifier != .any }
            return holds != (comparison.quantifier == .none)
        }
        let values = try self.values(comparison.left, view)
        let operands = try self.values(comparison.right, view)
        switch comparison.quantifier {
        case .any: return values.contains { comparison.test.holds($0, operands) }
        case .all: return values.allSatisfy { comparison.test.holds($0, operands) }
        case .none: return !values.contains { comparison.test.holds($0, operands) }
        }
    }

    /// Whether the one value of a path satisfies the comparison; nil if it has none.
    private func holds(
        _ comparison: BoundComparison, _ path: BoundPath, _ view: ReadView
    ) throws(StorageError) -> Bool? {
        if let text = comparison.text, let tag = path.steps.last?.property.tag, tag.columnType == .bytes,
            !tag.comparesByItself, tag.collection == .none, path.steps.count == 1,
            path.scope == 0, let column = path.steps.first?.property.column, column >= 0
        {
            if let batch, let index = batch.columns[column] {
                if batch.rows.isNull(index, batch.row) { return text.comparator == .notEqual }
                return text.holds(batch.rows.bytes(index, batch.row))
            }
            guard let location = try rootPlace(view) else { return text.comparator == .notEqual }
            return try view.withBytes(location, column: column) { text.holds($0) } ?? (text.comparator == .notEqual)
        }
        guard let value = try single(path, view, shown: comparison.asksForLinks) else { return nil }
        return comparison.test.holds(value, try values(comparison.right, view))
    }

    // MARK: Values

    private func values(_ expression: BoundExpression, _ view: ReadView) throws(StorageError) -> [_StoredValue] {
        switch expression {
        case .constants(let values): return values
        case .path(let path): return try values(path, view)
        case .aggregate(let path, let aggregate): return [aggregate.of(try values(path, view))]
        case .subquery(let path, let inner, _):
            var count: Int64 = 0
            for value in try values(path, view) {
                guard case .link(let key) = value else { continue }
                scopes.append(key)
                defer { scopes.removeLast() }
                if try matches(inner, view) { count += 1 }
            }
            return [.integer(count)]
        case .several(let parts):
            var all: [_StoredValue] = []
            for part in parts { all += try values(part, view) }
            return all
        }
    }

    /// All values that the path has for a row.
    func values(_ path: BoundPath, of key: Int64, _ view: ReadView) throws(StorageError) -> [_StoredValue] {
        start(key)
        return try values(path, view)
    }

    /// The only value that the path has for a row; nil if a link is missing that does not count as null.
    func single(_ path: BoundPath, of key: Int64, _ view: ReadView) throws(StorageError) -> _StoredValue? {
        start(key)
        return try single(path, view)
    }

    private func values(_ path: BoundPath, _ view: ReadView) throws(StorageError) -> [_StoredValue] {
        if path.isSingle { return try single(path, view).map { [$0] } ?? [] }
        var values: [_StoredValue] = []
        try gather(path, from: 0, at: scopes[path.scope], in: view, into: &values)
        return values
    }

    /// - Parameter shown: whether a link in a value of any type must read as null if its object is deleted.
    private func single(
        _ path: BoundPath, _ view: ReadView, shown: Bool = true
    ) throws(StorageError) -> _StoredValue? {
        var key = scopes[path.scope]
        for (index, step) in path.steps.enumerated() {
            let value = try value(of: step, at: key, isRoot: path.scope == 0 && index == 0, in: view)
            if index + 1 == path.steps.count {
                return shown && step.property.tag.type == .any ? try view.shown(comparable: value) : value
            }
            guard case .link(let target) = value else { return path.missingIsNull ? .null : nil }
            key = target
        }
        return .link(key)
    }

    private func value(
        of step: BoundPath.Step, at key: Int64, isRoot: Bool, in view: ReadView
    ) throws(StorageError) -> _StoredValue {
        let property = step.property
        if property.column == Int(ColumnSlot.key) { return .integer(key) }
        guard property.column >= 0 else { return .null }
        if isRoot, !step.isEntry, step.inside.isEmpty, let batch, let index = batch.columns[property.column] {
            return batch.rows.value(index, batch.row, property.tag)
        }
        let location = isRoot ? try rootPlace(view) : try view.locate(step.access.table, RowKey(key))
        guard let location else { return .null }
        if !step.inside.isEmpty { return try NestedValues(step).all(view, location, key).first ?? .null }
        if step.isEntry {
            return try CollectionValues.read(in: view, at: location, key: key, property: property, part: step.part)
                .first ?? .null
        }
        return try view.value(location, property.column, property.tag)
    }

    /// The location of the queried row, found once.
    private func rootPlace(_ view: ReadView) throws(StorageError) -> RowLocation? {
        switch place {
        case .missing: return nil
        case .found(let location): return location
        case .unknown:
            guard let location = try view.locate(access.table, RowKey(scopes[0])) else {
                place = .missing
                return nil
            }
            place = .found(location)
            return location
        }
    }

    /// Appends the values that the path has from step `index` on; none behind a missing link.
    private func gather(
        _ path: BoundPath, from index: Int, at key: Int64, in view: ReadView, into values: inout [_StoredValue]
    ) throws(StorageError) {
        guard index < path.steps.count else { return values.append(.link(key)) }
        let step = path.steps[index]
        let isRoot = index == 0 && path.scope == 0
        if step.property.isLinkingObjects {
            guard let target = step.target else { return }
            var origins: [Int64] = []
            try view.backlinks(to: RowKey(key), of: target.table, step.originColumn) { (key, count) in
                for _ in 0..<count { origins.append(key.rawValue) }
                return true
            }
            for origin in origins { try gather(path, from: index + 1, at: origin, in: view, into: &values) }
        } else if step.isMany {
            let location = isRoot ? try rootPlace(view) : try view.locate(step.access.table, RowKey(key))
            guard let location else { return }
            let elements =
                step.inside.isEmpty
                ? try CollectionValues.read(in: view, at: location, key: key, property: step.property, part: step.part)
                : try NestedValues(step).all(view, location, key)
            for element in elements {
                if index + 1 == path.steps.count {
                    values.append(element)
                } else if case .link(let target) = element {
                    try gather(path, from: index + 1, at: target, in: view, into: &values)
                }
            }
        } else {
            let value = try value(of: step, at: key, isRoot: isRoot, in: view)
            if index + 1 == path.steps.count {
                values.append(value)
            } else if case .link(let target) = value {
                try gather(path, from: index + 1, at: target, in: view, into: &values)
            }
        }
    }
}

extension RowBatch {
    func value(_ column: Int, _ row: Int, _ tag: ColumnTag) -> _StoredValue {
        if isNull(column, row) { return .null }
        switch tag.columnType {
        case .integer: return .integer(integers(column)[row])
        case .link: return .link(integers(column)[row])
        case .double: return .double(doubles(column)[row])
        case .bytes, .links: return _StoredValue(bytes(column, row), tag)
        }
    }
}

extension Predicate.Aggregate {
    /// Nulls are skipped, except by the count; minimum and maximum skip NaN, which has no order. The sum of integers is
    /// an integer, and wraps around at 64 bits.
    func of(_ values: [_StoredValue]) -> _StoredValue {
        if self == .count { return .integer(Int64(values.count)) }
        let present = values.filter { !$0.isNull }
        switch self {
        case .count, .sum:
            if present.allSatisfy({ if case .integer = $0 { true } else { false } }) {
                return .integer(
                    present.reduce(0) { sum, value in
                        if case .integer(let integer) = value { return sum &+ integer }
                        return sum
                    })
            }
            if let sum = Self.decimals(present)?.reduce(0, +) { return .decimal(sum) }
            return .double(present.compactMap(\.number).reduce(0, +))
        case .avg:
            if let decimals = Self.decimals(present), !decimals.isEmpty {
                return .decimal(decimals.reduce(0, +) / Decimal128(integerLiteral: Int64(decimals.count)))
            }
            let numbers = present.compactMap(\.number)
            return numbers.isEmpty ? .null : .double(numbers.reduce(0, +) / Double(numbers.count))
        case .min: return Self.ordered(present).min(by: _StoredValue.precedes) ?? .null
        case .max: return Self.ordered(present).max(by: _StoredValue.precedes) ?? .null
        }
    }

    /// The numbers as decimals, if one of them is a decimal: a sum of doubles would round it.
    private static func decimals(_ values: [_StoredValue]) -> [Decimal128]? {
        guard values.contains(where: { if case .decimal = $0 { true } else { false } }) else { return nil }
        return values.compactMap { Decimal128._from($0) }
    }

    private static func ordered(_ values: [_StoredValue]) -> [_StoredValue] {
        values.filter { value in
            !(value.number?.isNaN ?? false)
        }
    }
}
