import Harness
import RunRecords

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The files of a database are copied one after the other while processes write to it, and the copy is opened.
///
/// A copy is a value that the row has had, or an error.
struct CopyWhileOpen: Scenario {
    let slug = "copy-while-open"
    let family = Family.corruption
    let question = "Is a copy of files in use a state that there was, or refused?"
    let requires: Set<Capability> = [.tables, .persistent, .updates, .processes]
    let schedule = Schedule.free
    let defaultDataset: String? = "damage"
    let expects: Promise.Kind? = .detectsDamage
    let accepts: Set<Outcome> = [.correct, .refused, .detectedAtOpen, .detectedAtRead]
    let parameters = [
        ScenarioParameter("trials", default: "40", summary: "copies, data file first and last by turns")
    ]

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let files = try IncrementTrial.files(context)
        let addresses = (0..<(try context.integer("trials"))).map { FaultAddress("copy", $0) }
        try context.sweep(addresses, secondsPerTrial: 30) { address in
            var random = context.random("copy \(address.position ?? 0)")
            let trial = try IncrementTrial(context, files)
            let writers = [try trial.start(), try trial.start()]
            for writer in writers where !writer.hears(1 + Int(random.below(20))) {
                return Trial(address: address, outcome: .refused, detail: "two processes do not write at once")
            }
            let copy = DatabaseLocation(directory: context.trialDirectory + "/copy")
            try FileTree.remove(copy.directory)
            try FileTree.createDirectory(copy.directory)
            let now = context.engine.files(at: trial.location).filter { $0.role == .data || $0.role == .log }
            let isLast = (address.position ?? 0) % 2 == 1
            for file in now.sorted(by: { isLast ? $0.path > $1.path : $0.path < $1.path }) {
                let name = file.path.dropFirst(trial.location.directory.count)
                // One that is gone by now is not copied.
                let bytes: [UInt8]
                do { bytes = try FileTree.readBytes(file.path) } catch { continue }
                try FileTree.writeBytes(copy.directory + name, bytes)
            }
            for writer in writers { writer.listen() }
            let most = trial.initial + Int64(writers.reduce(2) { $0 + $1.acknowledged })
            let result: Trial
            do {
                let found = try IncrementTrial.value(context, copy)
                result =
                    (trial.initial...most).contains(found)
                    ? Trial(address: address, outcome: .correct, detail: "")
                    : Trial(address: address, outcome: .silentlyWrong, detail: "\(found), never more than \(most)")
            } catch let error as EngineError {
                result = Trial(address: address, outcome: .refused, detail: "\(error)")
            }
            try trial.stop()
            for writer in writers { writer.wait() }
            return result
        }
    }
}
