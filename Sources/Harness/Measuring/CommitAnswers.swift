/// Whether the writes of one acknowledged operation were synced before the acknowledgement, as the preloaded library
/// saw it. `assay_preload.h` has the exact rules. "The log" is the watched logs, or, if none was written to, the other
/// files.
package enum CommitAnswer: Int32, Sendable, CaseIterable {
    /// No watched file was written to: nothing that the library saw makes the operation durable.
    case nothingWritten = 0
    /// A sync that began after the log writes during the operation covers all of them.
    case synced = 1
    /// A sync covers some of the log writes; those not covered are of other threads.
    case grouped = 2
    /// No sync covers the operation's own log writes, or any at all.
    case unsynced = 3
}

/// Counts of acknowledged operations, by answer.
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
