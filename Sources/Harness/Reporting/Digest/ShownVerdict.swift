import RunRecords

/// The word by which a report shows a verdict: one of five. Records, CSV, the gate and the entry of a case have the
/// exact `Verdict`.
enum ShownVerdict: String, CaseIterable {
    case broken, unanswered, unprotected, kept, skipped

    var symbol: String {
        switch self {
        case .broken: "\u{2717}"
        case .unanswered: "?"
        case .unprotected: "\u{25CB}"
        case .kept: "\u{2713}"
        case .skipped: "\u{2013}"
        }
    }

    /// What the word means, for the legend.
    var explanation: String {
        switch self {
        case .broken: "The engine broke a promise: its own, or one that every engine must keep."
        case .unanswered: "The case came to no conclusion, or did not run; its entry has the reason."
        case .unprotected: "The engine damaged or lost data, and never promised to prevent or report that."
        case .kept: "The engine kept every promise that the case tried."
        case .skipped: "The engine cannot do what the case needs, or is not part of this build."
        }
    }

    /// The gravest verdict has rank 0.
    var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

extension Standing {
    var shown: ShownVerdict {
        switch self {
        case .judged(.pass): .kept
        case .judged(.violation), .judged(.known): .broken
        case .judged(.unpromised): .unprotected
        case .judged(.notApplicable), .judged(.notBuilt): .skipped
        case .judged(.inconclusive), .judged(.suspectedHarness), .judged(.harnessError), .notRun: .unanswered
        }
    }
}
