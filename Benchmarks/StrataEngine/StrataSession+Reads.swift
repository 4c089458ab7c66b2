import Harness
import Measuring
import RunRecords
import Strata

extension StrataSession: QuerySession, LinkSession {
    func readPoints(_ reads: PointReads, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest {
        let (realm, group) = try openRealm()
        realm.refresh()
        let type = try group.type(of: reads.table)
        let digest = try Self.read(reads, type, in: realm, latency: latency)
        try checkReports()
        return digest
    }

    static func read<Element: TableObject>(
        _ reads: PointReads, _ type: Element.Type, in realm: Realm, latency: LatencyRecorder?
    ) throws(EngineError) -> ReadDigest {
        let adders = try Element.adders(reads.columns)
        return reads.snapshot == .each && reads.keys.count > 1
            ? try Element.readEach(reads.keys, adders, in: realm, latency: latency)
            : try Element.readPoints(reads.keys, adders, in: realm, latency: latency)
    }

    func countEqual(table: String, column: String, text: String) throws(EngineError) -> Int {
        let (realm, group) = try openRealm()
        realm.refresh()
        guard let count = try group.type(of: table).countEqual(column, text, in: realm) else {
            throw EngineError(.refused, "\(table) has no text \(column)")
        }
        try checkReports()
        return count
    }

    func sum(table: String, column: String) throws(EngineError) -> Int64 {
        let (realm, group) = try openRealm()
        realm.refresh()
        let sum = try group.type(of: table).sum(column, in: realm)
        try checkReports()
        return Int64(sum)
    }

    func count(_ filter: TwoColumnFilter) throws(EngineError) -> Int {
        let (realm, group) = try openRealm()
        realm.refresh()
        guard let count = try group.type(of: filter.table).count(filter, in: realm) else {
            throw EngineError(.refused, "\(filter.table) has no \(filter.integer) and \(filter.real)")
        }
        try checkReports()
        return count
    }

    func iterate(table: String, column: String) throws(EngineError) -> ReadDigest {
        let (realm, group) = try openRealm()
        realm.refresh()
        let type = try group.type(of: table)
        let digest = try checked { try type.iterate(column, in: realm) }
        return digest
    }

    func traverse(_ traversal: Traversal, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest {
        let (realm, group) = try openRealm()
        realm.refresh()
        let digest: ReadDigest
        switch traversal.direction {
        case .forward:
            digest = try Self.walkForward(
                traversal, try group.type(of: traversal.table), in: realm, latency: latency)
        case .backward:
            digest = try walkBackward(traversal, group, in: realm, latency: latency)
        }
        try checkReports()
        return digest
    }

    private static func walkForward<Element: TableObject>(
        _ traversal: Traversal, _ type: Element.Type, in realm: Realm, latency: LatencyRecorder?
    ) throws(EngineError) -> ReadDigest {
        guard let visit = Element.walker(traversal.column, property: traversal.property) else {
            throw EngineError(.refused, "no walk along \(traversal.table).\(traversal.column)")
        }
        return try Element.walk(traversal.rows, in: realm, latency: latency, visit)
    }

    private func walkBackward(
        _ traversal: Traversal, _ group: ClassGroup, in realm: Realm, latency: LatencyRecorder?
    ) throws(EngineError) -> ReadDigest {
        for type in group.classes {
            if let digest = try Self.walkBackward(traversal, type, in: realm, latency: latency) { return digest }
        }
        throw EngineError(.refused, "no walk against \(traversal.table).\(traversal.column)")
    }

    /// nil when the class is not the target of the column.
    private static func walkBackward<Element: TableObject>(
        _ traversal: Traversal, _ type: Element.Type, in realm: Realm, latency: LatencyRecorder?
    ) throws(EngineError) -> ReadDigest? {
        guard
            let visit = Element.backWalker(traversal.table, traversal.column, property: traversal.property)
        else { return nil }
        return try Element.walk(traversal.rows, in: realm, latency: latency, visit)
    }

    // MARK: Everything

    func readAll(_ schema: TableSet, into sink: any RowSink) throws(EngineError) {
        let (realm, group) = try openRealm()
        realm.refresh()
        let rows = RowNumbers()
        for table in schema.tables {
            let type = try group.type(of: table.name)
            try checked { try Self.number(type, in: realm, into: rows) }
        }
        for table in schema.tables {
            let type = try group.type(of: table.name)
            let isWanted = try checked { try readAll(type, table, rows, in: realm, into: sink) }
            guard isWanted else { return }
        }
    }

    private static func number<Element: TableObject>(
        _ type: Element.Type, in realm: Realm, into rows: RowNumbers
    ) throws {
        try rows.add(realm.objects(type))
    }

    private func readAll<Element: TableObject>(
        _ type: Element.Type, _ table: Table, _ rows: RowNumbers, in realm: Realm, into sink: any RowSink
    ) throws -> Bool {
        let names = table.columns.map(\.name)
        let objects = realm.objects(type)
        var seen = 0
        for object in objects {
            let row = try object.keyedRow() ?? seen
            var values: [Value] = []
            values.reserveCapacity(names.count)
            for name in names { values.append(try object.value(name, rows)) }
            // An unreadable list is returned as an empty one, and reported.
            try checkReports()
            guard sink.receive(table: table.name, row: row, values: values) else { return false }
            seen += 1
        }
        try checkReports()
        // Objects that a loop skipped would be missing without an error.
        guard seen == objects.count else {
            throw EngineError(.damaged, "\(table.name): \(objects.count) objects, \(seen) could be read")
        }
        return true
    }
}

/// Objects that a session holds for its caller.
protocol HeldObjects {
    func read(_ column: String, count: Int, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest
    func readUnmanaged(_ column: String, count: Int) throws(EngineError) -> ReadDigest
}

struct HeldList<Element: TableObject>: HeldObjects {
    let objects: [Element]

    func read(_ column: String, count: Int, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest {
        guard !objects.isEmpty else { throw EngineError(.refused, "nothing is held") }
        return try Element.readHeld(objects, column, count: count, latency: latency)
    }

    func readUnmanaged(_ column: String, count: Int) throws(EngineError) -> ReadDigest {
        guard !objects.isEmpty else { throw EngineError(.refused, "nothing is held") }
        return try Element.readHeldUnmanaged(objects, column, count: count)
    }
}

extension StrataSession: HeldObjectSession {
    func hold(table: String, keys: [Int64]) throws(EngineError) {
        let (realm, group) = try openRealm()
        realm.refresh()
        held = try Self.held(try group.type(of: table), keys, in: realm)
    }

    private static func held<Element: TableObject>(
        _ type: Element.Type, _ keys: [Int64], in realm: Realm
    ) throws(EngineError) -> any HeldObjects {
        var objects: [Element] = []
        objects.reserveCapacity(keys.count)
        for key in keys {
            guard let object = Element.find(Int(key), in: realm) else { throw Element.missing(Int(key)) }
            objects.append(object)
        }
        return HeldList(objects: objects)
    }

    func readHeld(column: String, count: Int, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest {
        guard let held else { throw EngineError(.refused, "nothing is held") }
        let digest = try held.read(column, count: count, latency: latency)
        try checkReports()
        return digest
    }

    func readHeldUnmanaged(column: String, count: Int) throws(EngineError) -> ReadDigest? {
        guard let held else { throw EngineError(.refused, "nothing is held") }
        let digest = try held.readUnmanaged(column, count: count)
        try checkReports()
        return digest
    }
}
