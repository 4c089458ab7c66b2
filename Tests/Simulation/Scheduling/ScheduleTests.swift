import FaultModel
import Foundation
import Seeds
import Synchronization
import Testing

@testable import StrataStorage

/// Short histories of several threads under every schedule with up to two preemptions, longer ones under seeded
/// schedules.
///
/// For longer runs: `SIMULATION_SECONDS=600 swift test --filter ScheduleTests`; `SIMULATION_SCHEDULES=all` goes on
/// until the exhaustive part is complete. One schedule alone: `SIMULATION_SCHEDULE='12.1,30.2,7' swift test --filter
/// ScheduleTests/NAME` (exhaustive), or `SIMULATION_SEED=77`.
@Suite(.serialized) struct ScheduleTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seconds = environment["SIMULATION_SECONDS"].flatMap(Double.init) ?? 1
    /// Whether to visit all schedules, however long that takes.
    private static let isFull = environment["SIMULATION_SCHEDULES"] == "all"
    private static let firstSeed = environment["SIMULATION_SEED"].flatMap(UInt64.init) ?? 1

    /// Visits all schedules with up to two preemptions, or as many as fit the time.
    private func exploreAll(
        _ name: String, _ threads: [[ScheduledOperation]], durability: Durability = .full
    ) throws {
        if let text = Self.environment["SIMULATION_SCHEDULE"] {
            let replay = try #require(ScheduleReplay(text))
            try ScheduledStore(replay, durability: durability).run(threads)
            return
        }
        let deadline = ContinuousClock.now + .seconds(Self.isFull ? 24 * 3600 : Self.seconds)
        for limit in 0...2 {
            let exploration = ScheduleExploration(preemptions: limit)
            var isComplete = false
            repeat {
                do { try ScheduledStore(exploration, durability: durability).run(threads) } catch {
                    Issue.record(
                        """
                        \(name) \(threads): \(error)
                        repeat with: SIMULATION_SCHEDULE='\(exploration.description)' \
                        swift test --filter ScheduleTests/\(name)
                        """)
                    return
                }
                isComplete = !exploration.next()
            } while !isComplete && ContinuousClock.now < deadline
            print(
                "\(name): \(exploration.schedules) schedules with up to \(limit) interruptions",
                isComplete ? "(all)" : "(cut by the deadline)")
            if !isComplete { return }
        }
    }

    @Test func twoWritersLoseNoIncrement() throws {
        try exploreAll("twoWritersLoseNoIncrement", [[.increment], [.increment]])
    }

    @Test func threeWritersShareGroupsAndHandTheLeadOn() throws {
        try exploreAll(
            "threeWritersShareGroupsAndHandTheLeadOn", [[.increment, .increment], [.increment], [.increment]])
    }

    @Test func aPinnedVersionStaysWhileItsPagesAreGivenUp() throws {
        try exploreAll(
            "aPinnedVersionStaysWhileItsPagesAreGivenUp",
            [[.increment, .increment, .increment], [.pin, .unpin, .pin]])
    }

    @Test func aCheckpointRunsBesideCommits() throws {
        try exploreAll("aCheckpointRunsBesideCommits", [[.incrementLarge, .increment], [.increment, .increment]])
    }

    @Test func aCloseWaitsForCommits() throws {
        try exploreAll("aCloseWaitsForCommits", [[.increment, .increment], [.pin, .close], [.increment]])
    }

    @Test func aRollbackLeavesNoTrace() throws {
        try exploreAll("aRollbackLeavesNoTrace", [[.increment, .pin], [.rollBack, .increment]])
    }

    @Test func otherDurabilitiesKeepTheOrder() throws {
        try exploreAll(
            "otherDurabilitiesKeepTheOrder", [[.increment, .increment], [.pin, .increment]], durability: .periodic)
    }

    @Test func longHistoriesByDrawnSchedules() throws {
        let deadline = ContinuousClock.now + .seconds(Self.seconds)
        var seed = Self.firstSeed
        repeat {
            var random = RandomStream(Seed(seed).derived(part: "history"))
            let durability = [Durability.full, .full, .periodic, .none][random.below(4)]
            let threads = (0..<(2 + random.below(4))).map { _ in
                (0..<(2 + random.below(10))).map { _ -> ScheduledOperation in
                    [.increment, .increment, .incrementLarge, .pin, .pin, .unpin, .rollBack][random.below(7)]
                }
            }
            do { try ScheduledStore(SeededSchedule(Seed(seed)), durability: durability).run(threads) } catch {
                Issue.record(
                    """
                    \(threads) under \(durability): \(error)
                    repeat with: SIMULATION_SEED=\(seed) swift test --filter ScheduleTests/longHistories
                    """)
                return
            }
            seed += 1
        } while ContinuousClock.now < deadline
        print("long histories by seeds \(Self.firstSeed)..<\(seed)")
    }
}
