/// Facts about a log that no readable header slot requires.
struct LeftLogFacts: Hashable {
    enum Order: CaseIterable { case less, same, greater }

    enum Contents: CaseIterable {
        case unexamined
        /// It cannot be opened: an unfinished log, or no log at all.
        case unreadable
        /// It was opened, and not replayed.
        case opened
        /// A replay from the checkpoint finds nothing.
        case empty
        /// A replay from the checkpoint finds a commit, or finds that one is missing.
        case commits
    }

    /// It has the store's id.
    var isOwn: Bool
    /// Its base compared with the checkpoint of the slot in force.
    var base: Order
    /// The other slot is unreadable: it may have been newer, and have required this log.
    var isOtherSlotLost: Bool
    var contents: Contents

    enum Answer {
        /// A crash left it before a close removed it, or before a slot required it.
        case ignore
        case open, replayOnTrial
        /// The lost slot required it: recovery replays it.
        case require
        /// The data file is older than its log.
        case damage
    }

    var answer: Answer {
        if !isOwn || base == .less { return .ignore }
        if isOtherSlotLost { return base == .same ? .require : .damage }
        switch contents {
        case .unexamined: return .open
        case .unreadable, .empty: return .ignore
        case .opened: return base == .same ? .replayOnTrial : .damage
        case .commits: return .damage
        }
    }
}

extension LeftLogFacts {
    init(
        _ header: LogHeader, slot: HeaderSlot, isOtherSlotLost: Bool = false, contents: Contents = .unexamined
    ) {
        isOwn = header.storeID == slot.storeID
        base =
            header.baseVersion == slot.checkpoint ? .same : header.baseVersion < slot.checkpoint ? .less : .greater
        self.isOtherSlotLost = isOtherSlotLost
        self.contents = contents
    }
}
