import Harness
import Platform
import RunRecords

/// A writing process is stopped (SIGSTOP) at a moment chosen by the seed. Other processes must be able to open and read
/// meanwhile, and to write after it continues.
///
/// What a reader sees while the writer is stopped has to be exact: the increments that the writer reported, or one
/// more, and no other change. At the end the same holds for the increments of both writers.
struct StoppedWriter: Scenario {
    let slug = "stopped-writer"
    let family = Family.concurrency
    let question = "Can other processes open and read while a writer is stopped, and do all go on afterwards?"
    let requires: Set<Capability> = [.tables, .persistent, .updates, .processes]
    let schedule = Schedule.free
    let defaultDataset: String? = "damage"
    let expects: Promise.Kind? = .isolation
    let parameters = [ScenarioParameter("trials", .effort, default: 20, summary: "stops")]

    /// A timeout, or a refusal, breaks a promise of progress: no wrong value was seen.
    func promise(brokenBy outcome: Outcome) -> Promise.Kind? {
        switch outcome {
        case .hung, .refused: .boundedWait
        case .crashed: nil
        default: expects
        }
    }

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let files = try FixtureFiles(context)
        let addresses = (0..<(try context.integer("trials"))).map { FaultAddress(.stop, $0) }
        try context.sweep(addresses, secondsPerTrial: 120) { address in
            var random = context.random("stopped \(address.position ?? 0)")
            let trial = try IncrementTrial(context, files)
            let writer = try trial.start()
            if !writer.hears(1 + random.below(20)) { return try trial.notWriting(writer, address) }
            usleep(UInt32(random.below(3000)))
            try writer.pause()
            writer.listen()
            // The writer is stopped, so an increment that it reports later happened after the read.
            let known = writer.acknowledged
            let finding = try trial.read()
            writer.resume()
            let (outcome, detail) = trial.judge(finding, allowed: known...(known + 1))
            if outcome != .correct {
                try trial.stop()
                writer.wait()
                return Trial(address: address, outcome: outcome, detail: "while it was stopped: \(detail)")
            }
            let other = try trial.start()
            // Twice the usual time: on a busy machine both processes must first get a processor.
            let goesOn = other.hears(3, seconds: 20) && writer.hears(3, seconds: 20)
            try trial.stop()
            writer.wait()
            other.wait()
            let found = try trial.judge([writer, other], address)
            if found.outcome == .correct && !goesOn {
                return Trial(address: address, outcome: .hung, detail: "not all went on")
            }
            return found
        }
    }
}
