import Testing

@testable import StrataStorage

/// Which versions are protected, and for how long, without an allocator.
@Suite struct VersionPinsTests {
    @Test func thePinOfTheNewestVersionNeedsNoProtection() {
        var pins = VersionPins()
        #expect(pins.pin(1) == true)
        #expect(pins.pin(1) == true)
        #expect(pins.unpin(1) == nil)
        #expect(pins.unpin(1) == VersionPins.End(place: nil, wasProtected: false))
        #expect(pins.isEmpty)
        #expect(pins.unpin(1) == nil, "not pinned at all")
    }

    @Test func aPinKeepsTheProtectionOfAVersionThatIsNoLongerVisible() {
        var pins = VersionPins()
        #expect(pins.pin(1) == true)
        var superseded = SupersededVersions(oldest: 1, others: [2, 3])
        pins.keepPinned(&superseded)
        #expect(superseded == SupersededVersions(oldest: nil, others: [2, 3]))
        #expect(pins.unpin(1) == VersionPins.End(place: nil, wasProtected: true))
    }

    @Test func thereIsAPlaceForSoManyVersions() {
        var pins = VersionPins(mostVersions: 2)
        let first = [pins.pin(1), pins.pin(2), pins.pin(3), pins.pin(2)]
        #expect(first == [true, true, false, true])
        _ = pins.unpin(1)
        #expect(pins.pin(3) == true)
    }

    @Test func aPinThatIsKeptCountsAsAPinnedVersion() {
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
    @Test func aVersionThatIsPinnedAgainKeepsItsPinsAndItsNewPlace() {
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

    @Test func otherProcessesSeeWhatIsPinnedWhenWritingGoesToThem() {
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

    @Test func pinsOfOthersAreProtectedOnce() {
        var pins = VersionPins()
        var changed = pins.follow(foreign: [1, 2])
        #expect(changed == ([1, 2], []))
        changed = pins.follow(foreign: [2, 3])
        #expect(changed == ([3], [1]))
        changed = pins.follow(foreign: [2, 3])
        #expect(changed == ([], []))
    }

    /// Commits, pins and unpins in any order, compared with an allocator's counts.
    @Test func whatMayBeReadIsProtectedAndNothingElse() {
        for seed in UInt64(1)...200 {
            var random = SplitMix64(seed: seed)
            var pins = VersionPins()
            var queue = CommitQueue(CommitQueueTests.version(0))
            var protections: [UInt64: Int] = [0: 1]
            var held: [UInt64] = []
            var visible: UInt64 = 0
            for step in 0..<200 {
                switch random.next() % 5 {
                case 0:
                    let next = queue.committed.version + 1
                    protections[next, default: 0] += 1
                    queue.append(CommitQueueTests.version(next))
                case 1:
                    let span = queue.committed.version - queue.durable + 1
                    let newest = queue.durable + random.next() % span
                    guard let found = queue.acknowledge(through: newest, isSynced: false) else { continue }
                    var gone = SupersededVersions(oldest: visible, others: found.earlier)
                    visible = found.newest.version
                    pins.keepPinned(&gone)
                    gone.forEach { protections[$0, default: 0] -= 1 }
                case 2, 3:
                    // The visible version, or the one just committed.
                    let version = random.next() % 2 == 0 ? visible : queue.committed.version
                    let isPinned = pins.pin(version)
                    #expect(isPinned)
                    held.append(version)
                default:
                    if held.isEmpty { continue }
                    let version = held.remove(at: Int(random.below(UInt64(held.count))))
                    if pins.unpin(version)?.wasProtected == true { protections[version, default: 0] -= 1 }
                }
                let needed = Set(held).union(visible...queue.committed.version)
                let protected = protections.filter { $0.value > 0 }
                #expect(Set(protected.keys) == needed, "seed \(seed), step \(step)")
                #expect(protected.values.allSatisfy { $0 == 1 }, "seed \(seed), step \(step)")
            }
        }
    }
}
