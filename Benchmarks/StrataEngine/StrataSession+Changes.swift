import Harness
import Measuring
import RunRecords
import Strata

extension StrataSession: UpdateSession, DeletionSession, SnapshotSession, CompactionSession {
    func update(table: String, column: String, keys: [Int64], values: [Int64]) throws(EngineError) {
        let (realm, group) = try openRealm()
        let type = try group.type(of: table)
        try checked { try realm.write { try type.update(column, keys, values, in: realm) } }
    }

    func increment(
        table: String, column: String, key: Int64, times: Int, latency: LatencyRecorder?
    ) throws(EngineError) -> Int {
        let (realm, group) = try openRealm()
        let type = try group.type(of: table)
        return try checked {
            for _ in 0..<times {
                if let latency {
                    try latency.time { try Self.increment(type, column, key, in: realm) }
                } else {
                    try Self.increment(type, column, key, in: realm)
                }
            }
            return times
        }
    }

    private static func increment<Element: TableObject>(
        _ type: Element.Type, _ column: String, _ key: Int64, in realm: Realm
    ) throws {
        guard let property = Element.integer(column) else {
            throw EngineError(.refused, "\(Element.tableName) has no integer \(column)")
        }
        try realm.write {
            guard let object = Element.find(Int(key), in: realm) else { throw Element.missing(Int(key)) }
            object[keyPath: property] = object[keyPath: property] &+ 1
        }
    }

    func delete(table: String, keys: [Int64]) throws(EngineError) {
        let (realm, group) = try openRealm()
        let type = try group.type(of: table)
        try checked { try realm.write { try Self.delete(type, keys, in: realm) } }
    }

    private static func delete<Element: TableObject>(
        _ type: Element.Type, _ keys: [Int64], in realm: Realm
    ) throws {
        var objects: [Element] = []
        objects.reserveCapacity(keys.count)
        for key in keys {
            guard let object = Element.find(Int(key), in: realm) else { throw Element.missing(Int(key)) }
            objects.append(object)
        }
        realm.delete(objects)
    }

    /// A frozen Realm: it shows its version for as long as it lives.
    func pin() throws(EngineError) -> SnapshotToken {
        let (realm, _) = try openRealm()
        realm.refresh()
        pinCount += 1
        let token = SnapshotToken(number: pinCount)
        pinned[token] = realm.freeze()
        return token
    }

    func readPinned(_ token: SnapshotToken, _ reads: PointReads) throws(EngineError) -> ReadDigest {
        guard let frozen = pinned[token] else { throw EngineError(.refused, "no such snapshot") }
        let (_, group) = try openRealm()
        let digest = try Self.read(reads, try group.type(of: reads.table), in: frozen, latency: nil)
        try checkReports()
        return digest
    }

    func unpin(_ token: SnapshotToken) throws(EngineError) {
        guard pinned.removeValue(forKey: token) != nil else { throw EngineError(.refused, "no such snapshot") }
    }

    func compact() throws(EngineError) {
        try reopenCompacting()
    }
}
