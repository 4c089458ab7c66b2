internal import StrataFiles

// Each change of the visible version takes these steps in this order, under the store's lock:
//
// 1. Readers are stopped from pinning the earlier version without the lock (``ReaderPins``): from now on they wait
//    for it. Pins that are left become one pin of ``VersionPins``.
// 2. The version is replaced. An owner publishes it in the process table. From that moment a guest whose commit it is
//    may return and tell a reader of this process, which must not find the earlier version: step 1 comes before.
// 3. Readers may pin the new version without the lock, if they pinned the earlier one so.
// 4. The pins of all processes are read. The versions that none of them holds lose their protection, and their pages
//    become free.
//
// A pin taken before step 1 is counted there, and keeps its version in step 4. The fence protocol of ``ProcessPins``
// does the same for a pin of another process.

/// The newest version that readers may pin, and the pins of this process. No other type changes either.
///
/// Concurrency: part of ``StoreState``, so the store's lock guards it.
final class VisibleVersion {
    /// Pins of dead processes are cleared once in this many publications.
    private static let publicationsPerLook = 64

    @exclusivity(unchecked) private(set) var state: VersionState
    /// Number of the publication that is the visible version.
    @exclusivity(unchecked) private var number: UInt64 = 0
    /// Which part this process plays in writing. Changes only with the write gate held, too.
    @exclusivity(unchecked) private(set) var role: WritingRole
    @exclusivity(unchecked) private var pins: VersionPins
    @exclusivity(unchecked) private var isClosed = false
    /// Publications that this process has made while other processes were attached.
    @exclusivity(unchecked) private var announcements = 0
    /// Pins without the lock.
    let readers: ReaderPins
    private let processes: ProcessTable?
    private let allocator: PageAllocator

    /// - Parameter version: protected as the visible one.
    init(
        _ version: VersionState, processes: ProcessTable?, allocator: PageAllocator, scheduling: any Scheduling
    ) {
        state = version
        self.processes = processes
        self.allocator = allocator
        role = processes == nil ? .alone : .beside
        // A process slot has room for a limited number of pins.
        pins = processes == nil ? VersionPins() : VersionPins(mostVersions: ProcessTable.Layout.mostVersions)
        readers = ReaderPins(processes, scheduling)
    }

    var version: UInt64 { state.version }
    /// Number of the visible version's publication; nil without a process table.
    var publication: UInt64? { processes == nil ? nil : number }
    /// Whether this process allocates pages and makes versions.
    var isOwner: Bool { role != .beside }

    // MARK: Pins without the lock

    /// Ends the pin that was left of those without the lock, all of which are released.
    func end(_ last: ReaderPin) { unpin(readers.free(last)) }

    /// Lets readers pin the visible version without the lock.
    func share() {
        if readers.isWorn { retire() }
        // The pins end in one of `pins`, which is reserved for them.
        guard readers.current == nil, !isClosed, pins.reserve() else { return }
        let isStored = role == .beside
        if isStored { processes?.pins.admitReaders() }
        if !readers.share(state, publication: publication, isStored: isStored) { pins.giveBackReserved() }
    }

    /// Ends the pinning without the lock. Pins that are left become one of `pins`.
    /// - Returns: whether the version was pinned meanwhile.
    @discardableResult
    private func retire() -> Bool {
        guard let version = readers.current else { return false }
        #if Zoo
            if PinMistake.neverRetired.isMade { return true }
        #endif
        let (taken, isPinned) = readers.retire()
        pins.giveBackReserved()
        if isPinned { keep(version) }
        return taken > 0
    }

    private func keep(_ version: CountedVersion) {
        #if Zoo
            if PinMistake.pinsForgotten.isMade { return }
        #endif
        let number = version.state.version
        if version.isStored, !pins.holds(number), let place = processes?.pins.pin(number) {
            show(number, at: place)
        }
        let hasRoom = pins.pin(number)
        precondition(hasRoom, "a pin was reserved")
    }

    // MARK: Pins under the lock

    /// Whether any version is pinned. Pins without the lock count after ``beginClosing()``.
    var isPinned: Bool { !pins.isEmpty }

    /// Whether `pins` have a version, and the process table has the pin.
    func shows(_ version: UInt64) -> Bool { pins.shows(version) }

    /// Versions that this process has pinned, and the visible one.
    var versions: Set<UInt64> { Set(pins.versions).union([version]) }

    /// Pins a version that is protected: the visible one, or one that was committed after it.
    /// - Returns: false if too many versions are pinned.
    func pin(_ version: UInt64) -> Bool {
        makeRoom()
        return pins.pin(version)
    }

    func unpin(_ version: UInt64) {
        guard let end = pins.unpin(version) else { return }
        if let place = end.place { processes?.pins.unpin(place) }
        #if Zoo
            if PlantedMistake.pinKept.isPlanted { return }
        #endif
        if end.wasProtected { allocator.unprotect(version) }
    }

    /// Whether one more version may be pinned.
    var hasRoom: Bool {
        makeRoom()
        return pins.hasRoom
    }

    /// Reserves a pin for a later version.
    /// - Returns: false if too many versions are pinned.
    func reserve() -> Bool {
        makeRoom()
        return pins.reserve()
    }

    func giveBackReserved() { pins.giveBackReserved() }

    /// Gives up the pin that is reserved for readers without the lock, if it is the last one.
    private func makeRoom() { if !pins.hasRoom { retire() } }

    // MARK: Changes

    /// Makes a version of this process visible that has become durable.
    /// - Returns: the versions that lose a protection.
    func replace(by durable: CommitQueue.Durable) -> SupersededVersions {
        var superseded = SupersededVersions(oldest: version, others: durable.earlier)
        #if Zoo
            if PinMistake.askedEarly.isMade { pins.keepPinned(&superseded) }
            let isLate = PinMistake.retiredLate.isMade
            var wasPinned = isLate ? false : retire()
        #else
            let wasPinned = retire()
        #endif
        state = durable.newest
        publish()
        #if Zoo
            if isLate { wasPinned = retire() }
        #endif
        if wasPinned { share() }
        if let processes { announce(processes) }
        #if Zoo
            if PinMistake.askedEarly.isMade { return superseded }
        #endif
        pins.keepPinned(&superseded)
        return superseded
    }

    /// Publishes the visible version to other processes, which the caller admits then.
    func beginSharing() { publish() }

    private func publish() {
        guard let processes else { return }
        number = processes.versions.publish(state.version, state.root, allocator.extent)
    }

    /// Tells other processes of a publication, and protects the versions that they have pinned.
    private func announce(_ processes: ProcessTable) {
        if !processes.slots.hasOthers && pins.foreign.isEmpty { return }
        processes.slots.wakeWaiters()
        announcements += 1
        if announcements % Self.publicationsPerLook == 0 {
            // Errors are dropped: the pins of dead processes stay until the next attempt, and if the table is damaged,
            // the next transaction throws.
            do throws(StorageError) { try processes.slots.clearDead(patience: 0) } catch {}
        }
        let changed = pins.follow(foreign: processes.pins.foreign)
        changed.protect.forEach(allocator.protect)
        changed.unprotect.forEach(allocator.unprotect)
        processes.slots.ringWatchers()
    }

    /// Makes another process's version visible. This process does not own writing.
    /// - Parameter publication: its number.
    func follow(_ version: VersionState, publication: UInt64) {
        retire()
        state = version
        number = publication
    }

    /// Notes where a version that this process is about to pin is stored in the process table.
    func show(_ version: UInt64, at place: Int) {
        if let earlier = pins.show(version, at: place) { processes?.pins.unpin(earlier) }
    }

    /// This process owns writing from now on.
    /// - Returns: versions to protect for their pins, each as often as it is listed.
    func becomeOwner() -> [UInt64] {
        guard let processes else { return [] }
        retire()
        role = .owner
        processes.fence()
        return pins.becomeOwner(foreign: processes.pins.foreign)
    }

    /// Another process owns writing from now on, and sees this process's pins.
    /// - Parameter isNewest: the visible version is the newest one.
    func endOwnership(isNewest: Bool) {
        guard let processes else { return }
        #if Zoo
            if !PinMistake.ownershipKept.isMade { retire() }
        #else
            retire()
        #endif
        pins.endOwnership(processes.pins.pin)
        role = .beside
        if isNewest { number = processes.versions.publication }
    }

    /// No new pin is taken from now on.
    func beginClosing() {
        isClosed = true
        #if Zoo
            if PinMistake.sharedAfterClose.isMade { return }
        #endif
        retire()
    }

    /// Takes ``beginClosing()`` back.
    func reopen() { isClosed = false }

    #if Zoo
        /// The mistake ``PinMistake/sharedEarly``.
        func shareEarly(_ version: VersionState) {
            guard PinMistake.sharedEarly.isMade, retire(), pins.reserve() else { return }
            if !readers.share(version, publication: publication, isStored: role == .beside) { pins.giveBackReserved() }
        }
    #endif
}
