import StrataFiles
import Testing

@testable import StrataStorage

/// Which versions are protected, and for how long, without an allocator.
@Suite struct VersionPinsTests {
    @Test("the pin of the newest version needs no protection")
    func newestVersion() {
        var pins = VersionPins()
        #expect(pins.pin(1) == true)
        #expect(pins.pin(1) == true)
        #expect(pins.unpin(1) == nil)
        #expect(pins.unpin(1) == VersionPins.End(place: nil, wasProtected: false))
        #expect(pins.isEmpty)
        #expect(pins.unpin(1) == nil, "not pinned at all")
    }

    @Test("a pin keeps the protection of a version that is no longer visible")
    func protectedByItsPin() {
        var pins = VersionPins()
        #expect(pins.pin(1) == true)
        var superseded = SupersededVersions(oldest: 1, others: [2, 3])
        pins.keepPinned(&superseded)
        #expect(superseded == SupersededVersions(oldest: nil, others: [2, 3]))
        #expect(pins.unpin(1) == VersionPins.End(place: nil, wasProtected: true))
    }

    @Test("there are places for the given number of versions, and for no more")
    func placesForVersions() {
        var pins = VersionPins(mostVersions: 2)
        let first = [pins.pin(1), pins.pin(2), pins.pin(3), pins.pin(2)]
        #expect(first == [true, true, false, true])
        _ = pins.unpin(1)
        #expect(pins.pin(3) == true)
    }

    @Test("a reserved pin counts as a pinned version")
    func reservedPin() {
        var pins = VersionPins(mostVersions: 2)
        #expect(pins.pin(1) == true)
        #expect(pins.reserve() == true)
        #expect(pins.reserve() == false)
        #expect(!pins.hasRoom)
        let others = [pins.pin(2), pins.pin(1)]
        #expect(others == [false, true])
        pins.giveBackReserved()
        #expect(pins.pin(2) == true)
        #expect(pins.reserve() == false)
    }

    /// The process that takes over from a dead owner publishes the same version again. A reader that pins the version
    /// already then pins it once more, at another place of the process table.
    @Test("a version that is pinned again keeps its pins and its new place")
    func pinnedAgain() {
        var pins = VersionPins()
        #expect(pins.pin(1) == true)
        #expect(!pins.shows(1))
        #expect(pins.show(1, at: 4) == nil)
        #expect(pins.shows(1))
        #expect(pins.show(1, at: 9) == 4)
        #expect(pins.pin(1) == true)
        #expect(pins.unpin(1) == nil)
        #expect(pins.unpin(1) == VersionPins.End(place: 9, wasProtected: false))
    }

    @Test("other processes see what is pinned when writing goes to them")
    func shownToOthers() {
        var pins = VersionPins()
        #expect(pins.show(1, at: 7) == nil)
        #expect(pins.pin(1) == true)
        #expect(pins.pin(3) == true)
        #expect(pins.becomeOwner(foreign: [2]) == [1, 3, 2])
        var shown: [UInt64] = []
        pins.endOwnership {
            shown.append($0)
            return 8
        }
        #expect(shown == [3] && pins.foreign.isEmpty)
        #expect(pins.unpin(1) == VersionPins.End(place: 7, wasProtected: false))
        #expect(pins.unpin(3) == VersionPins.End(place: 8, wasProtected: false))
    }

    @Test("pins of others are protected once")
    func pinsOfOthers() {
        var pins = VersionPins()
        var changed = pins.follow(foreign: [1, 2])
        #expect(changed == ([1, 2], []))
        changed = pins.follow(foreign: [2, 3])
        #expect(changed == ([3], [1]))
        changed = pins.follow(foreign: [2, 3])
        #expect(changed == ([], []))
    }

    /// Commits, pins and unpins in any order. The allocator tells only the oldest version that it protects: at the end
    /// of a walk, whose length differs, the test ends one protection of each version that may be read, from old to new.
    @Test("what may be read is protected once, and nothing else is")
    func whatMayBeRead() throws {
        let allocator = try SpaceTests.Bench().allocator
        for seed in UInt64(1)...400 {
            var walk = PinWalk(seed, allocator)
            for step in 0..<walk.random.below(200) {
                walk.step()
                try #require(allocator.oldestProtected == walk.readable.first, "seed \(seed), step \(step)")
            }
            for version in walk.readable {
                try #require(allocator.oldestProtected == version, "seed \(seed)")
                allocator.unprotect(version)
            }
            try #require(allocator.oldestProtected == nil, "seed \(seed)")
        }
    }
}

/// A store's versions without their pages: commits, makes visible, pins and unpins in a seeded order.
private struct PinWalk {
    var random: SplitMix64
    private let allocator: PageAllocator
    private let visible: VisibleVersion
    private var queue = CommitQueue(CommitQueueTests.version(0))
    /// Versions that were pinned under the lock, each as often as it was.
    private var held: [UInt64] = []
    /// Pins without the lock.
    private var readers: [ReaderPin] = []

    init(_ seed: UInt64, _ allocator: PageAllocator) {
        random = SplitMix64(seed: seed)
        self.allocator = allocator
        allocator.protect(0)
        visible = VisibleVersion(
            CommitQueueTests.version(0), processes: nil, allocator: allocator, scheduling: SystemScheduling())
    }

    /// What a pin holds, and the versions from the visible to the newest one, ascending.
    var readable: [UInt64] {
        let pinned = held + readers.map { pin in pin.withVersion { $0.state.version } }
        return Set(pinned).union(visible.version...queue.committed.version).sorted()
    }

    mutating func step() {
        switch random.below(8) {
        case 0:
            let next = queue.committed.version + 1
            allocator.protect(next)
            queue.append(CommitQueueTests.version(next))
        case 1:
            let span = queue.committed.version - queue.durable + 1
            let newest = queue.durable + random.below(span)
            guard let durable = queue.acknowledge(through: newest, isSynced: false) else { return }
            visible.replace(by: durable).forEach(allocator.unprotect)
        case 2, 3:
            let version = random.below(2) == 0 ? visible.version : queue.committed.version
            let isPinned = visible.pin(version)
            #expect(isPinned)
            held.append(version)
        case 4:
            visible.share()
            if case .pinned(let pin, _) = visible.readers.pin() { readers.append(pin) }
        case 5:
            if readers.isEmpty { return }
            let pin = readers.remove(at: Int(random.below(UInt64(readers.count))))
            if visible.readers.release(pin) { visible.end(pin) }
        default:
            if held.isEmpty { return }
            visible.unpin(held.remove(at: Int(random.below(UInt64(held.count)))))
        }
    }
}
