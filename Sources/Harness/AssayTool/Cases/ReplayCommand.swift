import Commands
import Files
import Harness
import Reporting
import RunRecords

struct ReplayCommand: Command {
    let name = "replay"
    let summary = "repeats one case of a run, or one trial of it, or the failure that a case file keeps"
    let question = "does the failure happen again?"
    let positional = ["RUN|FILE", "[CASE]", "[TRIAL]"]
    let examples = [
        CommandExample("replay D 6fef1652af39", "a whole case, with its seed"),
        CommandExample("replay D 6fef bit:241997 --keep K", "one flipped bit; the damaged database stays in K"),
        CommandExample("replay FILE", "a failure in a case file"),
    ]
    let exitStatus =
        "of a run 0 the recorded outcome came again, 3 it never did, or the run did not try the trial; of a case file "
        + "0 the case passed, 2 it failed again, 3 it is undecided"
    let options = [
        OptionSpecification("--times", value: "N", "how often (1; 20 when the threads of the case run freely)"),
        OptionSpecification("--keep", value: "DIR", "leave the damaged database of the trial in DIR, to look at it"),
        OptionSpecification("--plans", value: "DIR", "the directory of the plans"),
        OptionSpecification(
            EngineLibraries.option, value: "FILE", "another build of the library that the run had its engine from"),
        PeerLibraryOption.specification,
    ]

    var details: [String] {
        [
            "Answers: \(question)", "",
            "`replay RUN CASE [TRIAL]` repeats a case or a trial of a run. `replay FILE` repeats a case file.",
        ]
    }

    func run(_ arguments: Arguments) throws -> Int32 {
        if CaseReplay.isCaseFile(arguments.positional[0]) { return try replayFile(arguments) }
        let directory = RunDirectory(path: trimmed(arguments.positional[0]))
        guard directory.exists else {
            throw UsageError(
                "no run in \(directory.path): there is no run.json, and it is no case file", command: name)
        }
        guard arguments.positional.count > 1 else {
            throw UsageError("CASE is missing: assay report \(directory.path) names those that failed", command: name)
        }
        try PeerLibraryOption.activate(arguments, recorded: recordedEngines(directory))
        do {
            let scratch = try RunClaim.scratch(for: directory.path)
            let status: Int32
            do {
                status = try replay(arguments, RunDirectory(path: directory.path, workDirectory: scratch.files))
            } catch {
                try RunClaim.giveUp(scratch, of: directory.path)
                throw error
            }
            try RunClaim.giveUp(scratch, of: directory.path)
            return status
        } catch let error as DirectoryClaimError {
            throw UsageError(error.description, command: name)
        }
    }

    /// Empty if the header of the run cannot be read; the error is reported when the directory is claimed.
    private func recordedEngines(_ directory: RunDirectory) -> [EngineVersion] {
        do { return try directory.readHeader().engines } catch { return [] }
    }

    private func replayFile(_ arguments: Arguments) throws -> Int32 {
        let path = arguments.positional[0]
        guard arguments.positional.count == 1 else {
            throw UsageError("\(path) is a case file, which is one case: leave out the rest", command: name)
        }
        guard !arguments.has("--keep") else {
            throw UsageError("--keep is for a trial of a run: assay replay RUN CASE TRIAL --keep DIR", command: name)
        }
        let replay = try CaseReplay(path: path, registries: try EngineLibraries.registries(arguments))
        return try replay.run(times: try times(arguments))
    }

    /// nil without `--times`.
    private func times(_ arguments: Arguments) throws -> Int? {
        let times = try arguments.unsigned("--times").map { Int(clamping: $0) }
        if times == 0 { throw UsageError("--times needs a whole number from 1, not 0", command: name) }
        return times
    }

    private func replay(_ arguments: Arguments, _ directory: RunDirectory) throws -> Int32 {
        let run = try directory.load()
        let recorded = try find(arguments.positional[1], in: run)
        let trial = arguments.positional.count > 2 ? try address(arguments.positional[2], of: recorded) : nil
        let manifest = try RunManifest.read(from: directory)
        guard let planned = manifest.cases.first(where: { $0.test.id == recorded.test.id }) else {
            throw HarnessError("case \(recorded.test.id) is not in cases.json")
        }
        let kept = try kept(arguments, trial)
        let often = recorded.hasFreeSchedule && kept == nil ? 20 : 1
        let times = try times(arguments) ?? often
        guard kept == nil || times == 1 else {
            throw UsageError("--keep keeps the database of one trial: leave --times out", command: name)
        }
        let configuration = try configuration(
            arguments, run, manifest: manifest, directory: directory, engine: recorded.test.engine)
        try sayBuild(run.header, configuration)
        var runner = Runner(configuration)
        try describe(recorded, trial)
        var reproduced = 0
        var before: Outcome?
        var status: Int32 = 0
        for round in 0..<times {
            let (result, _) = try runner.replay(planned, trial: trial, keep: kept)
            if trial != nil, let refusal = runner.replayed?.refusal { throw UsageError(refusal, command: name) }
            before = expected(run, recorded, trial, index: runner.replayed?.index)
            if round == 0 {
                let nothing = trial == nil ? recorded.verdict.shownWord : "that run did not try it"
                try Output.line("recorded: \(before?.shownWords ?? nothing)")
            }
            let outcome = trial == nil ? result.outcome : runner.replayed?.outcome ?? result.outcome
            try print(result, outcome, trial: trial, detail: runner.replayed?.detail ?? "")
            if trial == nil, run.header.measures {
                for line in Reporting.figures(recorded: recorded, now: result) { try Output.line("  \(line)") }
            }
            if let kept, let trial {
                try describe(
                    kept, result, trial: trial, detail: runner.replayed?.detail ?? "",
                    registries: configuration.registries)
            }
            if result.verdict == .harnessError && recorded.verdict != .harnessError { status = 1 }
            if outcome == before && (trial != nil || isSame(result.verdict, recorded)) { reproduced += 1 }
        }
        // Nothing was recorded that could come again.
        if trial != nil && before == nil { return status == 0 ? 3 : status }
        try Output.line("same outcome: \(reproduced) of \(times)")
        return status == 0 && reproduced == 0 ? 3 : status
    }

    /// Whether the replay has the recorded verdict. Two verdicts do not repeat, since a replay runs one case
    /// alone: suspectedHarness, which the runner derives from the results of all engines, and inconclusive because of
    /// dishonest syncs, which the run's header records.
    private func isSame(_ now: Verdict, _ recorded: CaseResult) -> Bool {
        if now == recorded.verdict || recorded.restsOnSyncs && recorded.verdict == .inconclusive { return true }
        return recorded.verdict == .suspectedHarness && now == .violation
    }

    /// Where the trial leaves its database; nil without `--keep`.
    private func kept(_ arguments: Arguments, _ trial: FaultAddress?) throws -> KeptDatabase? {
        guard let path = arguments.value("--keep") else { return nil }
        guard trial != nil else {
            throw UsageError("--keep needs a trial: assay replay RUN CASE TRIAL --keep \(path)", command: name)
        }
        let kept = KeptDatabase(directory: trimmed(path))
        do {
            try kept.prepare()
        } catch let error as HarnessError {
            throw UsageError("--keep: \(error)", command: name)
        }
        return kept
    }

    private func describe(
        _ kept: KeptDatabase, _ result: CaseResult, trial: FaultAddress, detail: String, registries: Registries
    ) throws {
        guard kept.isThere, let engine = registries.engine(of: result.test) else {
            try Output.line("kept: no database, because scenario \(result.test.scenario) leaves none")
            return
        }
        let command = (["assay"] + CommandLine.arguments.dropFirst()).map(ShellWord.quoted).joined(separator: " ")
        let commands = try kept.describe(result, trial: trial, detail: detail, command: command, engine: engine)
        try Output.line("kept: \(kept.location.directory), with the state after the fault and before the next open")
        for command in commands { try Output.line("  \(command)") }
    }

    /// The first line of output if this build is not the run's and may give another result.
    private func sayBuild(_ header: RunHeader, _ configuration: RunConfiguration) throws {
        let this = BuildIdentity.text(
            configuration.registries, executable: configuration.executable, isRelease: ProgramBuild.isRelease)
        if this.digest == header.buildDigest { return }
        try Output.line("ANOTHER BUILD: the run was made by \(header.buildText), this is \(this.text)")
    }

    private func configuration(
        _ arguments: Arguments, _ run: Run, manifest: RunManifest, directory: RunDirectory, engine: String
    ) throws -> RunConfiguration {
        let executable = Checkout.executablePath(fallback: CommandLine.arguments[0])
        var registries = try EngineLibraries.registries(arguments)
        // Libraries of the run, unless the command line replaces them. A missing file fails only the cases of its
        // engine.
        for recorded in run.header.engines where registries.engines.engine(named: recorded.name) == nil {
            guard let file = recorded.file, recorded.name == engine || FileTree.exists(file) else { continue }
            let option = "\(recorded.name) of the run (\(EngineLibraries.option) names another build of it)"
            try EngineLibraries.add([file], to: &registries, option: option, command: name)
        }
        let known = try Checkout.knownViolations(
            given: arguments.value("--plans"), executable: executable, registries: registries)
        var plan = manifest.plan(name: run.header.plan, seed: run.header.seed)
        plan.budgetSeconds = nil
        return RunConfiguration(
            plan: plan, cases: manifest.cases, registries: registries, directory: directory, executable: executable,
            known: known)
    }

    /// A case by its id or by an unambiguous prefix of it.
    private func find(_ text: String, in run: Run) throws -> CaseResult {
        let matches = run.results.filter { $0.test.id.hasPrefix(text) }
        if matches.count == 1 { return matches[0] }
        if matches.count > 1 {
            let list = matches.map(\.test.id).joined(separator: ", ")
            throw UsageError("several cases begin with \(text): \(list)", command: name)
        }
        let nearest = NearestName.find(text, among: run.results.map(\.test.id)).map { "; did you mean \($0)?" } ?? ""
        throw UsageError(
            "no case \(text) in \(run.directory)\(nearest); assay list cases --run "
                + "\(ShellWord.quoted(run.directory)) prints all", command: name)
    }

    /// nil for a finding about the case as a whole: its process, or its fixture.
    private func address(_ text: String, of recorded: CaseResult) throws -> FaultAddress? {
        let address = FaultAddress(text: text)
        if address.isWholeCase { return nil }
        guard recorded.outcome != nil || recorded.verdict == .harnessError else {
            throw UsageError(
                "case \(recorded.test.id) has no trials: it is \(recorded.verdict.shownWord)", command: name)
        }
        return address
    }

    /// The outcome that the run recorded. If the run did not keep the trial in full, its outcome is read from the trial
    /// file, in which it has the number `index`.
    private func expected(_ run: Run, _ recorded: CaseResult, _ trial: FaultAddress?, index: Int?) -> Outcome? {
        guard let trial else { return recorded.outcome }
        let kept = recorded.trials.filter { $0.address == trial }.map(\.outcome)
        if let gravest = kept.max(by: { $0.gravity < $1.gravity }) { return gravest }
        guard let index else { return nil }
        let codes = run.details[recorded.test.id]?.trialCodes ?? []
        // A run of a single trial writes no trial file.
        if codes.isEmpty { return recorded.outcome }
        return codes.element(at: index).flatMap { Outcome(code: $0) }
    }

    private func describe(_ recorded: CaseResult, _ trial: FaultAddress?) throws {
        let test = recorded.test
        try Output.line(
            "case \(test.id)  \(test.scenario)  \(test.engine) \(recorded.engineVersion)  \(test.dataset)  "
                + "seed \(test.seed)")
        if let trial { try Output.line("trial \(trial)") }
    }

    private func print(
        _ result: CaseResult, _ outcome: Outcome?, trial: FaultAddress?, detail: String
    ) throws {
        let outcome = outcome?.shownWords ?? "no outcome"
        let message = result.message.isEmpty ? "" : "  (\(result.message))"
        try Output.line("now: \(outcome), verdict \(result.verdict.shownWord)\(message)")
        if let trial {
            if !detail.isEmpty { try Output.line("  \(trial): \(detail)") }
        } else {
            for cause in result.failureCauses.prefix(3) where !cause.detail.isEmpty {
                let count = cause.count == 1 ? "" : "\(cause.count) times, the first: "
                try Output.line("  \(count)\(cause.example): \(cause.detail)")
            }
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
