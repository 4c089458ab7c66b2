import StrataFiles
import Testing

@testable import StrataStorage

/// The order in which commits become durable and visible, without a disk.
@Suite struct CommitQueueTests {
    static func version(_ number: UInt64) -> VersionState {
        var state = VersionState.empty
        state.version = number
        return state
    }

    /// Adds a version whose record is its number.
    static func append(_ queue: inout CommitQueue, _ number: UInt64, isHeldBack: Bool = false) {
        withUnsafeBytes(of: UInt8(truncatingIfNeeded: number)) { record in
            queue.append(version(number), record: record, isHeldBack: isHeldBack)
        }
    }

    /// Does what a leader does that writes and syncs all waiting records without a failure.
    @discardableResult
    static func lead(_ queue: inout CommitQueue, isSynced: Bool = true) -> [UInt64] {
        queue.endWriting(queue.beginWriting(), isDone: true, keeping: true)
        return shown(queue.endLead(through: queue.appended, isSynced: isSynced, wasKept: true))
    }

    /// The versions that became durable, in order.
    static func shown(_ durable: CommitQueue.Durable?) -> [UInt64] {
        durable.map { $0.earlier + [$0.newest.version] } ?? []
    }

    @Test("a commit is visible when its sync is done")
    func visibleAfterItsSync() {
        var queue = CommitQueue(Self.version(4))
        Self.append(&queue, 5)
        #expect(queue.committed.version == 5)
        #expect(queue.durable == 4)
        #expect(queue.step(towards: 5, isOwner: true) == .lead)
        #expect(queue.step(towards: 5, isOwner: true) == .sleep, "two leaders")
        let writing = queue.beginWriting()
        #expect(writing?.records == [5] && writing?.first == 5 && writing?.last == 5 && writing?.durableTo == 4)
        queue.endWriting(writing, isDone: true, keeping: false)
        #expect(queue.durable == 4, "durable before the sync")
        let shown = Self.shown(queue.endLead(through: 5, isSynced: true, wasKept: false))
        #expect(shown == [5] && queue.durable == 5 && queue.synced == 5)
        #expect(queue.step(towards: 5, isOwner: true) == .finish)
    }

    @Test("commits share a sync, in order")
    func sharedSync() {
        var queue = CommitQueue(Self.version(0))
        for number in UInt64(1)...3 { Self.append(&queue, number) }
        #expect(queue.step(towards: 2, isOwner: true) == .lead)
        let writing = queue.beginWriting()
        #expect(writing?.records == [1, 2, 3] && writing?.first == 1 && writing?.last == 3)
        Self.append(&queue, 4)
        queue.endWriting(writing, isDone: true, keeping: true)
        let shown = Self.shown(queue.endLead(through: queue.appended, isSynced: true, wasKept: true))
        #expect(shown == [1, 2, 3] && queue.durable == 3)
        #expect(queue.step(towards: 4, isOwner: true) == .lead)
        #expect(Self.lead(&queue) == [4])
    }

    @Test("a batch is written as a whole")
    func wholeBatch() {
        var queue = CommitQueue(Self.version(0))
        Self.append(&queue, 1)
        Self.append(&queue, 2, isHeldBack: true)
        Self.append(&queue, 3, isHeldBack: true)
        #expect(queue.step(towards: 1, isOwner: true) == .lead)
        let first = queue.beginWriting()
        #expect(first?.records == [1] && first?.last == 1)
        queue.endWriting(first, isDone: true, keeping: true)
        _ = queue.endLead(through: 1, isSynced: true, wasKept: true)
        queue.endBatch(of: 1)
        #expect(queue.step(towards: 3, isOwner: true) == .sleep, "half of a batch")
        queue.endBatch(of: 2)
        #expect(queue.step(towards: 3, isOwner: true) == .lead)
        let second = queue.beginWriting()
        #expect(second?.records == [2, 3] && second?.first == 2 && second?.last == 3)
        queue.endWriting(second, isDone: true, keeping: true)
        _ = queue.endLead(through: 3, isSynced: true, wasKept: true)
        #expect(queue.durable == 3)
    }

    @Test("a commit of another kind ends a batch")
    func endOfABatch() {
        var queue = CommitQueue(Self.version(0))
        Self.append(&queue, 1, isHeldBack: true)
        Self.append(&queue, 2)
        #expect(queue.waitingBytes == 2)
        #expect(queue.beginWriting()?.records == [1, 2])
    }

    /// The queue ignores a leader's reports in a wrong order, and reports about records that no leader has written.
    @Test("a wrong report makes nothing durable")
    func wrongReport() {
        var queue = CommitQueue(Self.version(0))
        for number in UInt64(1)...3 { Self.append(&queue, number) }
        _ = queue.step(towards: 3, isOwner: true)
        #expect(queue.endLead(through: 3, isSynced: true, wasKept: false) == nil, "synced, and never written")
        #expect(queue.durable == 0 && queue.synced == 0)
        queue.noteSynced(3)
        #expect(queue.synced == 0, "the log would claim what it does not hold")
        #expect(queue.acknowledge(through: 4, isSynced: true) == nil, "no such version")
        #expect(queue.durable == 0)
        _ = queue.step(towards: 3, isOwner: true)
        let writing = queue.beginWriting()
        queue.endWriting(writing, isDone: false, keeping: false)
        #expect(queue.endLead(through: 3, isSynced: true, wasKept: false) == nil, "a write that failed")
        #expect(queue.durable == 0)
    }

    @Test("an older report takes nothing back")
    func olderReport() {
        var queue = CommitQueue(Self.version(0))
        Self.append(&queue, 1)
        Self.lead(&queue)
        Self.append(&queue, 2)
        Self.lead(&queue)
        #expect(queue.endLead(through: 1, isSynced: true, wasKept: false) == nil)
        #expect(queue.durable == 2 && queue.synced == 2)
    }

    @Test("nothing becomes durable after a failure")
    func afterAFailure() {
        var queue = CommitQueue(Self.version(0))
        Self.append(&queue, 1)
        Self.append(&queue, 2)
        Self.lead(&queue)
        Self.append(&queue, 3)
        _ = queue.step(towards: 3, isOwner: true)
        queue.endWriting(queue.beginWriting(), isDone: true, keeping: true)
        queue.fail()
        #expect(queue.endLead(through: 3, isSynced: true, wasKept: true) == nil)
        #expect(queue.durable == 2 && queue.synced == 2)
        #expect(queue.step(towards: 2, isOwner: true) == .finish)
        #expect(queue.step(towards: 3, isOwner: true) == .giveUp)
        #expect(queue.beginSync() == nil)
        #expect(!queue.isLeading && !queue.isWriting)
    }

    @Test("a lost commit is not waited for")
    func lostCommit() {
        var queue = CommitQueue(Self.version(3))
        #expect(queue.step(towards: 4, isOwner: true) == .giveUp, "no commit has made it")
        Self.append(&queue, 4)
        #expect(queue.step(towards: 4, isOwner: false) == .giveUp, "another process writes")
        queue.restart(at: Self.version(6))
        #expect(queue.durable == 6 && queue.appended == 6 && queue.waitingBytes == 0)
        #expect(queue.step(towards: 4, isOwner: true) == .finish)
        Self.append(&queue, 7)
        #expect(queue.beginWriting()?.records == [7], "a record of before")
    }

    @Test("a periodic commit is durable before it is synced")
    func periodicCommit() {
        var queue = CommitQueue(Self.version(0))
        Self.append(&queue, 1)
        Self.lead(&queue, isSynced: false)
        #expect(queue.durable == 1 && queue.synced == 0)
        #expect(queue.beginSync() == 1)
        #expect(queue.beginSync() == nil, "two leaders")
        Self.append(&queue, 2)
        #expect(queue.step(towards: 2, isOwner: true) == .sleep)
        queue.endSync(through: 1)
        #expect(queue.synced == 1)
        #expect(queue.step(towards: 2, isOwner: true) == .lead)
    }

    @Test("a checkpoint makes durable what the log does not hold")
    func checkpointedCommit() {
        var queue = CommitQueue(Self.version(0))
        queue.append(Self.version(1))
        #expect(queue.step(towards: 1, isOwner: true) == .sleep, "no record")
        #expect(Self.shown(queue.acknowledge(through: 1, isSynced: true)) == [1])
        #expect(queue.synced == 1)
        Self.append(&queue, 2)
        #expect(queue.beginWriting()?.durableTo == 1)
    }

    /// Any order of calls by threads, compared with a list of events.
    @Test("calls in any order keep the invariants")
    func anyOrder() throws {
        let allocator = try SpaceTests.Bench().allocator
        for seed in UInt64(1)...200 {
            var walk = Walk(seed, allocator)
            for step in 0..<300 { walk.step("seed \(seed), step \(step)") }
        }
    }
}

/// Calls a queue in a seeded order, and tracks the contents of the log.
private struct Walk {
    var random: SplitMix64
    var queue = CommitQueue(CommitQueueTests.version(0))
    var next: UInt64 = 1
    /// The records written to the log, and how many of them are synced.
    var log: [UInt8] = []
    var syncedRecords = 0
    var writing: CommitQueue.Writing?
    var isLeading = false
    var syncTo: (version: UInt64, records: Int)?
    /// The version that became durable last.
    var shown: UInt64 = 0
    let visible: VisibleVersion
    /// Versions that have been committed, and have not lost their protection.
    var protected: Set<UInt64> = [0]

    /// - Parameter allocator: the walk protects no version there.
    init(_ seed: UInt64, _ allocator: PageAllocator) {
        random = SplitMix64(seed: seed)
        visible = VisibleVersion(
            CommitQueueTests.version(0), processes: nil, allocator: allocator, scheduling: SystemScheduling())
    }

    mutating func step(_ place: String) {
        switch random.next() % 8 {
        case 0, 1, 2:
            let isHeldBack = random.next() % 3 == 0
            CommitQueueTests.append(&queue, next, isHeldBack: isHeldBack)
            protected.insert(next)
            next += 1
        case 3:
            queue.endBatch()
        case 4 where !isLeading:
            isLeading = queue.step(towards: queue.committed.version, isOwner: true) == .lead
            if isLeading { writing = queue.beginWriting() }
        case 5 where writing != nil:
            if let writing {
                #expect(Int(writing.durableTo) <= syncedRecords, "\(place): the log claims too much")
                #expect(Int(writing.first) == log.count + 1, "\(place): a record is missing")
                log += writing.records
                #expect(Int(writing.last) == log.count, "\(place)")
            }
            queue.endWriting(writing, isDone: true, keeping: true)
            writing = nil
        case 6 where isLeading && writing == nil && syncTo == nil: syncTo = (queue.appended, log.count)
        case 7:
            guard let sync = syncTo else { return }
            syncedRecords = sync.records
            endLead(sync.version, place)
        default: return
        }
        check(place)
    }

    private mutating func endLead(_ version: UInt64, _ place: String) {
        let durable = queue.endLead(through: version, isSynced: true, wasKept: true)
        for found in CommitQueueTests.shown(durable) {
            #expect(found == shown + 1, "\(place): out of order")
            shown = found
        }
        if let durable {
            visible.replace(by: durable).forEach {
                #expect(protected.remove($0) != nil, "\(place): \($0) lost its protection twice")
            }
        }
        isLeading = false
        syncTo = nil
    }

    private func check(_ place: String) {
        #expect(Int(queue.durable) <= syncedRecords, "\(place): durable without a sync")
        #expect(shown == queue.durable && visible.version == queue.durable, "\(place)")
        #expect(queue.committed.version == next - 1, "\(place)")
        #expect(queue.isLeading == isLeading, "\(place)")
        #expect(log == (0..<log.count).map { UInt8(truncatingIfNeeded: $0 + 1) }, "\(place): order of the log")
        #expect(protected == Set(queue.durable..<next), "\(place): protected are all that may still be needed")
    }
}
