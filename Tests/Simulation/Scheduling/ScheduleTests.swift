import FaultModel
import Seeds
import Testing

@testable import StrataStorage

/// Short histories of several threads under every schedule with up to two preemptions, longer ones under seeded
/// schedules (``ScheduleSearch`` says how to run more of them, or one).
@Suite(.serialized)
struct ScheduleTests {
    private func exploreAll(
        _ name: String, _ threads: [[ScheduledOperation]], durability: Durability = .full
    ) throws {
        try ScheduleSearch(name: "ScheduleTests/\(name)").exploreAll { chooser in
            try ScheduledStore(chooser, durability: durability).run(threads)
        }
    }

    @Test("two writers lose no increment")
    func twoWritersLoseNoIncrement() throws {
        try exploreAll("twoWritersLoseNoIncrement", [[.increment], [.increment]])
    }

    @Test("three writers share groups and hand the lead on")
    func threeWritersShareGroupsAndHandTheLeadOn() throws {
        try exploreAll(
            "threeWritersShareGroupsAndHandTheLeadOn", [[.increment, .increment], [.increment], [.increment]])
    }

    @Test("a pinned version stays while its pages are given up")
    func aPinnedVersionStaysWhileItsPagesAreGivenUp() throws {
        try exploreAll(
            "aPinnedVersionStaysWhileItsPagesAreGivenUp",
            [[.increment, .increment, .increment], [.pin, .unpin, .pin]])
    }

    @Test("readers pin versions while they are replaced")
    func readersPinVersionsWhileTheyAreReplaced() throws {
        try exploreAll(
            "readersPinVersionsWhileTheyAreReplaced",
            [[.increment, .increment], [.pin, .pin, .unpin, .unpin, .pin]])
    }

    @Test("a close ends the pins of readers")
    func aCloseEndsThePinsOfReaders() throws {
        try exploreAll("aCloseEndsThePinsOfReaders", [[.pin, .pin, .unpin, .pin], [.pin, .close]])
    }

    @Test("a checkpoint runs beside commits")
    func aCheckpointRunsBesideCommits() throws {
        try exploreAll("aCheckpointRunsBesideCommits", [[.incrementLarge, .increment], [.increment, .increment]])
    }

    @Test("a close waits for commits")
    func aCloseWaitsForCommits() throws {
        try exploreAll("aCloseWaitsForCommits", [[.increment, .increment], [.pin, .close], [.increment]])
    }

    @Test("a rollback leaves no trace")
    func aRollbackLeavesNoTrace() throws {
        try exploreAll("aRollbackLeavesNoTrace", [[.increment, .pin], [.rollBack, .increment]])
    }

    @Test("other durabilities keep the order")
    func otherDurabilitiesKeepTheOrder() throws {
        try exploreAll(
            "otherDurabilitiesKeepTheOrder", [[.increment, .increment], [.pin, .increment]], durability: .periodic)
    }

    @Test("long histories of threads keep what they promise, under drawn schedules")
    func longHistoriesByDrawnSchedules() {
        ScheduleSearch(name: "ScheduleTests/longHistoriesByDrawnSchedules").draw { seed in
            var random = RandomStream(seed.derived(part: "history"))
            let durability = [Durability.full, .full, .periodic, .none][random.below(4)]
            let threads = (0..<(2 + random.below(4))).map { _ in
                (0..<(2 + random.below(10))).map { _ -> ScheduledOperation in
                    [.increment, .increment, .incrementLarge, .pin, .pin, .unpin, .unpinAny, .rollBack][random.below(8)]
                }
            }
            try ScheduledStore(SeededSchedule(seed), durability: durability).run(threads)
        }
    }
}
