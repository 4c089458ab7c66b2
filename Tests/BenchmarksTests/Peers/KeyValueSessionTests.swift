import Datasets
import Harness
import PackedRows
import RunRecords
import Testing

/// Lists the calls that put rows. Its scans find two rows, and a third entry whose key is damaged.
private final class ScriptedStore: KeyValueVersion, KeyValueTransaction, KeyValuePin {
    enum Call: Equatable {
        case put(Int64), insert(Int64), insertNew(Int64), append(Int64)
    }

    var calls: [Call] = []
    var last: Int64?

    private func number(_ key: KeyBuffer) -> Int64 { PackedKey.read(key.bytes, of: 1) ?? -1 }

    func get(
        _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Void
    ) throws(EngineError) -> Bool { false }

    func put(_ key: KeyBuffer, _ value: UnsafeRawBufferPointer) { calls.append(.put(number(key))) }
    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {}
    func append(_ key: KeyBuffer, _ value: UnsafeRawBufferPointer) { calls.append(.append(number(key))) }
    func insert(_ key: KeyBuffer, _ value: UnsafeRawBufferPointer, into table: PackedTable) {
        calls.append(.insert(number(key)))
    }
    func insertNew(_ key: KeyBuffer, _ value: UnsafeRawBufferPointer) {
        calls.append(.insertNew(number(key)))
        last = number(key)
    }
    func delete(_ key: KeyBuffer) {}
    func lastKey(_ table: PackedTable) -> Int64? { last }
    func commit() {}
    func abort() {}
    func release() {}

    func scan(
        _ table: PackedTable, from lowest: Int64, before highest: Int64?,
        _ body: (Int64, UnsafeRawBufferPointer) throws(EngineError) -> Bool
    ) throws(EngineError) {
        for key in Int64(0)..<2 {
            guard try body(key, UnsafeRawBufferPointer(start: nil, count: 0)) else { return }
        }
    }

    func scanValues(
        _ table: PackedTable, _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Void
    ) throws(EngineError) {
        for _ in 0..<3 { try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
    }
}

private final class ScriptedSession: KeyValueSession {
    typealias Pin = ScriptedStore

    let key = KeyBuffer()
    var catalogue: PackedCatalogue?
    var pinned = PinnedVersions<ScriptedStore>()
    var keyedRows: PackedKeyedRows?
    let store = ScriptedStore()
    var (writes, changes) = (0, 0)

    init(_ tables: TableSet) throws { catalogue = try PackedCatalogue(tables) }

    func read<Output>(
        _ reading: KeyValueReading, _ body: (ScriptedStore) throws(EngineError) -> Output
    ) throws(EngineError) -> Output { try body(store) }

    func write(_ body: (ScriptedStore) throws(EngineError) -> Void) throws(EngineError) {
        writes += 1
        try body(store)
    }

    func change(_ body: (ScriptedStore) throws(EngineError) -> Void) throws(EngineError) {
        changes += 1
        try body(store)
    }

    func newestVersion() -> ScriptedStore { store }
}

@Suite struct KeyValueSessionTests {
    /// Three rows whose keys are their indexes, or rows of the same values without an own key.
    private func rows(hasKeys: Bool) -> TableSet {
        let numbers = Column("number", .integer([0, 1, 2]))
        let table = Table(name: "Row", key: hasKeys ? "number" : nil, columns: [numbers])
        return TableSet(dataset: "test", tables: [table], digest: 0)
    }

    @Test("rows without own keys are inserted as new ones, after the last key of the table")
    func rowIndexes() throws {
        let tables = rows(hasKeys: false)
        let session = try ScriptedSession(tables)
        session.store.last = 6
        try session.insertAll(tables.main)
        #expect(session.store.calls == [.insertNew(7), .insertNew(8), .insertNew(9)])
        #expect(try session.insertEach(tables.main, latency: nil) == 3)
        #expect(session.store.calls.suffix(3) == [.insertNew(10), .insertNew(11), .insertNew(12)])
        #expect(session.changes == 4 && session.writes == 0)
    }

    @Test("no row follows the largest key that there can be")
    func noNextKey() throws {
        let tables = rows(hasKeys: false)
        let session = try ScriptedSession(tables)
        for last in [Int64.max, Int64.max - 2] {
            session.store.last = last
            let error = try #require(throws: EngineError.self) { try session.insertAll(tables.main) }
            #expect(error.message == KeyedRows.noNextKey.message)
            #expect(session.store.calls.isEmpty)
        }
    }

    @Test("rows with own keys are inserted under these")
    func ownKeys() throws {
        let tables = rows(hasKeys: true)
        let session = try ScriptedSession(tables)
        session.store.last = 6
        try session.insertAll(tables.main)
        #expect(session.store.calls == [.insert(0), .insert(1), .insert(2)])
        #expect(try session.insertEach(tables.main, latency: nil) == 3)
        #expect(session.store.calls.suffix(3) == [.insert(0), .insert(1), .insert(2)])
        #expect(session.changes == 1 && session.writes == 3)
    }

    @Test("only entries whose key can be read count as rows")
    func rowCount() throws {
        #expect(try ScriptedSession(rows(hasKeys: false)).rowCount(table: "Row") == 2)
    }
}
