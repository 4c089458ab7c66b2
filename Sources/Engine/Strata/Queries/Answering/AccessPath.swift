import StrataStorage

/// An access path: leads to the candidate rows without a scan of the whole class.
indirect enum AccessPath {
    /// Rows between two keys, both included.
    case keyRange(ClosedRange<Int64>)
    case keys(IntegerSet)
    /// Rows that an index holds for some values.
    case equal(BoundProperty, [_StoredValue])
    case range(BoundProperty, low: _StoredValue, high: _StoredValue)
    /// Rows whose property links to one of some objects.
    case backlinks(BoundProperty, IntegerSet)
    /// Rows whose property links to an object that another query finds.
    case behind(BoundProperty, TableQuery)
    /// The union of several access paths.
    case union([AccessPath])

    /// Beyond this number of look-ups in an index or a tree of backlinks, a scan of the columns is faster.
    private static let maximumLookups = 1000

    /// Whether so many values of one column are looked up in an index instead of scanning the column. A look-up costs
    /// as much as some tens of rows in a column.
    private static func mayLookUp(
        _ values: Int, _ access: ClassAccess, _ view: ReadView
    ) throws(StorageError) -> Bool {
        if values <= maximumLookups { return true }
        return try values <= view.rowCount(access.table) / 64
    }

    // MARK: Finding

    /// The access path with the smallest estimate of rows, and the estimate; nil if there is none.
    static func best(
        _ node: BoundPredicate, _ access: ClassAccess, _ view: ReadView
    ) throws(StorageError) -> (path: AccessPath, estimate: Int)? {
        switch node {
        case .constant, .not, .located: return nil
        case .or(let parts):
            return try union(of: parts) { (part) throws(StorageError) in try best(part, access, view) }
        case .and(let parts):
            var found: (path: AccessPath, estimate: Int)?
            var filters: [RowFilter] = []
            for part in parts.flatMap(\.conjuncts) {
                if case .comparison = part, let filter = try FilterTranslation(inner: nil).filter(part) {
                    filters.append(filter)
                }
                if let way = try best(part, access, view), way.estimate < found?.estimate ?? .max {
                    found = way
                }
            }
            for filter in RowFilter.merging(filters) {
                if let way = try best(filter, access, view), way.estimate < found?.estimate ?? .max { found = way }
            }
            return found
        case .comparison(let comparison):
            if let filter = try FilterTranslation(inner: nil).filter(node),
                let way = try best(filter, access, view)
            {
                return way
            }
            return try linked(comparison, view)
        }
    }

    static func best(
        _ filter: RowFilter, _ access: ClassAccess, _ view: ReadView
    ) throws(StorageError) -> (path: AccessPath, estimate: Int)? {
        func property(_ column: Int) -> BoundProperty? { access.property(ofColumn: column) }
        let way: AccessPath
        switch filter {
        case .key(let range): way = .keyRange(range)
        case .keys(let set): way = .keys(set)
        case .integer(let column, let range):
            guard let property = property(column) else { return nil }
            if property.tag.columnType == .link {
                guard range.lowerBound == range.upperBound else { return nil }
                way = .backlinks(property, IntegerSet([range.lowerBound]))
            } else {
                guard property.isIndexed else { return nil }
                way = .range(property, low: .integer(range.lowerBound), high: .integer(range.upperBound))
            }
        case .integers(let column, let set):
            guard let property = property(column), try mayLookUp(set.count, access, view) else { return nil }
            if property.tag.columnType == .link {
                way = .backlinks(property, set)
            } else {
                guard property.isIndexed else { return nil }
                way = .equal(property, set.values.map { .integer($0) })
            }
        case .double(let column, let range):
            guard let property = property(column), property.isIndexed else { return nil }
            way = .range(property, low: .double(range.lowerBound), high: .double(range.upperBound))
        case .doubles(let column, let set):
            guard let property = property(column), property.isIndexed, try mayLookUp(set.count, access, view)
            else { return nil }
            let values = set.values.map { Double(bitPattern: UInt64(bitPattern: $0)) }
            way = .equal(property, values.filter { $0 != 0 || $0.sign == .plus }.map { .double($0) })
        case .bytes(let column, .oneOf(let set)):
            guard let property = property(column), property.isIndexed, try mayLookUp(set.count, access, view)
            else { return nil }
            way = .equal(property, set.values.map { .bytes($0) })
        case .bytes(let column, .equal(let bytes)):
            guard let property = property(column), property.isIndexed else { return nil }
            way = .equal(property, [.bytes(bytes)])
        case .or(let parts):
            return try union(of: parts) { (part) throws(StorageError) in try best(part, access, view) }
        case .everything, .nothing, .null, .bytes, .collection, .and, .not: return nil
        }
        return (way, try way.estimate(access, view))
    }

    /// The union of the access paths of a disjunction; nil if one of its parts has none.
    private static func union<Part>(
        of parts: [Part], _ best: (Part) throws(StorageError) -> (path: AccessPath, estimate: Int)?
    ) throws(StorageError) -> (path: AccessPath, estimate: Int)? {
        guard !parts.isEmpty, parts.count <= maximumLookups else { return nil }
        var ways: [AccessPath] = []
        var total = 0
        for part in parts {
            guard let (way, estimate) = try best(part) else { return nil }
            ways.append(way)
            total += estimate
        }
        return (.union(ways), total)
    }

    /// Longer key paths are followed row by row. An access path over links runs a query for each link, and each query
    /// looks for its own access path again, so that every link doubles the work.
    private static let longestLinked = 6

    /// Access paths over links: to known objects, or to those that another query finds.
    private static func linked(
        _ comparison: BoundComparison, _ view: ReadView
    ) throws(StorageError) -> (path: AccessPath, estimate: Int)? {
        guard case .path(let path) = comparison.left, path.scope == 0, let first = path.steps.first,
            first.property.column >= 0, first.property.tag.type == .object,
            let operands = comparison.right.constants, comparison.quantifier == .any
        else { return nil }
        if path.steps.count == 1 {
            guard comparison.comparator == .equal || comparison.comparator == .isIn else { return nil }
            let keys = operands.compactMap { value -> Int64? in
                if case .link(let key) = value { return key }
                return nil
            }
            guard keys.count == operands.count, keys.count <= maximumLookups else { return nil }
            let way = AccessPath.backlinks(first.property, IntegerSet(keys.filter { $0 != LinkPayload.null }))
            return (way, try way.estimate(first.access, view))
        }
        guard path.steps.count <= longestLinked, let target = first.target, let tail = path.tail,
            !comparison.holdsWithoutLink(path, operands)
        else {
            return nil
        }
        let node = BoundPredicate.comparison(comparison.asked(of: tail))
        guard let inner = try best(node, target, view), inner.estimate <= maximumLookups else { return nil }
        var origins = 0
        for key in try inner.path.keys(target, view) {
            origins += try view.backlinkOrigins(to: RowKey(key), of: first.access.table, first.property.column)
        }
        return (.behind(first.property, TableQuery(target.instance, target, node)), origins)
    }

    // MARK: Following

    private func estimate(_ access: ClassAccess, _ view: ReadView) throws(StorageError) -> Int {
        let table = access.table
        switch self {
        case .keyRange(let range):
            let before = try view.rank(of: RowKey(range.lowerBound), in: table)
            if range.upperBound == .max { return try view.rowCount(table) - before }
            return try view.rank(of: RowKey(range.upperBound + 1), in: table) - before
        case .keys(let set): return set.count
        case .equal(let property, let values):
            var total = 0
            for value in values {
                total += try value.withCell { (cell) throws(StorageError) in
                    try view.indexedCount(table, property.column, equalTo: cell)
                }
            }
            return total
        case .range(let property, let low, let high):
            return try low.withCell { (low) throws(StorageError) in
                try high.withCell { (high) throws(StorageError) in
                    try view.indexedCount(table, property.column, from: low, through: high)
                }
            }
        case .backlinks(let property, let set):
            var total = 0
            for key in set.values { total += try view.backlinkOrigins(to: RowKey(key), of: table, property.column) }
            return total
        case .behind, .union: return 0
        }
    }

    /// The keys of the rows, ascending, without duplicates.
    func keys(_ access: ClassAccess, _ view: ReadView) throws(StorageError) -> [Int64] {
        var keys: [Int64] = []
        try append(to: &keys, access, view)
        keys.sort()
        var last: Int64?
        keys.removeAll { key in
            defer { last = key }
            return key == last
        }
        return keys
    }

    private func append(
        to keys: inout [Int64], _ access: ClassAccess, _ view: ReadView
    ) throws(StorageError) {
        let table = access.table
        switch self {
        case .keyRange(let range): keys += try view.keys(table, where: .key(range))
        case .keys(let set):
            for key in set.values where try view.locate(table, RowKey(key)) != nil { keys.append(key) }
        case .equal(let property, let values):
            for value in values {
                keys += try value.withCell { (cell) throws(StorageError) in
                    try view.rows(table, property.column, equalTo: cell).map(\.rawValue)
                }
            }
        case .range(let property, let low, let high):
            keys += try low.withCell { (low) throws(StorageError) in
                try high.withCell { (high) throws(StorageError) in
                    try view.rows(table, property.column, from: low, through: high).map(\.rawValue)
                }
            }
        case .backlinks(let property, let set):
            for key in set.values {
                try view.backlinks(to: RowKey(key), of: table, property.column) { (origin, _) in
                    keys.append(origin.rawValue)
                    return true
                }
            }
        case .behind(let property, let query):
            for key in try query.run(view) {
                try view.backlinks(to: RowKey(key), of: table, property.column) { (origin, _) in
                    keys.append(origin.rawValue)
                    return true
                }
            }
        case .union(let ways): for way in ways { try way.append(to: &keys, access, view) }
        }
    }

    /// In the form of ``Results/explain()``.
    var description: String {
        switch self {
        case .keyRange(let range):
            return range.lowerBound == range.upperBound ? "primary key" : "primary key, a range"
        case .keys(let set): return "primary key, \(set.count) values"
        case .equal(let property, let values):
            return "index on '\(property.name)'" + (values.count == 1 ? "" : ", \(values.count) values")
        case .range(let property, let low, let high):
            return "index on '\(property.name)'" + (low == high ? "" : ", a range")
        case .backlinks(let property, _): return "links of '\(property.name)', backwards"
        case .behind(let property, let query):
            return "links of '\(property.name)', backwards from '\(query.access.name)'"
        case .union(let ways):
            var seen: [String] = []
            for way in ways where !seen.contains(way.description) { seen.append(way.description) }
            return seen.joined(separator: "; or ")
        }
    }
}

extension RowFilter {
    /// One filter that is the conjunction of several.
    static func merged(_ filters: [RowFilter]) -> RowFilter {
        let merged = merging(filters)
        return merged.count == 1 ? merged[0] : .and(merged)
    }

    /// The filters with all ranges of one column, or of the key, merged to one.
    static func merging(_ filters: [RowFilter]) -> [RowFilter] {
        var merged: [RowFilter] = []
        // By column, the place of its range in `merged`.
        var places: [RangeColumn: Int] = [:]
        for filter in filters.flatMap(\.parts) {
            if let column = filter.rangeColumn {
                if let place = places[column], let both = merged[place].intersection(filter) {
                    merged[place] = both
                    continue
                }
                places[column] = merged.count
            }
            merged.append(filter)
        }
        return merged
    }

    /// The subject of a range.
    private enum RangeColumn: Hashable {
        case key
        case integer(Int)
        case double(Int)
    }

    private var rangeColumn: RangeColumn? {
        switch self {
        case .key: return .key
        case .integer(let column, _): return .integer(column)
        case .double(let column, _): return .double(column)
        default: return nil
        }
    }

    private var parts: [RowFilter] {
        if case .and(let parts) = self { return parts.flatMap(\.parts) }
        return [self]
    }

    /// Nil if the two are not ranges of the same column.
    private func intersection(_ other: RowFilter) -> RowFilter? {
        switch (self, other) {
        case (.key(let a), .key(let b)): return a.overlaps(b) ? .key(a.clamped(to: b)) : .nothing
        case (.integer(let column, let a), .integer(let other, let b)) where column == other:
            return a.overlaps(b) ? .integer(column, a.clamped(to: b)) : .nothing
        case (.double(let column, let a), .double(let other, let b)) where column == other:
            return a.overlaps(b) ? .double(column, a.clamped(to: b)) : .nothing
        default: return nil
        }
    }
}
