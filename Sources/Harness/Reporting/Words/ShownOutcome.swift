import RunRecords

/// The word by which a report shows an outcome: one of six, from harmless to grave. Records and CSV have the exact
/// `Outcome`.
enum ShownOutcome: String, CaseIterable {
    case correct, reported, excess, stopped, lost, wrong

    init(_ outcome: Outcome) {
        self =
            switch outcome {
            case .correct, .repaired: .correct
            case .detectedAtOpen, .detectedAtRead, .fellBack, .refused: .reported
            case .memoryLimit, .overSize: .excess
            case .crashed, .hung: .stopped
            case .lostCommit: .lost
            case .silentlyWrong: .wrong
            }
    }

    var isBad: Bool { self != .correct && self != .reported }

    /// What the word means, for the legend.
    var explanation: String {
        switch self {
        case .correct: "All data is there and right, at once or after a repair."
        case .reported: "The engine reported damage or an error, and gave no wrong data."
        case .excess: "The engine took more memory, or left larger files, than it may."
        case .stopped: "The process crashed, or waited without end."
        case .lost:
            "Data that the engine acknowledged is gone, and it reported nothing; or it cannot read it, though nothing "
                + "damaged the files."
        case .wrong: "The engine gave wrong data as if it were right."
        }
    }
}

extension OutcomeRow {
    func count(of shown: ShownOutcome) -> Int {
        Outcome.allCases.reduce(0) { $0 + (ShownOutcome($1) == shown ? count($1) : 0) }
    }

    /// The exact outcomes that the word stands for: `94 detected at open, 12 refused`; nil if there is only one, with
    /// the same word.
    func parts(of shown: ShownOutcome) -> String? {
        let found = Outcome.allCases.filter { ShownOutcome($0) == shown && count($0) > 0 }
        if found.count < 2, found.first.map({ $0.words == shown.rawValue }) ?? true { return nil }
        return found.map { "\(Figure.grouped(count($0))) \($0.words)" }.joined(separator: ", ")
    }
}

extension FaultRow {
    func count(of shown: ShownOutcome) -> Int { cases.reduce(0) { $0 + $1.count(of: shown) } }

    func share(of shown: ShownOutcome) -> Double? {
        trialCount == 0 ? nil : Double(count(of: shown)) / Double(trialCount)
    }

    /// The gravest outcome that occurred; nil if there are no trials.
    var worst: ShownOutcome? { ShownOutcome.allCases.last { count(of: $0) > 0 } }
}
