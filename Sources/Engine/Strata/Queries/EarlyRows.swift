import StrataStorage

/// Rows at places of a query, found without all of its rows.
///
/// 1. The order by the primary key is the order of the rows, which branches count.
/// 2. The order by a property with an ordered index is the order of the index, which branches count too.
/// 3. For another order, one pass over the property keeps the first rows; for a filter without an order, the pass ends
///    at the first group of rows that has enough. If the program asks for later places, more are kept, then all.
///
/// It is valid for one stamp, and pins no version.
struct EarlyRows {
    /// The row at a place of the query, as far as it is known.
    enum Answer {
        case row(Int64)
        /// The place is behind the last row.
        case end
        /// These are all rows.
        case all([Int64])
        /// Only the whole query tells.
        case unknown
    }

    private enum Way {
        case key(ascending: Bool)
        case index(IndexOrder, ascending: Bool)
        /// The first rows that the filter lets pass.
        case matches(Predicate, found: [Int64])
        /// The first rows of an order, and the filter before it.
        case best(FirstOfOrder, Predicate?, found: [Int64])
        /// Only the whole query tells.
        case whole
    }

    let stamp: UInt64
    private var way: Way
    /// How often a row was asked for by its place in an order of storage's own: that of the key, or of an index.
    private var asked = 0

    /// Beyond this number of first rows, all are found.
    static let most = 1 << 14
    /// Up to so many requests, finding single rows by their places is cheaper than finding all rows.
    private static let fewPlaces = 4096

    /// - Parameter source: a query of a whole class.
    init(_ source: ObjectSource, _ view: ReadView) throws(StorageError) {
        stamp = source.instance.stamp
        way = try Self.way(source, view)
    }

    /// - Parameter found: the first rows that the only filter lets pass.
    private init(stamp: UInt64, _ filter: Predicate, found: [Int64]) {
        self.stamp = stamp
        way = .matches(filter, found: found)
    }

    private static func way(_ source: ObjectSource, _ view: ReadView) throws(StorageError) -> Way {
        var filter: Predicate?
        var sorts: [[SortDescriptor]] = []
        for (place, step) in source.steps.enumerated() {
            switch step {
            case .filter(let predicate):
                guard place == 0 else { return .whole }
                filter = predicate
            case .sort(let descriptors): sorts.append(descriptors)
            case .distinct, .limit: return .whole
            }
        }
        if filter == nil, sorts.count == 1, let way = try storedOrder(source, sorts[0], view) { return way }
        // Inside a write all rows are found and kept: after a change, only the changed rows move (`keptKeys`).
        if source.isWorthKeeping { return .whole }
        // `firstMatch` answers the first requests of a filter without an order.
        if sorts.isEmpty { return .whole }
        return FirstOfOrder(source, sorts).map { .best($0, filter, found: []) } ?? .whole
    }

    /// The order if storage has it.
    private static func storedOrder(
        _ source: ObjectSource, _ descriptors: [SortDescriptor], _ view: ReadView
    ) throws(StorageError) -> Way? {
        let properties = descriptors.prefix(2).map {
            ColumnReader.ofSort(source.instance, source.access, $0)?.path.ownStep?.property
        }
        guard let property = properties.first ?? nil, !property.isCollection else { return nil }
        let ascending = descriptors[0].ascending
        // Keys are unique: no other property decides.
        if property.column == Int(ColumnSlot.key) { return .key(ascending: ascending) }
        let isAlone =
            descriptors.count == 1 || properties[1]?.column == Int(ColumnSlot.key) && descriptors[1].ascending
        guard isAlone, property.column >= 0, property.isIndexed,
            let order = try IndexOrder(view, source.access.table, property.column)
        else { return nil }
        return .index(order, ascending: ascending)
    }

    /// - Parameter view: shows the state of the stamp.
    mutating func row(at place: Int, _ source: ObjectSource, _ view: ReadView) throws(StorageError) -> Answer {
        switch way {
        case .whole: return .unknown
        case .key(let ascending):
            let table = source.access.table
            let count = try view.rowCount(table)
            guard place < count else { return .end }
            if isAskedOften(count) { return .unknown }
            let key = try view.key(at: ascending ? place : count - 1 - place, in: table)
            return key.map { .row($0.rawValue) } ?? .unknown
        case .index(var order, let ascending):
            if isAskedOften(try view.rowCount(source.access.table)) { return .unknown }
            let found = try order.row(at: place, ascending: ascending, view)
            way = .index(order, ascending: ascending)
            switch found {
            case .row(let key): return .row(key.rawValue)
            case .end: return .end
            case .undecided: return .unknown
            }
        case .matches(let filter, let found):
            if place < found.count { return .row(found[place]) }
            return try moreMatches(place, filter, found: found.count, source: source, view: view)
        case .best(let order, let filter, let found):
            if place < found.count { return .row(found[place]) }
            return try moreOfOrder(place, order, filter: filter, found: found.count, source: source, view: view)
        }
    }

    private mutating func isAskedOften(_ rows: Int) -> Bool {
        asked += 1
        return asked > Self.fewPlaces && asked > rows / 16
    }

    /// Each search begins anew, so it looks for many more than the one before.
    private static func more(_ place: Int, than found: Int, atLeast least: Int) -> Int? {
        place < most ? min(max(place + 1, 16 * found, least), most) : nil
    }

    private mutating func moreMatches(
        _ place: Int, _ filter: Predicate, found: Int, source: ObjectSource, view: ReadView
    ) throws(StorageError) -> Answer {
        way = .whole
        guard let wanted = Self.more(place, than: found, atLeast: 1) else { return .unknown }
        let (keys, isWhole) = try source.tableQuery(filter).first(wanted, view)
        if isWhole { return .all(keys) }
        way = .matches(filter, found: keys)
        return place < keys.count ? .row(keys[place]) : .unknown
    }

    private mutating func moreOfOrder(
        _ place: Int, _ order: FirstOfOrder, filter: Predicate?, found: Int, source: ObjectSource, view: ReadView
    ) throws(StorageError) -> Answer {
        way = .whole
        guard let wanted = Self.more(place, than: found, atLeast: 64) else { return .unknown }
        var keys: [Int64]?
        if let filter {
            let matches = try source.tableQuery(filter).run(view)
            if matches.count <= 16 * wanted { return .all(try order.sorted(matches, view)) }
            keys = try order.keys(wanted, of: matches, view)
        } else if try view.rowCount(source.access.table) > 16 * wanted {
            keys = try order.keys(wanted, view)
        }
        guard let keys, place < keys.count else { return .unknown }
        way = .best(order, filter, found: keys)
        return .row(keys[place])
    }

    // MARK: Of a source

    /// The row at a place of a collection, if it is found without the whole query.
    static func row(at place: Int, of source: ObjectSource) -> Answer {
        guard case .table = source.base, !source.steps.isEmpty, source.hasNoKeys, !source.isDegraded,
            let view = source.instance.currentView
        else { return .unknown }
        var rows = source.early?.stamp == source.instance.stamp ? source.early : nil
        source.early = nil
        if rows == nil, place < most, source.steps.count == 1, case .filter(let predicate) = source.steps[0],
            !source.isWorthKeeping
        {
            return firstMatch(at: place, of: predicate, in: source, view: view)
        }
        let answer = source.attempt { () throws(StorageError) in
            var made: EarlyRows
            if let rows { made = rows } else { made = try EarlyRows(source, view) }
            let answer = try made.row(at: place, source, view)
            rows = made
            return answer
        }
        guard let answer, let rows else { return .unknown }
        source.early = rows
        guard case .all(let keys) = answer else { return answer }
        source.cache = (rows.stamp, keys)
        return place < keys.count ? .row(keys[place]) : .end
    }

    /// The first request of a filter without an order. Most are answered by an index with all rows, so that nothing
    /// else is kept of the request.
    private static func firstMatch(
        at place: Int, of filter: Predicate, in source: ObjectSource, view: ReadView
    ) -> Answer {
        let stamp = source.instance.stamp
        let answer = source.attempt { () throws(StorageError) -> (keys: [Int64], isWhole: Bool) in
            if let found = try PropertyEquality.keys(where: filter, of: source.access, view) { return (found, true) }
            return try source.tableQuery(filter).first(place + 1, view)
        }
        guard let (keys, isWhole) = answer else { return .unknown }
        if isWhole {
            source.cache = (stamp, keys)
            return place < keys.count ? .row(keys[place]) : .end
        }
        source.early = EarlyRows(stamp: stamp, filter, found: keys)
        return place < keys.count ? .row(keys[place]) : .unknown
    }
}

extension ObjectSource {
    /// The object at a place, counted without unreadable ones; nil behind the end.
    func object(at place: Int) -> ObjectBase? {
        guard let key = key(at: place) else { return nil }
        let context = context
        if let object = context.materialize(key) { return object }
        return self.key(at: place, past: key).flatMap { context.materialize($0) }
    }

    /// The count of the collection, but at most `most`: then not all rows have to be found.
    func count(atMost most: Int) -> Int {
        guard most > 0 else { return 0 }
        var isPassed = false
        switch base {
        case .table: isPassed = !hasEveryRow
        case .backlinks: isPassed = steps.isEmpty
        case .list, .keys: break
        }
        if isPassed, most <= EarlyRows.most, hasNoKeys, key(at: most - 1) != nil { return most }
        return min(count, most)
    }
}
