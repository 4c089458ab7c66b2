import StrataStorage

/// Puts rows in the order of some properties. Equal rows keep their order.
struct RowSort {
    private let paths: [(path: PredicateEvaluator.BoundPath, ascending: Bool)]

    init(_ instance: RealmInstance, _ access: ClassAccess, _ descriptors: [SortDescriptor]) {
        do throws(Realm.Error) {
            var paths: [(path: PredicateEvaluator.BoundPath, ascending: Bool)] = []
            for descriptor in descriptors {
                let names = descriptor.keyPath.split(separator: ".").map(String.init)
                let path = try PredicateEvaluator.bind(names, access)
                guard path.isSingle else {
                    throw Realm.Error(.invalidInput, "cannot sort by '\(descriptor.keyPath)': it has several values")
                }
                paths.append((path, descriptor.ascending))
            }
            self.paths = paths
        } catch {
            fatalError(error.description)
        }
    }

    /// - Complexity: O(n log n) comparisons, O(n) reads.
    func sorted(_ keys: [Int64], _ view: ReadView) throws(StorageError) -> [Int64] {
        var values: [[_StoredValue]] = []
        for (path, _) in paths {
            var column: [_StoredValue] = []
            column.reserveCapacity(keys.count)
            for key in keys { column.append(try value(path, RowKey(key), view)) }
            values.append(column)
        }
        var order = Array(keys.indices)
        order.sort { a, b in
            for (place, (_, ascending)) in paths.enumerated() {
                let first = values[place][a]
                let second = values[place][b]
                if _StoredValue.precedes(first, second) { return ascending }
                if _StoredValue.precedes(second, first) { return !ascending }
            }
            return a < b
        }
        return order.map { keys[$0] }
    }

    private func value(
        _ path: PredicateEvaluator.BoundPath, _ key: RowKey, _ view: ReadView
    ) throws(StorageError) -> _StoredValue {
        var key = key
        for (place, (access, property)) in path.steps.enumerated() {
            if property.column == Int(ColumnSlot.key) { return .integer(key.rawValue) }
            guard property.column >= 0, let location = try view.locate(access.table, key) else { return .null }
            let value = try view.value(location, property.column, property.tag)
            if place + 1 == path.steps.count { return value }
            guard case .link(let target) = value else { return .null }
            key = RowKey(target)
        }
        return .null
    }
}
