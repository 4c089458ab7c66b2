internal import StrataFiles

// A process that does not own writing can still make a transaction. The owner lends it the write gate; the guest works
// in its own memory on the newest committed version, and submits the record of its changes. The owner replays the
// record, logs it together with all others, and one sync makes them durable. docs/decisions/0015 says why.
//
// One grant is open at a time. Its state is in the guest's slot, in one word with the grant's number. So neither side
// takes an answer to another grant, or a stray write, for an answer to this one.

/// The right to make one transaction, lent by the owner of writing.
struct Grant: Equatable {
    /// Counts the grants of the table since it was made.
    var number: UInt64
    /// Slot of the lender.
    var owner: Int
    /// The table's count of ownerships when the owner lent the grant.
    var ownerships: UInt64
    /// The table's count of recoveries when the owner lent the grant.
    var deaths: UInt64
    /// The version that the transaction builds on: committed, but perhaps not durable yet.
    var base: PublishedVersion
}

/// State of a grant.
enum GrantState: UInt8 {
    case none = 0
    /// The owner offers its turn.
    case offered = 1
    /// The guest has submitted its record.
    case submitted = 2
    /// The owner has committed the record, which is durable once the owner publishes this version or a later one.
    case applied = 3
    /// The owner could not commit the record; the slot holds the reason.
    case refused = 4
    /// The guest needs to write pages, and asks to own writing for the rest of its transaction.
    case claimed = 5
    /// The guest has rolled back.
    case returned = 6
    /// The guest has accepted the turn and makes its transaction.
    case taken = 7
}

/// Number and state of a grant in one word, so that no process reads a state with another grant's number.
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

/// Lending of turns: the owner's side and the guest's side.
struct Grants: Sendable {
    typealias Layout = ProcessTable.Layout

    let slots: ProcessSlots
    let versions: PublishedVersions
    private var file: ProcessTableFile { slots.file }
    private var memory: any SharedMemory { file.memory }

    /// Largest record that a guest submits, in bytes.
    static let recordLimit = 256 << 10

    /// Microseconds after which the owner withdraws an offer that the process has not accepted: the process is stopped,
    /// or never asked.
    private static let patience = 1_000_000

    private func word(_ slot: Int) -> GrantWord { GrantWord(memory[Layout.slot(slot).grant]) }
    private func set(_ slot: Int, _ word: GrantWord) { memory[Layout.slot(slot).grant] = word.bits }

    /// Changes a grant's word by a compare-exchange.
    /// - Returns: false if the other side changed the word first.
    private func change(_ slot: Int, _ word: GrantWord, to new: GrantWord) -> Bool {
        memory.exchange64(Layout.slot(slot).grant.offset, expected: word.bits, with: new.bits)
    }

    /// Slot of the process that has the last grant, if that is still open and the process lives. The caller holds the
    /// table's lock.
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

    /// Offers the turn to a process that waits for it. The caller holds the write gate until the process has answered.
    /// - Parameter base: its number is replaced by the grant's.
    /// - Returns: nil, without an offer, if the process no longer waits, or the table does not keep the base.
    func lend(to slot: Int, _ base: PublishedVersion) throws(StorageError) -> Grant? {
        let grant = try file.withLock { () throws(StorageError) -> Grant? in
            let words = Layout.slot(slot)
            guard slots.isTaken(slot), memory[words.ticket] != 0 else { return nil }
            // Masked to the 56 bits that a grant word holds, since the word in the file may be damaged.
            let number = GrantWord((memory[Layout.lastGrant] &+ 1) << 8).number
            memory[Layout.lastGrant] = number
            var base = base
            base.number = number
            versions.put(base, Layout.base)
            guard let grant = self.grant(number) else { return nil }
            // In this order a crash in between leaves a grant, not a waiter without a ticket.
            set(slot, GrantWord(number, .offered))
            memory[words.ticket] = 0
            return grant
        }
        // The guest takes the table's lock to accept, so this thread releases it before it wakes the guest.
        if grant != nil { slots.wakeGuest(slot) }
        return grant
    }

    private func grant(_ number: UInt64) -> Grant? {
        guard let base = versions.get(number, Layout.base) else { return nil }
        return Grant(
            number: number, owner: Int(memory[Layout.owner]) - 1, ownerships: memory[Layout.ownerships],
            deaths: memory[Layout.deaths], base: base)
    }

    /// Waits for the guest's answer.
    ///
    /// A guest that gives no sign of life in its transaction counts as stopped, and the owner withdraws the turn. The
    /// guest finds out when it submits its record or claims ownership, since its grant word has changed.
    /// - Returns: `submitted`, `claimed`, or `returned`; `returned` also if the guest died, never accepted the turn, or
    ///   is stopped.
    func awaitAnswer(of slot: Int, _ grant: Grant) throws(StorageError) -> GrantState {
        var nextLook = slots.nextLook
        let limit = file.scheduling.deadline(after: Self.patience)
        var silence = SilenceWatch(slots)
        while true {
            let value = slots.bell
            // Another process that waits for its turn must see that this one is not stopped.
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

    /// Answers a submitted record.
    /// - Parameter wakes: whether to wake the guest; false if the owner will soon publish its version, which wakes it.
    ///   A refusal wakes it in any case.
    func answer(_ slot: Int, _ grant: Grant, _ failure: StorageError?, wakes: Bool) {
        guard word(slot).number == grant.number else { return }
        if let failure { putFailure(failure, Layout.slot(slot)) }
        set(slot, GrantWord(grant.number, failure == nil ? .applied : .refused))
        memory.fence()
        if wakes || failure != nil { slots.wakeGuest(slot) }
    }

    /// Whether other threads of the guest's process wait for its turn to end.
    func isGuestInHurry(_ slot: Int) -> Bool { memory[Layout.slot(slot).flags] & Layout.isInHurry != 0 }

    /// The record that a guest has submitted; nil if its checksum does not match.
    func submission(of slot: Int) throws(StorageError) -> [UInt8]? {
        let words = Layout.slot(slot)
        return try file.readTail(
            Int(memory[words.recordBytes]), checksum: memory[words.recordChecksum], atMost: Self.recordLimit)
    }

    // MARK: The guest

    /// The turn that is offered to this process; nil if there is no offer, or none that it can accept. The caller holds
    /// the table's lock.
    var offer: Grant? {
        let word = word(slots.own)
        // Another process that attached to a dead owner's slot has cleared the owner word.
        guard word.state == .offered, let grant = grant(word.number), grant.owner >= 0, grant.owner < Layout.slots
        else { return nil }
        return grant
    }

    /// Accepts the turn offered to this process; nil if there is no such offer, or it was withdrawn.
    func take() throws(StorageError) -> Grant? {
        guard word(slots.own).state == .offered else { return nil }
        return try file.withLock { () throws(StorageError) in
            guard let grant = offer else { return nil }
            memory[slots.ownWords.ticket] = 0
            set(slots.own, GrantWord(grant.number, .taken))
            return grant
        }
    }

    /// Clears the grant word of this process, which holds no open grant of a living owner.
    func forgetOwn() { set(slots.own, GrantWord(0, .none)) }

    /// Submits a record to the owner.
    /// - Parameter isInHurry: other threads of this process wait for the turn to end.
    /// - Throws: `turnTakenBack` if the owner has withdrawn the turn; `noSpace`, `file`.
    func submit(_ grant: Grant, _ record: UnsafeRawBufferPointer, isInHurry: Bool) throws(StorageError) {
        // If the turn was withdrawn, the file's tail may already hold another guest's record.
        if !has(grant) { throw .turnTakenBack(path: file.data.path) }
        try file.writeTail(record)
        memory[slots.ownWords.recordBytes] = UInt32(record.count)
        memory[slots.ownWords.recordChecksum] = ProcessTableFile.checksum(record)
        memory[slots.ownWords.flags] = isInHurry ? Layout.isInHurry : 0
        if !reply(grant, .submitted) { throw .turnTakenBack(path: file.data.path) }
    }

    /// Whether this process still has the turn that it accepted.
    private func has(_ grant: Grant) -> Bool { word(slots.own) == GrantWord(grant.number, .taken) }

    /// Ends a turn without a commit.
    func giveBack(_ grant: Grant) {
        // A turn that the owner has withdrawn needs no answer. This withdraws a claim that failed.
        if !reply(grant, .returned), word(slots.own) == GrantWord(grant.number, .claimed) {
            set(slots.own, GrantWord(grant.number, .returned))
            slots.ring(grant.owner)
        }
    }

    /// Asks for ownership in the middle of a transaction. The owner gives it to this process before all that wait.
    /// - Returns: false if the turn was withdrawn.
    func claim(_ grant: Grant) -> Bool { reply(grant, .claimed) }

    /// - Returns: false if the turn was withdrawn.
    private func reply(_ grant: Grant, _ state: GrantState) -> Bool {
        guard change(slots.own, GrantWord(grant.number, .taken), to: GrantWord(grant.number, state)) else {
            return false
        }
        slots.ring(grant.owner)
        return true
    }

    /// Result of a submitted record.
    enum Outcome {
        case applied
        case refused(StorageError)
        /// The owner died, or no longer owns writing; whether it committed the record is unknown.
        case ownerGone
    }

    /// Waits for the owner's answer to a record.
    /// - Throws: `commitOutcomeUnknown` if the owner is stopped: it may commit the record when it continues.
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
            // The owner may have answered before it died or was stopped.
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

    /// Stores why this process, the owner, cannot hand ownership to the process that asked for it with this ticket.
    func putRefusal(_ error: StorageError, _ words: Layout.Slot, _ ticket: UInt64) {
        var errno: Int32 = 0
        if case .noSpace(let file) = error { errno = file.errno }
        memory[words.failureFirst] = UInt64(UInt32(bitPattern: errno))
        memory[words.failureSecond] = ticket
    }

    /// Decodes ``putRefusal(_:_:_:)``: `noSpace` with its errno, or `busy`.
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
