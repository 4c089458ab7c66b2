import Foundation
import Seeds
import Testing

/// What a search for a failing schedule reports.
@Suite struct ScheduleSearchTests {
    private struct Planted: Error {}

    /// Runs a search that fails, and returns the texts that it reports.
    private static func report(_ search: (ScheduleSearch) throws -> Void) throws -> [String] {
        var found: [String] = []
        try search(ScheduleSearch(name: "ATests/a") { found.append($0.rawValue) })
        return found
    }

    @Test("a failure of a drawn schedule says how to repeat it")
    func aFailureOfADrawnScheduleSaysHowToRepeatIt() throws {
        let found = try Self.report { search in search.draw { _ in throw Planted() } }
        let command = "SIMULATION_SEED=\(ScheduleSearch.firstSeed) swift test --filter Simulation.ATests/a"
        #expect(found.count == 1 && found.allSatisfy { $0.hasSuffix("\nrepeat with: " + command) }, "\(found)")
    }

    @Test(
        "a failure of an enumerated schedule says how to repeat it",
        .enabled(if: ProcessInfo.processInfo.environment["SIMULATION_SCHEDULE"] == nil))
    func aFailureOfAnEnumeratedScheduleSaysHowToRepeatIt() throws {
        let found = try Self.report { search in
            try search.exploreAll { chooser in
                var chooser = chooser
                let taken = (0..<3).map { _ in chooser.choose(among: 2, isForced: true) }
                if taken == [0, 1, 0] { throw Planted() }
            }
        }
        let command = "SIMULATION_SCHEDULE='1.1,1' swift test --filter Simulation.ATests/a"
        #expect(found.count == 1 && found.allSatisfy { $0.hasSuffix("\nrepeat with: " + command) }, "\(found)")
        var replay = try #require(ScheduleReplay("1.1,1"))
        #expect((0..<3).map { _ in replay.choose(among: 2, isForced: true) } == [0, 1, 0])
    }
}
