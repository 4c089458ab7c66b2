import StrataStorage

/// A collection in which a row's membership depends on that row alone, and the order of two rows on these two alone.
protocol Patching {
    /// Number of occurrences of a row in the collection, in a version.
    func multiplicity(of key: Int64, _ view: ReadView) throws(StorageError) -> Int
    /// Whether one of two different members comes before the other.
    func precedes(_ a: Int64, _ b: Int64, _ view: ReadView) throws(StorageError) -> Bool
    func ordered(_ keys: [Int64], _ view: ReadView) throws(StorageError) -> [Int64]
}

/// Rows of a class that match some predicates, ordered by key or by sorts.
struct Membership: Patching {
    private let access: ClassAccess
    private let evaluators: [PredicateEvaluator]
    private let sorts: [RowSort]
    private let dependencies: [LinkPath]
    /// Whether the order is that of the keys.
    var isAscending: Bool { sorts.isEmpty }

    /// Nil if the collection has steps other than filters and sorts.
    init?(_ source: ObjectSource) {
        access = source.access
        var evaluators: [PredicateEvaluator] = []
        var sorts: [RowSort] = []
        for step in source.steps {
            if case .filter(let predicate) = step {
                evaluators.append(PredicateEvaluator(source.instance, source.access, predicate))
            } else if case .sort(let descriptors) = step {
                sorts.append(RowSort(source.instance, source.access, descriptors))
            } else {
                return nil
            }
        }
        guard let paths = Dependencies.paths(of: source) else { return nil }
        self.evaluators = evaluators
        self.sorts = sorts
        dependencies = paths
    }

    /// Rows that may have been added, removed or moved; nil if there are more than `limit`.
    func candidates(_ batch: ChangeBatch, limit: Int) throws(StorageError) -> Set<Int64>? {
        let difference = try batch.difference(of: access.tableID)
        var candidates: Set<Int64> = []
        if !difference.deleted.isEmpty || !difference.inserted.isEmpty {
            guard difference.insertedCount + difference.deleted.count <= limit else { return nil }
            candidates = Set(difference.deleted)
            candidates.formUnion(difference.insertedKeys)
        }
        for path in dependencies {
            let touched = try path.touched(batch)
            // Most often only one of the sets has elements: it is taken over instead of copied.
            if candidates.isEmpty { candidates = touched } else { candidates.formUnion(touched) }
        }
        return candidates.count > limit ? nil : candidates
    }

    func multiplicity(of key: Int64, _ view: ReadView) throws(StorageError) -> Int {
        guard try view.locate(access.table, RowKey(key)) != nil else { return 0 }
        for evaluator in evaluators where try !evaluator.matches(RowKey(key), view) { return 0 }
        return 1
    }

    func precedes(_ a: Int64, _ b: Int64, _ view: ReadView) throws(StorageError) -> Bool {
        if sorts.isEmpty { return a < b }
        return try ordered([a, b], view)[0] == a
    }

    func ordered(_ keys: [Int64], _ view: ReadView) throws(StorageError) -> [Int64] {
        var keys = keys.sorted()
        for sort in sorts { keys = try sort.sorted(keys, view) }
        return keys
    }
}

/// Rows of a class whose property links to an owner, once per link.
struct LinkPatch: Patching {
    private let owner: Int64
    private let table: Int
    private let tableID: TableID
    private let column: Int
    private let columnID: UInt16

    /// Nil if the owner was deleted.
    init?(_ owner: ObjectBase, _ property: BoundProperty, _ origin: ClassAccess) {
        guard !owner.isInvalidated, property.column >= 0, let view = origin.instance.currentView else { return nil }
        self.owner = owner._key
        table = origin.table
        tableID = origin.tableID
        column = property.column
        columnID = view.schema.tables[origin.table].columns[property.column].id.rawValue
    }

    func candidates(_ batch: ChangeBatch, limit: Int) throws(StorageError) -> Set<Int64>? {
        let difference = try batch.difference(of: tableID)
        guard difference.insertedCount + difference.deleted.count + difference.modified.count <= limit else {
            return nil
        }
        var candidates = Set(difference.deleted)
        candidates.formUnion(difference.insertedKeys)
        for (key, columns) in difference.modified where columns.contains(columnID) { candidates.insert(key) }
        return candidates
    }

    func multiplicity(of key: Int64, _ view: ReadView) throws(StorageError) -> Int {
        try view.linkCount(from: RowKey(key), to: RowKey(owner), of: table, column)
    }

    func precedes(_ a: Int64, _ b: Int64, _ view: ReadView) -> Bool { a < b }
    func ordered(_ keys: [Int64], _ view: ReadView) -> [Int64] { keys.sorted() }
}

/// The properties that a collection's elements and their order depend on.
struct Dependencies {
    /// The paths of property names that filters and sorts read; nil if they are unknown.
    private let paths: [LinkPath]?
    /// The property that holds the collection, and its owner.
    private var column: (path: LinkPath, owner: ObjectBase)?
    /// Of inverse links: the class that links to the owner.
    private var origin: TableID?
    private let table: TableID
    /// Whether every row of the class is an element.
    private var isOfTable = false

    init(_ source: ObjectSource) {
        table = source.access.tableID
        var paths = Self.paths(of: source)
        switch source.base {
        case .list(let owner, let property):
            do throws(RealmError) {
                column = (try LinkPath([owner._access.properties[property].name], owner._access), owner)
            } catch {
                paths = nil
            }
        case .backlinks(_, let origin, _): self.origin = origin.tableID
        case .table, .keys: isOfTable = true
        }
        self.paths = paths
    }

    /// The paths that a collection's steps read; nil if they are unknown.
    static func paths(of source: ObjectSource) -> [LinkPath]? {
        var paths: [LinkPath] = []
        do throws(RealmError) {
            for step in source.steps {
                if case .filter(let predicate) = step {
                    for names in predicate.paths where !names.isEmpty {
                        paths.append(try LinkPath(names, source.access))
                    }
                } else if case .sort(let descriptors) = step {
                    for descriptor in descriptors {
                        let names = descriptor.keyPath.split(separator: ".").map(String.init)
                        paths.append(try LinkPath(names, source.access))
                    }
                } else {
                    return nil
                }
            }
        } catch {
            return nil
        }
        return paths
    }

    /// Whether elements may have been added, removed or moved.
    func mayDiffer(_ batch: ChangeBatch) throws(StorageError) -> Bool {
        guard let paths else { return true }
        if isOfTable {
            let rows = try batch.difference(of: table)
            if !rows.inserted.isEmpty || !rows.deleted.isEmpty { return true }
        }
        if let origin, try !batch.difference(of: origin).isEmpty { return true }
        if let column {
            if column.owner.isInvalidated { return true }
            if try column.path.touched(batch).contains(column.owner._key) { return true }
        }
        for path in paths where try !path.touched(batch).isEmpty { return true }
        return false
    }
}
