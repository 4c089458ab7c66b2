import StrataFiles
import Synchronization
import Testing

@testable import StrataStorage

/// Without a thread the caller once ran the attendant's endless loop itself, so that the first transaction never began.
@Suite struct NoThreadTests {
    /// The platform's scheduling, but without threads until they are allowed.
    private final class Threadless: Scheduling {
        let hasThreads = Atomic<Bool>(false)
        let refusals = Atomic<Int>(0)

        func makeMonitor(_ label: String) -> any Monitor { SystemScheduling().makeMonitor(label) }
        func yield(at point: StaticString) {}
        func deadline(after microseconds: Int) -> Deadline { SystemScheduling().deadline(after: microseconds) }
        func remaining(until deadline: Deadline) -> Int { SystemScheduling().remaining(until: deadline) }
        func pause(microseconds: Int) { SystemScheduling().pause(microseconds: microseconds) }

        func spawn(_ label: String, _ work: @escaping @Sendable () -> Void) -> Bool {
            if hasThreads.load(ordering: .relaxed) { return SystemScheduling().spawn(label, work) }
            refusals.add(1, ordering: .relaxed)
            return false
        }
    }

    @Test("without threads the caller does all the work", arguments: [Durability.full, .periodic, .none])
    func everythingIsDone(durability: Durability) throws {
        let directory = try TemporaryDirectory()
        let scheduling = Threadless()
        var options = StoreOptions(scheduling: scheduling, durability: durability)
        options.limits = .tiny
        options.checkpointBytes = 1 << 16
        options.compaction = .online(freeShare: 0.1)
        options.mapReserve = 1 << 28
        let store = try Store.open(path: directory.path + "/store", options: options)
        try PlainTable.setUp(store)
        for round in 0..<30 as Range<Int64> { try PlainTable.insert(store, (round * 50)..<(round * 50 + 50)) }
        try PlainTable.delete(store, 0..<1000)
        #expect(scheduling.refusals.load(ordering: .relaxed) > 0, "nothing asked for a thread")
        // With threads again, the missing ones are started.
        scheduling.hasThreads.store(true, ordering: .relaxed)
        try PlainTable.insert(store, 0..<10)
        try store.checkInvariants()
        try store.close()
        let again = try Store.open(path: directory.path + "/store", options: StoreOptions())
        #expect(try PlainTable.keys(again.snapshot().view) == Array(0..<10) + Array(1000..<1500))
        try again.close()
    }
}
