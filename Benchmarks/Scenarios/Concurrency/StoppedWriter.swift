import Harness
import RunRecords

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A writing process is stopped at a moment chosen by the seed. Others have to be able to open and read meanwhile, and
/// to write when it goes on.
///
/// What is read while it stands still is exact: what it was acknowledged, or one increment more, and nothing else
/// changed. Afterwards the same holds for what both wrote.
struct StoppedWriter: Scenario {
    let slug = "stopped-writer"
    let family = Family.concurrency
    let question = "Can others open and read while a writer is stopped, and does all go on afterwards?"
    let requires: Set<Capability> = [.tables, .persistent, .updates, .processes]
    let schedule = Schedule.free
    let defaultDataset: String? = "damage"
    let expects: Promise.Kind? = .isolation
    let parameters = [ScenarioParameter("trials", .effort, default: 20, summary: "stops")]

    /// Not to get on within the time is a question of progress: nobody saw a wrong value. Nor did who was refused.
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
            // It stands still: what it says from now on was done later.
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
            // Twice as long as elsewhere: on a busy machine both have to be given a processor first.
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
