import FaultModel
import Foundation
import Seeds
import Testing

/// The simulation of a store with a planted mistake. A mistake that it misses is a kind of bug that it cannot detect.
///
/// For a single mistake: `SIMULATION_MISTAKE=settleOneSlot`. A debug build, which would take minutes for all, tries
/// only those that show early.
@Suite(.serialized)
struct PlantedMistakeTests {
    private static var tried: [PlantedMistake] {
        if let name = ProcessInfo.processInfo.environment["SIMULATION_MISTAKE"] {
            return PlantedMistake.allCases.filter { $0.rawValue == name }
        }
        #if DEBUG
            return [.noLogSync, .noDataSync, .noSlotSync, .noLogNameSync]
        #else
            return PlantedMistake.allCases
        #endif
    }

    @Test("a mistake in syncs, retries or double writes is found", arguments: tried)
    func found(mistake: PlantedMistake) throws {
        MistakenStoreProgram.mistake.withLock { $0 = mistake }
        defer { MistakenStoreProgram.mistake.withLock { $0 = nil } }
        var tried = 0
        for seed in 1...40 as ClosedRange<UInt64> {
            tried += 1
            if let problem = try mistake.needsFaults ? faulted(seed) : crashed(seed) {
                print("\(mistake), seed \(seed): \(problem)")
                return
            }
        }
        Issue.record("\(mistake) is not found in \(tried) histories")
    }

    private func crashed(_ seed: UInt64) throws -> String? {
        var simulation = CrashSimulation<MistakenStoreProgram>(
            Seed(seed), transactions: 7, largest: 24_000)
        simulation.rules.exhaustiveUnits = 3
        simulation.rules.sampleCount = 4
        simulation.rules.pairLimit = 0
        simulation.rules.cutLimit = 1
        simulation.depths[0].every = 256
        simulation.depths[1].every = 1024
        simulation.killsDeeper = 16
        simulation.twinsEvery = 1
        simulation.deadline = .now + .seconds(600)
        return try simulation.run().problems.first.map { "\($0)" }
    }

    private func faulted(_ seed: UInt64) throws -> String? {
        var simulation = FaultSimulation<MistakenStoreProgram>(
            Seed(seed), transactions: 7, largest: 24_000)
        simulation.deadline = .now + .seconds(600)
        for first in 0..<7 {
            if let problem = try simulation.run(first: first, step: 7).problems.first { return problem }
        }
        return nil
    }
}

extension PlantedMistake {
    /// Whether the mistake shows only if an operation fails.
    fileprivate var needsFaults: Bool {
        switch self {
        case .retryLogSync, .retryDataSync, .swallowLogWrite: true
        default: false
        }
    }
}
