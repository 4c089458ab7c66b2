/// How a program handled a fault, in order of severity.
package enum ProgramFaultOutcome: String, Sendable, CaseIterable {
    /// The fault killed the program, and the check accepts the files that it left.
    case survived
    /// The program ended with another status than 0, and the check accepts the files.
    case reported
    /// The program ended with status 0 although a call had failed, and the check accepts the files.
    case notNoticed = "not-noticed"
    /// A write transferred half of its bytes, the program wrote the rest, and the check accepts the files: no call
    /// failed, so there is no error to report.
    case completed
    /// The fault did not strike: the trial has no outcome.
    case notStruck = "not-struck"
    case hung
    /// The program ended by a signal that it caused itself.
    case crashed
    /// The check fails.
    case broken

    /// Whether a promise was broken.
    package func isViolation(mustTell: Bool) -> Bool {
        switch self {
        case .survived, .reported, .completed, .notStruck: false
        case .notNoticed: mustTell
        case .hung, .crashed, .broken: true
        }
    }
}

/// One fault, and its outcome.
package struct ProgramFaultTrial: Sendable {
    package var fault: CallFault
    package var outcome: ProgramFaultOutcome
    /// How the program ended, and what the check printed.
    package var detail: String
}
