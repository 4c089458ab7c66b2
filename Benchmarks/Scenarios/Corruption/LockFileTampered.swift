import Files
import Harness
import Platform
import RunRecords

/// The file that processes share beside a database is deleted, truncated or overwritten while they use it.
///
/// A process may meet an error; none may crash or hang. At the end the database must open, contain what was
/// acknowledged, and have no other change: no byte of the data was touched. Without such a file the case is
/// inconclusive.
struct LockFileTampered: Scenario {
    let slug = "lock-file-tampered"
    let family = Family.corruption
    let question = "Does a lock file that was deleted, cut or written over cost data?"
    let requires: Set<Capability> = [.tables, .persistent, .updates, .processes]
    let schedule = Schedule.free
    let defaultDataset: String? = "damage"
    let expects: Promise.Kind? = .survivesDamage
    let accepts: Set<Outcome> = [.correct, .refused, .detectedAtOpen, .detectedAtRead]
    let parameters = [ScenarioParameter("trials", .effort, default: 20, summary: "rounds over all ways to tamper")]

    private enum Way: String, CaseIterable {
        case deleted, emptied, halved, zeros, ones, replaced
    }

    /// How long a process may wait for a lock in an impossible state. LMDB's processes do so in three trials of six:
    /// with the usual timeout this case alone took half of a plan's time.
    private static let patience = 3.0

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let files = try FixtureFiles(context)
        let addresses = (0..<(try context.integer("trials"))).map { FaultAddress(.tamper, $0) }
        let changes = TrialTally(context, "tampered")
        try context.sweep(addresses, secondsPerTrial: 90) { address in
            let position = address.position ?? 0
            let way = Way.allCases[position % Way.allCases.count]
            var random = context.random("tamper \(position)")
            let trial = try IncrementTrial(context, files)
            let processes = [try trial.start(), try trial.start()]
            for process in processes where !process.hears(1 + random.below(10)) {
                return try trial.notWriting(process, address)
            }
            for file in context.engine.files(at: trial.location)
            where file.role == .lock && !FileTree.isDirectory(file.path) {
                try Self.tamper(way, file.path)
                try changes.add()
            }
            let third = try trial.start()
            _ = third.hears(3, seconds: Self.patience)
            for process in processes { process.listen(milliseconds: 20) }
            try trial.stop()
            for process in processes + [third] { process.wait(seconds: Self.patience) }
            var result = try trial.judge(processes + [third], address, isUndamaged: true)
            if result.outcome != .correct { result.detail = "\(way.rawValue): \(result.detail)" }
            return result
        }
        context.require(try changes.count(), "no lock file was there to be changed: the engine named none")
    }

    private static func tamper(_ way: Way, _ path: String) throws {
        let size = try FileTree.size(path)
        switch way {
        case .deleted: try FileTree.remove(path)
        case .emptied: try FileTree.truncate(path, to: 0)
        case .halved: try FileTree.truncate(path, to: size / 2)
        case .zeros: try overwrite(path, with: 0, count: size)
        case .ones: try overwrite(path, with: 0xFF, count: size)
        case .replaced:
            let bytes = try FileTree.readBytes(path)
            try FileTree.remove(path)
            try FileTree.writeBytes(path, bytes)
        }
    }

    private static func overwrite(_ path: String, with byte: UInt8, count: Int) throws {
        let descriptor = open(path, O_WRONLY)
        guard descriptor >= 0 else { throw HarnessError("\(path) cannot be opened") }
        defer { close(descriptor) }
        let bytes = [UInt8](repeating: byte, count: count)
        guard pwrite(descriptor, bytes, count, 0) == count else { throw HarnessError("\(path) cannot be written") }
    }
}
