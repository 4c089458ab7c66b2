/// What a case found: its scenario fills it, its worker writes it, and the runner stores it in the case's result.
package struct CaseFindings: Sendable, Equatable {
    /// In the order of `Outcome.allCases`, without zeros.
    package var outcomes: [OutcomeCount] = []
    package var samples: [Sample] = []
    /// The first `keptTrials` trials of every outcome that is not honest.
    package var trials: [Trial] = []
    /// The causes of all outcomes but `correct`, with counts over all trials. For a result, the judge drops the causes
    /// of outcomes that the scenario accepts, and sorts the others, the gravest first.
    package var causes: [FailureCause] = []
    /// Whether the case used up its share of the budget, and stopped before its work was done: then the figures
    /// describe only the part that it did.
    package var isCut = false

    /// A case keeps this many trials of each outcome that is not honest in full, and only counts the others.
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
