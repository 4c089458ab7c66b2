package import StrataStorage

/// The action of an open on a damaged store.
package enum DamagePolicy: String, Sendable, CaseIterable {
    /// Throws, and leaves the files unchanged.
    case fail
    /// Restores the newest version that verifies completely: all later commits are lost.
    case lastGoodVersion
    /// Copies every row that verifies to a new store.
    case salvage
    /// Replaces the store by an empty one.
    case startAfresh
}

/// Result of a recovery from damage, with the losses.
package struct DamageReport: Sendable {
    /// Result of the policy for the store.
    package enum Outcome: Sendable {
        /// Everything after `version` is lost, up to `newest` as far as that is readable.
        case wentBack(to: TransactionID, newest: TransactionID)
        case salvaged(SalvageReport)
        /// Everything is lost: `newest` is the last version that is readable from the files, 0 if there is none.
        case startedAfresh(newest: TransactionID)
    }

    /// The error of the open.
    package var error: StorageError
    package var outcome: Outcome
    /// Path of the copy of the damaged file: NAME.damaged-1, or the next free number.
    package var keptPath: String
    /// Path of the copy of its log, if there was one.
    package var keptLogPath: String?
    /// Bytes of the damaged file and its log that could not be read; they are zeros in the copies.
    package var unreadableBytes: Int
}
