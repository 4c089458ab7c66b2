internal import StrataFiles

// Writing belongs to one process at a time: the owner. It keeps everything that a writer needs (free pages, the log's
// position) in its own memory, and gives it on in one piece when another process asks. So a process that is alone pays
// nothing for others. The owner word says whose turn it is; the lock on `LockByte.writer` is what excludes.

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

extension ProcessTable {
    /// Safety bound of every wait: what no living process says is looked up.
    static let step = 100_000

    /// Waits for the turn of this process, in the order in which processes asked.
    /// - Parameter acceptsGrant: one transaction under the owner's write gate will do.
    /// - Throws: `busy` after the deadline; `poisoned`; `lockFile`.
    func acquireTurn(
        until deadline: Deadline, acceptsGrant: Bool, storePath: String
    ) throws(StorageError) -> Turn {
        try withLock { () throws(StorageError) in
            let ticket = memory.load64(Layout.nextTicketOffset) &+ 1
            memory.store64(Layout.nextTicketOffset, ticket)
            memory.store32(ownOffset + Layout.flagsOffset, acceptsGrant ? 0 : Layout.wantsOwnership)
            memory.store64(ownOffset + Layout.ticketOffset, ticket)
            try callOwner()
        }
        var nextLook = scheduling.deadline(after: Self.step)
        while !isOwner {
            let value = guestBell
            if isOwner { break }
            if let grant = ownGrant {
                memory.store64(ownOffset + Layout.ticketOffset, 0)
                return .grant(grant)
            }
            let isInTime = scheduling.remaining(until: deadline) > 0
            if isInTime {
                memory.wait(
                    ownOffset + Layout.guestBellOffset, while: value,
                    microseconds: min(Self.step, scheduling.remaining(until: deadline)))
            }
            if isOwner { break }
            if isInTime && !isTimeToLook(&nextLook, rang: guestBell != value) { continue }
            let isOver = try withLock { () throws(StorageError) -> Bool in
                if isOwner || ownGrant != nil { return false }
                if !isInTime {
                    memory.store64(ownOffset + Layout.ticketOffset, 0)
                    // Lent by an owner that died, if at all.
                    forgetOwnGrant()
                    return true
                }
                try callOwner()
                return false
            }
            if isOver { throw .busy(path: storePath) }
        }
        memory.store64(ownOffset + Layout.ticketOffset, 0)
        return .ownership(try takeOver(until: deadline, storePath: storePath))
    }

    /// Whether it is this process's turn.
    var isOwner: Bool { memory.load32(Layout.ownerOffset) == UInt32(slot + 1) }

    /// Whether another process waits for its turn.
    var isAsked: Bool {
        (0..<Layout.slots).contains { other in
            other != slot && isTaken(other)
                && memory.load64(Self.offset(ofSlot: other) + Layout.ticketOffset) != 0
        }
    }

    /// Asks a living owner to give writing on, or chooses the next one. The table's lock is held.
    private func callOwner() throws(StorageError) {
        let owner = Int(memory.load32(Layout.ownerOffset)) - 1
        if owner >= 0, owner < Layout.slots {
            if owner == slot { return }
            if isTaken(owner), try isAlive(owner) { return ring(owner) }
            clear(owner)
        }
        try chooseOwner()
    }

    /// The turn goes to the living process that asked first. The table's lock is held.
    private func chooseOwner() throws(StorageError) {
        memory.store32(Layout.ownerOffset, 0)
        // Whoever was lent the turn of an owner that died has it still.
        if let guest = try livingGuest() { return give(to: guest) }
        while let first = firstTicket() {
            if try isAlive(first) { return give(to: first) }
            clear(first)
        }
    }

    /// The process with a grant that is not answered for. The table's lock is held.
    private func livingGuest() throws(StorageError) -> Int? {
        let number = memory.load64(Layout.grantsOffset)
        for other in 0..<Layout.slots where isTaken(other) && number != 0 {
            let offset = Self.offset(ofSlot: other)
            guard memory.load64(offset + Layout.grantOffset) == number else { continue }
            switch GrantState(rawValue: memory.load32(offset + Layout.grantStateOffset)) {
            case .open, .submitted, .claimed: return try isAlive(other) ? other : nil
            default: return nil
            }
        }
        return nil
    }

    /// Makes a process the owner. The table's lock is held.
    private func give(to first: Int) {
        // In this order: who dies in between leaves a turn that is given back, not a waiter without a ticket.
        memory.store32(Layout.ownerOffset, UInt32(first + 1))
        memory.store64(Self.offset(ofSlot: first) + Layout.ticketOffset, 0)
        ring(first)
        wakeGuest(first)
    }

    /// Who asked first, dead or alive.
    func firstTicket() -> Int? {
        var first: (slot: Int, ticket: UInt64)?
        for other in 0..<Layout.slots where isTaken(other) {
            let ticket = memory.load64(Self.offset(ofSlot: other) + Layout.ticketOffset)
            if ticket != 0, ticket < first?.ticket ?? .max { first = (other, ticket) }
        }
        return first?.slot
    }

    /// It is this process's turn: the lock that excludes, and what the owner before left.
    private func takeOver(until deadline: Deadline, storePath: String) throws(StorageError) -> Inheritance {
        // What an owner that died had lent is this process's own now. Left open, it would draw writing here again.
        forgetOwnGrant()
        do throws(StorageError) {
            if isPoisoned { throw .poisoned }
            var attempts = 0
            // A process that dies may keep its locks for a moment after its slot was seen free; anybody else who has
            // this one does not go by this table.
            while try !lockWriter() {
                attempts += 1
                if attempts == 5000 { throw .lockFile(path: path) }
                if scheduling.remaining(until: deadline) == 0 { throw .busy(path: storePath) }
                scheduling.pause(microseconds: 1000)
            }
        } catch {
            try releaseOwnership()
            throw error
        }
        let isBlock = memory.load32(Layout.phaseOffset) == 0
        let ownerships = memory.load64(Layout.ownershipsOffset)
        memory.store32(Layout.phaseOffset, 1)
        memory.store64(Layout.ownershipsOffset, ownerships &+ 1)
        if isMaker && ownerships == 0 { return .own }
        return isBlock ? .block : .none
    }

    private func lockWriter() throws(StorageError) -> Bool {
        do throws(FileError) { return try data.tryLock(byte: LockByte.writer, exclusive: true) } catch {
            throw StorageError(error)
        }
    }

    /// How often a process began to own writing.
    var ownerships: UInt64 { memory.load64(Layout.ownershipsOffset) }

    /// Whether anybody has written since the table was made.
    var wasOwned: Bool { ownerships != 0 }

    /// Whether the owner before left a block.
    var hasBlock: Bool { memory.load32(Layout.phaseOffset) == 0 }

    /// Gives writing on: to whoever has asked first, or to a process that has a grant and needs more.
    func releaseOwnership(to claimant: Int? = nil) throws(StorageError) {
        do throws(FileError) { try data.unlock(byte: LockByte.writer) } catch { throw StorageError(error) }
        try withLock { () throws(StorageError) in
            guard isOwner else { return }
            // Given up under an owner that died, or never looked at.
            forgetOwnGrant()
            if let claimant, isTaken(claimant), try isAlive(claimant) { return give(to: claimant) }
            try chooseOwner()
        }
    }

    // MARK: The block

    /// Leaves what the next owner starts from. Without it, the next one replays the log.
    func leaveBlock(_ bytes: [UInt8]) throws(StorageError) {
        var failure: FileError?
        bytes.withUnsafeBytes { buffer in
            do throws(FileError) { try file.write(buffer, at: Int64(Layout.bytes)) } catch { failure = error }
        }
        if let failure { throw StorageError(failure) }
        memory.store64(Layout.blockBytesOffset, UInt64(bytes.count))
        memory.store64(Layout.blockChecksumOffset, Self.checksum(bytes))
        memory.store32(Layout.phaseOffset, 0)
    }

    /// What the owner before left; nil when it is not what it wrote.
    func readBlock() throws(StorageError) -> [UInt8]? {
        let bytes = try readTail(Int(clamping: memory.load64(Layout.blockBytesOffset)))
        guard let bytes, Self.checksum(bytes) == memory.load64(Layout.blockChecksumOffset) else { return nil }
        return bytes
    }

    /// Bytes from behind the table; nil when there are not so many.
    func readTail(_ count: Int) throws(StorageError) -> [UInt8]? {
        do throws(FileError) {
            guard Int64(count) <= max(0, try file.size() - Int64(Layout.bytes)) else { return nil }
            var failure: FileError?
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                do throws(FileError) {
                    initialized = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: Int64(Layout.bytes))
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            return bytes.count == count ? bytes : nil
        } catch {
            throw StorageError(error)
        }
    }
}
