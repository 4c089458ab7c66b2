/// The syncs behind one acknowledged operation, as the preloaded library saw them.
package enum CommitAnswer: Int32, Sendable, CaseIterable {
    /// No log was written: nothing that was seen makes it durable.
    case nothingWritten = 0
    /// All log writes during the operation are covered by a sync that began after them.
    case synced = 1
    /// Only some are; the uncovered ones are other threads' writes.
    case grouped = 2
    /// The operation's own writes, or all, are not covered.
    case unsynced = 3
}

/// The number of acknowledged operations per answer.
package struct CommitAnswers: Sendable, Equatable {
    package var nothingWritten = 0
    package var synced = 0
    package var grouped = 0
    package var unsynced = 0

    package init() {}

    package var total: Int { nothingWritten + synced + grouped + unsynced }

    /// Operations that were acknowledged without a sync.
    package var withoutSync: Int { nothingWritten + unsynced }

    package mutating func count(_ answer: CommitAnswer) {
        switch answer {
        case .nothingWritten: nothingWritten += 1
        case .synced: synced += 1
        case .grouped: grouped += 1
        case .unsynced: unsynced += 1
        }
    }

    package mutating func merge(_ other: CommitAnswers) {
        nothingWritten += other.nothingWritten
        synced += other.synced
        grouped += other.grouped
        unsynced += other.unsynced
    }
}
