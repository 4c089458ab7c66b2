/// The columns and sets of rows that the keys of a collection depend on.
struct ResultDependencies {
    private(set) var columns: Set<WriteMarks.Place> = []
    /// Classes whose inserted and deleted rows may change the collection.
    private var rows: Set<Int> = []
    /// Whether any deletion may change it: values of any type may link to any class.
    private var dependsOnDeletions = false
    /// Whether only a row's own columns, and in a list its own place there, decide its membership and its order.
    private(set) var isRowLocal = true
    /// The column of a list.
    private var list: WriteMarks.Place?

    /// Nil if the steps no longer suit the class.
    init?(_ source: ObjectSource) {
        let access = source.access
        rows.insert(access.table)
        switch source.base {
        case .table: break
        case .keys: isRowLocal = false
        case .list(let owner, let property):
            // A map keeps its keys when the linked objects are deleted.
            isRowLocal = !owner._access.properties[property].isMap
            rows.insert(owner._access.table)
            let place = WriteMarks.Place(
                table: owner._access.table, column: owner._access.properties[property].column)
            columns.insert(place)
            list = place
        case .backlinks(let owner, let origin, let property):
            isRowLocal = false
            rows.formUnion([owner._access.table, origin.table])
            columns.insert(WriteMarks.Place(table: origin.table, column: origin.properties[property].column))
        }
        do throws(RealmError) {
            for step in source.steps {
                switch step {
                case .filter(let predicate): add(try PredicateBinder.bind(predicate, source.instance, access))
                case .sort(let descriptors):
                    for descriptor in descriptors { try add(descriptor.keyPath, source) }
                case .distinct(let keyPaths):
                    isRowLocal = false
                    for keyPath in keyPaths { try add(keyPath, source) }
                case .limit: isRowLocal = false
                }
            }
        } catch {
            return nil
        }
    }

    /// Whether the collection may have changed after `stamp`.
    func changed(since stamp: UInt64, _ marks: WriteMarks) -> Bool {
        if dependsOnDeletions && marks.deletion > stamp { return true }
        return rows.contains { marks.inserted($0) > stamp || marks.deleted($0) > stamp }
            || columns.contains { marks.changed($0) > stamp }
    }

    /// Whether changes after `stamp` are missing in the log of changed rows that ``WriteMarks`` keeps for the class.
    func changedUnseen(since stamp: UInt64, _ marks: WriteMarks) -> Bool {
        if dependsOnDeletions && marks.deletion > stamp { return true }
        // Only a change of the list itself counts here: a deleted element is in the log, which is that of its class.
        if let list, marks.set(list) > stamp { return true }
        return columns.contains { $0 != list && marks.unlogged($0) > stamp }
    }

    private mutating func add(_ keyPath: String, _ source: ObjectSource) throws(RealmError) {
        let names = keyPath.split(separator: ".").map(String.init)
        add(try PredicateBinder.path(names, source.instance, source.access))
    }

    private mutating func add(_ node: BoundPredicate) {
        switch node {
        case .constant: break
        case .not(let inner): add(inner)
        case .and(let parts), .or(let parts): for part in parts { add(part) }
        case .comparison(let comparison):
            add(comparison.left)
            add(comparison.right)
        case .located(let location):
            add(location.coordinates)
            add(location.type)
        }
    }

    private mutating func add(_ expression: BoundExpression) {
        switch expression {
        case .constants: break
        case .path(let path), .aggregate(let path, _): add(path)
        case .several(let parts): for part in parts { add(part) }
        case .subquery(let path, let inner, _):
            isRowLocal = false
            add(path)
            add(inner)
        }
    }

    private mutating func add(_ path: BoundPath) {
        if path.scope != 0 || path.steps.count > 1 { isRowLocal = false }
        for step in path.steps {
            if step.property.tag.type == .any { dependsOnDeletions = true }
            if step.property.isLinkingObjects {
                isRowLocal = false
                guard let target = step.target else { continue }
                // An inserted row may link here, and a deleted one no longer does.
                rows.insert(target.table)
                columns.insert(WriteMarks.Place(table: target.table, column: step.originColumn))
            } else if step.property.column >= 0 {
                columns.insert(WriteMarks.Place(table: step.access.table, column: step.property.column))
            }
        }
    }
}
