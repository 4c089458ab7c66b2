import Harness
import RunRecords

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A writing process is stopped at a moment chosen by the seed. Others have to be able to open and read meanwhile, and
/// to write when it goes on.
struct StoppedWriter: Scenario {
    let slug = "stopped-writer"
    let family = Family.concurrency
    let question = "Can others open and read while a writer is stopped, and does all go on afterwards?"
    let requires: Set<Capability> = [.tables, .persistent, .updates, .processes]
    let schedule = Schedule.free
    let defaultDataset: String? = "damage"
    let expects: Promise.Kind? = .isolation
    let parameters = [ScenarioParameter("trials", default: "20", summary: "stops")]

    /// Not to get on within the time is a question of progress: nobody saw a wrong value.
    func promise(brokenBy outcome: Outcome) -> Promise.Kind? {
        outcome == .hung ? .boundedWait : expects
    }

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let files = try IncrementTrial.files(context)
        let addresses = (0..<(try context.integer("trials"))).map { FaultAddress("stop", $0) }
        try context.sweep(addresses, secondsPerTrial: 90) { address in
            var random = context.random("stopped \(address.position ?? 0)")
            let trial = try IncrementTrial(context, files)
            let writer = try trial.start()
            guard writer.hears(1 + Int(random.below(20))) else {
                return Trial(address: address, outcome: .refused, detail: "it does not write")
            }
            usleep(UInt32(random.below(3000)))
            writer.signal(SIGSTOP)
            writer.listen()
            let seen: Int64
            do { seen = try IncrementTrial.value(context, trial.location) } catch let error as EngineError {
                writer.signal(SIGCONT)
                try trial.stop()
                writer.wait()
                return Trial(address: address, outcome: .refused, detail: "while it was stopped: \(error)")
            }
            writer.signal(SIGCONT)
            let other = try trial.start()
            // Twice as long as elsewhere: on a busy machine both have to be given a processor first.
            let goesOn = other.hears(3, seconds: 20) && writer.hears(3, seconds: 20)
            try trial.stop()
            writer.wait()
            other.wait()
            if seen < trial.initial {
                return Trial(address: address, outcome: .silentlyWrong, detail: "read \(seen) before \(trial.initial)")
            }
            if !goesOn { return Trial(address: address, outcome: .hung, detail: "not all went on") }
            return try trial.judge([writer, other], address)
        }
    }
}
