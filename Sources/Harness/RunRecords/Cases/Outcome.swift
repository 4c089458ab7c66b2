import JSONText

/// What happened in a trial, or in a case without trials. The verdict decides whether that is right.
package enum Outcome: String, JSONForm, Sendable, CaseIterable {
    case correct
    /// The open reported the damage.
    case detectedAtOpen = "detected-at-open"
    /// A read reported the damage, and every value returned before was right.
    case detectedAtRead = "detected-at-read"
    /// The engine repaired the damage, and returned all data.
    case repaired
    /// The engine returned older or partial data, and reported that.
    case fellBack = "fell-back"
    /// Acknowledged data is missing, without an error; or cannot be read, though nothing damaged it.
    case lostCommit = "lost-commit"
    case silentlyWrong = "silently-wrong"
    /// An error that does not report damage.
    case refused
    case crashed
    case hung
    case memoryLimit = "memory-limit"
    /// Files are larger than allowed: they exceed a bound, or a compaction did not make them smaller.
    case overSize = "over-size"

    /// The byte of this outcome in a trial file. Part of the format: never renumbered.
    package var code: UInt8 {
        switch self {
        case .correct: 1
        case .detectedAtOpen: 2
        case .detectedAtRead: 3
        case .repaired: 4
        case .fellBack: 5
        case .lostCommit: 6
        case .silentlyWrong: 7
        case .refused: 8
        case .crashed: 9
        case .hung: 10
        case .memoryLimit: 11
        case .overSize: 12
        }
    }

    package init?(code: UInt8) {
        guard let outcome = Outcome.allCases.first(where: { $0.code == code }) else { return nil }
        self = outcome
    }

    /// Whether the engine returned right data, or reported that it did not. Of each other outcome, a case keeps the
    /// first trials in full.
    package var isHonest: Bool {
        switch self {
        case .correct, .detectedAtOpen, .detectedAtRead, .repaired, .fellBack, .refused: true
        case .lostCommit, .silentlyWrong, .crashed, .hung, .memoryLimit, .overSize: false
        }
    }

    package static let honest = Set(allCases.filter(\.isHonest))

    /// The order from harmless to grave: the outcome of a case is the gravest of its trials' outcomes.
    package var gravity: Int {
        switch self {
        case .correct: 0
        case .repaired: 1
        case .detectedAtOpen: 2
        case .detectedAtRead: 3
        case .refused: 4
        case .fellBack: 5
        case .overSize: 6
        case .memoryLimit: 7
        case .hung: 8
        case .crashed: 9
        case .lostCommit: 10
        case .silentlyWrong: 11
        }
    }
}

/// The outcome judged by what the scenario, the engine and the durability class promise.
package enum Verdict: String, JSONForm, Sendable, CaseIterable {
    case pass
    case violation
    /// A violation that is listed with its reason: it is counted like others, but does not fail the run.
    case known
    /// A failure that the engine never promised to prevent, so that it breaks no promise.
    case unpromised
    case notApplicable = "not-applicable"
    case notBuilt = "not-built"
    case inconclusive
    /// A violation that so many engines have in the same way that the harness is more likely at fault.
    case suspectedHarness = "suspected-harness"
    case harnessError = "harness-error"

    /// Whether a promise was broken, in a way that is known or not.
    package var isViolation: Bool { self == .violation || self == .known }
}
