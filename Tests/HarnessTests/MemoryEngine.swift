import Files
import Measuring
import RunRecords
import Synchronization

@testable import Harness

/// An engine for tests of the harness: tables in memory, and answers that a test can falsify.
struct MemoryEngine: Engine {
    enum Fault: Sendable {
        case none, damagedAtOpen, refusedAtOpen, damagedAfter(rows: Int), wrongValue(row: Int), missingLast
        case wrongThenDamaged(row: Int)
    }

    var name = "memory"
    let version = "1"
    var capabilities: Set<Capability> = [.tables]
    var promises: [Promise] = []
    var fault = Fault.none
    var data: TableSet?
    var logPatterns: [String] = []
    var coordinationPatterns: [String] = []
    /// The role of a file by its name, in whichever directory it is.
    var roles: [String: DatabaseFile.Role] = [:]

    func settings(for durability: DurabilityClass) -> EngineSettings {
        EngineSettings(durability: durability, list: [EngineSetting("durability", durability.rawValue)])
    }

    func files(at location: DatabaseLocation) -> [DatabaseFile] {
        roles.map { DatabaseFile(path: "\(location.directory)/\($0.key)", role: $0.value) }
            .filter { FileTree.exists($0.path) }
    }

    func open(_ location: DatabaseLocation, settings: EngineSettings) throws(EngineError) -> any Session {
        switch fault {
        case .damagedAtOpen: throw EngineError(.damaged, "planted")
        case .refusedAtOpen: throw EngineError(.refused, "planted")
        default: return MemorySession(data: data, fault: fault)
        }
    }
}

final class MemorySession: TableSession {
    private var data: TableSet?
    private let fault: MemoryEngine.Fault

    init(data: TableSet?, fault: MemoryEngine.Fault) {
        self.data = data
        self.fault = fault
    }

    func sizes() throws(EngineError) -> SizePoint { SizePoint(fileBytes: 0) }
    func close() throws(EngineError) {}
    func create(_ tables: TableSet) throws(EngineError) { data = tables }
    func load(_ tables: TableSet) throws(EngineError) { data = tables }

    func insertEach(_ rows: Table, latency: LatencyRecorder?) throws(EngineError) -> Int {
        throw EngineError(.unsupported, "insert")
    }

    func insertAll(_ rows: Table) throws(EngineError) {
        throw EngineError(.unsupported, "insert")
    }

    func readPoints(_ reads: PointReads, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest {
        throw EngineError(.unsupported, "read")
    }

    func rowCount(table: String) throws(EngineError) -> Int { data?.table(table)?.rowCount ?? 0 }

    func readAll(_ schema: TableSet, into sink: any RowSink) throws(EngineError) {
        guard let data else { return }
        var handed = 0
        for table in data.tables {
            for row in 0..<table.rowCount {
                if case .damagedAfter(let rows) = fault, handed == rows { throw EngineError(.damaged, "planted") }
                if case .missingLast = fault, table == data.tables.last, row == table.rowCount - 1 { return }
                var values = table.values(row: row)
                switch fault {
                case .wrongValue(row), .wrongThenDamaged(row): values[0] = .integer(-1)
                default: break
                }
                if case .wrongThenDamaged(let wrong) = fault, row > wrong { throw EngineError(.damaged, "planted") }
                if !sink.receive(table: table.name, row: row, values: values) { return }
                handed += 1
            }
        }
    }
}

private func ~= (pattern: MemoryEngine.Fault, value: MemoryEngine.Fault) -> Bool {
    switch (pattern, value) {
    case (.wrongValue(let a), .wrongValue(let b)): a == b
    case (.wrongThenDamaged(let a), .wrongThenDamaged(let b)): a == b
    default: false
    }
}

/// Two tables with links, small enough to be checked by eye.
enum SmallData {
    static let tables: TableSet = {
        var owners = LinkListColumn()
        owners.append([0, 2])
        owners.append([])
        owners.append([1, 1])
        let people = Table(
            name: "Person", key: "id",
            columns: [
                Column("id", .integer([0, 1, 2])), Column("name", .text(TextColumn(["ann", "bob", "ann"]))),
                Column("score", .real([0.5, -0.0, 2])), Column("dogs", .links(target: "Dog", owners)),
            ])
        let dogs = Table(
            name: "Dog", key: nil,
            columns: [Column("age", .integer([7, 8, 9])), Column("name", .text(TextColumn(["x", "y", "z"])))])
        return TableSet(dataset: "small", tables: [people, dogs], digest: 1)
    }()
}
