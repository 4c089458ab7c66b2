import StrataFiles
import Testing

@testable import StrataStorage

/// Which of the threads that wait for commits are woken, without threads.
@Suite struct CommitWaitersTests {
    private static func waiter(_ version: UInt64) -> CommitWaiter {
        CommitWaiter(for: version, SystemScheduling().makeMonitor("test"))
    }

    private static func waiters(_ versions: [UInt64]) -> CommitWaiters {
        var waiters = CommitWaiters()
        for version in versions { waiters.add(waiter(version)) }
        return waiters
    }

    /// A queue with these versions, of which a leader has written and synced the first ones.
    private static func queue(_ versions: ClosedRange<UInt64>, syncedTo synced: UInt64) -> CommitQueue {
        var queue = CommitQueue(CommitQueueTests.version(versions.lowerBound - 1))
        for version in versions.lowerBound...synced { CommitQueueTests.append(&queue, version) }
        _ = queue.step(towards: synced, isOwner: true)
        CommitQueueTests.lead(&queue)
        for version in synced..<versions.upperBound { CommitQueueTests.append(&queue, version + 1) }
        return queue
    }

    private static func durable(_ ready: ReadyWaiters) -> [UInt64] {
        ready.others.filter { $0.answer == .isDurable }.map(\.waiter.version)
    }

    @Test("a sync wakes the threads whose commits it covers, and one that leads the next")
    func aSyncWakesItsOwn() {
        let queue = Self.queue(1...6, syncedTo: 3)
        var waiters = Self.waiters([4, 2, 6, 1, 5, 3])
        let ready = waiters.takeReady(queue, isOwner: true)
        #expect(Self.durable(ready) == [1, 2, 3] && ready.others.count == 3)
        #expect(ready.leader?.version == 4)
        #expect(!waiters.isEmpty, "threads that have nothing to do were woken")
    }

    @Test("while a thread leads, no other one is woken to lead")
    func oneLeader() {
        var queue = Self.queue(1...4, syncedTo: 2)
        #expect(queue.step(towards: 3, isOwner: true) == .lead)
        var waiters = Self.waiters([2, 4])
        let ready = waiters.takeReady(queue, isOwner: true)
        #expect(Self.durable(ready) == [2] && ready.leader == nil)
    }

    @Test("a failure wakes every thread, and calls no commit durable")
    func aFailureWakesAll() {
        var queue = Self.queue(1...4, syncedTo: 1)
        queue.fail()
        var waiters = Self.waiters([2, 3, 4])
        let ready = waiters.takeReady(queue, isOwner: true)
        #expect(ready.others.map(\.waiter.version) == [2, 3, 4] && Self.durable(ready).isEmpty && ready.leader == nil)
        #expect(waiters.isEmpty)
    }

    @Test("the loss of ownership wakes every thread")
    func lostOwnership() {
        var waiters = Self.waiters([2, 3])
        let ready = waiters.takeReady(Self.queue(1...3, syncedTo: 1), isOwner: false)
        #expect(ready.others.count == 2 && Self.durable(ready).isEmpty && waiters.isEmpty)
    }

    /// After every transition of a random history, a waiter sleeps only while another thread will wake it.
    @Test("no waiter sleeps when it could go on", arguments: UInt64(1)...60)
    func noLostWake(seed: UInt64) {
        var walk = WaiterWalk(seed)
        for step in 0..<600 { walk.step("seed \(seed), step \(step)") }
    }
}

/// Threads that commit and wait, in a seeded order. Each transition that the store wakes after is followed by it here.
private struct WaiterWalk {
    private var random: SplitMix64
    private var queue = CommitQueue(CommitQueueTests.version(0))
    private var waiters = CommitWaiters()
    private var sleeping: [UInt64] = []
    /// Threads that were woken to ask again, and have not asked yet.
    private var woken: [UInt64] = []
    private var isOwner = true
    private var writing: CommitQueue.Writing?
    private var hasWritten = false

    init(_ seed: UInt64) { random = SplitMix64(seed: seed) }

    mutating func step(_ place: String) {
        switch random.below(14) {
        case 0, 1, 2: commit()
        case 3: askAgain()
        case 4, 5: write()
        case 6, 7: endLead()
        case 8: acknowledge()
        case 9 where random.below(8) == 0: queue.fail()
        case 10 where random.below(8) == 0 && !queue.isLeading: isOwner = false
        case 11 where !queue.isLeading && (queue.hasFailed || !isOwner): restart()
        case 12: writeAhead()
        case 13: askForRecent()
        default: return
        }
        takeReady(place)
        check(place)
    }

    /// A thread commits a version, and waits for it or for an older one.
    private mutating func commit() {
        if !isOwner || queue.hasFailed { return }
        let version = queue.committed.version + 1
        CommitQueueTests.append(&queue, version, isHeldBack: random.below(4) == 0)
        if random.below(4) != 0 { askForRecent() }
    }

    private mutating func askForRecent() {
        let newest = queue.committed.version
        if newest > 0 { ask(newest - min(newest - 1, random.below(3))) }
    }

    private mutating func ask(_ version: UInt64) {
        queue.endBatch(of: version)
        guard queue.step(towards: version, isOwner: isOwner) == .sleep else { return }
        waiters.add(CommitWaiter(for: version, SystemScheduling().makeMonitor("test")))
        sleeping.append(version)
    }

    private mutating func askAgain() { if !woken.isEmpty { ask(woken.removeFirst()) } }

    private mutating func write() {
        if !queue.isLeading || hasWritten { return }
        queue.endWriting(queue.beginWriting(), isDone: true, keeping: true)
        hasWritten = true
    }

    /// Records go to the log without a sync, before another process builds on their versions.
    private mutating func writeAhead() {
        if queue.isWriting || queue.hasFailed { return }
        queue.endBatch()
        queue.endWriting(queue.beginWriting(), isDone: true, keeping: false)
    }

    private mutating func endLead() {
        if !hasWritten { return }
        _ = queue.endLead(through: queue.appended, isSynced: true, wasKept: true)
        hasWritten = false
    }

    /// A checkpoint covers a version.
    private mutating func acknowledge() {
        if isOwner && !queue.hasFailed && !queue.isLeading {
            let past = min(random.below(3), queue.committed.version - queue.durable)
            _ = queue.acknowledge(through: queue.committed.version - past, isSynced: true)
        }
    }

    /// The store is opened again.
    private mutating func restart() {
        #expect(sleeping.isEmpty, "a thread sleeps for a commit that is lost")
        (queue, waiters, woken, isOwner) = (CommitQueue(queue.committed), CommitWaiters(), [], true)
        hasWritten = false
    }

    private mutating func takeReady(_ place: String) {
        let ready = waiters.takeReady(queue, isOwner: isOwner)
        for (waiter, answer) in ready.others {
            remove(waiter, place)
            if answer == .isDurable {
                #expect(waiter.version <= queue.durable, "\(place): a commit that is not durable")
            } else {
                woken.append(waiter.version)
            }
        }
        if let leader = ready.leader {
            remove(leader, place)
            woken.append(leader.version)
            #expect(!queue.isLeading, "\(place): two leaders")
        }
    }

    private mutating func remove(_ waiter: CommitWaiter, _ place: String) {
        let index = sleeping.firstIndex(of: waiter.version)
        #expect(index != nil, "\(place): \(waiter.version) was woken twice")
        if let index { sleeping.remove(at: index) }
    }

    private func check(_ place: String) {
        for version in sleeping {
            #expect(version > queue.durable, "\(place): \(version) sleeps and is durable")
            #expect(isOwner && !queue.hasFailed, "\(place): \(version) sleeps and is lost")
            #expect(queue.isLeading || !woken.isEmpty, "\(place): \(version) sleeps, and no thread leads")
        }
    }
}
