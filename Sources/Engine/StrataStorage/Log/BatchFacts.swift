/// Facts about a batch of the log's epoch that replay did not join to the chain. Its header is intact.
struct BatchFacts: Hashable {
    /// Where its first record belongs.
    enum Place: CaseIterable {
        /// Within the chain, or before it.
        case before
        /// Right after the end of the chain: it names another predecessor, or stands where no batch joins the chain.
        case next
        /// After records that are missing.
        case after
    }

    var place: Place
    /// Its header says that a record after the end of the chain was durable.
    var claimsDurable: Bool
    /// Its payload lies within its half, and matches its checksum.
    var isWhole: Bool
    /// It ends at the LSN that the header slot names as synced, or later.
    var reaches: Bool
    /// The chain, or a batch seen before, is proof that the log has reached that LSN.
    var hasReached: Bool

    /// Meaning of a batch for the end of the chain.
    enum Answer {
        /// Nothing: it is a leftover, or was torn before it was acknowledged.
        case nothing
        /// The log has reached the LSN in the slot, or records follow the end. In a sealed log the payload must open.
        case witness
        /// A durable record is missing, or the file was changed.
        case contradiction
    }

    var answer: Answer {
        if claimsDurable { return .contradiction }
        if !isWhole { return .nothing }
        switch place {
        case .next: return .contradiction
        case .after: return .witness
        case .before: return reaches && !hasReached ? .witness : .nothing
        }
    }
}

/// Facts about a batch that replay examines as proof of how far the log has reached, when no whole batch proves it. Its
/// header is intact, or replay has corrected one bit of the header.
struct DamagedBatchFacts: Hashable {
    enum Payload: CaseIterable {
        case unexamined
        /// Not examined: replay has examined as many payloads as it may.
        case beyondLimit
        /// It matches its checksum, perhaps with one bit corrected.
        case whole
        case lost
    }

    var claimsDurable: Bool
    var reaches: Bool
    /// The log is encrypted: an attacker could forge a header alone without the key.
    var isSealed: Bool
    var payload: Payload

    enum Answer {
        case nothing
        /// The payload decides.
        case examinePayload
        /// The log has reached the LSN in the slot. In a sealed log the payload must open, too.
        case proof
        /// A durable record is missing.
        case contradiction
        /// Replay examines no more batches: the log counts as an older copy of itself.
        case giveUp
    }

    var answer: Answer {
        if !reaches { return .nothing }
        if claimsDurable { return .contradiction }
        if !isSealed { return .proof }
        switch payload {
        case .unexamined: return .examinePayload
        case .beyondLimit: return .giveUp
        case .whole: return .proof
        case .lost: return .nothing
        }
    }
}
