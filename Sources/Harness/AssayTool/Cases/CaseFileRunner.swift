import CaseFiles
import Commands
import Harness
import Measuring
import RunRecords

/// The result of running the case of a case file.
struct CaseAttempt {
    var result: CaseResult
    /// Every failure of the case; in a replay of one trial, only that trial's.
    var findings: [(finding: CaseFile.Finding, address: FaultAddress)] = []
    /// Why the run decided nothing: the case has no such trial, the harness failed, or the time was too short. nil if
    /// it decided.
    var undecided: String?

    func hasFinding(_ wanted: CaseFile.Finding) -> FaultAddress? {
        findings.first { $0.finding.isSame(as: wanted) }?.address
    }
}

/// Runs the cases of case files in workers of this build, in its own directory.
struct CaseFileRunner {
    let registries: Registries
    private let scratch: String
    private let known: [KnownViolation]

    /// - Parameters:
    ///   - scratch: an existing directory, whose whole contents may be removed.
    ///   - known: known violations. A replay reports a failure whether it is known or not.
    init(_ registries: Registries, scratch: String, known: [KnownViolation] = []) {
        self.registries = registries
        self.scratch = scratch
        self.known = known
    }

    /// Why this build cannot run a case, with the remedy.
    struct Undecided: Error {
        let reason: String
    }

    /// The case with this build's scenario, engine and data set.
    func runnable(_ test: Case) throws(Undecided) -> Case {
        guard let scenario = registries.scenarios.scenario(named: test.scenario) else {
            let known = registries.scenarios.listed.map(\.slug)
            let nearest = NearestName.find(test.scenario, among: known).map { "; did you mean \($0)?" } ?? ""
            throw Undecided(reason: "this build has no such scenario: \(test.scenario)\(nearest) (assay list)")
        }
        if let missing = registries.engines.notBuilt.first(where: { $0.name == test.engine }) {
            throw Undecided(reason: "this build lacks \(missing.name) (\(missing.remedy), and build again)")
        }
        guard let engine = registries.engines.engine(named: test.engine) else {
            throw Undecided(
                reason: NearestName.complaint("engine", test.engine, among: registries.engines.engines.map(\.name))
                    + "; one of a library is named by \(EngineLibraries.option) FILE")
        }
        let required = scenario.requires.union(test.isEncrypted ? [.encryption] : [])
        let lacking = required.subtracting(engine.capabilities).map(\.rawValue).sorted()
        guard lacking.isEmpty else {
            throw Undecided(reason: "\(engine.name) of this build lacks \(lacking.joined(separator: ", "))")
        }
        guard test.dataset.isEmpty || registries.dataset(named: test.dataset) != nil else {
            throw Undecided(
                reason: "there is no data set \(test.dataset): bring its file back, or run where it is")
        }
        var runnable = test
        let parameters = scenario.parameters + scenario.conditionParameters
        for given in test.parameters {
            guard let parameter = parameters.first(where: { $0.name == given.name }) else {
                throw Undecided(
                    reason: "this build's \(scenario.slug) has no such parameter: "
                        + NearestName.complaint("parameter", given.name, among: parameters.map(\.name)))
            }
            do throws(ParameterError) {
                runnable = runnable.setting(given.name, to: try parameter.canonical(given.value))
            } catch {
                throw Undecided(reason: "\(error)")
            }
        }
        // Parameters that a newer build added keep their defaults.
        for parameter in scenario.parameters where test.parameter(parameter.name) == nil {
            runnable = runnable.setting(parameter.name, to: parameter.defaultValue)
        }
        if let objection = scenario.objection(to: runnable) { throw Undecided(reason: objection) }
        return runnable
    }

    /// - Parameter seconds: the case's time budget, after which it stops, even without a finding.
    func run(_ test: Case, fault: FaultAddress?, seconds: Double? = nil) throws -> CaseAttempt {
        let planned = PlannedCase(test)
        var plan = Plan(name: "case-file", file: "")
        plan.budgetSeconds = seconds
        var runner = Runner(
            RunConfiguration(
                plan: plan, cases: [planned], registries: registries,
                directory: RunDirectory(path: scratch, workDirectory: scratch + "/work"),
                executable: Checkout.executablePath(fallback: CommandLine.arguments[0]), known: known))
        let trial = fault.flatMap { $0.isWholeCase ? nil : $0 }
        let (result, _) = try runner.replay(planned, trial: trial)
        var attempt = CaseAttempt(result: result)
        if let trial, let replayed = runner.replayed {
            attempt.undecided = replayed.refusal.map { "\($0), in this build" }
            if let outcome = replayed.outcome, !accepts(test, outcome) {
                let cause = FailureCause(Trial(address: trial, outcome: outcome, detail: replayed.detail))
                attempt.findings = [(CaseFile.Finding(cause), trial)]
            }
        } else {
            attempt.findings = result.failureCauses.filter { !accepts(test, $0.outcome) }
                .map { (CaseFile.Finding($0), $0.example) }
        }
        // A worker that died cannot report its trial; its death is a finding by itself.
        if trial != nil, runner.replayed == nil, attempt.findings.isEmpty {
            attempt.undecided = "the case ended before it came to the trial"
        }
        switch result.verdict {
        case .harnessError: attempt.undecided = "the harness failed: \(result.message)"
        case .inconclusive where attempt.findings.isEmpty: attempt.undecided = "inconclusive: \(result.message)"
        case .notApplicable, .notBuilt: attempt.undecided = result.message
        default: break
        }
        return attempt
    }

    /// The case as a search runs it: a scripted scenario may check its result less often (`ScriptedScenario.briefly`).
    func brief(_ test: Case) -> Case {
        (registries.scenarios.scenario(named: test.scenario) as? any ScriptedScenario)?.briefly(test) ?? test
    }

    private func accepts(_ test: Case, _ outcome: Outcome) -> Bool {
        registries.scenarios.scenario(named: test.scenario)?.accepts.contains(outcome) ?? (outcome == .correct)
    }

    /// A warning that this build is not the file's and may give another result; nil for the same build.
    func otherBuild(_ file: CaseFile) -> String? {
        let executable = Checkout.executablePath(fallback: CommandLine.arguments[0])
        let this = BuildIdentity.text(registries, executable: executable, isRelease: ProgramBuild.isRelease)
        if this.digest == file.build.digest { return nil }
        var text = "ANOTHER BUILD: the file is of assay \(file.build.version)"
        if !file.build.digest.isEmpty { text += ", build \(file.build.digest)" }
        text += "; this is \(this.text)"
        guard let test = file.test, let engine = registries.engines.engine(named: test.engine),
            !file.build.engineVersion.isEmpty, engine.version != file.build.engineVersion
        else { return text }
        return text + "\nANOTHER ENGINE: it failed with \(engine.name) \(file.build.engineVersion), this is "
            + engine.version
    }
}
