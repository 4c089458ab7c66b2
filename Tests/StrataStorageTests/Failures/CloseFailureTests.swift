import StrataFiles
import Synchronization
import Testing

@testable import StrataStorage

/// A process that died in the close of a session without a log left one new clean slot beside an old clean one, which
/// looks like a lost write: no process could open the file again.
@Suite(.serialized)
struct CloseFailureTests {
    enum Call: CaseIterable, Sendable { case write, sync }

    private static func open(_ fileSystem: RefusingFileSystem, _ durability: Durability) throws -> Store {
        var options = StoreOptions(fileSystem: fileSystem, durability: durability)
        options.limits = .tiny
        options.mapReserve = 1 << 24
        return try Store.open(path: "/store", options: options)
    }

    @Test("a close that ends at any write or sync leaves a file that opens", arguments: Call.allCases)
    func closeEndsAnywhere(call: Call) throws {
        for durability in [Durability.none, .periodic, .full] {
            var number = 1
            var end = CloseEnd.failed
            var open = 0
            while end != .whole && number < 100 {
                end = try endClose(call, number, durability)
                if end == .open { open += 1 }
                number += 1
            }
            #expect(end == .whole, "no close came to its end")
            #expect(number > 3, "a close has several writes and syncs")
            #expect((open > 0) == (durability == .none && call == .write))
        }
    }

    enum CloseEnd {
        /// The close succeeded, since it made fewer calls than the refused one's number.
        case whole
        /// The close threw, and the store is closed.
        case failed
        /// The close threw and left the store open, so that it can be closed again.
        case open
    }

    /// Closes a store while a call fails, and checks what the next open finds.
    private func endClose(_ call: Call, _ number: Int, _ durability: Durability) throws -> CloseEnd {
        let fileSystem = RefusingFileSystem()
        let first = try Self.open(fileSystem, durability)
        try PlainTable.setUp(first)
        try PlainTable.insert(first, 0..<10)
        try first.close()
        let second = try Self.open(fileSystem, durability)
        for round in 1..<5 { try PlainTable.insert(second, Int64(round * 10)..<Int64(round * 10 + 10)) }
        // An atomic cannot be copied, so it is used in place.
        switch call {
        case .write:
            fileSystem.firstRefusedWrite.store(
                fileSystem.writes.load(ordering: .relaxed) + number, ordering: .relaxed)
        default:
            fileSystem.firstRefusedSync.store(
                fileSystem.syncs.load(ordering: .relaxed) + number, ordering: .relaxed)
        }
        var end = CloseEnd.whole
        do { try second.close() } catch { end = (try? second.snapshot()) == nil ? .failed : .open }
        fileSystem.firstRefusedWrite.store(.max, ordering: .relaxed)
        fileSystem.firstRefusedSync.store(.max, ordering: .relaxed)
        // Nothing was in doubt: the next close writes everything.
        if end == .open {
            try PlainTable.insert(second, [50])
            try PlainTable.delete(second, [50])
        }
        try second.close()

        let third = try Self.open(fileSystem, durability)
        let keys = try PlainTable.keys(third.snapshot().view)
        let states = (1...5).map { Array(0..<Int64($0 * 10)) }
        if durability == .none && end == .failed {
            #expect(states.contains(keys), "\(call) \(number): \(keys.count) rows")
        } else {
            #expect(keys == states[4], "\(durability), \(call) \(number): \(keys.count) rows")
        }
        try third.close()
        return end
    }

    @Test("a second close returns only after the first") func together() throws {
        let early = Mutex(0)
        for _ in 0..<50 {
            var options = StoreOptions(fileSystem: MemoryFileSystem())
            options.mapReserve = 1 << 24
            let store = try Store.open(path: "/store", options: options)
            // As if a thread of this process still waited for another process to sync its commit, while no thread holds
            // the write gate.
            _ = store.commits.withState { $0.changeWaiters(by: 1) }
            let ended = Mutex(0)
            for _ in 0..<2 {
                let hasThread = SystemScheduling().spawn("close") {
                    do { try store.close() } catch { Issue.record(error) }
                    if store.commits.withState({ $0.use }) != .closed {
                        early.withLock { $0 += 1 }
                    }
                    ended.withLock { $0 += 1 }
                }
                try #require(hasThread)
            }
            SystemScheduling().pause(microseconds: 1000)
            store.commits.whileHeld { held in
                _ = held.state.changeWaiters(by: -1)
                held.wakeAll()
            }
            while ended.withLock({ $0 }) < 2 { SystemScheduling().pause(microseconds: 100) }
        }
        #expect(early.withLock { $0 } == 0)
    }
}

/// A commit that failed before its first write once ended all writing until every process had closed the store.
@Suite struct RefusedCommitTests {
    @Test(
        "a commit without descriptors is rolled back, and the next one is done", arguments: 1...4 as ClosedRange<Int64>)
    func descriptors(commits: Int64) throws {
        let fileSystem = RefusingFileSystem()
        var options = StoreOptions(fileSystem: fileSystem)
        options.mapReserve = 1 << 24
        let store = try Store.open(path: "/store", options: options)
        try PlainTable.setUp(store)
        for round in 1..<commits { try PlainTable.insert(store, (round * 10)..<(round * 10 + 10)) }
        fileSystem.hasNoDescriptors.store(true, ordering: .relaxed)
        var isDone = true
        do { try PlainTable.insert(store, [5]) } catch {
            isDone = false
            guard case StorageError.file(let cause) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(cause.errno == 24)
        }
        fileSystem.hasNoDescriptors.store(false, ordering: .relaxed)
        try PlainTable.insert(store, [6])
        try store.checkInvariants()
        try store.close()
        let again = try Store.open(path: "/store", options: options)
        #expect(try PlainTable.keys(again.snapshot().view) == (isDone ? [5, 6] : [6]) + Array(10..<(commits * 10)))
        try again.close()
    }
}

/// The copy of a killed compaction once stayed beside the store until the next compaction.
@Suite struct UnfinishedCompactionTests {
    @Test("an exclusive open removes the copy of a killed compaction, an open beside others does not")
    func leftover() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let leftover = OfflineCompaction.unfinishedPath(path)
        let fileSystem = POSIXFileSystem()
        let store = try Store.open(path: path)
        try PlainTable.setUp(store)
        fileSystem.put(leftover)
        let other = try Store.open(path: path, options: StoreOptions(readOnly: true))
        #expect(try fileSystem.status(leftover) != nil, "another process may still use it")
        try other.close()
        try store.close()
        let again = try Store.open(path: path)
        #expect(try fileSystem.status(leftover) == nil)
        try again.close()
    }
}

extension POSIXFileSystem {
    fileprivate func put(_ path: String) {
        do { try open(path, .createNew).close() } catch { Issue.record("\(error)") }
    }
}
