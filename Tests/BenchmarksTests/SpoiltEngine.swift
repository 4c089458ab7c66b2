import Harness
import Measuring
import RunRecords

/// Another engine with one defect, for the limits of the scenarios' oracles.
struct SpoiltEngine: Engine {
    enum Spoil: String, Sendable, CaseIterable {
        /// Every text reads as `#`.
        case hashTexts
        /// A compaction does nothing.
        case idleCompaction
        /// A session stays open after its close.
        case neverClosed
    }

    let base: any Engine
    let spoil: Spoil

    var name: String { base.name }
    var version: String { base.version }
    /// Its session does not support transactions of single steps.
    var capabilities: Set<Capability> { base.capabilities.subtracting([.transactions]) }
    var promises: [Promise] { base.promises }
    func settings(for durability: DurabilityClass) -> EngineSettings { base.settings(for: durability) }
    func files(at location: DatabaseLocation) -> [DatabaseFile] { base.files(at: location) }

    func open(_ location: DatabaseLocation, settings: EngineSettings) throws(EngineError) -> any Session {
        let session = try base.open(location, settings: settings)
        guard let session = session as? SpoiltSession.Base else {
            throw EngineError(.unsupported, "\(name) lacks a role")
        }
        return SpoiltSession(session, spoil)
    }
}

final class SpoiltSession: TableSession, UpdateSession, DeletionSession, SnapshotSession, CompactionSession {
    typealias Base = any TableSession & UpdateSession & DeletionSession & SnapshotSession & CompactionSession

    private let base: Base
    private let spoil: SpoiltEngine.Spoil

    init(_ base: Base, _ spoil: SpoiltEngine.Spoil) {
        self.base = base
        self.spoil = spoil
    }

    func sizes() throws(EngineError) -> SizePoint { try base.sizes() }
    func create(_ tables: TableSet) throws(EngineError) { try base.create(tables) }
    func load(_ tables: TableSet) throws(EngineError) { try base.load(tables) }
    func insertAll(_ rows: Table) throws(EngineError) { try base.insertAll(rows) }
    func rowCount(table: String) throws(EngineError) -> Int { try base.rowCount(table: table) }
    func pin() throws(EngineError) -> SnapshotToken { try base.pin() }
    func unpin(_ token: SnapshotToken) throws(EngineError) { try base.unpin(token) }

    func close() throws(EngineError) {
        if spoil == .neverClosed {
            // Leaked: the test's process ends soon.
            _ = Unmanaged.passRetained(base as AnyObject)
            return
        }
        try base.close()
    }

    func compact() throws(EngineError) {
        if spoil != .idleCompaction { try base.compact() }
    }

    func insertEach(_ rows: Table, latency: LatencyRecorder?) throws(EngineError) -> Int {
        try base.insertEach(rows, latency: latency)
    }

    func readPoints(_ reads: PointReads, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest {
        try base.readPoints(reads, latency: latency)
    }

    func readPinned(_ token: SnapshotToken, _ reads: PointReads) throws(EngineError) -> ReadDigest {
        try base.readPinned(token, reads)
    }

    func update(table: String, column: String, keys: [Int64], values: [Int64]) throws(EngineError) {
        try base.update(table: table, column: column, keys: keys, values: values)
    }

    func increment(
        table: String, column: String, key: Int64, times: Int, latency: LatencyRecorder?
    ) throws(EngineError) -> Int {
        try base.increment(table: table, column: column, key: key, times: times, latency: latency)
    }

    func delete(table: String, keys: [Int64]) throws(EngineError) { try base.delete(table: table, keys: keys) }

    func readAll(_ schema: TableSet, into sink: any RowSink) throws(EngineError) {
        try base.readAll(schema, into: spoil == .hashTexts ? Hashes(sink) : sink)
    }

    private final class Hashes: RowSink {
        private let sink: any RowSink
        init(_ sink: any RowSink) { self.sink = sink }

        func receive(table: String, row: Int, values: [Value]) -> Bool {
            sink.receive(
                table: table, row: row,
                values: values.map { if case .text = $0 { .text("#") } else { $0 } })
        }
    }
}
