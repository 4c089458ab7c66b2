import Harness
import RunRecords

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// One of two writing processes is killed at a moment chosen by the seed; the other one has to go on.
struct DeadWriter: Scenario {
    let slug = "dead-writer"
    let family = Family.crash
    let question = "Does the next process go on after a writer was killed, and is nothing lost?"
    let requires: Set<Capability> = [.tables, .persistent, .updates, .processes]
    let schedule = Schedule.free
    let defaultDataset: String? = "damage"
    let expects: Promise.Kind? = .durability
    let parameters = [ScenarioParameter("trials", default: "40", summary: "kills")]

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let files = try IncrementTrial.files(context)
        let addresses = (0..<(try context.integer("trials"))).map { FaultAddress("kill", $0) }
        try context.sweep(addresses, secondsPerTrial: 30) { address in
            var random = context.random("dead \(address.position ?? 0)")
            let trial = try IncrementTrial(context, files)
            let victim = try trial.start()
            let other = try trial.start()
            guard victim.hears(1 + Int(random.below(20))), other.hears(1) else {
                return Trial(address: address, outcome: .refused, detail: "two processes do not write at once")
            }
            usleep(UInt32(random.below(3000)))
            victim.signal(SIGKILL)
            victim.wait()
            let goesOn = other.hears(5)
            try trial.stop()
            if !goesOn {
                other.signal(SIGKILL)
                other.wait()
                return Trial(address: address, outcome: .hung, detail: "the other process committed nothing for 10 s")
            }
            other.wait()
            return try trial.judge([victim, other], address)
        }
    }
}
