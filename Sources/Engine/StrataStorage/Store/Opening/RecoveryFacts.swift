/// What decides what a process does to the files that an earlier one left, before it shows a version.
struct RecoveryFacts: Hashable {
    /// The slot in force requires the log.
    var isLogRequired: Bool
    /// Both slots name the checkpoint and no log.
    var isClean: Bool
    /// There is a log that no slot requires. It was examined: it holds no commits.
    var hasLeftLog: Bool
    var isReadOnly: Bool
    /// False for a store in memory.
    var isPersistent: Bool

    enum Answer {
        case nothing
        /// Replay the log.
        case replay
        /// Complete an unfinished close or recovery: write both slots, and remove the log.
        case settle
    }

    var answer: Answer {
        if isLogRequired { return .replay }
        if !isPersistent || isReadOnly { return .nothing }
        return !isClean || hasLeftLog ? .settle : .nothing
    }
}
