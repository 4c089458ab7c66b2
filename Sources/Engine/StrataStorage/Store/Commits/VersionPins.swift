/// Pinned versions of this process and of others, and the protections that the allocator keeps for them.
///
/// From its commit until a newer version replaces it as the visible one, a version has one protection of its own, which
/// covers its pins. When it is replaced, the pins inherit that protection, and the last one ends it. So pinning the
/// newest version changes nothing but this table. A part of ``VisibleVersion``.
struct VersionPins {
    private struct Pinned {
        var count = 0
        /// Its place in the process table.
        var place: Int?
        /// The allocator's protection of the version belongs to these pins.
        var isProtected = false
    }

    private var pinned = VersionMap<Pinned>()
    /// Versions that other processes have pinned: each has one protection.
    private(set) var foreign: Set<UInt64> = []
    /// Limit of pinned versions; reserved pins count.
    private let mostVersions: Int
    /// Pins that open transactions have reserved for their results.
    private var reserved = 0

    init(mostVersions: Int = .max) { self.mostVersions = mostVersions }

    var isEmpty: Bool { pinned.count == 0 }

    /// Versions that this process has pinned, ascending.
    var versions: [UInt64] { pinned.versions }

    func holds(_ version: UInt64) -> Bool { pinned.holds(version, at: pinned.index(of: version)) }

    // MARK: In this process

    /// Pins a version once more. It is pinned already, is visible, or was committed after the visible one.
    /// - Returns: false if too many versions are pinned.
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

    /// Reserves a pin for a later version. ``giveBackReserved()`` ends the reservation, also when it is used.
    /// - Returns: false if too many versions are pinned.
    mutating func reserve() -> Bool {
        if !hasRoom { return false }
        reserved += 1
        return true
    }

    mutating func giveBackReserved() {
        precondition(reserved > 0)
        reserved -= 1
    }

    /// Whether a version is pinned, and its pin is stored in the process table.
    func shows(_ version: UInt64) -> Bool {
        let index = pinned.index(of: version)
        return pinned.holds(version, at: index) && pinned.values[index].place != nil
    }

    /// Notes the place in the process table of a version that the caller then pins by ``pin(_:)``. Pins of the version
    /// that are there already stay.
    /// - Returns: the place that the version had until now, whose pin the caller removes.
    mutating func show(_ version: UInt64, at place: Int) -> Int? {
        let index = pinned.index(of: version)
        guard pinned.holds(version, at: index) else {
            pinned.insert(Pinned(place: place), for: version, at: index)
            return nil
        }
        defer { pinned.values[index].place = place }
        return pinned.values[index].place
    }

    /// The end of a version's last pin.
    struct End: Equatable {
        /// Its place in the process table.
        var place: Int?
        /// The allocator's protection for the pins ends.
        var wasProtected: Bool
    }

    /// - Returns: nil if the version still has other pins.
    mutating func unpin(_ version: UInt64) -> End? {
        let index = pinned.index(of: version)
        guard pinned.holds(version, at: index) else { return nil }
        pinned.values[index].count -= 1
        if pinned.values[index].count > 0 { return nil }
        let last = pinned.remove(at: index)
        return End(place: last.place, wasProtected: last.isProtected)
    }

    /// Takes out the pinned versions: their protection passes to their pins.
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

    /// Notes the versions that other processes have pinned by now.
    /// - Returns: versions to protect, and versions whose protection for other processes ends.
    mutating func follow(foreign pins: Set<UInt64>) -> (protect: Set<UInt64>, unprotect: Set<UInt64>) {
        #if Zoo
            if PlantedMistake.foreignPinIgnored.isPlanted { return ([], []) }
        #endif
        defer { foreign = pins }
        if pins == foreign { return ([], []) }
        return (pins.subtracting(foreign), foreign.subtracting(pins))
    }

    /// This process owns writing from now on.
    /// - Returns: versions to protect for their pins, each as often as it is listed.
    mutating func becomeOwner(foreign pins: Set<UInt64>) -> [UInt64] {
        #if Zoo
            let pins = PlantedMistake.foreignPinIgnored.isPlanted ? [] : pins
        #endif
        foreign = pins
        for index in pinned.values.indices { pinned.values[index].isProtected = true }
        return pinned.versions + pins
    }

    /// Another process owns writing from now on, and must see this process's pins.
    /// - Parameter show: stores a pin in the process table, and returns its place.
    mutating func endOwnership(_ show: (UInt64) -> Int?) {
        foreign = []
        for index in pinned.values.indices {
            pinned.values[index].isProtected = false
            if pinned.values[index].place == nil { pinned.values[index].place = show(pinned.versions[index]) }
        }
    }
}
