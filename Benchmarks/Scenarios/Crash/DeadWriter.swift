import Harness
import Platform
import RunRecords

/// One of two writing processes is killed at a moment chosen by the seed; the other must continue.
///
/// At the end the whole database is compared: acknowledged changes of both, and no others.
struct DeadWriter: Scenario {
    let slug = "dead-writer"
    let family = Family.crash
    let question = "Does the next process go on after a writer was killed, and is nothing lost?"
    let requires: Set<Capability> = [.tables, .persistent, .updates, .processes]
    let schedule = Schedule.free
    let defaultDataset: String? = "damage"
    let expects: Promise.Kind? = .durability
    let parameters = [ScenarioParameter("trials", .effort, default: 40, summary: "kills")]

    func promise(brokenBy outcome: Outcome) -> Promise.Kind? { outcome.brokenPromise(or: expects) }

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let files = try FixtureFiles(context)
        let addresses = (0..<(try context.integer("trials"))).map { FaultAddress(.kill, $0) }
        try context.sweep(addresses, secondsPerTrial: 90) { address in
            var random = context.random("dead \(address.position ?? 0)")
            let trial = try IncrementTrial(context, files)
            let victim = try trial.start()
            let other = try trial.start()
            if !victim.hears(1 + random.below(20)) { return try trial.notWriting(victim, address) }
            if !other.hears(1) { return try trial.notWriting(other, address) }
            usleep(UInt32(random.below(3000)))
            victim.kill()
            victim.wait()
            let goesOn = other.hears(5)
            try trial.stop()
            other.wait()
            let found = try trial.judge([victim, other], address)
            if found.outcome == .correct && !goesOn {
                return Trial(address: address, outcome: .hung, detail: "the other process committed nothing for 10 s")
            }
            return found
        }
    }
}
