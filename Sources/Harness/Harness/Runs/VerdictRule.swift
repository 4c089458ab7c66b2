import RunRecords

/// Judges outcomes against what the scenario accepts and what the engine promises.
package struct VerdictRule: Sendable {
    package struct Judgement: Sendable {
        package var verdict: Verdict
        /// The reason, in a sentence; empty for a pass.
        package var message: String
        /// Every promise that the scenario tests, and whether the engine kept it in this case.
        package var promises: [JudgedPromise]
    }

    package var known: [KnownViolation]

    package init(known: [KnownViolation] = []) {
        self.known = known
    }

    /// A wrong outcome is one that the scenario does not accept. It is a violation if every engine must get the
    /// scenario right (`expects` nil), or if the engine makes the promise that the scenario tests; otherwise it is
    /// `unpromised`. A crash, a hang and an exceeded memory limit are also violations for an engine that promises to
    /// survive damage, unless the scenario tests limits of the process.
    package func judge(
        _ outcomes: [OutcomeCount], test: Case, scenario: any Scenario, engine: any Engine
    ) -> Judgement {
        let wrong = outcomes.filter { $0.count > 0 && !scenario.accepts.contains($0.outcome) }
        let asked = Self.asked(of: scenario)
        if wrong.isEmpty {
            let states = asked.map {
                promise($0, isMade($0, scenario, engine: engine, test: test) ? .kept : .notMade, by: nil)
            }
            return Judgement(verdict: .pass, message: "", promises: states)
        }
        let broken = wrong.filter { brokenPromise($0.outcome, scenario, engine: engine, test: test) != nil }
        let excuses = broken.map { count in known.first { $0.covers(test, count.outcome) } }
        let promises = judged(
            asked, wrong, broken: Array(zip(broken, excuses)), scenario: scenario, engine: engine, test: test)
        guard !broken.isEmpty else {
            let kinds = Set(wrong.compactMap { scenario.promise(brokenBy: $0.outcome) })
            let words = kinds.map { Self.words($0, scenario) }.sorted().joined(separator: " or ")
            return Judgement(
                verdict: .unpromised, message: "\(Self.text(wrong)): \(engine.name) does not promise \(words)",
                promises: promises)
        }
        if let index = excuses.firstIndex(where: { $0 == nil }) {
            return Judgement(
                verdict: .violation,
                message: Self.text(broken) + promiseText(broken[index].outcome, scenario, engine), promises: promises)
        }
        let reasons = excuses.compactMap { $0?.reason }.joined(separator: "; ")
        return Judgement(verdict: .known, message: "\(Self.text(broken)): \(reasons)", promises: promises)
    }

    // MARK: Promises

    /// The promises that wrong outcomes of the scenario would break; nil stands for what every engine must get right,
    /// promised or not.
    private static func asked(of scenario: any Scenario) -> [Promise.Kind?] {
        var asked: [Promise.Kind?] = []
        for outcome in Outcome.allCases where !scenario.accepts.contains(outcome) {
            let kind = scenario.promise(brokenBy: outcome)
            if !asked.contains(kind) { asked.append(kind) }
        }
        return asked
    }

    private func isMade(
        _ kind: Promise.Kind?, _ scenario: any Scenario, engine: any Engine, test: Case
    ) -> Bool {
        guard let kind else { return true }
        guard kind == .isolation else {
            return engine.promises.contains { $0.kind == kind && scenario.isMeant($0, for: test) }
        }
        return engine.isolation.map { $0 >= scenario.isolation } ?? false
    }

    /// The promise that a wrong outcome breaks: `.some(nil)` for what every engine must get right, nil if the engine
    /// made no promise that the outcome breaks.
    private func brokenPromise(
        _ outcome: Outcome, _ scenario: any Scenario, engine: any Engine, test: Case
    ) -> Promise.Kind?? {
        let kind = scenario.promise(brokenBy: outcome)
        if isMade(kind, scenario, engine: engine, test: test) { return .some(kind) }
        // A limit of the process is not damage, which the promise below is about.
        if kind == .survivesLimits { return nil }
        let endsProcess: Set<Outcome> = [.crashed, .hung, .memoryLimit]
        return endsProcess.contains(outcome) && engine.promises(.survivesDamage) ? .some(.survivesDamage) : nil
    }

    /// The promises that the scenario tests, and those that an outcome broke though the scenario does not test them.
    private func judged(
        _ asked: [Promise.Kind?], _ wrong: [OutcomeCount], broken: [(OutcomeCount, KnownViolation?)],
        scenario: any Scenario, engine: any Engine, test: Case
    ) -> [JudgedPromise] {
        var list: [JudgedPromise] = []
        for (count, excuse) in broken {
            guard let kind = brokenPromise(count.outcome, scenario, engine: engine, test: test) else { continue }
            let found = promise(kind, excuse == nil ? .broken : .known, by: count.outcome)
            guard let place = list.firstIndex(where: { $0.kind == found.kind && $0.concern == found.concern }) else {
                list.append(found)
                continue
            }
            if found.state == .broken { list[place].state = .broken }
        }
        for kind in asked where !list.contains(where: { $0.kind == kind?.rawValue ?? "" }) {
            list.append(promise(kind, isMade(kind, scenario, engine: engine, test: test) ? .kept : .notMade, by: nil))
        }
        return list
    }

    /// Outcomes that cost only time or space.
    private static let costly: Set<Outcome> = [.hung, .overSize]

    /// If no promise is named, the outcome decides the concern: an engine that hangs, or does not compact, loses no
    /// data.
    private func promise(
        _ kind: Promise.Kind?, _ state: JudgedPromise.State, by outcome: Outcome?
    ) -> JudgedPromise {
        JudgedPromise(
            kind: kind?.rawValue ?? "",
            concern: kind?.concern ?? (outcome.map(Self.costly.contains) == true ? .progress : .safety), state: state)
    }

    // MARK: Words

    /// The right outcome of a case in which `outcome` came, for people: what the scenario accepts, which promise
    /// demands it, and each bound of the case with its meaning. `correct, as strata promises: ... Allowed: bound=4,
    /// times ...`.
    package func expectation(
        against outcome: Outcome, of test: Case, scenario: any Scenario, engine: (any Engine)?
    ) -> String {
        var words = scenario.accepts.map(\.rawValue).sorted().joined(separator: " or ")
        if let engine, let broken = brokenPromise(outcome, scenario, engine: engine, test: test) {
            if let kind = broken {
                let sentence = engine.promises.first { $0.kind == kind }?.sentence
                words += ", as \(engine.name) promises: \(sentence ?? Self.words(kind, scenario))"
            } else {
                words += ", as every engine has to"
            }
        }
        let allowances = scenario.parameters.filter { $0.role == .allowance }.map { parameter in
            "\(parameter.name)=\(test.parameter(parameter.name) ?? parameter.defaultValue), \(parameter.summary)"
        }
        return allowances.isEmpty ? words : "\(words). Allowed: \(allowances.joined(separator: "; "))"
    }

    private func promiseText(_ outcome: Outcome, _ scenario: any Scenario, _ engine: any Engine) -> String {
        guard let expected = scenario.promise(brokenBy: outcome),
            let promise = engine.promises.first(where: { $0.kind == expected })
        else { return "" }
        return ", though \(engine.name) promises: \(promise.sentence)"
    }

    /// The promise as text; for isolation, the level that the scenario needs.
    private static func words(_ kind: Promise.Kind, _ scenario: any Scenario) -> String {
        kind == .isolation ? "\(scenario.isolation.rawValue) isolation" : kind.rawValue
    }

    private static func text(_ counts: [OutcomeCount]) -> String {
        counts.map { "\($0.count) \($0.outcome.rawValue)" }.joined(separator: ", ")
    }
}
