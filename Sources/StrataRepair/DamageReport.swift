package import StrataStorage

/// Action of an open on a damaged store.
package enum DamagePolicy: String, Sendable, CaseIterable {
    /// Throws, and leaves the files unchanged.
    case fail
    /// Goes back to the newest version that verifies completely.
    case lastGoodVersion
    /// Keeps every row that verifies.
    case salvage
    /// Starts with an empty store.
    case startAfresh
}

/// Result of a recovery from damage, with the losses.
package struct DamageReport: Sendable {
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
    /// Path of the damaged file: NAME.damaged-1, or the next free number.
    package var keptPath: String
    /// Path of its log, if there was one.
    package var keptLogPath: String?
    /// Bytes of the damaged file that could not be read; zeros in the kept copy.
    package var unreadableBytes: Int
}
