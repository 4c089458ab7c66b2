/// What a gate decided on one figure under one budget.
package struct GateFinding: Sendable, Equatable {
    package enum Decision: String, Sendable, CaseIterable {
        /// Within the budget.
        case kept
        /// Over the budget: the gate is closed.
        case exceeded
        /// It should have been decided and could not be: the gate stays closed.
        case undecided
        /// It is not comparable on this machine or with this baseline. The gate decides without it.
        case skipped
    }

    package var decision: Decision
    package var budget: Budget
    /// nil for a budget that covers no case.
    package var test: Case?
    /// nil if the case had no valid figure.
    package var figure: CountedName?
    package var expected: ObservedRange?
    package var found: ObservedRange?
    /// The reason, in a sentence; empty for an unchanged figure.
    package var reason: String

    package init(
        _ decision: Decision, _ budget: Budget, test: Case? = nil, figure: CountedName? = nil,
        expected: ObservedRange? = nil, found: ObservedRange? = nil, _ reason: String = ""
    ) {
        (self.decision, self.budget, self.test, self.figure) = (decision, budget, test, figure)
        (self.expected, self.found, self.reason) = (expected, found, reason)
    }

    /// `commit  strata  people 1000  commits=20: syncs_per_commit`, or the budget if it covers no case.
    package var subject: String {
        guard let test else { return "budget \(budget.key)" }
        return "\(test.title): \(figure?.description ?? budget.key.metric)"
    }
}

extension Case {
    /// The case for people: its scenario, its engine, and what distinguishes it from other cases of these two.
    package var title: String {
        var words = [scenario, engine]
        if !dataset.isEmpty { words.append(size > 0 ? "\(dataset) \(size)" : dataset) }
        if !parameters.isEmpty { words.append(parameterText) }
        if durability != .full { words.append(durability.rawValue) }
        return words.joined(separator: "  ")
    }
}

/// The result of comparing a run with a baseline.
package struct GateReport: Sendable, Equatable {
    package var baseline: String
    package var plan: String
    package var directory: String
    /// The start of the run, in seconds since 1970.
    package var startTime: Int
    /// In the order of the run's cases; then those of budgets that cover none of them.
    package var findings: [GateFinding]
    /// Remarks for the reader that decide nothing, such as another version of an engine.
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

    /// 2 if a budget is exceeded; otherwise 3 if a figure is undecided, or none was kept.
    package var exitStatus: Int32 {
        if count(.exceeded) > 0 { return 2 }
        return count(.undecided) > 0 || count(.kept) == 0 ? 3 : 0
    }
}
