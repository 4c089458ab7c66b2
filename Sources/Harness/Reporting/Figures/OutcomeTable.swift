import RunRecords

/// The outcomes of one engine in the trials of a scenario, and its promises.
struct OutcomeRow {
    /// The columns of an outcome table; outcomes that mean the same to a user share one.
    enum Group: String, CaseIterable {
        case correct, detected, repaired, fellBack, refused, silentlyWrong, lost, crashed, hung, memory, size

        var words: String {
            switch self {
            case .fellBack: "fell back"
            case .silentlyWrong: "silently wrong"
            case .memory: "over limit"
            case .size: "over size"
            default: rawValue
            }
        }

        var outcomes: [Outcome] {
            switch self {
            case .correct: [.correct]
            case .detected: [.detectedAtOpen, .detectedAtRead]
            case .repaired: [.repaired]
            case .fellBack: [.fellBack]
            case .refused: [.refused]
            case .silentlyWrong: [.silentlyWrong]
            case .lost: [.lostCommit]
            case .crashed: [.crashed]
            case .hung: [.hung]
            case .memory: [.memoryLimit]
            case .size: [.overSize]
            }
        }

        var isBad: Bool { outcomes.contains { !$0.isHonest } }
    }

    var engine: String
    var subject: Subject
    var result: CaseResult

    func count(_ group: Group) -> Int {
        group.outcomes.reduce(0) { $0 + count($1) }
    }

    /// A case whose process ended early, without outcomes, counts as one trial with the outcome of the case.
    func count(_ outcome: Outcome) -> Int {
        result.outcomes.isEmpty && result.outcome == outcome ? 1 : result.count(of: outcome)
    }

    var trialCount: Int { Outcome.allCases.reduce(0) { $0 + count($1) } }

    var standing: Standing { .judged(result.verdict) }

    /// The state of each promise that the scenario tests: kept, broken or not made. A dash for a run that did not
    /// record promises.
    var promise: String {
        let promises = result.promises.filter { $0.state != .open }
        let words = promises.map { $0.kind.isEmpty || promises.count == 1 ? $0.words : "\($0.kind) \($0.words)" }
        return words.isEmpty ? Figure.none : words.joined(separator: ", ")
    }

    /// The gravest state of a promise in one word, for a terminal.
    var shortPromise: String {
        let order: [JudgedPromise.State] = [.broken, .known, .kept, .notMade]
        let gravest = order.first { state in result.promises.contains { $0.state == state } }
        return switch gravest {
        case .broken: "broken"
        case .known: "known"
        case .kept: "kept"
        case .notMade: "none"
        case .open, nil: Figure.none
        }
    }
}

extension JudgedPromise {
    /// The state for people. What every engine must get right is not called a promise.
    var words: String {
        switch state {
        case .kept: kind.isEmpty ? "as required" : "kept"
        case .broken: kind.isEmpty ? "not as required" : "broken"
        case .known: "broken, known"
        case .notMade: "none made"
        case .open: Figure.none
        }
    }
}

extension RunDigest {
    /// A row per subject and engine: by family as the question lists them, then in plan order, then by engine.
    func outcomeRows(_ question: Question) -> [OutcomeRow] {
        question.families.flatMap { family in
            comparisons.filter { $0.subject.family == family }.flatMap { comparison in
                engines.compactMap { engine in
                    comparison.results[engine].map {
                        OutcomeRow(engine: engine, subject: comparison.subject, result: $0)
                    }
                }
            }
        }
    }
}
