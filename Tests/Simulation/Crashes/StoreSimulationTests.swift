import FaultModel
import Foundation
import Seeds
import SimulatedDisk
import StrataStorage
import Testing

/// The storage engine against every crash and every failed operation of seeded histories.
///
/// For longer runs: `SIMULATION_SEED=77 SIMULATION_SECONDS=600 swift test --filter StoreSimulationTests`, and in
/// addition `SIMULATION_FULL=1` for all of the fault model. For one state, with its seed:
/// `SIMULATION_ADDRESS='crash:op=17,state=0x3fa2'`; one failed operation: `SIMULATION_FAULT=38`.
@Suite(.serialized)
struct StoreSimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let firstSeed = environment["SIMULATION_SEED"].flatMap(UInt64.init) ?? 1
    /// Whether to use the full fault model; a smaller one allows more histories in a short time.
    private static let isFull = environment["SIMULATION_FULL"] != nil
    /// The seconds of each sweep; sweeps of failing operations over variants of the store take half of them.
    private static let seconds = environment["SIMULATION_SECONDS"].flatMap(Double.init) ?? 1

    private func simulation<Program: SimulatedProgram>(
        _ type: Program.Type, _ seed: UInt64, _ deadline: ContinuousClock.Instant
    ) -> CrashSimulation<Program> {
        // Every third history is played by threads, every second one has a transaction that bypasses the log.
        var simulation = CrashSimulation<Program>(Seed(seed), transactions: 7, largest: seed % 2 == 0 ? 24_000 : 0)
        simulation.schedule = seed % 3 == 0 ? Seed(seed).derived(part: "schedule") : nil
        if Self.isFull {
            simulation.rules = CrashRules()
            simulation.depths[0].every = 8
        } else {
            simulation.rules.exhaustiveUnits = 5
            simulation.rules.sampleCount = 12
            simulation.rules.pairLimit = 3
            simulation.rules.cutLimit = 4
            simulation.depths[0].every = 128
            simulation.depths[0].kills = 16
            simulation.depths[1].every = 512
            simulation.depths[1].kills = 64
            simulation.killsDeeper = 8
        }
        simulation.deadline = deadline
        return simulation
    }

    /// Runs seed after seed until the time is up.
    private func crashEverywhere<Program: SimulatedProgram>(_ type: Program.Type) throws {
        if let address = Self.environment["SIMULATION_ADDRESS"] {
            let address = try #require(CrashAddress(address))
            let report = try simulation(type, Self.firstSeed, .now).repeatOne(address)
            #expect(report.problems.isEmpty)
            return
        }
        let deadline = ContinuousClock.now + .seconds(Self.seconds)
        var seed = Self.firstSeed
        var total = CrashSimulationReport(depths: 3)
        repeat {
            let report = try simulation(type, seed, deadline).run()
            total += report
            for problem in report.problems {
                Issue.record(
                    """
                    \(problem)
                    repeat with: SIMULATION_SEED=\(seed) SIMULATION_ADDRESS='\(problem.address)' \
                    swift test --filter StoreSimulationTests/\(Self.name(of: type))
                    """)
            }
            if !report.problems.isEmpty { return }
            seed += 1
        } while ContinuousClock.now < deadline
        print("\(type), seeds \(Self.firstSeed)..<\(seed): \(total)")
        #expect(total.opened > 0)
    }

    private static func name(of type: Any.Type) -> String {
        switch type {
        case is PeriodicStoreProgram.Type: "aCrashUnderPeriodicDurability"
        case is UnsyncedStoreProgram.Type: "aCrashWithoutDurability"
        case is EncryptedStoreProgram.Type: "aCrashOfAnEncryptedStore"
        case is CompactingStoreProgram.Type: "aCrashDuringAnOnlineCompaction"
        case is CollectionStoreProgram.Type: "aCrashWithCollections"
        default: "aCrashLosesNothing"
        }
    }

    @Test("a crash loses nothing that was acknowledged")
    func crash() throws { try crashEverywhere(StoreProgram.self) }

    @Test("a crash under periodic durability leaves an earlier state whole")
    func crashUnderPeriodic() throws {
        try crashEverywhere(PeriodicStoreProgram.self)
    }

    @Test("a crash without durability leaves an earlier state whole")
    func crashWithoutDurability() throws {
        try crashEverywhere(UnsyncedStoreProgram.self)
    }

    @Test("a crash of an encrypted store loses nothing")
    func crashOfEncrypted() throws { try crashEverywhere(EncryptedStoreProgram.self) }
    @Test("a crash while collections change in place loses nothing")
    func crashWithCollections() throws {
        try crashEverywhere(CollectionStoreProgram.self)
    }

    @Test("an operation that fails while collections change loses nothing")
    func failureWithCollections() throws {
        try failEverywhere(CollectionStoreProgram.self, Self.seconds / 2)
    }

    @Test("a crash during an online compaction loses nothing")
    func crashInACompaction() throws {
        try crashEverywhere(CompactingStoreProgram.self)
    }

    @Test("an operation that fails during an online compaction loses nothing")
    func failureInACompaction() throws {
        try failEverywhere(CompactingStoreProgram.self, Self.seconds / 2)
    }

    @Test("an operation that fails loses nothing that was acknowledged")
    func failure() throws {
        try failEverywhere(StoreProgram.self, Self.seconds)
    }

    @Test("an operation that fails in an encrypted store loses nothing")
    func failureInEncrypted() throws {
        try failEverywhere(EncryptedStoreProgram.self, Self.seconds / 2)
    }

    @Test("an operation that fails under other durabilities leaves an earlier state whole")
    func failureUnderOthers() throws {
        try failEverywhere(PeriodicStoreProgram.self, Self.seconds / 2)
        try failEverywhere(UnsyncedStoreProgram.self, Self.seconds / 2)
    }

    private func failEverywhere<Program: SimulatedProgram>(_ type: Program.Type, _ seconds: Double) throws {
        let deadline = ContinuousClock.now + .seconds(seconds)
        var simulation = FaultSimulation<Program>(Seed(Self.firstSeed), transactions: 7, largest: 24_000)
        simulation.deadline = deadline
        var random = RandomStream(Seed(Self.firstSeed).derived(part: "first"))
        let alone = Self.environment["SIMULATION_FAULT"].flatMap(Int.init)
        // Widely spaced first, so that a short run samples every part of the history.
        let step = 61
        var order = Array(0..<step)
        order.shuffle(using: &random)
        var total = FaultSimulation<Program>.Report()
        for first in alone.map({ [$0] }) ?? order {
            let report = try simulation.run(first: first, step: alone == nil ? step : 1 << 30)
            total += report
            for problem in report.problems {
                Issue.record(
                    """
                    \(problem)
                    repeat with: SIMULATION_SEED=\(Self.firstSeed) SIMULATION_FAULT=N \
                    swift test --filter StoreSimulationTests/anOperationThatFails, N the number behind the #
                    """)
            }
            if !report.problems.isEmpty || ContinuousClock.now > deadline { break }
        }
        print("\(type), seed \(Self.firstSeed): \(total)")
        #expect(total.struck > 0)
    }

    /// Runs last. A mark that is never hit is a branch that the simulation does not test. `CoverageMarkTests` hits
    /// those that need damage.
    @Test("rare branches are listed, and two of them are met")
    func rareBranches() {
        guard CoverageMarks.areCounted else { return }
        let hits = CoverageMarks.hits
        let never = CoverageMark.allCases.filter { hits[$0] == nil }.map(\.rawValue)
        print("marks met \(hits.count) of \(CoverageMark.allCases.count); never: \(never.joined(separator: ", "))")
        #expect(hits[.replayed] != nil && hits[.segmentFull] != nil)
    }
}
