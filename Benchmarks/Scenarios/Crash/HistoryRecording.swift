import CaseFiles
import Harness
import RunRecords
import Seeds
import SimulatedDisk

/// A storage history as it was played on a simulated disk: what each transaction left, and when.
struct HistoryRecording {
    /// Absolute, as an engine that takes URLs makes it anyway.
    private static let location = DatabaseLocation(directory: "/folder")
    /// What each action takes: `insert KEY COUNT NUMBER LENGTH`, `update KEY NUMBER`, `delete KEY`.
    static let arguments = ["insert": 4, "update": 2, "delete": 1, "reopen": 0, "compact": 0]
    static let mostRows = 1_000
    static let mostBytes = 100_000

    private let engine: any SimulatableEngine
    private let settings: EngineSettings
    private let keepsAcknowledged: Bool
    let disk: SimulatedDisk
    /// The first transaction creates the table; each operation that changes a row is one more.
    private(set) var marks = CrashMarks()
    /// Operations of the disk when each operation of the history began, when it was acknowledged, and at the close.
    private var borders = [0]
    /// The content after each number of transactions.
    private(set) var contents = [HistoryContent()]
    /// What the session itself read at the end, before it was closed; nil where that was right.
    private(set) var wrongEnd: String?

    init(_ engine: any SimulatableEngine, _ context: CaseContext, _ operations: [HistoryOperation]) throws {
        self.engine = engine
        settings = context.settings
        keepsAcknowledged = context.test.durability == .full
        disk = SimulatedDisk(seed: Seed(context.seed.rawValue))
        disk.setOperation("create")
        marks.begun.append(0)
        var session = try engine.open(on: disk, Self.location, settings: settings)
        try HistoryTables.create(in: session)
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
        let reading = HistoryReading()
        try HistoryTables.session(session).readAll(try HistoryTables.schema(), into: reading)
        wrongEnd = reading.difference ?? reading.content.difference(from: contents[contents.count - 1])
        try session.close()
    }

    private mutating func acknowledge(_ content: HistoryContent) {
        marks.acknowledged.append(disk.operations)
        borders.append(disk.operations)
        contents.append(content)
    }

    /// One transaction; none where the row is not as the operation needs it.
    private mutating func change(_ operation: HistoryOperation, _ session: any Session) throws {
        let content = contents[contents.count - 1]
        guard let change = HistoryChange(operation, before: content) else { return }
        marks.begun.append(disk.operations)
        try change.perform(on: session)
        acknowledge(change.applied(to: content))
    }

    /// The crash points between two of these moments: each part has a share of the disks that are opened, else those
    /// before an acknowledgement would use up what is to show that it was kept.
    var stretches: [Range<Int>] {
        let starts = Set(borders).sorted()
        return zip(starts, starts.dropFirst() + [disk.operations + 1]).map { $0..<$1 }
    }

    /// Which transactions may be there when power went before that operation of the disk.
    func allowed(before operation: Int) -> ClosedRange<Int> {
        marks.allowed(before: operation, keepsAcknowledged: keepsAcknowledged)
    }

    // MARK: Judging

    /// Opens what a crash left, reads all of it, and has the engine check it.
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
