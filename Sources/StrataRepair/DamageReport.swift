package import StrataStorage

/// What an open does with a damaged store.
package enum DamagePolicy: String, Sendable, CaseIterable {
    /// Throws, and leaves the files as they are.
    case fail
    /// Goes back to the newest version that verifies in full.
    case lastGoodVersion
    /// Takes over all that verifies, row by row.
    case salvage
    /// Starts with an empty store.
    case startAfresh
}

/// What became of a damaged store, and what was lost.
package struct DamageReport: Sendable {
    package enum Outcome: Sendable {
        /// Everything after `version` is lost: up to `newest`, as far as that can be read.
        case wentBack(to: TransactionID, newest: TransactionID)
        case salvaged(SalvageReport)
        /// Everything is lost: `newest` is the last version that can be read of, 0 when none can.
        case startedAfresh(newest: TransactionID)
    }

    /// What the open threw.
    package var error: StorageError
    package var outcome: Outcome
    /// Where the damaged file is kept: NAME.damaged-1, or the next number that is free.
    package var keptPath: String
    /// Its log beside it, if there was one.
    package var keptLogPath: String?
    /// Bytes of the damaged file that could not be read; zeros in the one that is kept.
    package var unreadableBytes: Int
}
