internal import StrataFiles

// A process that does not own writing makes a transaction all the same: the owner lends it the write gate, it works on
// the newest committed version in its own memory, and hands in the record of its changes. The owner does them again,
// logs them with those of all others, and one sync makes them durable together. docs/decisions/0015 says why.
//
// One grant is open at a time. How far it has come stands in the guest's slot, in one word with its number: what
// belongs to another grant, or was written by nobody, is never taken for an answer.

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
enum GrantState: UInt8 {
    case none = 0
    /// The owner has lent its turn.
    case offered = 1
    /// The guest has handed in its record.
    case submitted = 2
    /// The owner has committed it; it is durable when a version as new is published.
    case applied = 3
    /// The owner could not commit it, and says why.
    case refused = 4
    /// The guest needs to write pages: it wants to own writing for the rest of its transaction.
    case claimed = 5
    /// The guest has rolled back.
    case returned = 6
    /// The guest makes its transaction.
    case taken = 7
}

/// Number and state of a grant in one word: no state is believed without its number.
struct GrantWord: Equatable {
    var number: UInt64
    var state: GrantState

    init(_ number: UInt64, _ state: GrantState) { (self.number, self.state) = (number, state) }

    init(_ bits: UInt64) {
        number = bits >> 8
        state = GrantState(rawValue: UInt8(truncatingIfNeeded: bits)) ?? .none
    }

    var bits: UInt64 { number << 8 | UInt64(state.rawValue) }
}

/// Turns that an owner of writing lends, seen from both sides.
struct Grants: Sendable {
    typealias Layout = ProcessTable.Layout

    let slots: ProcessSlots
    let versions: PublishedVersions
    private var file: ProcessTableFile { slots.file }
    private var memory: any SharedMemory { file.memory }

    /// Microseconds that an offered turn is left to a process which does not take it: it is stopped, or never asked.
    private static let patience = 1_000_000

    private func word(_ slot: Int) -> GrantWord { GrantWord(memory[Layout.slot(slot).grant]) }
    private func set(_ slot: Int, _ word: GrantWord) { memory[Layout.slot(slot).grant] = word.bits }

    /// - Returns: false where the other side was faster.
    private func change(_ slot: Int, _ word: GrantWord, to new: GrantWord) -> Bool {
        memory.exchange64(Layout.slot(slot).grant.offset, expected: word.bits, with: new.bits)
    }

    /// The process with a grant that is not answered for. The table's lock is held.
    func livingGuest() throws(StorageError) -> Int? {
        let number = memory[Layout.lastGrant]
        for other in 0..<Layout.slots where slots.isTaken(other) && number != 0 {
            let word = word(other)
            guard word.number == number else { continue }
            switch word.state {
            case .offered, .taken, .submitted, .claimed: return try slots.isAlive(other) ? other : nil
            case .none, .applied, .refused, .returned: return nil
            }
        }
        return nil
    }

    // MARK: The owner

    /// Lends the turn to a process that asks. The write gate is held until it has answered.
    /// - Returns: nil when it does not ask any more.
    func lend(to slot: Int, _ base: PublishedVersion) throws(StorageError) -> Grant? {
        let grant = try file.withLock { () throws(StorageError) -> Grant? in
            let words = Layout.slot(slot)
            guard slots.isTaken(slot), memory[words.ticket] != 0 else { return nil }
            // A number has 56 bits in its word, whatever stands here.
            let number = GrantWord((memory[Layout.lastGrant] &+ 1) << 8).number
            memory[Layout.lastGrant] = number
            var base = base
            base.number = number
            versions.put(base, Layout.base)
            // In this order: who dies in between leaves a grant, not a waiter without a ticket.
            set(slot, GrantWord(number, .offered))
            memory[words.ticket] = 0
            return self.grant(number)
        }
        // It takes the turn under the table's lock, so that is free before it is woken.
        if grant != nil { slots.wakeGuest(slot) }
        return grant
    }

    private func grant(_ number: UInt64) -> Grant? {
        guard let base = versions.get(number, Layout.base) else { return nil }
        return Grant(
            number: number, owner: Int(memory[Layout.owner]) - 1, ownerships: memory[Layout.ownerships],
            deaths: memory[Layout.deaths], base: base)
    }

    /// Waits for what a guest does with its turn.
    ///
    /// A guest that gives no sign of life is stopped, in the middle of its transaction: the turn is taken back, and it
    /// finds that out when it hands its record in, or claims ownership, by the word that says how far the grant is.
    /// - Returns: `submitted`, `claimed`, or `returned`, also when it has died, never took it, or is stopped.
    func awaitAnswer(of slot: Int, _ grant: Grant) throws(StorageError) -> GrantState {
        var nextLook = slots.nextLook
        let limit = file.scheduling.deadline(after: Self.patience)
        var silence = SilenceWatch(slots)
        while true {
            let value = slots.bell
            // The process that waits for its turn sees that this one is not stopped.
            slots.giveSign()
            let word = word(slot)
            guard word.number == grant.number else { return .returned }
            switch word.state {
            case .offered, .taken: break
            case .submitted, .claimed: return word.state
            default: return .returned
            }
            slots.waitForBell(value, microseconds: ProcessTable.step)
            if !slots.isTimeToLook(&nextLook, rang: slots.bell != value) { continue }
            let isOver = try file.withLock { () throws(StorageError) in
                if try !slots.isAlive(slot) {
                    slots.clear(slot)
                    return true
                }
                let word = self.word(slot)
                let isStopped = silence.isSilent(slot)
                switch word {
                case GrantWord(grant.number, .offered) where file.scheduling.remaining(until: limit) == 0: break
                case GrantWord(grant.number, .taken) where isStopped: break
                default: return false
                }
                mark(.grantWithdrawn)
                return change(slot, word, to: GrantWord(0, .none))
            }
            if isOver { return .returned }
        }
    }

    /// Says what became of a record. Whoever waits for the version to be published need not be woken for it.
    func answer(_ slot: Int, _ grant: Grant, _ failure: StorageError?, wakes: Bool) {
        guard word(slot).number == grant.number else { return }
        if let failure { putFailure(failure, Layout.slot(slot)) }
        set(slot, GrantWord(grant.number, failure == nil ? .applied : .refused))
        memory.fence()
        if wakes || failure != nil { slots.wakeGuest(slot) }
    }

    /// Whether other threads of the guest wait for its turn to end.
    func isGuestInHurry(_ slot: Int) -> Bool { memory[Layout.slot(slot).flags] & Layout.isInHurry != 0 }

    /// The record that a guest has handed in; nil when it is not what it wrote.
    func submission(of slot: Int) throws(StorageError) -> [UInt8]? {
        let words = Layout.slot(slot)
        return try file.readTail(
            Int(memory[words.recordBytes]), checksum: memory[words.recordChecksum], atMost: GuestTurn.recordLimit)
    }

    // MARK: The guest

    /// Whether this process has been lent a turn that it has not taken.
    var isOffered: Bool { word(slots.own).state == .offered }

    /// Takes the turn that this process has been lent; nil when there is none, any more or at all.
    func take() throws(StorageError) -> Grant? {
        guard isOffered else { return nil }
        return try file.withLock { () throws(StorageError) in
            let word = word(slots.own)
            // Without an owner the turn is about to be this process's own.
            guard word.state == .offered, let grant = grant(word.number), grant.owner >= 0, grant.owner < Layout.slots
            else { return nil }
            memory[slots.ownWords.ticket] = 0
            set(slots.own, GrantWord(word.number, .taken))
            return grant
        }
    }

    /// This process owns writing: nothing that was lent to it counts any more.
    func forgetOwn() { set(slots.own, GrantWord(0, .none)) }

    /// Hands a record in.
    func submit(_ grant: Grant, _ record: UnsafeRawBufferPointer, isInHurry: Bool) throws(StorageError) {
        // Behind the table stands what another process left by now, where this one has the turn no more.
        if !has(grant) { throw .turnTakenBack(path: file.data.path) }
        try file.writeTail(record)
        memory[slots.ownWords.recordBytes] = UInt32(record.count)
        memory[slots.ownWords.recordChecksum] = ProcessTableFile.checksum(record)
        memory[slots.ownWords.flags] = isInHurry ? Layout.isInHurry : 0
        if !reply(grant, .submitted) { throw .turnTakenBack(path: file.data.path) }
    }

    /// Whether this process still has the turn that it took.
    private func has(_ grant: Grant) -> Bool { word(slots.own) == GrantWord(grant.number, .taken) }

    /// Ends a turn without a commit.
    func giveBack(_ grant: Grant) {
        // A turn that was taken back, or claimed in vain, needs no answer.
        if !reply(grant, .returned), word(slots.own) == GrantWord(grant.number, .claimed) {
            set(slots.own, GrantWord(grant.number, .returned))
            slots.ring(grant.owner)
        }
    }

    /// Asks to own writing instead. The owner gives it to no other process.
    /// - Returns: false where the turn was taken back.
    func claim(_ grant: Grant) -> Bool { reply(grant, .claimed) }

    /// - Returns: false where the turn was taken back.
    private func reply(_ grant: Grant, _ state: GrantState) -> Bool {
        guard change(slots.own, GrantWord(grant.number, .taken), to: GrantWord(grant.number, state)) else {
            return false
        }
        slots.ring(grant.owner)
        return true
    }

    /// What became of a record that was handed in.
    enum Outcome {
        case applied
        case refused(StorageError)
        /// The owner died, and may have committed it or not.
        case ownerGone
    }

    /// Waits for what the owner says of a record.
    /// - Throws: `commitOutcomeUnknown` where the owner is stopped: it may commit the record when it goes on.
    func awaitOutcome(_ grant: Grant, _ ownership: WritingOwnership) throws(StorageError) -> Outcome {
        var nextLook = slots.nextLook
        let submitted = GrantWord(grant.number, .submitted)
        var silence = SilenceWatch(slots)
        while true {
            let value = slots.guestBell
            let word = word(slots.own)
            if word == GrantWord(grant.number, .applied) { return .applied }
            if word == GrantWord(grant.number, .refused) { return .refused(failure) }
            if word != submitted || ownership.isOwn { return .ownerGone }
            slots.waitAsGuest(value)
            if !slots.isTimeToLook(&nextLook, rang: slots.guestBell != value) { continue }
            let isGone = try ownership.isGone(grant)
            // It may have answered before it died, or was stopped.
            if self.word(slots.own) != submitted { continue }
            if isGone { return .ownerGone }
            if silence.isSilent(grant.owner) { throw .commitOutcomeUnknown(TransactionID(grant.base.version + 1)) }
        }
    }

    // MARK: Why a record was refused

    private func putFailure(_ failure: StorageError, _ words: Layout.Slot) {
        var (code, first, second): (UInt32, UInt64, UInt64) = (0, 0, 0)
        switch failure {
        case .noSpace(let error): (code, first) = (1, UInt64(UInt32(bitPattern: error.errno)))
        case .stale: code = 2
        case .corrupt(let page, let offset, _): (code, first, second) = (3, UInt64(page.rawValue), UInt64(offset))
        case .limit: code = 4
        case .commitOutcomeUnknown(let version): (code, first) = (5, version.rawValue)
        default: code = 0
        }
        memory[words.failure] = code
        memory[words.failureFirst] = first
        memory[words.failureSecond] = second
    }

    /// Says why a process cannot have what it asked for under a ticket.
    func putRefusal(_ error: StorageError, _ words: Layout.Slot, _ ticket: UInt64) {
        var errno: Int32 = 0
        if case .noSpace(let file) = error { errno = file.errno }
        memory[words.failureFirst] = UInt64(UInt32(bitPattern: errno))
        memory[words.failureSecond] = ticket
    }

    /// What ``putRefusal(_:_:_:)`` said to this process: a disk without room, by its number, or `busy`.
    func refusal(of storePath: String) -> StorageError {
        let errno = Int32(truncatingIfNeeded: memory[slots.ownWords.failureFirst])
        let error = FileError(.write, path: storePath, errno: errno)
        return error.isNoSpace ? .noSpace(error) : .busy(path: storePath)
    }

    private var failure: StorageError {
        let words = slots.ownWords
        let (first, second) = (memory[words.failureFirst], memory[words.failureSecond])
        switch memory[words.failure] {
        case 1: return .noSpace(FileError(.write, path: file.data.path, errno: Int32(truncatingIfNeeded: first)))
        case 2: return .stale(path: file.data.path)
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
