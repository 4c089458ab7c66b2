import Harness
import Measuring
import ModelEngine
import RunRecords
import Testing

@testable import Scenarios

/// An engine that lies, so that scenarios which check nothing are found out.
struct LyingEngine: Engine {
    enum Lie: String, Sendable, CaseIterable {
        /// An increment is acknowledged and not done.
        case lostIncrement
        /// The last row of an insertion is acknowledged and not there.
        case lostRow
        /// Every read gives something else.
        case wrongRead
        /// A pinned version shows the newest data.
        case unpinned
    }

    let lie: Lie
    let base = ModelEngine()
    let name = "liar"
    let version = "1"
    let promises: [Promise] = []
    let capabilities: Set<Capability> = [.tables, .updates, .snapshots, .threads, .queries, .links, .heldObjects]

    func settings(for durability: DurabilityClass) -> EngineSettings { base.settings(for: durability) }
    func files(at location: DatabaseLocation) -> [DatabaseFile] { [] }

    func open(_ location: DatabaseLocation, settings: EngineSettings) throws(EngineError) -> any Session {
        let session = try base.open(location, settings: settings)
        guard let session = session as? LyingSession.Base else { throw EngineError(.unsupported, "no model") }
        return LyingSession(session, lie)
    }
}

final class LyingSession: TableSession, UpdateSession, SnapshotSession, QuerySession, LinkSession, HeldObjectSession {
    typealias Base = any TableSession & UpdateSession & SnapshotSession & QuerySession & LinkSession & HeldObjectSession

    private let base: Base
    private let lie: LyingEngine.Lie

    init(_ base: Base, _ lie: LyingEngine.Lie) {
        self.base = base
        self.lie = lie
    }

    private func bent(_ digest: ReadDigest) -> ReadDigest {
        var digest = digest
        if lie == .wrongRead { digest.sum &+= 1 }
        return digest
    }

    func sizes() throws(EngineError) -> SizePoint { try base.sizes() }
    func close() throws(EngineError) { try base.close() }
    func create(_ tables: TableSet) throws(EngineError) { try base.create(tables) }

    func load(_ tables: TableSet) throws(EngineError) {
        var tables = tables
        if lie == .lostRow, let first = tables.tables.first {
            tables.tables[0] = first.withoutLastRow()
        }
        try base.load(tables)
    }

    func insertEach(_ rows: Table, latency: LatencyRecorder?) throws(EngineError) -> Int {
        _ = try base.insertEach(lie == .lostRow ? rows.withoutLastRow() : rows, latency: latency)
        return rows.rowCount
    }

    func insertAll(_ rows: Table) throws(EngineError) {
        try base.insertAll(lie == .lostRow ? rows.withoutLastRow() : rows)
    }

    func readPoints(_ reads: PointReads, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest {
        bent(try base.readPoints(reads, latency: latency))
    }

    func rowCount(table: String) throws(EngineError) -> Int { try base.rowCount(table: table) }

    func readAll(_ schema: TableSet, into sink: any RowSink) throws(EngineError) {
        try base.readAll(schema, into: sink)
    }

    func update(table: String, column: String, keys: [Int64], values: [Int64]) throws(EngineError) {
        try base.update(table: table, column: column, keys: keys, values: values)
    }

    func increment(
        table: String, column: String, key: Int64, times: Int, latency: LatencyRecorder?
    ) throws(EngineError) -> Int {
        _ = try base.increment(
            table: table, column: column, key: key, times: lie == .lostIncrement ? times - 1 : times, latency: latency)
        return times
    }

    func pin() throws(EngineError) -> SnapshotToken { try base.pin() }

    func readPinned(_ token: SnapshotToken, _ reads: PointReads) throws(EngineError) -> ReadDigest {
        lie == .unpinned ? try base.readPoints(reads, latency: nil) : try base.readPinned(token, reads)
    }

    func unpin(_ token: SnapshotToken) throws(EngineError) { try base.unpin(token) }

    func sum(table: String, column: String) throws(EngineError) -> Int64 {
        try base.sum(table: table, column: column) &+ (lie == .wrongRead ? 1 : 0)
    }

    func count(_ filter: TwoColumnFilter) throws(EngineError) -> Int {
        try base.count(filter) + (lie == .wrongRead ? 1 : 0)
    }

    func iterate(table: String, column: String) throws(EngineError) -> ReadDigest {
        bent(try base.iterate(table: table, column: column))
    }

    func countEqual(table: String, column: String, text: String) throws(EngineError) -> Int {
        try base.countEqual(table: table, column: column, text: text) + (lie == .wrongRead ? 1 : 0)
    }

    func traverse(_ traversal: Traversal, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest {
        bent(try base.traverse(traversal, latency: latency))
    }

    func hold(table: String, keys: [Int64]) throws(EngineError) { try base.hold(table: table, keys: keys) }

    func readHeld(column: String, count: Int, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest {
        bent(try base.readHeld(column: column, count: count, latency: latency))
    }
}

extension Table {
    func withoutLastRow() -> Table {
        let rows = max(0, rowCount - 1)
        return Table(
            name: name, key: key,
            columns: columns.map { column in
                let values: ColumnValues
                switch column.values {
                case .integer(let own): values = .integer(Array(own.prefix(rows)))
                case .real(let own): values = .real(Array(own.prefix(rows)))
                case .text(let own): values = .text(TextColumn((0..<rows).map { own[$0] }))
                case .link(let target, let own): values = .link(target: target, Array(own.prefix(rows)))
                case .links(let target, let own):
                    var lists = LinkListColumn()
                    for row in 0..<rows { lists.append(own[row]) }
                    values = .links(target: target, lists)
                }
                return Column(column.name, values, isIndexed: column.isIndexed)
            })
    }
}

@Suite("Scenarios find out an engine that lies")
struct PlantedEngineTests {
    static let cases: [(LyingEngine.Lie, String, [String: String], Outcome)] = [
        (.lostIncrement, "lost-update", ["threads": "2", "increments": "20"], .lostCommit),
        (.lostRow, "commit", ["commits": "10"], .silentlyWrong),
        (.lostRow, "commit-threads", ["threads": "2", "commits": "10"], .silentlyWrong),
        (.lostRow, "bulk-insert", ["rounds": "1"], .silentlyWrong),
        (.wrongRead, "commit", ["commits": "10"], .silentlyWrong),
        (.wrongRead, "point-read", [:], .silentlyWrong),
        (.wrongRead, "property-read", ["held": "10"], .silentlyWrong),
        (.wrongRead, "string-equal", [:], .silentlyWrong),
        (.wrongRead, "traverse", [:], .silentlyWrong),
        (.wrongRead, "column-sum", [:], .silentlyWrong),
        (.wrongRead, "filter-two", [:], .silentlyWrong),
        (.wrongRead, "iterate", [:], .silentlyWrong),
        (.lostIncrement, "writer-starvation", ["greedy": "2", "waits": "5"], .silentlyWrong),
        (.unpinned, "pinned-reader", ["transactions": "2", "updates": "200"], .silentlyWrong),
        (.unpinned, "update-batch", ["transactions": "2", "updates": "200", "readers": "1"], .silentlyWrong),
    ]

    @Test("the lie is seen", arguments: cases)
    func lieIsSeen(lie: LyingEngine.Lie, slug: String, parameters: [String: String], outcome: Outcome) throws {
        let scenario = try ScenarioRunTests.scenario(slug)
        let dataset = slug == "traverse" ? "people-dogs" : nil
        let report: CaseReport
        do {
            report = try CaseUnderTest.run(
                scenario, on: LyingEngine(lie: lie), dataset: dataset, parameters: parameters)
        } catch let error as EngineError {
            // A row that is missing may also show as an error of a read by its key.
            #expect(lie == .lostRow, "\(error)")
            return
        }
        #expect(report.outcomes[outcome, default: 0] > 0, "\(report.outcomes)")
    }
}
