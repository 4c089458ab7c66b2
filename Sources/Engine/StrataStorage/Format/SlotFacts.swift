extension HeaderSlot.Decoded {
    /// Contents of a slot's place, as far as they decide which slot is in force.
    enum Kind: CaseIterable {
        case valid, empty, foreign, damaged
        /// A slot of this format that is encrypted, and the caller has no key.
        case sealed
        case otherVersion
    }

    var kind: Kind {
        switch self {
        case .valid: .valid
        case .empty: .empty
        case .foreign: .foreign
        case .damaged: .damaged
        case .unsupported(let version): version == Format.version | SealedSlot.versionBit ? .sealed : .otherVersion
        }
    }
}

/// Contents of the two places of header slots.
struct SlotKinds: Hashable {
    var first: HeaderSlot.Decoded.Kind
    var second: HeaderSlot.Decoded.Kind

    init(_ first: HeaderSlot.Decoded.Kind, _ second: HeaderSlot.Decoded.Kind) {
        (self.first, self.second) = (first, second)
    }

    enum Answer: Equatable {
        /// Both are valid: ``SlotFacts`` decide.
        case compare
        /// The only valid slot.
        case first, second
        /// Neither was ever written.
        case newStore
        case keyRequired
        /// The slot in this place is of another version of the format.
        case otherVersion(Int)
        /// No slot is valid, and the one in this place was one.
        case damaged(Int)
        case notAStore
    }

    var answer: Answer {
        switch (first, second) {
        case (.sealed, _), (_, .sealed): .keyRequired
        case (.otherVersion, _): .otherVersion(0)
        case (_, .otherVersion): .otherVersion(1)
        case (.valid, .valid): .compare
        case (.valid, _): .first
        case (_, .valid): .second
        case (.damaged, _): .damaged(0)
        case (_, .damaged): .damaged(1)
        case (.empty, .empty): .newStore
        case (.foreign, _), (_, .foreign): .notAStore
        }
    }
}

/// Facts about two valid header slots of one file. They decide whether writers leave such a pair, even if a crash
/// interrupts a writer.
struct SlotFacts: Hashable {
    enum Order: CaseIterable { case less, same, greater }

    var isOneStore: Bool
    var hasSameSequence: Bool
    /// The checkpoint of the newer slot compared with that of the older one.
    var checkpoint: Order
    /// Both name the same state of the data file.
    var isSameState: Bool
    /// Every field is equal.
    var isEqual: Bool
    /// One of them requires a log, or is of a session without a log.
    var isOpen: Bool

    var mayStandTogether: Bool {
        if !isOneStore || checkpoint == .less { return false }
        if hasSameSequence { return isEqual }
        return isOpen || isSameState
    }
}

extension SlotFacts {
    init(newer: HeaderSlot, older: HeaderSlot) {
        isOneStore = newer.storeID == older.storeID
        hasSameSequence = newer.sequence == older.sequence
        checkpoint =
            newer.checkpoint == older.checkpoint ? .same : newer.checkpoint < older.checkpoint ? .less : .greater
        isSameState = newer.hasSameState(as: older)
        isEqual = newer == older
        isOpen = !newer.isClean || !older.isClean
    }
}
