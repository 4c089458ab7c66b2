internal import StrataFiles

// One process at a time owns writing. The owner keeps a writer's state (free pages, position in the log) in its own
// memory, and hands it over in one piece when another process asks, so a process that is alone hands nothing over. The
// owner word names the process that has the turn, but does not exclude: a process writes only while it has the
// exclusive lock on `LockByte.writer`. If another process overwrites the word, the holder of the lock restores it.

/// State from which an owner of writing starts.
enum Inheritance {
    /// The files as this process read them at its open: it made the table, and no process has owned writing since.
    case own
    /// The previous owner left a hand-over block.
    case block
    /// The previous owner died or left no block, or the process that made the table never owned writing: the new owner
    /// has to replay the log.
    case none
}

/// Answer to a process that asks for a turn.
enum Turn {
    case ownership(Inheritance)
    /// One transaction under another process's ownership.
    case grant(Grant)
}

/// Which process owns writing, which ones wait for it, and the hand-over from one to the next.
struct WritingOwnership: Sendable {
    typealias Layout = ProcessTable.Layout

    let slots: ProcessSlots
    let grants: Grants
    /// Whether this process made the table.
    let isMaker: Bool
    private var file: ProcessTableFile { slots.file }
    private var memory: any SharedMemory { file.memory }
    private var scheduling: any Scheduling { file.scheduling }

    /// After this many consecutive checks in which no process held the writer lock, although the owner word names a
    /// living process, a waiting process chooses another owner.
    private static let looksAtIdleOwner = 10
    /// Attempts to take the writer lock, a millisecond apart, before the table counts as wrong.
    private static let attemptsToLock = 5000
    /// Bytes of the longest hand-over block. An owner whose block would be longer leaves none: the next owner replays
    /// the log.
    private static let longestBlock = 64 << 20

    /// Whether the owner word names this process.
    var isOwn: Bool { memory[Layout.owner] == UInt32(slots.own + 1) }

    /// Counts how often a process became the owner of writing.
    var count: UInt64 { memory[Layout.ownerships] }

    /// Whether any process has owned writing since the table was made.
    var wasTaken: Bool { count != 0 }

    /// Whether another process waits for its turn.
    var isAsked: Bool { slots.others.contains { memory[Layout.slot($0).ticket] != 0 } }

    /// Durability class of the owner: a guest must have the same one.
    var durability: UInt32 {
        get { memory[Layout.durability] }
        nonmutating set { memory[Layout.durability] = newValue }
    }

    // MARK: Asking

    /// Waits for this process's turn; processes get it in the order in which they asked. The caller holds the
    /// write gate.
    /// - Parameter acceptsGrant: the caller can do with a grant, for one transaction under the owner's write gate.
    /// - Throws: `busy` after the deadline, and if the owner cannot hand ownership over; `noSpace` if it lacks the room
    ///   for that; `silent` if the process that has the turn is stopped; `poisoned`; `lockFile`.
    func awaitTurn(until deadline: Deadline, acceptsGrant: Bool, storePath: String) throws(StorageError) -> Turn {
        while true {
            let ticket = try ask(acceptsGrant)
            if let grant = try awaitWord(ticket, until: deadline, storePath: storePath) { return .grant(grant) }
            memory[slots.ownWords.ticket] = 0
            if let inheritance = try becomeOwner(until: deadline, storePath: storePath) {
                return .ownership(inheritance)
            }
        }
    }

    /// Stores a request for a turn in this process's slot, and calls the owner.
    /// - Returns: the request's ticket.
    private func ask(_ acceptsGrant: Bool) throws(StorageError) -> UInt64 {
        try file.withLock { () throws(StorageError) in
            let ticket = max(1, memory[Layout.lastTicket] &+ 1)
            memory[Layout.lastTicket] = ticket
            memory[slots.ownWords.flags] = acceptsGrant ? 0 : Layout.wantsOwnership
            memory[slots.ownWords.ticket] = ticket
            var idle = 0
            try callOwner(&idle)
            return ticket
        }
    }

    /// Waits until the owner word names this process, or the owner offers a grant.
    /// - Returns: the grant; nil if the owner word names this process.
    private func awaitWord(
        _ ticket: UInt64, until deadline: Deadline, storePath: String
    ) throws(StorageError) -> Grant? {
        var nextLook = slots.nextLook
        var idle = 0
        var silence = SilenceWatch(slots)
        while !isOwn {
            let value = slots.guestBell
            if isOwn { break }
            if let grant = try grants.take() { return grant }
            if isRefused(ticket) { throw grants.refusal(of: storePath) }
            let left = scheduling.remaining(until: deadline)
            if left > 0 {
                slots.waitAsGuest(value, microseconds: left)
                if isOwn { break }
                if !slots.isTimeToLook(&nextLook, rang: slots.guestBell != value) { continue }
            }
            var isStopped = false
            let isOver = try file.withLock { () throws(StorageError) -> Bool in
                // An offer of no named owner, or without its base, does not end the wait.
                if isOwn || grants.offer != nil || isRefused(ticket) { return false }
                isStopped = silence.isSilent(owner)
                if left == 0 || isStopped {
                    memory[slots.ownWords.ticket] = 0
                    // A grant word that is still set is left from an owner that died.
                    grants.forgetOwn()
                    return true
                }
                // An offer clears the ticket. The owner may have withdrawn one before this process saw it.
                memory[slots.ownWords.ticket] = ticket
                try callOwner(&idle)
                return false
            }
            if isOver { throw isStopped ? silence.error(path: storePath) : .busy(path: storePath) }
            // If the slot was overwritten, other processes take it for free, and never choose this one.
            guard memory[slots.ownWords.state] == 1 else { throw .lockFile(path: file.path) }
        }
        return nil
    }

    /// Rings the owner if it lives, else chooses the next one. The caller holds the table's lock.
    /// - Parameter idle: consecutive checks in which no process held the writer lock; counted here.
    private func callOwner(_ idle: inout Int) throws(StorageError) {
        let owner = Int(memory[Layout.owner]) - 1
        if owner >= 0, owner < Layout.slots {
            if owner == slots.own { return }
            if slots.isTaken(owner), try slots.isAlive(owner) {
                idle = try isLocked() ? 0 : idle + 1
                if idle < Self.looksAtIdleOwner { return ringAll(first: owner) }
                mark(.idleOwner)
            } else {
                slots.clear(owner)
            }
        }
        idle = 0
        try chooseOwner()
    }

    /// Slot of the owner named by the table; nil if there is none, or it is this process.
    var owner: Int? {
        let owner = Int(memory[Layout.owner]) - 1
        return (0..<Layout.slots).contains(owner) && owner != slots.own ? owner : nil
    }

    /// Rings every process, the named owner first: the owner word may be wrong.
    private func ringAll(first owner: Int) {
        slots.ring(owner)
        for other in slots.others where other != owner { slots.ring(other) }
    }

    private func isLocked() throws(StorageError) -> Bool {
        do throws(FileError) { return try file.data.isLocked(byte: LockByte.writer) } catch {
            throw StorageError(error)
        }
    }

    /// Gives ownership to the living process that asked first. The caller holds the table's lock.
    private func chooseOwner() throws(StorageError) {
        memory[Layout.owner] = 0
        // The guest of an owner that died comes first: it keeps its turn, and ends it as the owner.
        if let guest = try grants.livingGuest() { return give(to: guest) }
        while let first = firstTicket() {
            if try slots.isAlive(first) { return give(to: first) }
            slots.clear(first)
        }
    }

    /// Names a process in the owner word, and wakes it: it becomes the owner once it has the writer lock. The caller
    /// holds the table's lock.
    private func give(to first: Int) {
        // In this order a crash in between leaves a turn that its process can release, not a waiter without a ticket.
        memory[Layout.owner] = UInt32(first + 1)
        memory[Layout.slot(first).ticket] = 0
        slots.ring(first)
        slots.wakeGuest(first)
    }

    /// Slot of the process that asked first, dead or alive. The caller holds the table's lock.
    private func firstTicket() -> Int? {
        var first: (slot: Int, ticket: UInt64)?
        for other in 0..<Layout.slots where slots.isTaken(other) {
            let ticket = memory[Layout.slot(other).ticket]
            if ticket != 0, first.map({ ticket < $0.ticket }) ?? true { first = (other, ticket) }
        }
        return first?.slot
    }

    /// The first living process that waits for its turn, and whether it needs ownership.
    func firstAsker() throws(StorageError) -> (slot: Int, wantsOwnership: Bool)? {
        try file.withLock { () throws(StorageError) in
            while let slot = firstTicket() {
                if try slots.isAlive(slot) {
                    return (slot, memory[Layout.slot(slot).flags] & Layout.wantsOwnership != 0)
                }
                slots.clear(slot)
            }
            return nil
        }
    }

    /// Whether the owner has refused this process's request under this ticket.
    private func isRefused(_ ticket: UInt64) -> Bool {
        let words = slots.ownWords
        return memory[words.flags] & Layout.isRefused != 0 && memory[words.failureSecond] == ticket
    }

    /// Refuses a request for ownership, with the reason.
    func refuse(_ slot: Int, _ error: StorageError) throws(StorageError) {
        try file.withLock { () throws(StorageError) in
            let words = Layout.slot(slot)
            let ticket = memory[words.ticket]
            guard slots.isTaken(slot), ticket != 0, memory[words.flags] == Layout.wantsOwnership else { return }
            mark(.refusedOwnership)
            grants.putRefusal(error, words, ticket)
            // The flags follow the reason: a crash in between leaves a process that still waits.
            memory[words.flags] = Layout.wantsOwnership | Layout.isRefused
            memory[words.ticket] = 0
            slots.wakeGuest(slot)
        }
    }

    // MARK: Owning

    /// Takes the writer lock after the owner word named this process.
    /// - Returns: what the previous owner left; nil if the owner word names this process no longer.
    private func becomeOwner(until deadline: Deadline, storePath: String) throws(StorageError) -> Inheritance? {
        // A grant of an owner that died is void: one left open would bring ownership here again (``chooseOwner()``).
        grants.forgetOwn()
        do throws(StorageError) {
            if memory[Layout.poison] != 0 { throw .poisoned }
            var attempts = 0
            // Two holders of the lock are legitimate: a dying process, whose locks may outlive its slot for a moment,
            // and a living owner, which restores the owner word when it is rung. Any other does not use this table.
            while try !lockWriter() {
                attempts += 1
                if !isOwn { return nil }
                if attempts == Self.attemptsToLock { throw .lockFile(path: file.path) }
                if scheduling.remaining(until: deadline) == 0 { throw .busy(path: storePath) }
                if attempts % 100 == 0 { for other in slots.others { slots.ring(other) } }
                scheduling.pause(microseconds: 1000)
            }
            if !isOwn {
                try unlockWriter()
                return nil
            }
        } catch {
            try release()
            throw error
        }
        let isBlock = memory[Layout.phase] == 0
        let ownerships = count
        memory[Layout.phase] = 1
        memory[Layout.ownerships] = ownerships &+ 1
        if isMaker && ownerships == 0 { return .own }
        return isBlock ? .block : Inheritance.none
    }

    private func lockWriter() throws(StorageError) -> Bool {
        do throws(FileError) { return try file.data.tryLock(byte: LockByte.writer, exclusive: true) } catch {
            throw StorageError(error)
        }
    }

    private func unlockWriter() throws(StorageError) {
        do throws(FileError) { try file.data.unlock(byte: LockByte.writer) } catch { throw StorageError(error) }
    }

    /// Names this process, which owns writing, in the owner word again. The caller holds its store's write gate.
    func restoreWord() throws(StorageError) {
        try file.withLock { () throws(StorageError) in
            if isOwn { return }
            mark(.ownerWordRestored)
            memory[Layout.owner] = UInt32(slots.own + 1)
        }
    }

    /// Releases ownership: to `claimant`, a guest that has claimed it, or else to the process that asked first.
    func release(to claimant: Int? = nil) throws(StorageError) {
        try unlockWriter()
        try file.withLock { () throws(StorageError) in
            guard isOwn else { return }
            // Drops a grant that this process returned under an owner that died, or never saw.
            grants.forgetOwn()
            if let claimant, slots.isTaken(claimant), try slots.isAlive(claimant) { return give(to: claimant) }
            try chooseOwner()
        }
    }

    /// Whether the process that lent the turn has died or no longer owns writing.
    func isGone(_ grant: Grant) throws(StorageError) -> Bool {
        try file.withLock { () throws(StorageError) in
            guard count == grant.ownerships, memory[Layout.owner] == UInt32(grant.owner + 1),
                slots.isTaken(grant.owner)
            else { return true }
            return try !slots.isAlive(grant.owner)
        }
    }

    // MARK: The block

    /// Leaves a hand-over block to the next owner, unless it is too long. Without one, the next owner replays the log.
    func leaveBlock(_ block: HandOver) throws(StorageError) {
        let bytes = block.encode()
        if bytes.count > Self.longestBlock { return }
        try file.writeTail(bytes)
        memory[Layout.blockBytes] = UInt64(bytes.count)
        memory[Layout.blockChecksum] = bytes.withUnsafeBytes(ProcessTableFile.checksum)
        memory[Layout.phase] = 0
    }

    /// The previous owner's block; nil if it is damaged.
    func readBlock() throws(StorageError) -> HandOver? {
        let count = Int(clamping: memory[Layout.blockBytes])
        let bytes = try file.readTail(count, checksum: memory[Layout.blockChecksum], atMost: Self.longestBlock)
        return bytes.flatMap(HandOver.init)
    }

    // MARK: Recoveries

    /// Counts recoveries by a new owner: after the death of an owner, or if the previous one left no block.
    var deaths: UInt64 { memory[Layout.deaths] }

    /// Records the version that a recovery brought back. The new owner calls it before it publishes a later version.
    func noteDeath(recovered version: UInt64) {
        let number = deaths
        memory[Layout.recovered(number)] = version
        memory[Layout.deaths] = number &+ 1
        memory.fence()
    }

    /// The version that recovery number `number`, counted from 0, brought back; nil if there was no such recovery yet,
    /// or later ones have overwritten its entry.
    func recovered(_ number: UInt64) -> UInt64? {
        let version = memory[Layout.recovered(number)]
        memory.fence()
        let later = deaths &- number
        return later > 0 && later <= Layout.deathsKept ? version : nil
    }
}
