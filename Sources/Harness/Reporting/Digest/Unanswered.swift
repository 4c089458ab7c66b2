import RunRecords

/// Cases that came to no conclusion for one reason.
struct Unanswered {
    /// The reason as a clause: `the budget of 10 min was used up`.
    var reason: String
    var cases: [CaseResult]
}

extension RunDigest {
    /// Whether the case has no answer.
    static func isUnanswered(_ result: CaseResult) -> Bool {
        Standing.judged(result.verdict).shown == .unanswered
    }

    /// The cases without an answer by reason, the most frequent reason first. Cases that did not run are not among
    /// them.
    var unanswered: [Unanswered] {
        once {
            let open = results.filter(Self.isUnanswered)
            let groups = Dictionary(grouping: open) { reason($0) { FailureCause.text(of: $0) } }
            let reasons = Self.unique(open.map { reason($0) { FailureCause.text(of: $0) } })
            return reasons.map { common in
                let cases = groups[common] ?? []
                // The numbers of a message are left out only where several cases share it.
                let own = cases.count == 1 ? reason(cases[0]) { TextTable.shortened($0, to: 160) } : common
                return Unanswered(reason: own, cases: cases)
            }
            .sorted { $0.cases.count > $1.cases.count }
        }
    }

    /// How many cases of the plan have no answer, including those that did not run.
    var unansweredCount: Int { results.count(where: Self.isUnanswered) + missing.count }

    /// - Parameter words: of the case's message.
    private func reason(_ result: CaseResult, message words: (String) -> String) -> String {
        switch result.verdict {
        case .harnessError: return "the harness itself failed"
        case .suspectedHarness: return "most engines failed alike, so that Assay suspects its harness"
        default: break
        }
        if result.isCut || result.message.contains("its share of the budget") { return budgetReason }
        let message = words(result.message.firstLine)
        return message.isEmpty ? "the case recorded no reason" : message
    }

    private var budgetReason: String {
        guard let seconds = run.header.budgetSeconds else { return "their share of the budget was used up" }
        return "the budget of \(Self.minutes(seconds)) was used up"
    }

    /// `25 min`, `90 s`.
    static func minutes(_ seconds: Double) -> String {
        let isWhole = seconds >= 120 && seconds.truncatingRemainder(dividingBy: 60) == 0
        return Figure.trimmed(isWhole ? seconds / 60 : seconds) + Figure.gap + (isWhole ? "min" : "s")
    }
}
