import Harness
import RunRecords
import Strata

/// Operations of a program on single objects of a class that is known at compile time.
protocol KeyedObjects {
    func read(_ key: Int64) throws(EngineError) -> ReadDigest
    func read(_ keys: Range<Int64>) throws(EngineError) -> ReadDigest
    func set(_ key: Int64, to value: Int64) throws
    func increment(_ key: Int64) throws -> ReadDigest
}

private struct KeyedClass<Element: TableObject>: KeyedObjects {
    let realm: Realm
    let adders: [(Element, inout ReadDigest) -> Void]
    let changed: ReferenceWritableKeyPath<Element, Int>

    init(_ type: Element.Type, _ rows: KeyedRows, in realm: Realm) throws(EngineError) {
        self.realm = realm
        adders = try Element.adders(rows.columns)
        guard let changed = Element.integer(rows.changed) else {
            throw EngineError(.refused, "\(Element.tableName) has no integer \(rows.changed)")
        }
        self.changed = changed
    }

    func read(_ key: Int64) throws(EngineError) -> ReadDigest {
        realm.refresh()
        var digest = ReadDigest()
        guard let object = Element.find(Int(key), in: realm) else { throw Element.missing(Int(key)) }
        for adder in adders { adder(object, &digest) }
        return digest
    }

    func read(_ keys: Range<Int64>) throws(EngineError) -> ReadDigest {
        realm.refresh()
        var digest = ReadDigest()
        guard let objects = Element.keyed(keys, in: realm) else {
            throw EngineError(.refused, "\(Element.tableName) has no primary key")
        }
        for object in objects {
            for adder in adders { adder(object, &digest) }
        }
        return digest
    }

    func set(_ key: Int64, to value: Int64) throws {
        try realm.write {
            guard let object = Element.find(Int(key), in: realm) else { throw Element.missing(Int(key)) }
            object[keyPath: changed] = Int(value)
        }
    }

    func increment(_ key: Int64) throws -> ReadDigest {
        try realm.write {
            guard let object = Element.find(Int(key), in: realm) else { throw Element.missing(Int(key)) }
            var digest = ReadDigest()
            for adder in adders { adder(object, &digest) }
            object[keyPath: changed] = object[keyPath: changed] &+ 1
            return digest
        }
    }
}

/// A session whose rows are objects.
protocol KeyedObjectSession: KeyedRowSession {
    var keyedRows: (any KeyedObjects)? { get }
    func checked<Output>(_ body: () throws -> Output) throws(EngineError) -> Output
}

extension KeyedObjectSession {
    private func prepared() throws(EngineError) -> any KeyedObjects {
        guard let keyedRows else { throw KeyedRows.notPrepared }
        return keyedRows
    }

    func readRow(_ key: Int64) throws(EngineError) -> ReadDigest {
        let own = try prepared()
        return try checked { try own.read(key) }
    }

    func readRows(_ keys: Range<Int64>) throws(EngineError) -> ReadDigest {
        let own = try prepared()
        return try checked { try own.read(keys) }
    }

    func setRow(_ key: Int64, to value: Int64) throws(EngineError) {
        let own = try prepared()
        try checked { try own.set(key, to: value) }
    }

    func incrementRow(_ key: Int64) throws(EngineError) -> ReadDigest {
        let own = try prepared()
        return try checked { try own.increment(key) }
    }
}

extension TableObject {
    fileprivate static func keyed(_ rows: KeyedRows, in realm: Realm) throws(EngineError) -> any KeyedObjects {
        try KeyedClass(Self.self, rows, in: realm)
    }
}

extension StrataSession: KeyedObjectSession {
    func prepareRows(_ rows: KeyedRows) throws(EngineError) {
        let (realm, group) = try openRealm()
        keyedRows = try group.type(of: rows.table).keyed(rows, in: realm)
    }
}
