import StrataStorage

/// Queries a collection in a damaged file: row by row, without indexes, and without the counts and positions that
/// branches hold.
///
/// An unreadable row is left out. A row with an unreadable value is left out if a filter or `distinct` needs the value;
/// a sort treats the value as null. Each damaged place is reported.
struct DegradedQuery {
    private let source: ObjectSource
    private let view: ReadView
    private var instance: RealmInstance { source.instance }
    private var access: ClassAccess { source.access }

    init(_ source: ObjectSource, _ view: ReadView) {
        self.source = source
        self.view = view
    }

    /// - Complexity: reads every row of the class, or every link of the list.
    func keys() -> [Int64] {
        var keys = readable(baseKeys())
        for step in source.steps {
            switch step {
            case .filter(let predicate): keys = filtered(keys, predicate)
            case .sort(let descriptors):
                keys = RowSort(instance, access, descriptors).sortedPastDamage(keys, view, note)
            case .distinct(let keyPaths):
                keys = RowDistinction(instance, access, keyPaths).keptPastDamage(keys, view, note)
            case .limit(let count, let offset): keys = Array(keys.dropFirst(offset).prefix(count))
            }
        }
        return keys
    }

    private func note(_ error: StorageError, _ key: Int64) {
        instance.failures.note(error, in: access, .value(row: key, column: nil))
    }

    /// The keys whose rows are readable, and those without a row.
    private func readable(_ keys: [Int64]) -> [Int64] {
        if case .table = source.base { return keys }
        guard let rows = instance.failures.readableRows(access) else { return keys }
        return keys.filter { rows.contains($0) || !instance.failures.cannotRead($0, access) }
    }

    private func baseKeys() -> [Int64] {
        switch source.base {
        case .table: return tableKeys()
        case .keys(let keys): return keys
        case .list(let owner, let property):
            let column = _CollectionColumn(owner, property)
            return column.contents.values.compactMap { value in
                value.linkKey.flatMap { $0 == LinkPayload.null ? nil : $0 }
            }
        case .backlinks(let owner, let origin, let property):
            if owner.isInvalidated { return [] }
            return origins(of: owner, origin, origin.properties[property])
        }
    }

    private func tableKeys() -> [Int64] {
        if let rows = instance.failures.readableRows(access) { return rows.keys }
        do throws(StorageError) { return try view.keys(access.table) } catch {
            instance.failures.note(error, in: access)
            return instance.failures.readableRows(access)?.keys ?? []
        }
    }

    /// The rows that link to `owner`; found from their own links if the backlinks are unreadable.
    private func origins(of owner: ObjectBase, _ origin: ClassAccess, _ property: BoundProperty) -> [Int64] {
        do throws(StorageError) { return try view.backlinks(to: owner, origin, column: property.column) } catch {
            instance.failures.note(error, in: origin)
        }
        var keys: [Int64] = []
        for key in instance.failures.readableRows(origin)?.keys ?? [] {
            do throws(StorageError) {
                guard let row = try view.locate(origin.table, RowKey(key)) else { continue }
                let links: [Int64] =
                    property.isCollection
                    ? try view.links(row, key, property)
                    : try view.integer(row, property.column).map { [$0] } ?? []
                for link in links where link == owner._key { keys.append(key) }
            } catch {
                note(error, key)
            }
        }
        return keys
    }

    private func filtered(_ keys: [Int64], _ predicate: Predicate) -> [Int64] {
        let evaluator = PredicateEvaluator(instance, access, predicate)
        var kept: [Int64] = []
        for key in keys {
            do throws(StorageError) {
                guard try view.locate(access.table, RowKey(key)) != nil else { continue }
                if try evaluator.matches(RowKey(key), view) { kept.append(key) }
            } catch {
                note(error, key)
            }
        }
        return kept
    }
}
