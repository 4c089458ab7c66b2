import CaseFiles
import Harness
import RunRecords
import Seeds
import SimulatedDisk

/// A storage script that was played on a simulated disk: the content after each transaction, and its marks.
struct ScriptRecording {
    /// Absolute, since engines that take URLs make paths absolute.
    private static let location = DatabaseLocation(directory: "/folder")
    /// Number of arguments of each action: `insert KEY COUNT NUMBER LENGTH`, `update KEY NUMBER`, `delete KEY`.
    static let arguments = ["insert": 4, "update": 2, "delete": 1, "reopen": 0, "compact": 0]
    static let mostRows = 1_000
    static let mostBytes = 100_000

    private let engine: any SimulatableEngine
    private let settings: EngineSettings
    private let keepsAcknowledged: Bool
    let disk: SimulatedDisk
    /// The first transaction creates the table; each operation that changes a row is one more.
    private(set) var marks = CrashMarks()
    /// Operation counts of the disk at the beginning and the acknowledgement of each operation, and at the close.
    private var borders = [0]
    /// The content after each number of transactions.
    private(set) var contents = [ScriptContent()]
    /// The first difference in the session's own read at the end, before the close; nil without one.
    private(set) var wrongEnd: String?

    init(_ engine: any SimulatableEngine, _ context: CaseContext, _ operations: [ScriptOperation]) throws {
        self.engine = engine
        settings = context.settings
        keepsAcknowledged = context.test.durability == .full
        disk = SimulatedDisk(seed: Seed(context.seed.rawValue))
        disk.setOperation("create")
        marks.begun.append(0)
        var session = try engine.open(on: disk, Self.location, settings: settings)
        try ScriptTables.create(in: session)
        acknowledge(contents[0])
        for operation in operations {
            disk.setOperation(operation.label)
            borders.append(disk.operations)
            switch operation.action {
            case "reopen":
                try session.close()
                session = try engine.open(on: disk, Self.location, settings: settings)
            case "compact":
                try session.close()
                session = try engine.openCompacting(on: disk, Self.location, settings: settings)
            default:
                try change(operation, session)
            }
        }
        disk.setOperation("close")
        borders.append(disk.operations)
        let reading = ScriptReading()
        try ScriptTables.session(session).readAll(try ScriptTables.schema(), into: reading)
        wrongEnd = reading.difference ?? reading.content.difference(from: contents[contents.count - 1])
        try session.close()
    }

    private mutating func acknowledge(_ content: ScriptContent) {
        marks.acknowledged.append(disk.operations)
        borders.append(disk.operations)
        contents.append(content)
    }

    /// Runs one transaction; none if the row is not as the operation needs it.
    private mutating func change(_ operation: ScriptOperation, _ session: any Session) throws {
        let content = contents[contents.count - 1]
        guard let change = ScriptChange(operation, before: content) else { return }
        marks.begun.append(disk.operations)
        try change.perform(on: session)
        acknowledge(change.applied(to: content))
    }

    /// The crash points between consecutive borders. Each part has its share of the opened disks: the many disks before
    /// an acknowledgement must not use up the few that test whether it was kept.
    var stretches: [Range<Int>] {
        let starts = Set(borders).sorted()
        return zip(starts, starts.dropFirst() + [disk.operations + 1]).map { $0..<$1 }
    }

    /// The numbers of transactions that may have survived a power failure before that operation of the disk.
    func allowed(before operation: Int) -> ClosedRange<Int> {
        marks.allowed(before: operation, keepsAcknowledged: keepsAcknowledged)
    }

    // MARK: Judging

    /// Opens the disk after a crash, reads all of it, and runs the engine's check.
    func judge(_ disk: SimulatedDisk, allowed: ClosedRange<Int>) -> (Outcome, String) {
        disk.setOperation("recover")
        do {
            return try CrashJudgement(contents: contents, allowed: allowed).judge(
                open: { try engine.open(on: disk, Self.location, settings: settings) },
                check: { try engine.check(on: disk, Self.location) })
        } catch {
            return (.refused, "\(error)")
        }
    }
}
