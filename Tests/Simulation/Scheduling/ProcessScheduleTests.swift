import FaultModel
import Seeds
import Testing

/// Runs threads of several processes, which have one store open, under many schedules (``ScheduleSearch``).
@Suite(.serialized)
struct ProcessScheduleTests {
    typealias Thread = ScheduledProcesses.Thread

    private func exploreAll(_ name: String, _ threads: [Thread]) throws {
        try ScheduleSearch(name: "ProcessScheduleTests/\(name)").exploreAll { chooser in
            try ScheduledProcesses(chooser).run(threads)
        }
    }

    @Test("a reader of the owner sees what a guest has committed")
    func aReaderOfTheOwnerSeesWhatAGuestHasCommitted() throws {
        try exploreAll(
            "aReaderOfTheOwnerSeesWhatAGuestHasCommitted",
            [Thread(1, [.increment]), Thread(0, [.pin, .unpin, .pin, .unpin, .pin])])
    }

    @Test("a reader beside the owner keeps what it has pinned")
    func aReaderBesideTheOwnerKeepsWhatItHasPinned() throws {
        try exploreAll(
            "aReaderBesideTheOwnerKeepsWhatItHasPinned",
            [Thread(0, [.increment, .increment]), Thread(1, [.pin, .pin, .unpin, .pin])])
    }

    @Test("readers keep their pins when writing is handed over")
    func readersKeepTheirPinsWhenWritingIsHandedOver() throws {
        try exploreAll(
            "readersKeepTheirPinsWhenWritingIsHandedOver",
            [Thread(1, [.incrementLarge, .increment]), Thread(0, [.pin, .pin, .unpin, .pin])])
    }

    @Test("a process closes while others read and write")
    func aProcessClosesWhileOthersReadAndWrite() throws {
        try exploreAll(
            "aProcessClosesWhileOthersReadAndWrite",
            [Thread(0, [.pin, .unpin, .close]), Thread(1, [.increment, .pin, .increment])])
    }

    @Test("a thread releases what another one has pinned")
    func aThreadReleasesWhatAnotherOneHasPinned() throws {
        try exploreAll(
            "aThreadReleasesWhatAnotherOneHasPinned",
            [Thread(0, [.increment, .rollBack]), Thread(1, [.pin, .pin]), Thread(1, [.unpinAny, .pin, .unpinAny])])
    }

    @Test("long histories of processes keep what they promise, under drawn schedules")
    func longHistoriesByDrawnSchedules() {
        ScheduleSearch(name: "ProcessScheduleTests/longHistoriesByDrawnSchedules").draw { seed in
            var random = RandomStream(seed.derived(part: "history"))
            let threads = (0..<(2 + random.below(4))).map { number in
                Thread(
                    number < 2 ? number : random.below(3),
                    (0..<(2 + random.below(8))).map { _ -> ScheduledOperation in
                        [.increment, .increment, .incrementLarge, .pin, .pin, .unpin, .unpinAny, .rollBack][
                            random.below(8)]
                    })
            }
            try ScheduledProcesses(SeededSchedule(seed)).run(threads)
        }
    }
}
