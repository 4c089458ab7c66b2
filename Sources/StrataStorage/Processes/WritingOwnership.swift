internal import StrataFiles

// Writing belongs to one process at a time: the owner. It keeps everything that a writer needs (free pages, the log's
// position) in its own memory, and gives it on in one piece when another process asks. So a process that is alone pays
// nothing for others. The owner word says whose turn it is; the lock on `LockByte.writer` is what excludes. Where the
// word is wrong, whoever has the lock puts it right.

/// What an owner of writing starts from.
enum Inheritance {
    /// Nobody has owned it since this process opened the store.
    case own
    /// The owner before left a block.
    case block
    /// The owner before died, or there was none: the log has to be replayed.
    case none
}

/// What a process that wants to write is given.
enum Turn {
    case ownership(Inheritance)
    /// The turn of another process, for one transaction.
    case grant(Grant)
}

/// Who writes, who asks for it, and what one owner leaves to the next.
struct WritingOwnership: Sendable {
    typealias Layout = ProcessTable.Layout

    let slots: ProcessSlots
    let grants: Grants
    /// Whether this process made the table.
    let isMaker: Bool
    private var file: ProcessTableFile { slots.file }
    private var memory: any SharedMemory { file.memory }
    private var scheduling: any Scheduling { file.scheduling }

    /// After so many looks in a row at an owner without the lock that owners have, its turn is somebody else's.
    private static let looksAtIdleOwner = 10
    /// How often the lock of owners is tried, a millisecond apart, before this table is believed by nobody else.
    private static let attemptsToLock = 5000
    /// Bytes of what one owner leaves for the next, at most; where it would be more, the next one goes by the log.
    private static let longestBlock = 64 << 20

    /// Whether it is this process's turn.
    var isOwn: Bool { memory[Layout.owner] == UInt32(slots.own + 1) }

    /// How often a process began to own writing.
    var count: UInt64 { memory[Layout.ownerships] }

    /// Whether anybody has written since the table was made.
    var wasTaken: Bool { count != 0 }

    /// Whether another process waits for its turn.
    var isAsked: Bool { slots.others.contains { memory[Layout.slot($0).ticket] != 0 } }

    /// How the owner makes its commits durable: a guest has to agree.
    var durability: UInt32 {
        get { memory[Layout.durability] }
        nonmutating set { memory[Layout.durability] = newValue }
    }

    // MARK: Asking

    /// Waits for the turn of this process, in the order in which processes asked.
    /// - Parameter acceptsGrant: one transaction under the owner's write gate will do.
    /// - Throws: `busy` after the deadline, and where the owner cannot give writing on; `noSpace` where it has no room
    ///   for that; `silent` where the process that has the turn is stopped; `poisoned`; `lockFile`.
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

    /// - Returns: a grant; nil when the owner word says this process.
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
                if isOwn || grants.isOffered || isRefused(ticket) { return false }
                isStopped = silence.isSilent(owner)
                if left == 0 || isStopped {
                    memory[slots.ownWords.ticket] = 0
                    // Lent by an owner that died, if at all.
                    grants.forgetOwn()
                    return true
                }
                // It may have been lent the turn, and have missed it.
                memory[slots.ownWords.ticket] = ticket
                try callOwner(&idle)
                return false
            }
            if isOver { throw isStopped ? silence.error(path: storePath) : .busy(path: storePath) }
            // Nobody finds a process whose own slot was written over.
            guard memory[slots.ownWords.state] == 1 else { throw .lockFile(path: file.path) }
        }
        return nil
    }

    /// Asks a living owner to give writing on, or chooses the next one. The table's lock is held.
    /// - Parameter idle: how often in a row nobody had the lock of owners.
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

    /// The slot of the process that owns writing, as the table says; nil where there is none, or it is this one.
    var owner: Int? {
        let owner = Int(memory[Layout.owner]) - 1
        return (0..<Layout.slots).contains(owner) && owner != slots.own ? owner : nil
    }

    /// Everybody is rung, not only the process that the word names: the word may be wrong.
    private func ringAll(first owner: Int) {
        slots.ring(owner)
        for other in slots.others where other != owner { slots.ring(other) }
    }

    private func isLocked() throws(StorageError) -> Bool {
        do throws(FileError) { return try file.data.isLocked(byte: LockByte.writer) } catch {
            throw StorageError(error)
        }
    }

    /// The turn goes to the living process that asked first. The table's lock is held.
    private func chooseOwner() throws(StorageError) {
        memory[Layout.owner] = 0
        // Whoever was lent the turn of an owner that died has it still.
        if let guest = try grants.livingGuest() { return give(to: guest) }
        while let first = firstTicket() {
            if try slots.isAlive(first) { return give(to: first) }
            slots.clear(first)
        }
    }

    /// Makes a process the owner. The table's lock is held.
    private func give(to first: Int) {
        // In this order: who dies in between leaves a turn that is given back, not a waiter without a ticket.
        memory[Layout.owner] = UInt32(first + 1)
        memory[Layout.slot(first).ticket] = 0
        slots.ring(first)
        slots.wakeGuest(first)
    }

    /// Who asked first, dead or alive. The table's lock is held.
    private func firstTicket() -> Int? {
        var first: (slot: Int, ticket: UInt64)?
        for other in 0..<Layout.slots where slots.isTaken(other) {
            let ticket = memory[Layout.slot(other).ticket]
            if ticket != 0, first.map({ ticket < $0.ticket }) ?? true { first = (other, ticket) }
        }
        return first?.slot
    }

    /// The first process that waits for its turn and lives, and whether it has to own writing.
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

    /// Whether the owner has refused what this process asked for under this ticket.
    private func isRefused(_ ticket: UInt64) -> Bool {
        let words = slots.ownWords
        return memory[words.flags] & Layout.isRefused != 0 && memory[words.failureSecond] == ticket
    }

    /// Says to a process that asks for ownership that this one cannot give it, and why.
    func refuse(_ slot: Int, _ error: StorageError) throws(StorageError) {
        try file.withLock { () throws(StorageError) in
            let words = Layout.slot(slot)
            let ticket = memory[words.ticket]
            guard slots.isTaken(slot), ticket != 0, memory[words.flags] == Layout.wantsOwnership else { return }
            mark(.refusedOwnership)
            grants.putRefusal(error, words, ticket)
            // In this order: who dies in between leaves a process that goes on asking.
            memory[words.flags] = Layout.wantsOwnership | Layout.isRefused
            memory[words.ticket] = 0
            slots.wakeGuest(slot)
        }
    }

    // MARK: Owning

    /// It is this process's turn: the lock that excludes, and what the owner before left.
    /// - Returns: nil when the turn is not this process's after all.
    private func becomeOwner(until deadline: Deadline, storePath: String) throws(StorageError) -> Inheritance? {
        // What an owner that died had lent is this process's own now. Left open, it would draw writing here again.
        grants.forgetOwn()
        do throws(StorageError) {
            if memory[Layout.poison] != 0 { throw .poisoned }
            var attempts = 0
            // A process that dies may keep its locks for a moment after its slot was seen free; one that lives and owns
            // writing says so by the owner word; anybody else does not go by this table.
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

    /// Writing is this process's, and the owner word says something else. Its store's write gate is held.
    func restoreWord() throws(StorageError) {
        try file.withLock { () throws(StorageError) in
            if isOwn { return }
            mark(.ownerWordRestored)
            memory[Layout.owner] = UInt32(slots.own + 1)
        }
    }

    /// Gives writing on: to whoever has asked first, or to a process that has a grant and needs more.
    func release(to claimant: Int? = nil) throws(StorageError) {
        try unlockWriter()
        try file.withLock { () throws(StorageError) in
            guard isOwn else { return }
            // Given up under an owner that died, or never looked at.
            grants.forgetOwn()
            if let claimant, slots.isTaken(claimant), try slots.isAlive(claimant) { return give(to: claimant) }
            try chooseOwner()
        }
    }

    /// Whether the process that lent a turn owns writing no more.
    func isGone(_ grant: Grant) throws(StorageError) -> Bool {
        try file.withLock { () throws(StorageError) in
            guard count == grant.ownerships, memory[Layout.owner] == UInt32(grant.owner + 1),
                slots.isTaken(grant.owner)
            else { return true }
            return try !slots.isAlive(grant.owner)
        }
    }

    // MARK: The block

    /// Leaves what the next owner starts from. Without it, the next one replays the log.
    func leaveBlock(_ block: HandOver) throws(StorageError) {
        let bytes = block.encode()
        if bytes.count > Self.longestBlock { return }
        try file.writeTail(bytes)
        memory[Layout.blockBytes] = UInt64(bytes.count)
        memory[Layout.blockChecksum] = bytes.withUnsafeBytes(ProcessTableFile.checksum)
        memory[Layout.phase] = 0
    }

    /// What the owner before left; nil when it is not what it wrote.
    func readBlock() throws(StorageError) -> HandOver? {
        let count = Int(clamping: memory[Layout.blockBytes])
        let bytes = try file.readTail(count, checksum: memory[Layout.blockChecksum], atMost: Self.longestBlock)
        return bytes.flatMap(HandOver.init)
    }

    // MARK: Dead owners

    /// Owners whose work was recovered from the log.
    var deaths: UInt64 { memory[Layout.deaths] }

    /// Says up to which version a dead owner's work came back; before any later version is published.
    func noteDeath(recovered version: UInt64) {
        let number = deaths
        memory[Layout.recovered(number)] = version
        memory[Layout.deaths] = number &+ 1
        memory.fence()
    }

    /// Up to which version came back what was committed when `number` owners had died; nil when none has died since, or
    /// it is forgotten.
    func recovered(_ number: UInt64) -> UInt64? {
        let version = memory[Layout.recovered(number)]
        memory.fence()
        let later = deaths &- number
        return later > 0 && later <= Layout.deathsKept ? version : nil
    }
}
