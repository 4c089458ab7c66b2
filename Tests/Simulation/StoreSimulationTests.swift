import FaultModel
import Foundation
import SimulatedDisk
import Testing

/// The storage engine against every crash and every failed operation of seeded histories.
///
/// More of it: `SIMULATION_SEED=77 SIMULATION_SECONDS=600 swift test --filter StoreSimulationTests`. One state alone:
/// `SIMULATION_SEED=77 SIMULATION_ADDRESS='crash:op=17,state=0x3fa2' swift test --filter StoreSimulationTests`, and one
/// failed operation with `SIMULATION_FAULT=38` in its place.
@Suite(.serialized) struct StoreSimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let firstSeed = environment["SIMULATION_SEED"].flatMap(UInt64.init) ?? 1
    /// For each of the tests below.
    private static let seconds = environment["SIMULATION_SECONDS"].flatMap(Double.init) ?? 4

    private func simulation<Program: SimulatedProgram>(
        _ type: Program.Type, _ seed: UInt64, _ deadline: ContinuousClock.Instant
    ) -> CrashSimulation<Program> {
        var simulation = CrashSimulation<Program>(Seed(seed), transactions: 6)
        simulation.rules.exhaustiveUnits = 5
        simulation.rules.sampleCount = 12
        simulation.rules.pairLimit = 3
        simulation.rules.cutLimit = 4
        simulation.deepEvery = 64
        simulation.deadline = deadline
        return simulation
    }

    /// Seed after seed until the time is up.
    private func crashEverywhere<Program: SimulatedProgram>(_ type: Program.Type) throws {
        if let address = Self.environment["SIMULATION_ADDRESS"] {
            let address = try #require(CrashAddress(address))
            let report = try simulation(type, Self.firstSeed, .now).repeatOne(address)
            #expect(report.problems.isEmpty)
            return
        }
        let deadline = ContinuousClock.now + .seconds(Self.seconds)
        var seed = Self.firstSeed
        var total = CrashReport()
        var deep = CrashReport()
        repeat {
            let report = try simulation(type, seed, deadline).run()
            total += report.sweep
            deep += report.deep
            for problem in report.problems {
                Issue.record(
                    """
                    \(problem)
                    repeat with: SIMULATION_SEED=\(seed) SIMULATION_ADDRESS='\(problem.address)' \
                    swift test --filter StoreSimulationTests
                    """)
            }
            if !report.problems.isEmpty { return }
            seed += 1
        } while ContinuousClock.now < deadline
        print("\(type), seeds \(Self.firstSeed)..<\(seed): \(total); during recovery \(deep)")
        #expect(total.distinct > 0)
    }

    @Test func aCrashLosesNothingThatWasAcknowledged() throws { try crashEverywhere(StoreProgram.self) }

    @Test func aCrashUnderPeriodicDurabilityLeavesAnEarlierStateWhole() throws {
        try crashEverywhere(PeriodicStoreProgram.self)
    }

    @Test func aCrashWithoutDurabilityLeavesAnEarlierStateWhole() throws {
        try crashEverywhere(UnsyncedStoreProgram.self)
    }

    @Test func anOperationThatFailsLosesNothingThatWasAcknowledged() throws {
        let deadline = ContinuousClock.now + .seconds(Self.seconds)
        var simulation = FaultSimulation<StoreProgram>(Seed(Self.firstSeed), transactions: 6)
        simulation.deadline = deadline
        var random = RandomStream(Seed(Self.firstSeed).derived("first"))
        var struck = 0
        repeat {
            // Far apart first, so that a short time still sees every part of the history.
            let first = Self.environment["SIMULATION_FAULT"].flatMap(Int.init)
            let report = try simulation.run(first: first ?? random.below(97), step: first == nil ? 97 : 1 << 30)
            struck += report.struck
            for problem in report.problems {
                Issue.record(
                    """
                    \(problem)
                    repeat with: SIMULATION_SEED=\(Self.firstSeed) SIMULATION_FAULT=N, N the number behind the #
                    """)
            }
            if !report.problems.isEmpty || first != nil { return }
        } while ContinuousClock.now < deadline
        #expect(struck > 0)
    }
}
