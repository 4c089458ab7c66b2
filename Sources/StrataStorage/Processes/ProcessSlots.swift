internal import StrataFiles

/// The processes of a table: which slots are taken, who lives, and how they wake one another.
///
/// A slot belongs to whoever has the lock on its byte of the data file. A taken slot without that lock is a dead
/// process's, and may be cleared by anyone who holds the table's lock.
struct ProcessSlots: Sendable {
    typealias Layout = ProcessTable.Layout

    let file: ProcessTableFile
    /// This process's slot.
    let own: Int

    private var memory: any SharedMemory { file.memory }
    var ownWords: Layout.Slot { Layout.slot(own) }

    func isTaken(_ slot: Int) -> Bool { memory[Layout.slot(slot).state] == 1 }

    /// Whether the process of a taken slot lives. The table's lock is held.
    func isAlive(_ slot: Int) throws(StorageError) -> Bool {
        if slot == own { return true }
        do throws(FileError) { return try file.data.isLocked(byte: LockByte.slot(slot)) } catch {
            throw StorageError(error)
        }
    }

    /// All taken slots but this process's own.
    var others: some Sequence<Int> { (0..<Layout.slots).lazy.filter { $0 != own && isTaken($0) } }

    /// Whether other processes may be attached: looked at after a fence, and before anything is done without them.
    var hasOthers: Bool { memory[Layout.alone] != aloneMark }

    /// Stands in the table while one process alone is attached: a number that nobody writes by accident, since pins of
    /// others count for nothing then.
    private var aloneMark: UInt32 { UInt32(truncatingIfNeeded: memory[Layout.session]) | 1 }

    /// Says that this process alone is attached, which has made the table.
    func startAlone() {
        memory[ownWords.state] = 1
        memory[Layout.alone] = aloneMark
        memory.fence()
    }

    /// Makes this process's slot a taken one. Its lock is held, and the table's.
    func takeOwn() {
        clear(own)
        memory[ownWords.state] = 1
        recount()
    }

    /// Forgets a process that died or goes. The table's lock is held.
    func clear(_ slot: Int) {
        let words = Layout.slot(slot)
        if memory[Layout.owner] == UInt32(slot + 1) { memory[Layout.owner] = 0 }
        memory[words.ticket] = 0
        memory[words.watches] = 0
        memory[words.waiters] = 0
        memory[words.grant] = 0
        for pin in 0..<Layout.pinsPerSlot where memory[words.pin(pin)] != 0 { memory[words.pin(pin)] = 0 }
        memory[words.pinsUsed] = 0
        memory[words.state] = 0
        recount()
    }

    /// Forgets all processes that died, with their pins.
    /// - Parameter patience: microseconds to wait for the table's lock: none where the dead can be looked for later as
    ///   well.
    func clearDead(patience: Int = ProcessTableFile.patience) throws(StorageError) {
        try file.withLock(patience: patience) { () throws(StorageError) in
            for other in others where try !isAlive(other) { clear(other) }
        }
    }

    private func recount() {
        memory[Layout.alone] = (0..<Layout.slots).count(where: isTaken) == 1 ? aloneMark : 0
        memory.fence()
    }

    // MARK: Bells of attendants

    /// Changes when there is something to do for this process's attendant.
    var bell: UInt32 { memory[ownWords.bell] }

    func waitForBell(_ value: UInt32, microseconds: Int) {
        memory.wait(ownWords.bell.offset, while: value, microseconds: microseconds)
    }

    func ring(_ slot: Int) { memory.ring(Layout.slot(slot).bell.offset) }

    /// From now on this process is told of new versions.
    func watch() { memory[ownWords.watches] = 1 }

    func ringWatchers() {
        #if Zoo
            if PlantedMistake.bellLost.isDue { return }
        #endif
        for other in others where memory[Layout.slot(other).watches] != 0 { ring(other) }
    }

    // MARK: Signs of life

    /// How many signs of life a process has given.
    func signs(of slot: Int) -> UInt32 { memory[Layout.slot(slot).signs] }

    /// This process is not stopped: it has heard its bell.
    func giveSign() { memory.increment32(ownWords.signs.offset) }

    /// The numbers of the processes that have a slot, where they can be told.
    func processes(of slot: Int) -> [Int32] { file.data.lockHolders(byte: LockByte.slot(slot)) }

    // MARK: Bells of guests

    /// Changes when a thread that waits for a turn, an answer or a version has something to look at.
    var guestBell: UInt32 { memory[ownWords.guestBell] }

    func waitAsGuest(_ value: UInt32, microseconds: Int = ProcessTable.step) {
        memory.wait(ownWords.guestBell.offset, while: value, microseconds: min(microseconds, ProcessTable.step))
    }

    func wakeGuest(_ slot: Int) { memory.ring(Layout.slot(slot).guestBell.offset) }

    /// From now on, as long as the count is not 0, this process is woken when a version is published.
    func setWaiters(_ count: Int) {
        memory[ownWords.waiters] = UInt32(count)
        memory.fence()
    }

    /// Wakes the processes whose commits wait to be published.
    func wakeWaiters() { for other in others where memory[Layout.slot(other).waiters] != 0 { wakeGuest(other) } }

    /// Whether it is time to look who lives: nothing rang, or it rang for so long that this must not wait any more.
    /// Bells are rung by living processes as long as they wait for one that died.
    func isTimeToLook(_ next: inout Deadline, rang: Bool) -> Bool {
        if rang && file.scheduling.remaining(until: next) > 0 { return false }
        next = nextLook
        return true
    }

    var nextLook: Deadline { file.scheduling.deadline(after: ProcessTable.step) }
}
