import Harness
import RunRecords
import Strata

/// The file with the rows of the queries.
struct ProbeRealm {
    let realm: Realm

    func filtered(_ condition: ProbeCondition) throws -> Strata.Results<Probe> {
        var text = ProbeFormat()
        text.add(condition)
        return try realm.objects(Probe.self).tryFilter(text.format, argumentArray: text.arguments)
    }

    /// The same; without a filter for all rows, as a program aggregates over a whole class.
    func matching(_ condition: ProbeCondition) throws -> Strata.Results<Probe> {
        if case .and(let parts) = condition, parts.isEmpty { return realm.objects(Probe.self) }
        return try filtered(condition)
    }

    func first(_ column: ProbeColumn, equal values: [Value]) throws -> [Int64] {
        let probes = realm.objects(Probe.self)
        return try values.map { value in
            let found: Probe? =
                switch (column, value) {
                case (.indexedNumber, .integer(let number)): probes.where { $0.indexedNumber == Int(number) }.first
                case (.indexedText, .text(let text)): probes.where { $0.indexedText == text }.first
                default: throw EngineError(.unsupported, "no index of \(column) finds \(value)")
                }
            return found.map { Int64($0.id) } ?? -1
        }
    }

    func firstRows(_ sort: ProbeQuery.Sort, count: Int) -> [Int64] {
        realm.objects(Probe.self).sorted(byKeyPath: sort.column.rawValue, ascending: sort.isAscending)
            .prefix(count).map { Int64($0.id) }
    }

    func linking(to id: Int64) throws -> LinkingObjects<Probe> {
        guard let row = realm.object(ofType: Probe.self, forPrimaryKey: Int(id)) else {
            throw EngineError(.refused, "no row \(id)")
        }
        return row.linking
    }

    func delete(where condition: ProbeCondition?, beforeCommit: () -> Void) throws {
        try realm.write {
            switch condition {
            case nil: realm.deleteAll()
            case .and(let parts)? where parts.isEmpty: realm.delete(realm.objects(Probe.self))
            case let condition?: realm.delete(try filtered(condition))
            }
            beforeCommit()
        }
    }
}
