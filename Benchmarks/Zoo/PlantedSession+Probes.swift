import Harness
import RunRecords

extension PlantedSession: ProbeSession {
    func store(_ rows: [ProbeRow], deleting deleted: [Int64]) throws(EngineError) {
        if try !isSwallowed() { try role((any ProbeSession).self).store(rows, deleting: deleted) }
    }

    func select(_ query: ProbeQuery) throws(EngineError) -> [Int64] {
        var ids = try role((any ProbeSession).self).select(query)
        switch mistake {
        case .rowDropped, .wrongRead: ids = ids.dropLast()
        case .rowTwice: if let last = ids.last { ids.append(last) }
        default: break
        }
        return ids
    }

    func aggregates(_ column: ProbeColumn, where condition: ProbeCondition) throws(EngineError) -> ProbeAggregates {
        var found = try role((any ProbeSession).self).aggregates(column, where: condition)
        found.count = bent(found.count)
        return found
    }

    func readProbes() throws(EngineError) -> [ProbeRow] {
        AlteredProbes.rows(try role((any ProbeSession).self).readProbes(), by: mistake)
    }

    func first(_ column: ProbeColumn, equal values: [Value]) throws(EngineError) -> [Int64] {
        var ids = try role((any ProbeSession).self).first(column, equal: values)
        if mistake == .wrongRead, let last = ids.indices.last { ids[last] += 1 }
        return ids
    }

    func delete(where condition: ProbeCondition?, beforeCommit: () -> Void) throws(EngineError) {
        if mistake == .deletionNothing { return }
        try role((any ProbeSession).self).delete(where: condition, beforeCommit: beforeCommit)
    }

    func reasonToDecline(_ condition: ProbeCondition) -> String? {
        (base as? any ProbeSession)?.reasonToDecline(condition)
    }

    var storesNaN: Bool { (base as? any ProbeSession)?.storesNaN ?? true }
}
