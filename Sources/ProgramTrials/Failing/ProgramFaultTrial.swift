/// What a program made of a fault. From harmless to grave.
package enum ProgramFaultOutcome: String, Sendable, CaseIterable {
    /// It was killed, and the check is content with what it left.
    case survived
    /// It ended with another status than 0, and the check is content.
    case told
    /// It ended with status 0 as if nothing had happened, and the check is content.
    case untold
    /// A write did half of what it was asked for, the program wrote the rest, and the check is content: no call failed,
    /// and there is nothing to tell.
    case completed
    /// The fault never struck: nothing is known.
    case notStruck = "not-struck"
    case hung
    /// It ended by a signal of its own.
    case crashed
    /// The check fails.
    case broken

    /// Whether nothing was promised that was not kept.
    package func isViolation(mustTell: Bool) -> Bool {
        switch self {
        case .survived, .told, .completed, .notStruck: false
        case .untold: mustTell
        case .hung, .crashed, .broken: true
        }
    }
}

/// One fault, and what came of it.
package struct ProgramFaultTrial: Sendable {
    package var fault: CallFault
    package var outcome: ProgramFaultOutcome
    /// How the program ended, and what the check said.
    package var detail: String
}
