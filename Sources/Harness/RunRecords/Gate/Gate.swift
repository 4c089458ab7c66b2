/// Compares the counts of a run with a baseline, under counter budgets. The result depends on these three alone.
///
/// Invariants:
/// 1. Only counters decide; no time, rate or share does.
/// 2. A figure that is not comparable on this machine is skipped, and the report names it with the reason; all other
///    figures are still decided.
/// 3. A figure that a budget covers, and that cannot be decided, is undecided and not kept: a gate without figures
///    stays closed.
package struct Gate {
    private let run: Run
    private let baseline: Baseline
    private let budgets: [Budget]
    private let machine: Fingerprint
    /// Whether any case has counts of the preloaded library.
    private let hasWitness: Bool
    private let hasInstructions: Bool

    package static func report(_ run: Run, baseline: Baseline, budgets: [Budget]) -> GateReport {
        let gate = Gate(run: run, baseline: baseline, budgets: budgets)
        return GateReport(
            baseline: baseline.name, plan: run.header.plan, directory: run.directory, startTime: run.header.startTime,
            findings: gate.findings, remarks: gate.remarks)
    }

    private init(run: Run, baseline: Baseline, budgets: [Budget]) {
        (self.run, self.baseline, self.budgets) = (run, baseline, budgets)
        machine = Fingerprint(run.header)
        let metrics = Set(run.results.flatMap(\.samples).map(\.metric.name))
        hasWitness = metrics.contains("file_syncs")
        hasInstructions = metrics.contains("instructions")
    }

    private var findings: [GateFinding] {
        let missing = baseline.cases.filter { !run.header.cases.contains($0.test.id) }
        let findings = run.header.cases.flatMap { self.findings(of: $0) } + missing.flatMap { gone($0) }
        let used = Set(findings.map(\.budget))
        let idle = budgets.filter { $0.limit != .any && !used.contains($0) && !coversSomething($0.key) }
        return findings + idle.map(unused)
    }

    /// The finding for a budget that covers no figure of the run and none of the baseline.
    private func unused(_ budget: Budget) -> GateFinding {
        if let counter = Counter(rawValue: budget.key.metric) ?? Counter(metric: budget.key.metric) {
            let (decision, reason) = absent(counter)
            if decision == .skipped { return GateFinding(.skipped, budget, reason) }
        }
        return GateFinding(
            .undecided, budget,
            "no case of the run and none of the baseline has such a figure: correct the budget, or take it out")
    }

    /// Whether the key covers a figure, even if narrower budgets apply to all figures that it covers.
    private func coversSomething(_ key: BudgetKey) -> Bool {
        let isInBaseline = baseline.cases.contains { counted in
            counted.figures.keys.contains { key.covers(counted.test, $0) }
        }
        return isInBaseline
            || run.results.contains { result in
                result.samples.contains { sample in CountedName(sample).map { key.covers(result.test, $0) } ?? false }
            }
    }

    private var remarks: [String] {
        machine.engineVersions.sorted { $0.key < $1.key }.compactMap { name, version in
            guard let before = baseline.fingerprint.engineVersions[name], before != version else { return nil }
            return "\(name) is \(version) here and was \(before) when the baseline was saved"
        }
    }

    // MARK: Cases

    private func findings(of id: String) -> [GateFinding] {
        let measurements = run.measurements(of: id)
        guard let test = measurements.first?.test else { return [] }
        let expected = baseline.figures(of: id)
        if let objecting = measurements.first(where: { CountedCase.objection(to: $0) != nil }) {
            return failed(test, objecting, expected)
        }
        let counted = CountedCase(measurements)?.figures ?? [:]
        let names = Set(counted.keys).union((expected?.figures ?? [:]).keys).sorted()
        return names.compactMap { name in
            guard let budget = budgets.budget(for: test, name), budget.limit != .any else { return nil }
            return finding(test, name, budget, expected: expected?.figures[name], found: counted[name])
        }
    }

    /// The findings of a case without valid figures: one per budget that covers it, instead of one per figure.
    private func failed(_ test: Case, _ result: CaseResult, _ expected: CountedCase?) -> [GateFinding] {
        let reason = "nothing is counted of this case: it \(CountedCase.objection(to: result) ?? "")"
        let isAbsent = [.notBuilt, .notApplicable].contains(result.verdict)
        return covering(test, expected).map { budget in
            GateFinding(isAbsent ? .skipped : .undecided, budget, test: test, reason)
        }
    }

    private func gone(_ counted: CountedCase) -> [GateFinding] {
        covering(counted.test, counted).map { budget in
            GateFinding(
                .undecided, budget, test: counted.test,
                "the baseline has this case and the run has not: run the whole plan, or save the baseline anew")
        }
    }

    /// The budgets that would have applied to a case if it had figures.
    private func covering(_ test: Case, _ expected: CountedCase?) -> [Budget] {
        guard let expected else {
            return budgets.filter { $0.key.isAbout(test) && $0.limit != .any }
        }
        let held = Set(expected.figures.keys.compactMap { budgets.budget(for: test, $0) })
        return budgets.filter { held.contains($0) && $0.limit != .any }
    }

    // MARK: Figures

    private func finding(
        _ test: Case, _ name: CountedName, _ budget: Budget, expected: ObservedRange?, found: ObservedRange?
    ) -> GateFinding {
        func finding(_ decision: GateFinding.Decision, _ reason: String = "") -> GateFinding {
            GateFinding(decision, budget, test: test, figure: name, expected: expected, found: found, reason)
        }
        guard let found else {
            let (decision, reason) = absent(name.counter)
            return finding(decision, reason)
        }
        if !budget.limit.isAbsolute, let objection = baseline.fingerprint.objection(to: name.counter, from: machine) {
            return finding(.skipped, objection)
        }
        let (decision, reason) = GateFigure(found: found, expected: expected).decide(budget.limit)
        return finding(decision, reason)
    }

    /// Decides on a figure that the baseline has and the run lacks.
    private func absent(_ counter: Counter) -> (GateFinding.Decision, String) {
        if counter.isWitnessed, !hasWitness {
            return (.skipped, "libAssayPreload.so was not there to count it: build it beside assay")
        }
        if counter.isOfAllocator, run.header.notBuilt.contains(where: { $0.name == "allocation counts" }) {
            return (.skipped, "this build does not count allocations: one for glibc, without a sanitizer, does")
        }
        let missing = run.header.notBuilt.first { $0.name == "instruction counts" }
        if counter == .instructions, let missing {
            return (.skipped, "instructions were not counted here: \(missing.remedy)")
        }
        if counter == .instructions, !hasInstructions {
            return (.skipped, "instructions were not counted in this run: give its plan  instructions: true")
        }
        return (.undecided, "the case does not give this figure any more: save the baseline anew if that is meant")
    }
}

/// Decides on one figure under one budget.
struct GateFigure {
    let found: ObservedRange
    let expected: ObservedRange?

    typealias Answer = (decision: GateFinding.Decision, reason: String)

    func decide(_ limit: BudgetLimit) -> Answer {
        switch limit {
        case .any: return (.skipped, "the plan leaves it open")
        case .exactly(let value):
            if found.low == value, found.high == value { return (.kept, "") }
            return (.exceeded, "\(foundText), and has to be \(text(value))")
        case .atMost(let value):
            if found.high <= value { return (.kept, "") }
            return (.exceeded, "\(foundText), and may be \(text(value))")
        case .same, .moreBy, .moreByShare:
            guard let expected else {
                return (.skipped, "the baseline has no such figure: save it anew to have it guarded")
            }
            return limit == .same ? same(expected) : atMost(limit, above: expected)
        }
    }

    private func same(_ expected: ObservedRange) -> Answer {
        guard expected.low == expected.high else {
            return (
                .undecided,
                "it does not repeat: \(expected.count) measurements of the baseline gave \(text(expected.low)) to "
                    + "\(text(expected.high)). Give it a budget such as \"+10%\""
            )
        }
        guard expected.repeatsExactly else {
            return (
                .undecided,
                "the baseline has measured it once, which does not show whether it repeats: save it from a plan with "
                    + "rounds, or from several runs with --also RUN"
            )
        }
        if found.low == expected.low, found.high == expected.high { return (.kept, "") }
        var reason = "\(foundText), \(text(expected.low)) in the baseline"
        if found.high <= expected.low { reason += "; if fewer are meant, save the baseline anew" }
        return (.exceeded, reason)
    }

    /// Compares the median of the run with the highest value of the baseline: a value that occurred while the baseline
    /// was made may occur again.
    private func atMost(_ limit: BudgetLimit, above expected: ObservedRange) -> Answer {
        var bound = expected.high
        switch limit {
        case .moreBy(let value): bound += value
        case .moreByShare(let share): bound += share * abs(expected.high)
        case .same, .exactly, .atMost, .any: break
        }
        if found.median <= bound {
            let isLower = found.high < expected.low
            return (.kept, isLower ? "lower than the baseline (\(text(expected.low))): save it anew to keep that" : "")
        }
        return (.exceeded, "\(foundText), \(expectedText(expected)) in the baseline, and may be \(text(bound))")
    }

    private var foundText: String {
        guard found.low != found.high else { return "\(text(found.low)) here" }
        return "\(text(found.low)) to \(text(found.high)) here in \(found.count) measurements"
    }

    private func expectedText(_ expected: ObservedRange) -> String {
        expected.low == expected.high ? text(expected.low) : "\(text(expected.low)) to \(text(expected.high))"
    }

    private func text(_ value: Double) -> String { GateNumber.text(value) }
}

/// Counts as text, with all digits of a whole number, since a difference of one matters.
package enum GateNumber {
    package static func text(_ value: Double) -> String {
        guard let whole = Int64(exactly: value) else { return value.description }
        return String(whole)
    }
}
