/// How far an application has come from the old store to the new one.
public enum MigrationPhase: Int, Sendable, Codable, CaseIterable, CustomStringConvertible {
    /// The old store alone is read and written.
    case old = 0
    case bothOldRead = 1
    case bothNewRead = 2
    /// The new store alone. Until ``DoubleWriter/retire()`` what is changed is noted for the way back.
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

/// Which store a batch is written to first. The other one is behind for a moment, or for longer when it fails.
public enum WriteOrder: String, Sendable, CaseIterable {
    case oldFirst, newFirst
    var first: StoreSide { self == .oldFirst ? .old : .new }
}

/// What became of a batch.
public enum WriteOutcome: Sendable {
    /// All stores that the phase writes have it.
    case done
    /// The first store has it; for the other one it waits in the outbox, behind all that waits there already.
    case waiting(StoreSide, any Error)

    public var isDone: Bool {
        if case .done = self { return true }
        return false
    }
}

/// What was counted in one phase since the writer was made.
public struct MigrationFigures: Sendable {
    public var batches = 0
    public var changes = 0
    public var secondsInOld = 0.0
    public var secondsInNew = 0.0
    public var secondsInOutbox = 0.0
    /// Batches that had to wait for the second store.
    public var waited = 0
    /// Of those that were written when they had waited, the longest wait.
    public var secondsWaitedMax = 0.0
    public var divergencesFound = 0
    public var divergencesMended = 0
    public var secondsReconciling = 0.0
}
