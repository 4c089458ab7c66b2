import RunRecords

/// Failures with the same cause, in all cases of a scenario on one engine: thousands of failed trials become a few
/// groups.
struct CauseGroup {
    var scenario: String
    var engine: String
    /// nil for a harness error, and for a case that the run left out.
    var outcome: Outcome?
    /// The message without numbers and data.
    var text: String
    /// The number of trials; 0 without an outcome.
    var count: Int
    /// In plan order.
    var cases: [CaseResult]
    /// The whole message of the first failure.
    var detail: String
    /// The address of the first failure; nil if it is the case as a whole.
    var example: FaultAddress?
    /// The command that replays the failure's case file; nil if there is no such file.
    var caseFileCommand: String?
}

extension Outcome {
    /// `silently wrong`.
    var words: String { rawValue.split(separator: "-").joined(separator: " ") }
}

extension RunDigest {
    /// The failures in the cases with a verdict, by cause: in plan order, and within a case the gravest first.
    func causeGroups(_ verdict: Verdict) -> [CauseGroup] {
        struct Key: Hashable {
            var scenario: String
            var engine: String
            var outcome: Outcome?
            var text: String
        }
        var groups: [CauseGroup] = []
        var places: [Key: Int] = [:]
        func add(_ result: CaseResult, _ group: CauseGroup) {
            let key = Key(scenario: group.scenario, engine: group.engine, outcome: group.outcome, text: group.text)
            guard let place = places[key] else {
                places[key] = groups.count
                groups.append(group)
                return
            }
            groups[place].count += group.count
            if groups[place].cases.last?.test.id != result.test.id { groups[place].cases.append(result) }
        }
        for result in results where result.verdict == verdict {
            let hasTrials = ![.harnessError, .inconclusive].contains(verdict)
            let causes = hasTrials ? result.failureCauses : []
            for cause in causes {
                add(
                    result,
                    CauseGroup(
                        scenario: result.test.scenario, engine: result.test.engine, outcome: cause.outcome,
                        text: cause.text, count: cause.count, cases: [result], detail: cause.detail,
                        example: example(cause, of: result),
                        caseFileCommand: caseFileCommand(result.test.id, cause.outcome, cause.example)))
            }
            if causes.isEmpty {
                let message = result.message.firstLine
                add(
                    result,
                    CauseGroup(
                        scenario: result.test.scenario, engine: result.test.engine,
                        outcome: hasTrials ? result.outcome : nil, text: FailureCause.text(of: message), count: 0,
                        cases: [result], detail: message, example: nil))
            }
        }
        return groups
    }

    /// The address of the trial; nil for the case as a whole, and if the case has a single trial.
    private func example(_ cause: FailureCause, of result: CaseResult) -> FaultAddress? {
        cause.example.isWholeCase || result.trialCount <= 1 ? nil : cause.example
    }

    /// The command that repeats the first failure of a group.
    func replayCommand(_ group: CauseGroup) -> String {
        replayCommand(group.cases.first?.test.id ?? "", trial: group.example?.text ?? "")
    }
}
