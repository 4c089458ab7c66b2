/// What happened in a trial, or in a case without trials. Whether that is right is the verdict's business.
package enum Outcome: String, Sendable, CaseIterable {
    case correct
    /// The damage was reported when the database was opened.
    case detectedAtOpen = "detected-at-open"
    /// The damage was reported by a read, and every value returned before was right.
    case detectedAtRead = "detected-at-read"
    /// All data came back.
    case repaired
    /// Older or partial data, and the engine said so.
    case fellBack = "fell-back"
    /// Acknowledged data is missing, and nothing was said.
    case lostCommit = "lost-commit"
    case silentlyWrong = "silently-wrong"
    /// A typed error that does not speak of damage.
    case refused
    case crashed
    case hung
    case memoryLimit = "memory-limit"
    /// Files take more room than they may: one that leaves its bound, or what a compaction left as it was.
    case overSize = "over-size"

    /// The byte that stands for this outcome in a trial file. Part of the format: never renumbered.
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

    /// Whether the user of a damaged database was told the truth. Trials of the other outcomes are kept in full.
    package var isHonest: Bool {
        switch self {
        case .correct, .detectedAtOpen, .detectedAtRead, .repaired, .fellBack, .refused: true
        case .lostCommit, .silentlyWrong, .crashed, .hung, .memoryLimit, .overSize: false
        }
    }

    package static let honest = Set(allCases.filter(\.isHonest))

    /// From harmless to grave: the outcome of a case is the gravest of its trials.
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

/// An outcome against what the scenario, the engine and the durability class promise.
package enum Verdict: String, Sendable, CaseIterable {
    case pass
    case violation
    /// A violation that is listed with a reason: counted like others, but it does not fail the run.
    case known
    /// Damage that the engine never promised to prevent.
    case unpromised
    case notApplicable = "not-applicable"
    case notBuilt = "not-built"
    case inconclusive
    /// What looks like a violation, and hit so many engines in the same way that the harness is the likelier cause.
    case suspectedHarness = "suspected-harness"
    case harnessError = "harness-error"

    /// Whether a promise was broken, whether or not that is listed.
    package var isViolation: Bool { self == .violation || self == .known }
}
