import Harness
import RunRecords

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The files of a database are replaced by those of an earlier moment, or deleted, while a process writes to it.
///
/// A commit that is acknowledged afterwards has to be in the file that the next process finds.
struct FileReplaced: Scenario {
    let slug = "file-replaced"
    let family = Family.corruption
    let question = "Does a writer notice that its database was replaced or deleted under it?"
    let requires: Set<Capability> = [.tables, .persistent, .updates, .processes]
    let schedule = Schedule.free
    let defaultDataset: String? = "damage"
    let expects: Promise.Kind? = .detectsDamage
    let accepts: Set<Outcome> = [.correct, .refused]
    let parameters = [
        ScenarioParameter("trials", default: "20", summary: "replacements and deletions, by turns")
    ]

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let files = try IncrementTrial.files(context)
        let addresses = (0..<(try context.integer("trials"))).map { FaultAddress("replace", $0) }
        try context.sweep(addresses, secondsPerTrial: 30) { address in
            let isDeleted = (address.position ?? 0) % 2 == 1
            let trial = try IncrementTrial(context, files)
            let writer = try trial.start()
            guard writer.hears(5) else {
                return Trial(address: address, outcome: .refused, detail: "it does not write")
            }
            // All files at once, as a backup tool does that knows which belong together; the data file last.
            let old = context.engine.files(at: trial.location)
            for file in old where file.role != .data { try FileTree.remove(file.path) }
            for file in old where file.role == .data && isDeleted { try FileTree.remove(file.path) }
            for file in files where !isDeleted {
                let path = trial.location.directory + "/" + file.name
                try FileTree.writeBytes(path + ".restored", file.bytes)
                guard rename(path + ".restored", path) == 0 else { throw HarnessError("\(path) cannot be renamed") }
            }
            // One commit may be on its way.
            usleep(20_000)
            writer.listen()
            let before = writer.acknowledged
            _ = writer.listen(milliseconds: 100)
            usleep(50_000)
            writer.listen()
            let after = writer.acknowledged - before
            try trial.stop()
            writer.wait()
            if writer.crashed { return Trial(address: address, outcome: .crashed, detail: "it ended by a signal") }
            if after == 0 { return Trial(address: address, outcome: .refused, detail: "") }
            let what = isDeleted ? "deleted" : "replaced"
            let found: Int64
            do { found = isDeleted ? trial.initial : try IncrementTrial.value(context, trial.location) } catch let error
                as EngineError
            {
                return Trial(address: address, outcome: .detectedAtOpen, detail: "\(what): \(error)")
            }
            if found - trial.initial >= Int64(after) { return Trial(address: address, outcome: .correct, detail: "") }
            return Trial(
                address: address, outcome: .lostCommit,
                detail: "\(after) commits were acknowledged after the file was \(what)")
        }
    }
}
