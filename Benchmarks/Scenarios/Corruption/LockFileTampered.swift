import Harness
import RunRecords

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What processes share beside a database is deleted, cut or written over while they use it.
///
/// A process may meet an error; none may end by a signal, and what was acknowledged must be there. Engines without such
/// a file have nothing to lose here.
struct LockFileTampered: Scenario {
    let slug = "lock-file-tampered"
    let family = Family.corruption
    let question = "Does a lock file that was deleted, cut or written over cost data?"
    let requires: Set<Capability> = [.tables, .persistent, .updates, .processes]
    let schedule = Schedule.free
    let defaultDataset: String? = "damage"
    let expects: Promise.Kind? = .survivesDamage
    let accepts: Set<Outcome> = [.correct, .refused, .detectedAtOpen, .detectedAtRead]
    let parameters = [ScenarioParameter("trials", default: "20", summary: "rounds over all ways to tamper")]

    private enum Way: String, CaseIterable {
        case deleted, emptied, halved, zeros, ones, replaced
    }

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let files = try IncrementTrial.files(context)
        let addresses = (0..<(try context.integer("trials"))).map { FaultAddress("tamper", $0) }
        try context.sweep(addresses, secondsPerTrial: 40) { address in
            let position = address.position ?? 0
            let way = Way.allCases[position % Way.allCases.count]
            var random = context.random("tamper \(position)")
            let trial = try IncrementTrial(context, files)
            let processes = [try trial.start(), try trial.start()]
            for process in processes where !process.hears(1 + Int(random.below(10))) {
                return Trial(address: address, outcome: .refused, detail: "two processes do not write at once")
            }
            for file in context.engine.files(at: trial.location) where file.role == .lock {
                try Self.tamper(way, file.path)
            }
            let third = try trial.start()
            _ = third.hears(3)
            for process in processes { process.listen(milliseconds: 20) }
            try trial.stop()
            for process in processes + [third] { process.wait() }
            var result = try trial.judge(processes + [third], address)
            if result.outcome != .correct { result.detail = "\(way.rawValue): \(result.detail)" }
            return result
        }
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
