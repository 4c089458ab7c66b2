import FaultModel
import Foundation
import Seeds
import Testing

/// Random histories against a model, with invariants checked after every transaction, and crashes three deep.
///
/// The long run: `SIMULATION_OPERATIONS=10000000 SIMULATION_SEED=1 swift test --filter HistorySimulationTests`; two
/// processes with seeds far apart share it. One history alone: `SIMULATION_SEED=77 SIMULATION_OPERATIONS=1`.
@Suite struct HistorySimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let operationsPerSeed = 5_000

    @Test("every transaction keeps the invariants, and agrees with the model")
    func everyTransaction() throws {
        let firstSeed = Self.environment["SIMULATION_SEED"].flatMap(UInt64.init) ?? 1
        let wanted = Self.environment["SIMULATION_OPERATIONS"].flatMap(Int.init)
        let seconds = Self.environment["SIMULATION_SECONDS"].flatMap(Double.init) ?? 2
        let deadline = ContinuousClock.now + .seconds(seconds)
        var total = HistoryCounts()
        var seed = firstSeed
        var problems = 0
        repeat {
            var simulation = HistorySimulation(Seed(seed))
            // In pieces, so that a short run can stop in time.
            var pieces = 0
            do {
                repeat {
                    pieces += 1
                    try simulation.run(operations: pieces * 100)
                } while pieces * 100 < Self.operationsPerSeed && (wanted != nil || ContinuousClock.now < deadline)
            } catch {
                problems += 1
                Issue.record(
                    """
                    seed \(seed): \(error)
                    repeat with: SIMULATION_SEED=\(seed) SIMULATION_OPERATIONS=1 \
                    swift test --filter HistorySimulationTests
                    """)
            }
            total += simulation.counts
            seed += 1
            if wanted != nil, seed % 100 == 0 { print("up to seed \(seed): \(total)") }
        } while problems < 3 && (wanted.map { total.operations < $0 } ?? (ContinuousClock.now < deadline))
        print("histories of seeds \(firstSeed)..<\(seed): \(total)")
        if wanted ?? 0 < Self.operationsPerSeed { return }
        // A long run must have exercised every feature.
        #expect(total.crashes.count >= 3 && total.crashes[2] > 0)
        for place in ["open", "launch compaction", "commit", "background", "close", "growth", "header slot"] {
            #expect(total.struck[place] ?? 0 > 0, "no crash within: \(place)")
        }
    }
}
