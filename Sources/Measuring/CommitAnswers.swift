/// What the preloaded library saw of the syncs behind one acknowledged operation.
package enum CommitAnswer: Int32, Sendable, CaseIterable {
    /// No log was written to: not durable by anything that was seen.
    case nothingWritten = 0
    /// All that was written to logs in its time is covered by a sync that began after it was written.
    case synced = 1
    /// Some of it is; what is not yet was written by other threads.
    case grouped = 2
    /// The operation's own writes, or all of them, are not.
    case unsynced = 3
}

/// How many acknowledged operations got which answer.
package struct CommitAnswers: Sendable, Equatable {
    package var nothingWritten = 0
    package var synced = 0
    package var grouped = 0
    package var unsynced = 0

    package init() {}

    package var total: Int { nothingWritten + synced + grouped + unsynced }

    /// Those that were acknowledged without a sync.
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
