/// Which versions are pinned, here and in other processes, and what the allocator has to protect because of that.
///
/// A version on its way from the last commit to being visible is protected for that, once. As long as it is, its pins
/// need nothing more. When a newer version takes its place, that protection becomes theirs, and goes with the last of
/// them. So a pin of the newest version touches nothing but this.
/// Guarded by the store's monitor.
struct VersionPins {
    private struct Pinned {
        var count = 0
        /// Where other processes see it.
        var place: Int?
        /// The allocator protects the version for these pins.
        var isProtected = false
    }

    private var pinned = VersionMap<Pinned>()
    /// Versions that other processes have pinned: each is protected once.
    private(set) var foreign: Set<UInt64> = []
    /// So many versions may be pinned at a time; pins that transactions keep count.
    private let mostVersions: Int
    /// Pins that are kept for what open transactions will make.
    private var reserved = 0

    init(mostVersions: Int = .max) { self.mostVersions = mostVersions }

    var isEmpty: Bool { pinned.count == 0 }

    /// What this process has pinned, ascending.
    var versions: [UInt64] { pinned.versions }

    func holds(_ version: UInt64) -> Bool { pinned.holds(version, at: pinned.index(of: version)) }

    // MARK: In this process

    /// Pins a version once more: one that is pinned already, or that is visible, or was committed after that.
    /// - Returns: false when too many versions are pinned.
    mutating func pin(_ version: UInt64) -> Bool {
        let index = pinned.index(of: version)
        if pinned.holds(version, at: index) {
            pinned.values[index].count += 1
            return true
        }
        if !hasRoom { return false }
        pinned.insert(Pinned(count: 1), for: version, at: index)
        return true
    }

    /// Whether one more version may be pinned.
    var hasRoom: Bool { pinned.count + reserved < mostVersions }

    /// Keeps a pin for one version, whichever it will be; ``giveBackReserved()`` ends that, also where it is used.
    /// - Returns: false when too many versions are pinned.
    mutating func reserve() -> Bool {
        if !hasRoom { return false }
        reserved += 1
        return true
    }

    mutating func giveBackReserved() {
        precondition(reserved > 0)
        reserved -= 1
    }

    /// Other processes see that this one reads a version, which ``pin(_:)`` is called for next.
    mutating func show(_ version: UInt64, at place: Int) { pinned[version] = Pinned(place: place) }

    /// What ends with the last pin of a version.
    struct End: Equatable {
        /// Where other processes saw it.
        var place: Int?
        /// The allocator need not protect the version for its pins any more.
        var wasProtected: Bool
    }

    /// - Returns: nil when the version is pinned by others still.
    mutating func unpin(_ version: UInt64) -> End? {
        let index = pinned.index(of: version)
        guard pinned.holds(version, at: index) else { return nil }
        pinned.values[index].count -= 1
        if pinned.values[index].count > 0 { return nil }
        let last = pinned.remove(at: index)
        return End(place: last.place, wasProtected: last.isProtected)
    }

    /// Takes out what loses no protection, since it is pinned.
    mutating func keepPinned(_ superseded: inout SupersededVersions) {
        if pinned.count == 0 { return }
        #if Zoo
            if PlantedMistake.pinEndsEarly.isPlanted { return }
        #endif
        superseded.removeAll { version in
            let index = pinned.index(of: version)
            guard pinned.holds(version, at: index), !pinned.values[index].isProtected else { return false }
            pinned.values[index].isProtected = true
            return true
        }
    }

    // MARK: Beside other processes

    /// Other processes read these versions now.
    /// - Returns: versions to protect, and versions that lose the protection that they had for this.
    mutating func follow(foreign pins: Set<UInt64>) -> (protect: Set<UInt64>, unprotect: Set<UInt64>) {
        #if Zoo
            if PlantedMistake.foreignPinIgnored.isPlanted { return ([], []) }
        #endif
        defer { foreign = pins }
        if pins == foreign { return ([], []) }
        return (pins.subtracting(foreign), foreign.subtracting(pins))
    }

    /// This process gives out pages from now on.
    /// - Returns: versions to protect for their pins, each as often as it is named.
    mutating func becomeOwner(foreign pins: Set<UInt64>) -> [UInt64] {
        #if Zoo
            let pins = PlantedMistake.foreignPinIgnored.isPlanted ? [] : pins
        #endif
        foreign = pins
        for index in pinned.values.indices { pinned.values[index].isProtected = true }
        return pinned.versions + pins
    }

    /// Another process gives out pages from now on, and must see what this one reads.
    /// - Parameter show: makes a version seen, and returns where.
    mutating func endOwnership(_ show: (UInt64) -> Int?) {
        foreign = []
        for index in pinned.values.indices {
            pinned.values[index].isProtected = false
            if pinned.values[index].place == nil { pinned.values[index].place = show(pinned.versions[index]) }
        }
    }
}
