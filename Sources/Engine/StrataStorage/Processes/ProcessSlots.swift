internal import StrataFiles

/// The processes of a table: which slots are taken, which of their processes live, and the bells that wake them.
///
/// A slot belongs to the process that holds the lock on its byte of the data file. A taken slot without that lock is a
/// dead process's; any holder of the table's lock may clear it.
struct ProcessSlots: Sendable {
    typealias Layout = ProcessTable.Layout

    let file: ProcessTableFile
    /// This process's slot.
    let own: Int

    private var memory: any SharedMemory { file.memory }
    var ownWords: Layout.Slot { Layout.slot(own) }

    func isTaken(_ slot: Int) -> Bool { memory[Layout.slot(slot).state] == 1 }

    /// Whether the process of a taken slot lives. The caller holds the table's lock.
    func isAlive(_ slot: Int) throws(StorageError) -> Bool {
        if slot == own { return true }
        do throws(FileError) { return try file.data.isLocked(byte: LockByte.slot(slot)) } catch {
            throw StorageError(error)
        }
    }

    /// Taken slots of other processes.
    var others: some Sequence<Int> { (0..<Layout.slots).lazy.filter { $0 != own && isTaken($0) } }

    /// Whether other processes may be attached. The caller executes a fence before a step that assumes there are none.
    var hasOthers: Bool { memory[Layout.alone] != aloneMark }

    /// Value of the `alone` word while one process is attached. With this value in the word, the owner ignores pins of
    /// other processes, so it is a number that a stray write is unlikely to produce.
    private var aloneMark: UInt32 { UInt32(truncatingIfNeeded: memory[Layout.session]) | 1 }

    /// Marks this process as the only one attached. It has just made the table.
    func startAlone() {
        memory[ownWords.state] = 1
        memory[Layout.alone] = aloneMark
        memory.fence()
    }

    /// Takes this process's slot. The caller holds the slot's lock and the table's lock.
    func takeOwn() {
        clear(own)
        memory[ownWords.state] = 1
        recount()
    }

    /// Frees the slot of a process that died or leaves. The caller holds the table's lock.
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

    /// Frees the slots of all dead processes, with their pins.
    /// - Parameter patience: microseconds to wait for the table's lock; 0 if a later call can clear the slots as well.
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

    /// The word that another process increments to call this process's attendant.
    var bell: UInt32 { memory[ownWords.bell] }

    /// Sleeps until the bell's value is another one; at most this long.
    func waitForBell(_ value: UInt32, microseconds: Int) {
        memory.wait(ownWords.bell.offset, while: value, microseconds: microseconds)
    }

    func ring(_ slot: Int) { memory.ring(Layout.slot(slot).bell.offset) }

    /// Has the owner ring this process's attendant at each publication.
    func watch() { memory[ownWords.watches] = 1 }

    func ringWatchers() {
        #if Zoo
            if PlantedMistake.bellLost.isDue { return }
        #endif
        for other in others where memory[Layout.slot(other).watches] != 0 { ring(other) }
    }

    // MARK: Signs of life

    /// Signs of life that a process has given so far.
    func signs(of slot: Int) -> UInt32 { memory[Layout.slot(slot).signs] }

    /// Shows that this process is not stopped. The attendant calls it when it has heard its bell, and while it waits.
    func giveSign() { memory.increment32(ownWords.signs.offset) }

    /// Process ids that hold a slot's lock, as far as the system tells them.
    func processes(of slot: Int) -> [Int32] { file.data.lockHolders(byte: LockByte.slot(slot)) }

    // MARK: Bells of guests

    /// The word that the owner increments when a thread of this process that waits for a turn, an answer or a version
    /// has to check.
    var guestBell: UInt32 { memory[ownWords.guestBell] }

    /// Sleeps until the guest bell's value is another one; at most this long, and at most ``ProcessTable/step``.
    func waitAsGuest(_ value: UInt32, microseconds: Int = ProcessTable.step) {
        memory.wait(ownWords.guestBell.offset, while: value, microseconds: min(microseconds, ProcessTable.step))
    }

    func wakeGuest(_ slot: Int) { memory.ring(Layout.slot(slot).guestBell.offset) }

    /// While the count is not 0, the owner wakes this process at each publication.
    func setWaiters(_ count: Int) {
        memory[ownWords.waiters] = UInt32(count)
        memory.fence()
    }

    /// Wakes the processes with commits that wait for publication.
    func wakeWaiters() { for other in others where memory[Layout.slot(other).waiters] != 0 { wakeGuest(other) } }

    /// Whether a waiting thread must check now that the process it waits for lives: the wait ended without a bell, or
    /// `next` has passed. Without `next`, processes that wait for the same dead one would put the check off by ringing.
    func isTimeToLook(_ next: inout Deadline, rang: Bool) -> Bool {
        if rang && file.scheduling.remaining(until: next) > 0 { return false }
        next = nextLook
        return true
    }

    var nextLook: Deadline { file.scheduling.deadline(after: ProcessTable.step) }
}
