internal import StrataFiles

// A process that does not own writing makes a transaction all the same: the owner lends it the write gate, it works on
// the newest committed version in its own memory, and hands in the record of its changes. The owner does them again,
// logs them with those of all others, and one sync makes them durable together. docs/decisions/0015 says why.
//
// One grant is open at a time. Its words stand in the guest's slot: the owner writes them but for the guest's answer,
// and each change of state is stored last.

/// The right to make one transaction, lent by the owner of writing.
struct Grant: Equatable {
    /// Counts grants of a table's life.
    var number: UInt64
    /// Slot of the process that lent it.
    var owner: Int
    /// How often writing had changed its owner.
    var ownerships: UInt64
    /// How many owners had died.
    var deaths: UInt64
    /// What the transaction is based on: committed, and perhaps not durable yet.
    var base: PublishedVersion
}

/// How far a grant has come.
enum GrantState: UInt32 {
    case none = 0
    /// The guest makes its transaction.
    case open = 1
    /// The guest has handed in its record.
    case submitted = 2
    /// The owner has committed it; it is durable when a version as new is published.
    case applied = 3
    /// The owner could not commit it, and says why.
    case refused = 4
    /// The guest needs to write pages: it wants to own writing for the rest of its transaction.
    case claimed = 5
    /// The guest has rolled back.
    case givenUp = 6
}

extension ProcessTable {
    /// The first process that waits for its turn and lives, and whether it has to own writing.
    func firstAsker() throws(StorageError) -> (slot: Int, wantsOwnership: Bool)? {
        try withLock { () throws(StorageError) in
            while let slot = firstTicket() {
                if try isAlive(slot) {
                    let flags = memory.load32(Self.offset(ofSlot: slot) + Layout.flagsOffset)
                    return (slot, flags & Layout.wantsOwnership != 0)
                }
                clear(slot)
            }
            return nil
        }
    }

    // MARK: The owner

    /// Lends the turn to a process that asks. The write gate is held until it has answered.
    /// - Returns: nil when it does not ask any more.
    func lend(to slot: Int, _ base: PublishedVersion) throws(StorageError) -> Grant? {
        try withLock { () throws(StorageError) in
            let offset = Self.offset(ofSlot: slot)
            guard isTaken(slot), memory.load64(offset + Layout.ticketOffset) != 0 else { return nil }
            let number = memory.load64(Layout.grantsOffset) &+ 1
            memory.store64(Layout.grantsOffset, number)
            put(base, Layout.baseOffset)
            memory.store64(offset + Layout.grantOffset, number)
            // In this order: who dies in between leaves a grant, not a waiter without a ticket.
            memory.store32(offset + Layout.grantStateOffset, GrantState.open.rawValue)
            memory.store64(offset + Layout.ticketOffset, 0)
            wakeGuest(slot)
            return grant(number)
        }
    }

    private func grant(_ number: UInt64) -> Grant {
        var base = record(Layout.baseOffset)
        base.number = 0
        return Grant(
            number: number, owner: Int(memory.load32(Layout.ownerOffset)) - 1,
            ownerships: memory.load64(Layout.ownershipsOffset), deaths: deaths, base: base)
    }

    /// Waits for what a guest does with its turn.
    /// - Returns: `submitted`, `claimed`, or `givenUp`, also when it has died.
    func awaitAnswer(of slot: Int, _ grant: Grant) throws(StorageError) -> GrantState {
        let offset = Self.offset(ofSlot: slot)
        var nextLook = scheduling.deadline(after: Self.step)
        while true {
            let value = bell
            guard memory.load64(offset + Layout.grantOffset) == grant.number else { return .givenUp }
            switch GrantState(rawValue: memory.load32(offset + Layout.grantStateOffset)) {
            case .open: break
            case .submitted: return .submitted
            case .claimed: return .claimed
            default: return .givenUp
            }
            waitForBell(value, microseconds: Self.step)
            if !isTimeToLook(&nextLook, rang: bell != value) { continue }
            let isGone = try withLock { () throws(StorageError) in
                if try isAlive(slot) { return false }
                clear(slot)
                return true
            }
            if isGone { return .givenUp }
        }
    }

    /// Says what became of a record. Whoever waits for the version to be published need not be woken for it.
    func answer(_ slot: Int, _ grant: Grant, _ failure: StorageError?, wakes: Bool) {
        let offset = Self.offset(ofSlot: slot)
        guard memory.load64(offset + Layout.grantOffset) == grant.number else { return }
        if let failure { putFailure(failure, offset) }
        let state: GrantState = failure == nil ? .applied : .refused
        memory.store32(offset + Layout.grantStateOffset, state.rawValue)
        memory.fence()
        if wakes || failure != nil { wakeGuest(slot) }
    }

    /// Whether other threads of the guest wait for its turn to end.
    func isGuestInHurry(_ slot: Int) -> Bool {
        memory.load32(Self.offset(ofSlot: slot) + Layout.flagsOffset) & Layout.isInHurry != 0
    }

    /// The record that a guest has handed in; nil when it is not what it wrote.
    func submission(of slot: Int) throws(StorageError) -> [UInt8]? {
        let offset = Self.offset(ofSlot: slot)
        let bytes = try readTail(Int(memory.load32(offset + Layout.recordBytesOffset)))
        guard let bytes, Self.checksum(bytes) == memory.load64(offset + Layout.recordChecksumOffset) else { return nil }
        return bytes
    }

    // MARK: The guest

    /// The grant that this process has been given and not answered.
    var ownGrant: Grant? {
        guard memory.load32(ownOffset + Layout.grantStateOffset) == GrantState.open.rawValue else { return nil }
        let grant = grant(memory.load64(ownOffset + Layout.grantOffset))
        // Without an owner the turn is about to be this process's own.
        return grant.owner >= 0 && grant.owner < Layout.slots ? grant : nil
    }

    /// This process owns writing: nothing that was lent to it counts any more.
    func forgetOwnGrant() { memory.store32(ownOffset + Layout.grantStateOffset, GrantState.none.rawValue) }

    /// Hands a record in.
    func submit(_ grant: Grant, _ record: UnsafeRawBufferPointer, isInHurry: Bool) throws(StorageError) {
        do throws(FileError) { try file.write(record, at: Int64(Layout.bytes)) } catch { throw StorageError(error) }
        memory.store32(ownOffset + Layout.recordBytesOffset, UInt32(record.count))
        memory.store64(ownOffset + Layout.recordChecksumOffset, Self.checksum(record))
        memory.store32(ownOffset + Layout.flagsOffset, isInHurry ? Layout.isInHurry : 0)
        reply(grant, .submitted)
    }

    func giveUp(_ grant: Grant) { reply(grant, .givenUp) }

    /// Asks to own writing instead. The owner gives it to nobody else.
    func claim(_ grant: Grant) { reply(grant, .claimed) }

    private func reply(_ grant: Grant, _ state: GrantState) {
        guard memory.load64(ownOffset + Layout.grantOffset) == grant.number else { return }
        memory.store32(ownOffset + Layout.grantStateOffset, state.rawValue)
        ring(grant.owner)
    }

    /// What became of a record that was handed in.
    enum Outcome {
        case applied
        case refused(StorageError)
        /// The owner died, and may have committed it or not.
        case ownerGone
    }

    func awaitOutcome(_ grant: Grant) throws(StorageError) -> Outcome {
        var nextLook = scheduling.deadline(after: Self.step)
        while true {
            let value = guestBell
            guard memory.load64(ownOffset + Layout.grantOffset) == grant.number else { return .ownerGone }
            switch GrantState(rawValue: memory.load32(ownOffset + Layout.grantStateOffset)) {
            case .submitted: break
            case .applied: return .applied
            case .refused: return .refused(failure)
            default: return .ownerGone
            }
            if isOwner { return .ownerGone }
            waitAsGuest(value)
            if isTimeToLook(&nextLook, rang: guestBell != value), try isGone(grant) {
                // It may have answered before it died.
                if memory.load32(ownOffset + Layout.grantStateOffset) == GrantState.submitted.rawValue {
                    return .ownerGone
                }
            }
        }
    }

    /// Whether the process that lent a turn owns writing no more.
    func isGone(_ grant: Grant) throws(StorageError) -> Bool {
        try withLock { () throws(StorageError) in
            guard memory.load64(Layout.ownershipsOffset) == grant.ownerships,
                memory.load32(Layout.ownerOffset) == UInt32(grant.owner + 1), isTaken(grant.owner)
            else { return true }
            return try !isAlive(grant.owner)
        }
    }

    // MARK: Waking guests

    /// Changes when a guest's thread has something to look at. Apart from ``bell``, which wakes the attendant.
    var guestBell: UInt32 { memory.load32(ownOffset + Layout.guestBellOffset) }

    func waitAsGuest(_ value: UInt32) {
        memory.wait(ownOffset + Layout.guestBellOffset, while: value, microseconds: Self.step)
    }

    func wakeGuest(_ slot: Int) { memory.ring(Self.offset(ofSlot: slot) + Layout.guestBellOffset) }

    /// From now on, as long as the count is not 0, this process is woken when a version is published.
    func setWaiters(_ count: Int) {
        memory.store32(ownOffset + Layout.waitersOffset, UInt32(count))
        memory.fence()
    }

    /// Wakes the processes whose commits wait to be published.
    func wakeWaiters() {
        for other in 0..<Layout.slots where other != slot && isTaken(other) {
            if memory.load32(Self.offset(ofSlot: other) + Layout.waitersOffset) != 0 { wakeGuest(other) }
        }
    }

    // MARK: Dead owners

    /// Owners whose work was recovered from the log.
    var deaths: UInt64 { memory.load64(Layout.deathsOffset) }

    /// Says up to which version a dead owner's work came back; before any later version is published.
    func noteDeath(recovered version: UInt64) {
        let number = deaths
        memory.store64(Self.death(number), version)
        memory.store64(Layout.deathsOffset, number &+ 1)
        memory.fence()
    }

    /// Up to which version came back what was committed when `number` owners had died; nil when none has died since, or
    /// it is forgotten.
    func recovered(_ number: UInt64) -> UInt64? {
        let version = memory.load64(Self.death(number))
        memory.fence()
        let later = deaths &- number
        return later > 0 && later <= UInt64(Layout.deaths) ? version : nil
    }

    private static func death(_ number: UInt64) -> Int {
        Layout.recoveredOffset + 8 * Int(number % UInt64(Layout.deaths))
    }

    // MARK: Why a record was refused

    private func putFailure(_ failure: StorageError, _ offset: Int) {
        var (code, first, second): (UInt32, UInt64, UInt64) = (0, 0, 0)
        switch failure {
        case .noSpace(let error): (code, first) = (1, UInt64(UInt32(bitPattern: error.errno)))
        case .stale: code = 2
        case .corrupt(let page, let offset, _): (code, first, second) = (3, UInt64(page.rawValue), UInt64(offset))
        case .limit: code = 4
        case .commitOutcomeUnknown(let version): (code, first) = (5, version.rawValue)
        default: code = 0
        }
        memory.store32(offset + Layout.failureOffset, code)
        memory.store64(offset + Layout.failureOffset + 8, first)
        memory.store64(offset + Layout.failureOffset + 16, second)
    }

    private var failure: StorageError {
        let first = memory.load64(ownOffset + Layout.failureOffset + 8)
        let second = memory.load64(ownOffset + Layout.failureOffset + 16)
        switch memory.load32(ownOffset + Layout.failureOffset) {
        case 1: return .noSpace(FileError(.write, path: data.path, errno: Int32(truncatingIfNeeded: first)))
        case 2: return .stale(path: data.path)
        case 3:
            return .corrupt(
                page: PageNumber(UInt32(truncatingIfNeeded: first)), offset: Int(truncatingIfNeeded: second),
                reason: .structure)
        case 4: return .limit(.pages)
        case 5: return .commitOutcomeUnknown(TransactionID(first))
        default: return .poisoned
        }
    }
}
