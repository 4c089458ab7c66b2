import Commands
import Harness
import RunRecords

struct ReplayCommand: Command {
    let name = "replay"
    let summary = "repeats one case of a run, or one trial of it"
    let question = "does it happen again?"
    let positional = ["RUN", "CASE", "[TRIAL]"]
    let options = [
        OptionSpecification("--times", value: "N", "how often (1; 20 when the threads of the case run freely)"),
        OptionSpecification("--plans", value: "DIR", "where the plans are"),
    ]

    func run(_ arguments: Arguments) throws -> Int32 {
        let directory = RunDirectory(path: trimmed(arguments.positional[0]))
        guard directory.exists else {
            throw UsageError("no run in \(directory.path): there is no run.json", command: name)
        }
        let run = try directory.load()
        let recorded = try find(arguments.positional[1], in: run)
        let trial = try arguments.positional.count > 2 ? address(arguments.positional[2], of: recorded) : nil
        let manifest = try RunManifest.read(from: directory)
        guard let planned = manifest.cases.first(where: { $0.test.id == recorded.test.id }) else {
            throw HarnessError("case \(recorded.test.id) is not in cases.json")
        }
        var runner = Runner(try configuration(arguments, run, manifest))
        let times = try arguments.unsigned("--times").map { Int($0) } ?? (recorded.hasFreeSchedule ? 20 : 1)
        try describe(recorded, trial)
        let codes = run.details[recorded.test.id]?.trialCodes ?? []
        var reproduced = 0
        var before: Outcome?
        for round in 0..<max(1, times) {
            let (result, _) = try runner.replay(planned, trial: trial)
            before = expected(recorded, trial, code: runner.replayedIndex.flatMap { codes.element(at: $0) })
            if round == 0 {
                let nothing = trial == nil ? recorded.verdict.rawValue : "that run did not try it"
                try Output.line("recorded: \(before?.rawValue ?? nothing)")
            }
            try print(result)
            if result.outcome == before && (trial != nil || result.verdict == recorded.verdict) { reproduced += 1 }
        }
        try FileTree.remove(Self.scratch(run))
        if trial != nil && before == nil { return 0 }
        try Output.line("same outcome: \(reproduced) of \(max(1, times))")
        return reproduced > 0 ? 0 : 3
    }

    /// Beside the run, so that the same file system is used.
    private static func scratch(_ run: Run) -> String {
        run.directory + "/replay"
    }

    private func configuration(
        _ arguments: Arguments, _ run: Run, _ manifest: RunManifest
    ) throws -> RunConfiguration {
        let executable = Checkout.executablePath(fallback: CommandLine.arguments[0])
        let known = try Checkout.knownViolations(given: arguments.value("--plans"), executable: executable)
        var plan = manifest.plan(name: run.header.plan, seed: run.header.seed)
        plan.budgetSeconds = nil
        let directory = RunDirectory(path: Self.scratch(run))
        return RunConfiguration(
            plan: plan, cases: manifest.cases, registries: BuildRegistries.make(), directory: directory,
            executable: executable, known: known)
    }

    /// A case by its id, or by the beginning of it where that is enough.
    private func find(_ text: String, in run: Run) throws -> CaseResult {
        let matches = run.results.filter { $0.test.id.hasPrefix(text) }
        if matches.count == 1 { return matches[0] }
        if matches.count > 1 {
            let list = matches.map(\.test.id).joined(separator: ", ")
            throw UsageError("several cases begin with \(text): \(list)", command: name)
        }
        let known = run.results.map { "\($0.test.id) (\($0.test.scenario) \($0.test.engine))" }
        let nearest = NearestName.find(text, among: run.results.map(\.test.id)).map { "; did you mean \($0)?" } ?? ""
        throw UsageError(
            "no case \(text) in \(run.directory)\(nearest)\nits cases:\n  \(known.joined(separator: "\n  "))",
            command: name)
    }

    private func address(_ text: String, of recorded: CaseResult) throws -> FaultAddress {
        guard text.contains(":") else {
            let kept = recorded.trials.map(\.address.text).joined(separator: ", ")
            let example = kept.isEmpty ? "" : "; kept of this case: \(kept)"
            throw UsageError("a trial is named like bit:123456, not \(text)\(example)", command: name)
        }
        return FaultAddress(text: text)
    }

    /// What the run recorded: for a trial by its place in the trial file.
    private func expected(_ recorded: CaseResult, _ trial: FaultAddress?, code: UInt8?) -> Outcome? {
        guard let trial else { return recorded.outcome }
        if let code { return Outcome(code: code) }
        return recorded.trials.first { $0.address == trial }?.outcome
    }

    private func describe(_ recorded: CaseResult, _ trial: FaultAddress?) throws {
        let test = recorded.test
        try Output.line(
            "case \(test.id)  \(test.scenario)  \(test.engine) \(recorded.engineVersion)  \(test.dataset)  "
                + "seed \(test.seed)")
        if let trial { try Output.line("trial \(trial)") }
    }

    private func print(_ result: CaseResult) throws {
        let outcome = result.outcome?.rawValue ?? "no outcome"
        let message = result.message.isEmpty ? "" : "  (\(result.message))"
        try Output.line("now: \(outcome), verdict \(result.verdict.rawValue)\(message)")
        for trial in result.trials.prefix(3) where !trial.detail.isEmpty {
            try Output.line("  \(trial.address): \(trial.detail)")
        }
        if let crash = result.crash, !crash.standardError.isEmpty {
            try Output.line("  " + crash.standardError.suffix(1_000).replacing("\n", with: "\n  "))
        }
    }
}

extension Array {
    /// nil beyond the end.
    fileprivate func element(at index: Int) -> Element? {
        indices.contains(index) ? self[index] : nil
    }
}
