import FaultModel
import Seeds
import SimulatedDisk
import StrataFiles
import Synchronization
import Testing

@testable import StrataStorage

/// What checkpoints write, and events during a checkpoint.
@Suite struct CheckpointTests {
    private static let path = "store"

    @Test("a checkpoint writes back what was changed, however large the file is")
    func writtenBackChanges() throws {
        let fileSystem = CountingFileSystem(capacity: 1 << 34)
        var options = StoreOptions(fileSystem: fileSystem, durability: .none)
        options.mapReserve = 1 << 34
        options.checkpointBytes = .max
        let store = try Store.open(path: Self.path, options: options)
        try PlainTable.setUp(store)
        try PlainTable.insert(store, 0..<1000)
        // These pages are unreachable: the file is as sparse as the map says.
        _ = try store.allocator.allocate(2_000_000, largest: 1)
        try checkpoint(store)
        // Changed rows lie before and after them.
        try PlainTable.insert(store, 1000..<1400)
        try PlainTable.delete(store, 0..<10)
        _ = fileSystem.takeCounts()
        try checkpoint(store)
        let counts = fileSystem.takeCounts()
        #expect(try store.space().fileBytes > 7 << 30)
        #expect(
            (1...8).contains(counts.writeBacks), "\(counts.writeBacks) of \(2_000_000 / DirtyPages.chunkPages) chunks")
        #expect(counts.largestWriteBack <= 2 << 20)
    }

    /// Makes a checkpoint as it runs beside commits. The test polls and does not wait for the checkpoint: a checkpoint
    /// with a waiting thread makes no pauses.
    private func checkpoint(_ store: Store) throws {
        try store.gate.whileHeld { (_) throws in
            try store.checkpoints.start(store.commits.newest)
        }
        while store.checkpoints.writing.isInProgress { store.options.scheduling.pause(microseconds: 100) }
    }

    @Test("a checkpoint that a thread waits for leaves chunks to the sync")
    func awaitedCheckpoint() throws {
        let steps = StepScheduling(holding: "checkpoint")
        let fileSystem = CountingFileSystem(capacity: 1 << 30)
        let store = try Store.open(
            path: Self.path, options: StoreOptions(fileSystem: fileSystem, scheduling: steps, durability: .none))
        try PlainTable.setUp(store)
        try PlainTable.insert(store, 0..<1000)
        for isUrgent in [false, true] {
            try PlainTable.insert(store, isUrgent ? 2000..<3000 : 1000..<2000)
            try store.gate.whileHeld { (_) throws in
                try store.checkpoints.start(store.commits.newest)
            }
            _ = fileSystem.takeCounts()
            if isUrgent { store.checkpoints.writing.hurry() }
            #expect(steps.runStep())
            let counts = fileSystem.takeCounts()
            #expect((counts.writeBacks == 0) == isUrgent)
            #expect(counts.syncs == 2, "the pages, then the slot")
        }
    }

    @Test("pages that are written again bring no checkpoint nearer")
    func noNearerCheckpoint() throws {
        let fileSystem = CountingFileSystem(capacity: 1 << 30)
        var options = StoreOptions(fileSystem: fileSystem, durability: .none)
        options.checkpointBytes = 1 << 20
        let store = try Store.open(path: Self.path, options: options)
        try PlainTable.setUp(store)
        try PlainTable.insert(store, 0..<100)
        _ = fileSystem.takeCounts()
        for number in 0..<2000 {
            let transaction = try store.beginWrite()
            try transaction.set(0, RowKey(5), column: 0, to: .integer(Int64(number)))
            try transaction.commit()
        }
        let counts = fileSystem.takeCounts()
        #expect(counts.bytes > 16 << 20)
        #expect(counts.syncs == 0)
        try store.close()
    }

    @Test("what a transaction spilled counts once")
    func spilledOnce() throws {
        let fileSystem = CountingFileSystem(capacity: 1 << 30)
        var options = StoreOptions(fileSystem: fileSystem, durability: .none)
        options.checkpointBytes = .max
        options.limits.memoryBudget = 1 << 17
        let store = try Store.open(path: Self.path, options: options)
        try PlainTable.setUp(store)
        try PlainTable.insert(store, 0..<20_000)
        #expect(CoverageMarks.areCounted == false || CoverageMarks.hits[.spilled] != nil)
        let bytes = try store.space().fileBytes
        #expect(store.checkpoints.checkpointer.dirtyBytes > 1 << 20)
        #expect(store.checkpoints.checkpointer.dirtyBytes <= bytes, "of a file of \(bytes)")
        try store.close()
    }

    // The slot that requires a new log overwrites the slot in force, on which a checkpoint in progress relies, and
    // refers to a free map that this checkpoint has not synced yet. So the log is made after the checkpoint.
    @Test("the log is made after the checkpoint in progress")
    func logAfterACheckpoint() throws {
        let steps = StepScheduling(holding: "checkpoint")
        let disk = SimulatedDisk(seed: Seed(11))
        var options = StoreOptions(fileSystem: disk, scheduling: steps)
        options.mapReserve = 1 << 28
        let first = try Store.open(path: Self.path, options: options)
        try PlainTable.setUp(first)
        try PlainTable.insert(first, 0..<300)
        try first.close()
        let store = try Store.open(path: Self.path, options: options)
        try PlainTable.delete(store, 100..<300)
        try PlainTable.insert(store, [300])
        let before = disk.operations
        // A checkpoint such as an online compaction makes to free the end of the file.
        try store.gate.whileHeld { (_) throws in
            try store.checkpoints.start(store.commits.newest)
        }
        let isCommitted = Atomic<Bool>(false)
        let hasThread = SystemScheduling().spawn("commit") {
            do { try PlainTable.insert(store, [301]) } catch { Issue.record("\(error)") }
            isCommitted.store(true, ordering: .releasing)
        }
        #expect(hasThread)
        for _ in 0..<200 where !isCommitted.load(ordering: .acquiring) {
            SystemScheduling().pause(microseconds: 1000)
        }
        #expect(steps.runStep())
        while !isCommitted.load(ordering: .acquiring) { SystemScheduling().pause(microseconds: 1000) }
        try expectRows(disk, from: before)
    }

    /// Cuts power at every operation from the given one on.
    private func expectRows(_ disk: SimulatedDisk, from first: Int) throws {
        var rules = CrashRules()
        rules.exhaustiveUnits = 3
        rules.sampleCount = 4
        rules.pairLimit = 0
        rules.cutLimit = 0
        var sweep = disk.sweep(rules)
        let expected = Array(0..<100) + [300 as Int64]
        var states = 0
        _ = sweep.visit(points: first..<(disk.operations + 1)) { state in
            states += 1
            do {
                var options = StoreOptions(fileSystem: disk.crash(state))
                options.mapReserve = 1 << 28
                let store = try Store.open(path: Self.path, options: options)
                let keys = try PlainTable.keys(store.snapshot().view)
                #expect(keys == expected || keys == expected + [301], "\(state.address)")
                try store.checkInvariants()
                try store.close()
                return true
            } catch {
                Issue.record("\(state.address): \(error)")
                return false
            }
        }
        #expect(states > 20)
    }
}
