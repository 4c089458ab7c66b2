/// The phase of a migration from the old store to the new one.
public enum MigrationPhase: Int, Sendable, Codable, CaseIterable, CustomStringConvertible {
    /// Only the old store is read and written.
    case old = 0
    case bothOldRead = 1
    case bothNewRead = 2
    /// Only the new store is read and written. Until ``DoubleWriter/retire()`` changes are recorded for the way back.
    case new = 3

    public var description: String {
        switch self {
        case .old: "old"
        case .bothOldRead: "both, old is read"
        case .bothNewRead: "both, new is read"
        case .new: "new"
        }
    }

    public var readSide: StoreSide { self == .old || self == .bothOldRead ? .old : .new }
    public var writesBoth: Bool { self == .bothOldRead || self == .bothNewRead }
}

/// The store that a batch is written to first. The other one lags for a moment, or longer if it fails.
public enum WriteOrder: String, Sendable, CaseIterable {
    case oldFirst, newFirst
    var first: StoreSide { self == .oldFirst ? .old : .new }
}

/// The result of writing a batch.
public enum WriteOutcome: Sendable {
    /// All stores that the phase writes have it.
    case done
    /// The first store has it; for the other it waits in the outbox, after all earlier batches.
    case waiting(StoreSide, any Error)

    public var isDone: Bool {
        if case .done = self { return true }
        return false
    }
}

/// Counts of one phase since the writer was opened.
public struct MigrationFigures: Sendable {
    public var batches = 0
    public var changes = 0
    public var secondsInOld = 0.0
    public var secondsInNew = 0.0
    public var secondsInOutbox = 0.0
    /// Batches that had to wait for the second store.
    public var waited = 0
    /// The longest wait of a batch that was written later.
    public var secondsWaitedMax = 0.0
    public var divergencesFound = 0
    public var divergencesMended = 0
    public var secondsReconciling = 0.0
}
