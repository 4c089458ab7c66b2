/// What a gate says of one figure under one budget.
package struct GateFinding: Sendable, Equatable {
    package enum Decision: String, Sendable, CaseIterable {
        /// Within the budget.
        case kept
        /// Over the budget: the gate is closed.
        case exceeded
        /// It should have been decided, and could not be: the gate does not open on that.
        case undecided
        /// Not comparable on this machine or with this baseline, by name; the rest is decided without it.
        case skipped
    }

    package var decision: Decision
    package var budget: Budget
    /// nil for a budget that covers nothing.
    package var test: Case?
    /// nil where no figure of the case could be looked at.
    package var figure: CountedName?
    package var expected: ObservedRange?
    package var found: ObservedRange?
    /// Why, in a sentence; empty for a figure that is as it was.
    package var reason: String

    package init(
        _ decision: Decision, _ budget: Budget, test: Case? = nil, figure: CountedName? = nil,
        expected: ObservedRange? = nil, found: ObservedRange? = nil, _ reason: String = ""
    ) {
        (self.decision, self.budget, self.test, self.figure) = (decision, budget, test, figure)
        (self.expected, self.found, self.reason) = (expected, found, reason)
    }

    /// `commit  strata  people 1000  commits=20: syncs_per_commit`, or the budget where nothing is covered.
    package var subject: String {
        guard let test else { return "budget \(budget.key)" }
        return "\(test.title): \(figure?.description ?? budget.key.metric)"
    }
}

extension Case {
    /// As people read it: scenario, engine, and what tells the case from others of the two.
    package var title: String {
        var words = [scenario, engine]
        if !dataset.isEmpty { words.append(size > 0 ? "\(dataset) \(size)" : dataset) }
        if !parameters.isEmpty { words.append(parameterText) }
        if durability != .full { words.append(durability.rawValue) }
        return words.joined(separator: "  ")
    }
}

/// What a run comes to beside a baseline.
package struct GateReport: Sendable, Equatable {
    package var baseline: String
    package var plan: String
    package var directory: String
    /// Of the run, seconds since 1970.
    package var startTime: Int
    /// In the order of the cases of the run, then what covers none of them.
    package var findings: [GateFinding]
    /// What a reader should know and what decides nothing: an engine of another version.
    package var remarks: [String]

    package init(
        baseline: String, plan: String, directory: String, startTime: Int, findings: [GateFinding], remarks: [String]
    ) {
        (self.baseline, self.plan, self.directory) = (baseline, plan, directory)
        (self.startTime, self.findings, self.remarks) = (startTime, findings, remarks)
    }

    package func count(_ decision: GateFinding.Decision) -> Int {
        findings.count { $0.decision == decision }
    }

    /// 2 for a budget that is exceeded, before 3 for anything undecided or nothing decided at all.
    package var exitStatus: Int32 {
        if count(.exceeded) > 0 { return 2 }
        return count(.undecided) > 0 || count(.kept) == 0 ? 3 : 0
    }
}
