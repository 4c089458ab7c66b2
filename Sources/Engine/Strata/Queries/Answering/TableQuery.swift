import StrataStorage

/// Finds the matching rows of a whole class: by an index, a key or backlinks if these leave few candidates, else by
/// storage over packed columns. The rest of the predicate is evaluated row by row.
struct TableQuery {
    let access: ClassAccess
    private let instance: RealmInstance
    /// The conjunction's parts, each with the predicate it came from.
    private let parts: [(node: BoundPredicate, predicate: Predicate?)]

    /// Stops the program if the predicate does not suit the class.
    /// - Parameter bound: the binding of a predicate that is one comparison, if already made.
    init(_ instance: RealmInstance, _ access: ClassAccess, _ predicate: Predicate, bound: BoundPredicate? = nil) {
        self.instance = instance
        self.access = access
        if let bound, case .comparison = bound, case .comparison = predicate {
            parts = [(bound, predicate)]
            return
        }
        do throws(RealmError) {
            var parts: [(node: BoundPredicate, predicate: Predicate?)] = []
            for part in predicate.conjuncts {
                parts.append((try PredicateBinder.bind(part, instance, access), part))
            }
            self.parts = parts
        } catch {
            fatalError(error.description)
        }
    }

    init(_ instance: RealmInstance, _ access: ClassAccess, _ node: BoundPredicate) {
        self.instance = instance
        self.access = access
        parts = node.conjuncts.map { ($0, nil) }
    }

    /// How the rows are found.
    struct Plan {
        /// The access path and its estimate of rows; nil for all rows of the class.
        var way: (path: AccessPath, estimate: Int)?
        /// The filter that storage evaluates over columns.
        var filter = RowFilter.everything
        /// Places of the parts that the filter covers, and of those that are evaluated row by row.
        var columnParts: [Int] = []
        var rowParts: [Int] = []
    }

    func plan(_ view: ReadView) throws(StorageError) -> Plan {
        var plan = Plan()
        let rows = try view.rowCount(access.table)
        if let way = try direct(view) {
            if Self.pays(way, rows) {
                plan.way = way
                return plan
            }
        } else if let way = try AccessPath.best(.and(parts.map(\.node)), access, view), Self.pays(way, rows) {
            plan.way = way
            plan.rowParts = Array(parts.indices)
            return plan
        }
        let translation = FilterTranslation(inner: InnerQueries(instance: instance, view: view, rowCount: rows))
        var filters: [RowFilter] = []
        for (place, part) in parts.enumerated() {
            let filter = try translation.filter(part.node)
            // Collections changed by the running write are evaluated row by row.
            if let filter, !(view.hasOpenCollections && filter.asksCollections) {
                filters.append(filter)
                #if Zoo
                    if PlantedMistake.queryNullsMatch.isPlanted, let column = part.node.ownColumns.first {
                        filters[filters.count - 1] = .or([filter, .null(column)])
                    }
                #endif
                plan.columnParts.append(place)
            } else {
                plan.rowParts.append(place)
            }
        }
        plan.filter = filters.isEmpty ? .everything : RowFilter.merged(filters)
        return plan
    }

    /// The access path for a condition on one property alone, if it leads to the matching rows and no others. Then
    /// there is no choice of access paths, and no row to test.
    private func direct(_ view: ReadView) throws(StorageError) -> (path: AccessPath, estimate: Int)? {
        guard let (filter, _) = try ownQuestion() else { return nil }
        return try AccessPath.best(filter, access, view)
    }

    /// The filter, if the predicate is a condition on one property alone.
    private func ownQuestion() throws(StorageError) -> (filter: RowFilter, property: BoundProperty)? {
        guard parts.count == 1, case .comparison(let comparison) = parts[0].node, comparison.quantifier == .any,
            case .path(let path) = comparison.left, let step = path.ownStep, !step.isMany, !step.isEntry,
            let filter = try FilterTranslation(inner: nil).filter(parts[0].node)
        else { return nil }
        return (filter, step.property)
    }

    /// The rows with one value in an indexed property, or with one key, without an estimate first: few rows match a
    /// look-up. Nil for every other condition, and if many rows match.
    private func lookUp(_ view: ReadView) throws(StorageError) -> [Int64]? {
        guard let (filter, property) = try ownQuestion() else { return nil }
        let value: _StoredValue
        switch filter {
        case .key(let range) where range.lowerBound == range.upperBound:
            return try view.locate(access.table, RowKey(range.lowerBound)) == nil ? [] : [range.lowerBound]
        case .integer(_, let range) where range.lowerBound == range.upperBound: value = .integer(range.lowerBound)
        case .bytes(_, .equal(let bytes)): value = .bytes(bytes)
        default: return nil
        }
        guard property.isIndexed, property.tag.columnType != .link else { return nil }
        return try value.withCell { (cell) throws(StorageError) in
            try view.rows(access.table, property.column, equalTo: cell, limit: Self.fewRows)?.map(\.rawValue)
        }
    }

    /// Up to this number of rows, an index is always faster.
    static let fewRows = 64

    /// Whether an access path is cheaper than a scan of the class: a row that is read through an index costs as much as
    /// some tens of rows that storage scans in a column.
    private static func pays(_ way: (path: AccessPath, estimate: Int), _ rows: Int) -> Bool {
        if case .keyRange = way.path { return way.estimate <= fewRows }
        return way.estimate <= fewRows || way.estimate <= rows / 64
    }

    /// The keys in ascending order.
    func run(_ view: ReadView) throws(StorageError) -> [Int64] {
        if let found = try lookUp(view) { return found }
        #if Zoo
            if PlantedMistake.inPasses.isPlanted { try passForEachValue(view) }
        #endif
        let plan = try plan(view)
        let candidates: [Int64]
        if let way = plan.way {
            candidates = try way.path.keys(access, view)
        } else {
            candidates = try view.keys(access.table, where: plan.filter)
        }
        if plan.rowParts.isEmpty { return candidates }
        let evaluator = PredicateEvaluator(instance, access, .and(plan.rowParts.map { parts[$0].node }))
        if plan.way == nil, try candidates.count > view.rowCount(access.table) / 16 {
            return try scan(candidates, evaluator, view)
        }
        WorkSteps.note(candidates.count)
        var keys: [Int64] = []
        for key in candidates where try evaluator.matches(RowKey(key), view) { keys.append(key) }
        return keys
    }

    /// The first keys in ascending order: at least `most`, or all.
    ///
    /// Row groups are searched until enough rows match. A condition that is evaluated row by row is tried on few rows
    /// of the first group, then on whole groups, whose columns are decoded at once.
    func first(_ most: Int, _ view: ReadView) throws(StorageError) -> (keys: [Int64], isWhole: Bool) {
        if let found = try lookUp(view) { return (found, true) }
        let plan = try plan(view)
        let evaluator =
            plan.rowParts.isEmpty
            ? nil : PredicateEvaluator(instance, access, .and(plan.rowParts.map { parts[$0].node }))
        var keys: [Int64] = []
        if let way = plan.way {
            let candidates = try way.path.keys(access, view)
            guard let evaluator else { return (candidates, true) }
            let isWhole = try Self.append(candidates, to: &keys, most: most, evaluator: evaluator, view: view)
            return (keys, isWhole)
        }
        var few = Self.fewRows
        let isWhole = try FilteredRows(view, access.table, plan.filter).forEachKeys { (group) throws(StorageError) in
            guard let evaluator else {
                keys += group
                return keys.count < most
            }
            let tried = Array(group.prefix(few))
            few = 0
            guard try Self.append(tried, to: &keys, most: most, evaluator: evaluator, view: view), keys.count < most
            else { return false }
            let others = Array(group.dropFirst(tried.count))
            if !others.isEmpty { keys += try scan(others, evaluator, view) }
            return keys.count < most
        }
        return (keys, isWhole)
    }

    /// Appends the matching rows until there are `most`.
    /// - Returns: false if `most` were found before all candidates were tested.
    private static func append(
        _ candidates: [Int64], to keys: inout [Int64], most: Int, evaluator: PredicateEvaluator, view: ReadView
    ) throws(StorageError) -> Bool {
        for (place, key) in candidates.enumerated() {
            if keys.count >= most {
                WorkSteps.note(place)
                return false
            }
            if try evaluator.matches(RowKey(key), view) { keys.append(key) }
        }
        WorkSteps.note(candidates.count)
        return true
    }

    /// Evaluates row by row, with the columns of many rows decoded at once.
    private func scan(
        _ candidates: [Int64], _ evaluator: PredicateEvaluator, _ view: ReadView
    ) throws(StorageError) -> [Int64] {
        let columns = Set(evaluator.node.ownColumns).sorted()
        let places = Dictionary(uniqueKeysWithValues: columns.enumerated().map { ($1, $0) })
        var keys: [Int64] = []
        var next = 0
        try view.scan(access.table, columns: columns, from: candidates.first.map { RowKey($0) }) {
            (batch) throws(StorageError) -> Bool in
            for row in 0..<batch.count where next < candidates.count && batch.keys[row] == candidates[next] {
                next += 1
                if try evaluator.matches(batch, columns: places, at: row, in: view) { keys.append(batch.keys[row]) }
            }
            return next < candidates.count
        }
        return keys
    }

    #if Zoo
        /// A pass over the class for each value of an IN.
        private func passForEachValue(_ view: ReadView) throws(StorageError) {
            for part in parts {
                guard case .comparison(let comparison) = part.node, comparison.comparator == .isIn else { continue }
                for _ in comparison.right.constants ?? [] { _ = try view.keys(access.table) }
            }
        }
    #endif

    /// The filter, if storage can evaluate the whole predicate and no key or index is faster.
    func rowFilter(_ view: ReadView) throws(StorageError) -> RowFilter? {
        let plan = try plan(view)
        return plan.way == nil && plan.rowParts.isEmpty ? plan.filter : nil
    }

    /// The plan as text, a line per step.
    func explained(_ view: ReadView) throws(StorageError) -> [String] {
        let plan = try plan(view)
        var lines: [String] = []
        func words(_ places: [Int]) -> String {
            places.map { place in parts[place].predicate.map { "\($0)" } ?? "?" }.joined(separator: " AND ")
        }
        if let (path, estimate) = plan.way {
            lines.append("\(path.description): \(estimate) rows at most")
        } else {
            lines.append("all \(try view.rowCount(access.table)) rows")
        }
        if !plan.columnParts.isEmpty { lines.append("over columns: \(words(plan.columnParts))") }
        if !plan.rowParts.isEmpty { lines.append("row by row: \(words(plan.rowParts))") }
        return lines
    }
}

extension BoundPredicate {
    /// Columns with one value each that the predicate reads from the queried object itself.
    fileprivate var ownColumns: [Int] {
        switch self {
        case .constant: return []
        case .not(let inner): return inner.ownColumns
        case .and(let parts), .or(let parts): return parts.flatMap(\.ownColumns)
        case .comparison(let comparison): return comparison.left.ownColumns + comparison.right.ownColumns
        case .located: return []
        }
    }
}

extension BoundExpression {
    fileprivate var ownColumns: [Int] {
        switch self {
        case .path(let path), .aggregate(let path, _):
            guard path.scope == 0, let first = path.steps.first, !first.isMany, !first.isEntry,
                first.property.column >= 0
            else {
                return []
            }
            return [first.property.column]
        case .subquery(_, let inner, _): return inner.ownColumns
        case .several(let parts): return parts.flatMap(\.ownColumns)
        case .constants: return []
        }
    }
}
