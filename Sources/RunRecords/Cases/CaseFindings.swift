/// What a case found: its scenario fills it, its worker writes it, and the runner stores it in the case's result.
package struct CaseFindings: Sendable, Equatable {
    /// In the order of `Outcome.allCases`, without zeros.
    package var outcomes: [OutcomeCount] = []
    package var samples: [Sample] = []
    /// The first trials of every outcome that is not honest.
    package var trials: [Trial] = []
    /// The causes of outcomes that are not `correct`. They count all trials. In a result they lack those that the
    /// scenario accepts, and the gravest is first.
    package var causes: [FailureCause] = []
    /// Whether the case used up its share of the budget, and stopped before its work was done: then the figures
    /// describe only the part that was done.
    package var isCut = false

    /// How many trials of each outcome that is not honest are kept in full.
    package static let keptTrials = 20

    package init() {}

    package mutating func add(_ trial: Trial) {
        if !trial.outcome.isHonest && count(of: trial.outcome) < Self.keptTrials { trials.append(trial) }
        if trial.outcome != .correct { causes.add(trial) }
        count(trial.outcome)
    }

    /// Counts one more trial with that outcome.
    package mutating func count(_ outcome: Outcome) {
        let place = outcomes.firstIndex { $0.outcome.code >= outcome.code } ?? outcomes.endIndex
        if place == outcomes.endIndex || outcomes[place].outcome != outcome {
            outcomes.insert(OutcomeCount(outcome: outcome, count: 0), at: place)
        }
        outcomes[place].count += 1
    }

    package func count(of outcome: Outcome) -> Int {
        outcomes.first { $0.outcome == outcome }?.count ?? 0
    }

    /// The gravest outcome of all trials; nil if no trial ran.
    package var gravest: Outcome? { outcomes.map(\.outcome).max { $0.gravity < $1.gravity } }
}
