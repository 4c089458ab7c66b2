import CaseFiles
import Commands
import Files
import Harness
import RunRecords

/// Writes case files for the first failures of each cause, below `cases` in the run's directory.
struct KeptCases {
    /// The number of case files per scenario, engine and cause, over all cases of the run.
    static let mostOfCause = 3

    private struct Key: Hashable {
        var scenario: String
        var engine: String
        var cause: FailureCause.Key
    }

    private let run: Run
    private let registries: Registries
    private var counts: [Key: Int] = [:]

    private init(_ run: Run, _ registries: Registries) {
        self.run = run
        self.registries = registries
    }

    /// Adds the files that the run does not have yet; a resumed run keeps those of its first part.
    static func write(_ run: inout Run, _ registries: Registries) throws {
        var kept = KeptCases(run, registries)
        for result in run.results where [.violation, .suspectedHarness].contains(result.verdict) {
            for (name, file) in kept.files(of: result) where !run.caseFiles.contains(name) {
                try FileTree.createDirectory("\(run.directory)/\(KeptCaseName.directory)")
                try RunClaim.write(file.text, to: "\(KeptCaseName.directory)/\(name)", in: run.directory)
                run.caseFiles.insert(name)
            }
        }
    }

    private mutating func files(of result: CaseResult) -> [(name: String, file: CaseFile)] {
        var files: [(name: String, file: CaseFile)] = []
        for cause in result.failureCauses {
            let key = Key(scenario: result.test.scenario, engine: result.test.engine, cause: cause.key)
            var examples = [cause]
            for trial in result.trials where trial.address != cause.example {
                let other = FailureCause(trial)
                if other.key == cause.key { examples.append(other) }
            }
            for example in examples where counts[key, default: 0] < Self.mostOfCause {
                counts[key, default: 0] += 1
                files.append(
                    (
                        KeptCaseName.of(result.test.id, example.outcome, example.example),
                        file(example, of: result)
                    ))
            }
        }
        return files
    }

    private func file(_ cause: FailureCause, of result: CaseResult) -> CaseFile {
        let header = run.header
        return Self.file(
            cause, of: result, registries,
            build: CaseFile.Build(
                version: header.assayVersion, digest: header.buildDigest, commit: header.commit,
                engineVersion: result.engineVersion))
    }

    /// The case file of one failure.
    static func file(
        _ cause: FailureCause, of result: CaseResult, _ registries: Registries, build: CaseFile.Build
    ) -> CaseFile {
        let scenario = registries.scenarios.scenario(named: result.test.scenario)
        let fault = cause.example.isWholeCase ? nil : cause.example
        return CaseFile(
            build: build, subject: subject(result.test, fault, scenario),
            expected: expected(cause.outcome, result.test, scenario: scenario, registries: registries),
            got: CaseFile.Finding(cause),
            isFree: result.hasFreeSchedule)
    }

    private static func subject(
        _ test: Case, _ fault: FaultAddress?, _ scenario: (any Scenario)?
    ) -> CaseFile.Subject {
        guard let scenario = scenario as? any ScriptedScenario, let text = try? scenario.script(of: test),
            let operations = ScriptOperation.list(text)
        else { return .scenario(test, fault: fault) }
        return .history(test.leavingOut(CaseFile.historyParameter), operations, fault: fault)
    }

    private static func expected(
        _ outcome: Outcome, _ test: Case, scenario: (any Scenario)?, registries: Registries
    ) -> String {
        guard let scenario else { return Outcome.correct.rawValue }
        return VerdictRule().expectation(
            against: outcome, of: test, scenario: scenario, engine: registries.engine(of: test))
    }
}
