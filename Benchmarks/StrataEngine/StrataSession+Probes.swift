import Harness
import RunRecords
import Strata

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

final class Probe: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var number: Int?
    @Persisted(indexed: true) var indexedNumber: Int?
    @Persisted var real: Double?
    @Persisted(indexed: true) var indexedReal: Double?
    @Persisted var text: String?
    @Persisted(indexed: true) var indexedText: String?
    @Persisted var friend: Probe?
    @Persisted var friends: List<Probe>
    @Persisted(originProperty: "friend") var linking: LinkingObjects<Probe>
}

extension StrataSession: ProbeSession {
    private func probeRealm() throws -> Realm {
        if let probes { return probes }
        var configuration = configuration
        configuration.fileURL = URL(fileURLWithPath: location.directory + "/probes.strata")
        configuration.objectTypes = [Probe.self]
        let realm = try Realm(configuration: configuration, fileSystem: files)
        probes = realm
        return realm
    }

    func store(_ rows: [ProbeRow], deleting deleted: [Int64]) throws(EngineError) {
        try checked {
            let realm = try probeRealm()
            try realm.write {
                let known = rows.map { realm.object(ofType: Probe.self, forPrimaryKey: Int($0.id)) }
                var objects: [Probe] = []
                for (row, known) in zip(rows, known) {
                    let object = known ?? Probe(value: ["id": Int(row.id)])
                    object.number = row.number.map { Int($0) }
                    object.indexedNumber = object.number
                    object.real = row.real
                    object.indexedReal = row.real
                    object.text = row.text
                    object.indexedText = row.text
                    objects.append(object)
                }
                // Complete and consecutive, as a program loads its objects: storage puts them in large row groups.
                realm.add(objects.filter { $0.realm == nil })
                func find(_ id: Int64) -> Probe? { realm.object(ofType: Probe.self, forPrimaryKey: Int(id)) }
                for (row, object) in zip(rows, objects) {
                    object.friend = row.friend.flatMap(find)
                    object.friends.removeAll()
                    object.friends.append(objectsIn: row.friends.compactMap(find))
                }
                realm.delete(deleted.compactMap(find))
            }
        }
    }

    func select(_ query: ProbeQuery) throws(EngineError) -> [Int64] {
        try checked {
            let realm = try probeRealm()
            var found = try ProbeRealm(realm: realm).filtered(query.condition)
            if !query.sort.isEmpty {
                found = found.sorted(
                    by: query.sort.map { SortDescriptor(keyPath: $0.column.rawValue, ascending: $0.isAscending) })
            }
            if !query.distinct.isEmpty { found = found.distinct(by: query.distinct.map(\.rawValue)) }
            if let limit = query.limit { found = found.limit(limit) }
            return found.map { Int64($0.id) }
        }
    }

    func aggregates(_ column: ProbeColumn, where condition: ProbeCondition) throws(EngineError) -> ProbeAggregates {
        try checked {
            let found = try ProbeRealm(realm: try probeRealm()).matching(condition)
            if column == .real || column == .indexedReal {
                let name = column.rawValue
                let (least, most): (Double?, Double?) = (found.min(ofProperty: name), found.max(ofProperty: name))
                let (sum, average): (Double, Double?) = (found.sum(ofProperty: name), found.average(ofProperty: name))
                return ProbeAggregates(
                    count: found.count, least: least.map { .real($0) } ?? .null, most: most.map { .real($0) } ?? .null,
                    sum: .real(sum), average: average.map { .real($0) } ?? .null)
            }
            let name = column.rawValue
            let (least, most): (Int?, Int?) = (found.min(ofProperty: name), found.max(ofProperty: name))
            let sum: Int = found.sum(ofProperty: name)
            let average: Double? =
                column == .number ? found.average(of: \.number) : found.average(of: \.indexedNumber)
            return ProbeAggregates(
                count: found.count, least: least.map { .integer(Int64($0)) } ?? .null,
                most: most.map { .integer(Int64($0)) } ?? .null, sum: .integer(Int64(sum)),
                average: average.map { .real($0) } ?? .null)
        }
    }

    func first(_ column: ProbeColumn, equal values: [Value]) throws(EngineError) -> [Int64] {
        try checked { try ProbeRealm(realm: try probeRealm()).first(column, equal: values) }
    }

    func firstRows(_ sort: ProbeQuery.Sort, count: Int) throws(EngineError) -> [Int64] {
        try checked { ProbeRealm(realm: try probeRealm()).firstRows(sort, count: count) }
    }

    func linkCount(to id: Int64) throws(EngineError) -> Int {
        try checked { try ProbeRealm(realm: try probeRealm()).linking(to: id).count }
    }

    func linkingRows(to id: Int64, count: Int) throws(EngineError) -> [Int64] {
        try checked { try ProbeRealm(realm: try probeRealm()).linking(to: id).prefix(count).map { Int64($0.id) } }
    }

    func delete(where condition: ProbeCondition?, beforeCommit: () -> Void) throws(EngineError) {
        try checked { try ProbeRealm(realm: try probeRealm()).delete(where: condition, beforeCommit: beforeCommit) }
    }

    func readProbes() throws(EngineError) -> [ProbeRow] {
        try checked {
            try probeRealm().objects(Probe.self).map { probe in
                guard probe.number == probe.indexedNumber, probe.real?.bitPattern == probe.indexedReal?.bitPattern,
                    probe.text == probe.indexedText
                else {
                    throw EngineError(.damaged, "row \(probe.id): a column and its indexed twin differ")
                }
                return ProbeRow(
                    id: Int64(probe.id), number: probe.number.map { Int64($0) }, real: probe.real, text: probe.text,
                    friend: probe.friend.map { Int64($0.id) }, friends: probe.friends.map { Int64($0.id) })
            }
        }
    }
}

/// A condition as a format, with its arguments.
struct ProbeFormat {
    private(set) var format = ""
    /// Values without a literal: NaN and infinities.
    private(set) var arguments: [Any?] = []

    mutating func add(_ condition: ProbeCondition) {
        switch condition {
        case .compare(let column, let comparison, let value): add(column.rawValue, comparison, value)
        case .oneOf(let column, let values):
            var list: [String] = []
            for value in values { list.append(literal(value)) }
            format += "\(column.rawValue) IN {\(list.joined(separator: ", "))}"
        case .text(let column, let test, let text, let isFolded):
            let word =
                switch test {
                case .equal: "=="
                case .contains: "CONTAINS"
                case .begins: "BEGINSWITH"
                case .ends: "ENDSWITH"
                case .like: "LIKE"
                }
            let constant = literal(.text(text))
            format += "\(column.rawValue) \(word)\(isFolded ? "[c]" : "") \(constant)"
        case .friend(let column, let comparison, let value): add("friend." + column.rawValue, comparison, value)
        case .friends(let quantifier, let column, let comparison, let value):
            format += quantifier.rawValue.uppercased() + " "
            add("friends." + column.rawValue, comparison, value)
        case .and(let parts): add(parts, " AND ", none: "TRUEPREDICATE")
        case .or(let parts): add(parts, " OR ", none: "FALSEPREDICATE")
        case .not(let part):
            format += "NOT ("
            add(part)
            format += ")"
        }
    }

    private mutating func add(_ parts: [ProbeCondition], _ word: String, none: String) {
        if parts.isEmpty { format += none }
        for (place, part) in parts.enumerated() {
            format += place == 0 ? "(" : word + "("
            add(part)
            format += ")"
        }
    }

    private mutating func add(_ path: String, _ comparison: ProbeComparison, _ value: Value) {
        let sign =
            switch comparison {
            case .equal: "=="
            case .notEqual: "!="
            case .less: "<"
            case .lessOrEqual: "<="
            case .greater: ">"
            case .greaterOrEqual: ">="
            }
        let constant = literal(value)
        format += "\(path) \(sign) \(constant)"
    }

    private mutating func literal(_ value: Value) -> String {
        switch value {
        case .integer(let integer): return "\(integer)"
        case .real(let real) where !real.isFinite:
            arguments.append(real)
            return "%@"
        case .real(let real): return "\(real)"
        case .null, .link, .links: return "NULL"
        case .text(let text):
            var literal = "\""
            for scalar in text.unicodeScalars {
                if scalar == "\"" || scalar == "\\" { literal += "\\" }
                literal.unicodeScalars.append(scalar)
            }
            return literal + "\""
        }
    }
}
