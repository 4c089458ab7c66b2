import Files
import Harness
import RunRecords

/// Copies the files of a database one by one while processes write to it, and opens the copy.
///
/// The copy must be a state that the database has had, as a whole, or give an error.
struct CopyWhileOpen: Scenario {
    let slug = "copy-while-open"
    let family = Family.corruption
    let question = "Is a copy of files in use an earlier state of the database, or refused?"
    let requires: Set<Capability> = [.tables, .persistent, .updates, .processes]
    let schedule = Schedule.free
    let defaultDataset: String? = "damage"
    let expects: Promise.Kind? = .detectsDamage
    let accepts: Set<Outcome> = [.correct, .refused, .detectedAtOpen, .detectedAtRead]
    let parameters = [
        ScenarioParameter("trials", .effort, default: 40, summary: "copies, data file first and last by turns")
    ]

    /// The original is not damaged: a failure of it breaks another promise than a failure of the copy.
    func promise(brokenBy outcome: Outcome) -> Promise.Kind? {
        switch outcome {
        case .crashed: .survivesDamage
        case .hung: .boundedWait
        case .lostCommit: .durability
        default: expects
        }
    }

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let files = try FixtureFiles(context)
        let addresses = (0..<(try context.integer("trials"))).map { FaultAddress(.copy, $0) }
        try context.sweep(addresses, secondsPerTrial: 90) { address in
            var random = context.random("copy \(address.position ?? 0)")
            let trial = try IncrementTrial(context, files)
            let writers = [try trial.start(), try trial.start()]
            for writer in writers where !writer.hears(1 + random.below(20)) {
                return try trial.notWriting(writer, address)
            }
            let copy = DatabaseLocation(directory: context.trialDirectory + "/copy")
            try Self.copy(context.engine, trial.location, to: copy, isDataLast: (address.position ?? 0) % 2 == 1)
            for writer in writers { writer.listen() }
            // A tool may copy the files in any order and at any speed, so each state since the start is right.
            let most = writers.reduce(2) { $0 + $1.acknowledged }
            let finding = try trial.read(at: copy)
            try trial.stop()
            for writer in writers { writer.wait() }
            let (outcome, detail) = trial.judge(finding, allowed: 0...most)
            // The original must be intact; writers that were refused are reported with it.
            var original = try trial.judge(writers, address, isUndamaged: true)
            if original.outcome != .correct {
                // Wrong values of an undamaged database are not a matter of detecting damage.
                if original.outcome == .silentlyWrong { original.outcome = .lostCommit }
                original.detail = "what was copied: \(original.detail)"
                return original
            }
            // The control: a copy made in the same way of closed files is an intact database.
            try Self.copy(context.engine, trial.location, to: copy, isDataLast: false)
            let control = trial.judge(try trial.read(at: copy), allowed: trial.allowed(writers))
            guard control.outcome == .correct else {
                throw HarnessError("a copy of closed files is not their database: \(control.detail)")
            }
            return Trial(address: address, outcome: outcome, detail: detail)
        }
    }

    private static func copy(
        _ engine: any Engine, _ location: DatabaseLocation, to copy: DatabaseLocation, isDataLast: Bool
    ) throws {
        try FileTree.remove(copy.directory)
        try FileTree.createDirectory(copy.directory)
        let now = engine.files(at: location).filter { $0.role == .data || $0.role == .log }
        guard now.contains(where: { $0.role == .data }) else { throw HarnessError("no data file can be copied") }
        for file in isDataLast ? now.reversed() : now {
            let name = file.path.dropFirst(location.directory.count)
            // A file that is removed meanwhile is not copied.
            let bytes: [UInt8]
            do { bytes = try FileTree.readBytes(file.path) } catch {
                if file.role == .data && FileTree.exists(file.path) { throw error }
                continue
            }
            try FileTree.writeBytes(copy.directory + name, bytes)
        }
    }
}
