internal import StrataFiles

// What the processes that have a store open know of each other. Exclusion never depends on it: that is done by locks on
// bytes of the data file, which go with their process. The table says who waits, which version is visible and which
// ones are pinned.
//
// Invariants (10 of docs/file-format.md)
// 1. The opener who has the data file for itself makes the table afresh; nobody attaches to one that no living process
//    is attached to.
// 2. A slot belongs to whoever has the lock on its byte of the data file. A taken slot without that lock is a dead
//    process's, and may be cleared by anyone who holds the table's lock.
// 3. The table's lock is held for a few loads, stores and lock calls, never while waiting or during I/O.
// 4. Each field is one word, or is believed only under another word that is stored after it: a process may die between
//    any two stores.

/// Bytes of the data file whose locks mean something. Far behind any contents.
enum LockByte {
    /// Shared: the store is open. Exclusive: for one process alone.
    static let open: Int64 = 1 << 62
    /// Shared: takes part in a process table.
    static let attached: Int64 = open + 1
    /// Exclusive: owns writing.
    static let writer: Int64 = open + 2

    /// Exclusive: the process of a slot lives.
    static func slot(_ index: Int) -> Int64 { open + 16 + Int64(index) }

    /// Shared: takes part in this very table. A copy of its file has another number.
    static func table(_ identity: UInt64) -> Int64 { (1 << 61) + Int64(identity >> 4) }
}

/// Where the words of the table are. docs/file-format.md lists them.
enum TableLayout1 {
    static let magic: UInt64 = 0x314B_434C_5453_5453
    static let version: UInt32 = 2
    static let magicOffset = 64
    static let versionOffset = 72
    static let slotCountOffset = 76
    static let deviceOffset = 80
    static let inodeOffset = 88
    static let sessionOffset = 96
    static let storeIDOffset = 104
    static let poisonOffset = 120
    static let usesLogOffset = 124
    static let attachedOffset = 128
    static let phaseOffset = 132
    static let ownerOffset = 136
    static let nextTicketOffset = 144
    static let ownershipsOffset = 152
    static let blockBytesOffset = 160
    static let blockChecksumOffset = 168
    static let publicationOffset = 192
    static let recordsOffset = 256
    static let records = 8
    static let recordBytes = 64
    /// How many owners have died, and up to which version the work of the last of them came back.
    static let deathsOffset = 768
    static let recoveredOffset = 776
    static let deaths = 8
    static let grantsOffset = 840
    /// ``Durability`` of the owner, plus 1.
    static let durabilityOffset = 848
    /// What the open grant is based on: as a record.
    static let baseOffset = 896

    static let slotsOffset = 4096
    static let slots = 32
    static let slotBytes = 8192
    static let pinsPerSlot = (slotBytes - pinsOffset) / 8
    /// Behind it stands what one writing process leaves to the next, or a guest's record.
    static let bytes = slotsOffset + slots * slotBytes

    // In a slot.
    static let stateOffset = 0
    static let bellOffset = 4
    static let ticketOffset = 8
    static let watchesOffset = 16
    static let pinsUsedOffset = 20
    static let guestBellOffset = 24
    static let waitersOffset = 28
    static let grantOffset = 32
    static let grantStateOffset = 40
    static let flagsOffset = 44
    static let recordBytesOffset = 48
    static let recordChecksumOffset = 56
    static let failureOffset = 64
    static let pinsOffset = 128

    // Flags of a guest.
    static let wantsOwnership: UInt32 = 1
    static let isInHurry: UInt32 = 2
}

/// A process's place at the table of all processes that have a store open.
///
/// Concurrency: every member may be called from any thread, but for the pins, which the store's monitor guards.
final class ProcessTable: Sendable {
    typealias Layout = TableLayout1

    let path: String
    let memory: any SharedMemory
    /// The lock file, for what stands behind the table.
    let file: any File
    /// The data file, whose locks count.
    let data: any File
    let scheduling: any Scheduling
    let fileSystem: any FileSystem
    /// This process's slot.
    let slot: Int
    /// Whether this process made the table.
    let isMaker: Bool
    /// What the table's byte of the data file is made of.
    let identity: UInt64
    private let ended = ClosedFlag()
    /// Guarded by the store's monitor.
    nonisolated(unsafe) var unusedPins: [Int] = []
    nonisolated(unsafe) var usedPins = 0

    init(_ place: Place, slot: Int, isMaker: Bool, identity: UInt64) {
        path = place.path
        memory = place.memory
        file = place.file
        data = place.data
        scheduling = place.options.scheduling
        fileSystem = place.options.fileSystem
        self.slot = slot
        self.isMaker = isMaker
        self.identity = identity
    }

    /// Two mapped files before it is known whether they belong together.
    struct Place {
        var path: String
        var memory: any SharedMemory
        var file: any File
        var data: any File
        var options: StoreOptions
    }

    static func path(_ path: String) -> String { path + ".lock" }

    static func offset(ofSlot slot: Int) -> Int { Layout.slotsOffset + slot * Layout.slotBytes }

    var ownOffset: Int { Self.offset(ofSlot: slot) }

    // MARK: The lock

    /// Runs `body` with the table's lock.
    /// - Throws: `lockFile` when the bytes are no lock any more, or its holder is stopped within it.
    func withLock<Value>(_ body: () throws(StorageError) -> Value) throws(StorageError) -> Value {
        try lock()
        defer { memory.unlock() }
        return try body()
    }

    private func lock() throws(StorageError) {
        for _ in 0..<10 {
            let holder: SharedLockHolder?
            do throws(FileError) { holder = try memory.lock() } catch { throw .lockFile(path: path) }
            guard let holder else { continue }
            guard memory.load64(Layout.magicOffset) == Layout.magic else {
                memory.unlock()
                throw .lockFile(path: path)
            }
            // Single words are all that a holder changes; the count is the only one that others could contradict.
            if holder == .dead { recount() }
            return
        }
        throw .lockFile(path: path)
    }

    /// Whether the file is what this process has joined: somebody may have cut it, or written over it.
    var isIntact: Bool {
        memory.load64(Layout.magicOffset) == Layout.magic && memory.load32(ownOffset + Layout.stateOffset) == 1
            && memory.isIntact
    }

    /// Asked before pages are given up or pinned: what stands in the table is what keeps them.
    func confirm() throws(StorageError) { if !isIntact { throw .lockFile(path: path) } }

    // MARK: Slots

    func isTaken(_ slot: Int) -> Bool { memory.load32(Self.offset(ofSlot: slot) + Layout.stateOffset) == 1 }

    /// Whether the process of a taken slot lives. The table's lock is held.
    func isAlive(_ slot: Int) throws(StorageError) -> Bool {
        if slot == self.slot { return true }
        do throws(FileError) { return try data.isLocked(byte: LockByte.slot(slot)) } catch {
            throw StorageError(error)
        }
    }

    /// Forgets a dead process. The table's lock is held.
    func clear(_ slot: Int) {
        let offset = Self.offset(ofSlot: slot)
        if memory.load32(Layout.ownerOffset) == UInt32(slot + 1) { memory.store32(Layout.ownerOffset, 0) }
        memory.store64(offset + Layout.ticketOffset, 0)
        memory.store32(offset + Layout.watchesOffset, 0)
        memory.store32(offset + Layout.waitersOffset, 0)
        memory.store64(offset + Layout.grantOffset, 0)
        memory.store32(offset + Layout.grantStateOffset, 0)
        for pin in 0..<Layout.pinsPerSlot where memory.load64(offset + Layout.pinsOffset + 8 * pin) != 0 {
            memory.store64(offset + Layout.pinsOffset + 8 * pin, 0)
        }
        memory.store32(offset + Layout.pinsUsedOffset, 0)
        memory.store32(offset + Layout.stateOffset, 0)
        recount()
    }

    /// The count of attached processes. Whoever attaches does so before it pins.
    func recount() {
        let count = (0..<Layout.slots).count(where: isTaken)
        memory.store32(Layout.attachedOffset, UInt32(count))
        memory.fence()
    }

    /// Whether other processes may be attached: looked at after a fence, and before anything is done without them.
    var hasOthers: Bool { memory.load32(Layout.attachedOffset) > 1 }

    // MARK: Bells

    /// Changes when there is something to look at for this process.
    var bell: UInt32 { memory.load32(ownOffset + Layout.bellOffset) }

    func waitForBell(_ value: UInt32, microseconds: Int) {
        memory.wait(ownOffset + Layout.bellOffset, while: value, microseconds: microseconds)
    }

    /// Whether it is time to look who lives: nothing rang, or it rang for so long that this must not wait any more.
    /// Bells are rung by living processes as long as they wait for one that died.
    func isTimeToLook(_ next: inout Deadline, rang: Bool) -> Bool {
        if rang && scheduling.remaining(until: next) > 0 { return false }
        next = scheduling.deadline(after: Self.step)
        return true
    }

    func ring(_ slot: Int) { memory.ring(Self.offset(ofSlot: slot) + Layout.bellOffset) }

    /// From now on this process is told of new versions.
    func watch() { memory.store32(ownOffset + Layout.watchesOffset, 1) }

    func ringWatchers() {
        for other in 0..<Layout.slots where other != slot && isTaken(other) {
            if memory.load32(Self.offset(ofSlot: other) + Layout.watchesOffset) != 0 { ring(other) }
        }
    }

    // MARK: Poison

    /// A write or sync failed in some process: nobody writes any more until an opener is alone.
    var isPoisoned: Bool { memory.load32(Layout.poisonOffset) != 0 }

    func poison() {
        memory.store32(Layout.poisonOffset, 1)
        memory.fence()
        wakeWaiters()
    }

    // MARK: End

    var isEnded: Bool { ended.isSet }

    /// Whether this process is the only one that has the store open; keeps all others out from then on.
    func becomeAlone() throws(StorageError) -> Bool {
        do throws(FileError) { return try data.tryLock(byte: LockByte.open, exclusive: true) } catch {
            throw StorageError(error)
        }
    }

    /// Lets others in again.
    func admitOthers() throws(StorageError) {
        do throws(FileError) { _ = try data.tryLock(byte: LockByte.open, exclusive: false) } catch {
            throw StorageError(error)
        }
    }

    /// Gives the place up, unless this process is the last one.
    /// - Returns: false when it is: all others are kept out then.
    func leave() throws(StorageError) -> Bool {
        try withLock { () throws(StorageError) in
            if try becomeAlone() { return false }
            if memory.load32(Layout.ownerOffset) == UInt32(slot + 1) { memory.store32(Layout.ownerOffset, 0) }
            clear(slot)
            unlockAll()
            return true
        }
    }

    /// The last process goes: the file goes with it. All others are kept out.
    func remove() {
        do throws(FileError) {
            if try fileSystem.status(path)?.inode == file.status().inode { try fileSystem.remove(path) }
        } catch {}
        unlockAll()
    }

    /// Gives everything up without a word, as a process that dies.
    func abandon() { unlockAll() }

    private func unlockAll() {
        guard ended.set() else { return }
        for byte in [LockByte.writer, LockByte.slot(slot), LockByte.table(identity), LockByte.attached, LockByte.open] {
            // A lock that cannot be given back goes with the descriptor.
            do throws(FileError) { try data.unlock(byte: byte) } catch { continue }
        }
        // Whoever waits for this process in this process looks up.
        ring(slot)
        wakeGuest(slot)
    }
}
