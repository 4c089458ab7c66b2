import Commands
import Files
import Harness
import Measuring
import Platform
import Reporting
import RunRecords
import Seeds

struct RunCommand: Command {
    let name = "run"
    let summary = "runs a plan (default: quick), and writes report.html and results.csv"
    let question = "does an engine keep its promises, at which speed, and how large do its files become?"
    let positional = ["[PLAN]"]
    let examples = [
        CommandExample("run quick", "a first look, in at most two minutes"),
        CommandExample("run faults --engine strata,sqlite", "broken disks and lost power under two engines"),
        CommandExample("run quick --scenario commit --param commits=2000 --out D", "one scenario, into directory D"),
        CommandExample("run --resume D", "the cases that D lacks, after an interrupt"),
        CommandExample("run smoke --dry-run", "the cases with their ids, without a run"),
    ]
    let exitStatus = "0 no engine broke a promise, 2 one did, 3 a required case has no answer, 130 interrupted"
    let options = [
        OptionSpecification("--scenario", value: "NAME,..", "only these; adds one that the plan lacks"),
        OptionSpecification("--engine", value: "NAME,..", "only these engines"),
        EngineLibraries.specification,
        PeerLibraryOption.specification,
        OptionSpecification("--dataset", value: "NAME,..", "on these data sets"),
        OptionSpecification("--only", value: "WHAT,..", "only storage, only objects, or families of scenarios"),
        OptionSpecification("--size", value: "N", "rows of the data sets that are generated"),
        OptionSpecification("--seed", value: "N", "the seed of every case (the plan's: 1)"),
        OptionSpecification("--param", value: "K=V", "a parameter of the scenarios that have it; may be repeated"),
        OptionSpecification("--budget", value: "10m", "time for all cases together"),
        OptionSpecification("--shard", value: "I/N", "only the I-th of N parts, from 1; auto asks Slurm or GitLab"),
        OptionSpecification("--profile", value: "TOOL", "of the one case: callgrind or perf, and a flame graph"),
        OptionSpecification("--out", value: "DIR", "the directory of the run (Reports/..)"),
        OptionSpecification("--resume", value: "DIR", "finish a stopped run"),
        OptionSpecification("--dry-run", "list the cases, and run none"),
        ReportFiles.markdown,
        OptionSpecification("--plans", value: "DIR", "the directory of the plans"),
    ]

    /// Options that may differ when a run is resumed.
    private static let free: Set<String> = [
        "--budget", "--plans", "--resume", "--out", "--dry-run", "--profile", "--markdown",
    ]

    private struct Prepared {
        var claim: RunClaim
        var header: RunHeader
        var configuration: RunConfiguration
        var profile: CaseProfile?
    }

    func run(_ arguments: Arguments) throws -> Int32 {
        if arguments.has("--dry-run") { return try listCases(arguments) }
        do {
            return try execute(arguments)
        } catch let error as DirectoryClaimError {
            if error.isInUse { throw error }
            throw UsageError(error.description, command: name)
        } catch let error as FileTreeError {
            throw HarnessError(Self.text(error))
        }
    }

    /// The error's text, and its remedy if one is known.
    private static func text(_ error: FileTreeError) -> String {
        guard let remedy = HarnessFault.reason(code: error.code, directory: error.path) else { return "\(error)" }
        return "\(error): \(remedy)"
    }

    private func execute(_ arguments: Arguments) throws -> Int32 {
        let executable = Checkout.executablePath(fallback: CommandLine.arguments[0])
        Interruption.install()
        // Removes what killed runs left in memory, in any directory.
        try ScratchDirectory.removeAbandoned(in: ScratchDirectory.memory)
        let prepared: Prepared
        if let path = arguments.value("--resume") {
            prepared = try resume(trimmed(path), arguments, executable)
        } else {
            prepared = try begin(arguments, try EngineLibraries.registries(arguments), executable)
        }
        let coverage = try BranchCoverage(engines(of: prepared), in: prepared.claim.directory.path)
        let begin = MonotonicClock.now()
        var run = try carryOut(prepared)
        Self.sayOverrun(run, prepared.configuration, seconds: Double(MonotonicClock.now() &- begin) / 1e9)
        try KeptCases.write(&run, prepared.configuration.registries)
        try ReportFiles.write(run)
        try ShardSelection.seal(run)
        if let coverage { try Output.line(try coverage.words()) }
        for entry in KnownViolation.notNeeded(prepared.configuration.known, by: run.results) {
            Output.error("WARNING  known.json5 lists a violation that this run does not have: \(entry.text)")
        }
        let isStopped = Interruption.isRequested && !run.isFinished
        if isStopped { Output.error("stopped, with \(run.results.count) of \(run.header.cases.count) cases done") }
        // Printed last, since its last line is the verdict.
        try ReportFiles.writeSummary(run, arguments)
        return isStopped ? Interruption.exitStatus : prepared.configuration.exitStatus(run)
    }

    /// Prints by how much the run exceeded its budget. Only the cases share the budget; preparation does not count.
    private static func sayOverrun(_ run: Run, _ configuration: RunConfiguration, seconds: Double) {
        guard let budget = configuration.budgetSeconds, seconds > budget * 1.1 + 1 else { return }
        Output.error(
            "the run took \(Int(seconds.rounded())) s: the budget of \(Int(budget.rounded())) s is for the cases, and "
                + "does not include their fixtures, the checks after them and the end of running cases")
    }

    private func engines(of prepared: Prepared) -> [any Engine] {
        let names = Set(prepared.configuration.cases.map(\.test.engine))
        return prepared.configuration.registries.engines.engines.filter { names.contains($0.name) }
    }

    private static func resumeCommand(_ directory: String) -> String {
        "assay run --resume \(ShellWord.quoted(directory))"
    }

    /// Runs the cases. If an error ends the run early, removes its scratch files, and keeps its finished results.
    private func carryOut(_ prepared: Prepared) throws -> Run {
        let run: Run
        do {
            var (configuration, header) = (prepared.configuration, prepared.header)
            try addCounter(to: &configuration, &header)
            configuration.openFigures = { Reporting.openFigures($0, of: $1) }
            let rounds = RoundPlan(configuration, header)
            let progress = TerminalProgress(rounds.lines)
            var runner = Runner(configuration)
            run = try runner.run(header, observer: progress)
            rounds.keep(progress.seconds)
            if !Interruption.isRequested { try prepared.profile?.take(&runner, configuration) }
        } catch {
            do { try prepared.claim.end() } catch { Output.error("left behind: \(error)") }
            let text = (error as? FileTreeError).map { Self.text($0) } ?? "\(error)"
            throw HarnessError(
                "the run stopped: \(text)\nassay has kept the finished cases; continue with\n  "
                    + Self.resumeCommand(prepared.claim.directory.path))
        }
        try prepared.claim.end()
        try ScratchDirectory.removeAbandoned(in: ScratchDirectory.memory)
        return run
    }

    /// Adds the instruction counter if the plan counts instructions. If there is none, the run continues and reports it
    /// missing.
    private func addCounter(to configuration: inout RunConfiguration, _ header: inout RunHeader) throws {
        guard configuration.plan.countsInstructions else { return }
        do {
            configuration.counter = try InstructionCounter(
                executable: configuration.executable, directory: configuration.directory.workDirectory)
        } catch let missing as InstructionCounter.Missing {
            Output.error("\(missing)")
            guard !header.notBuilt.contains(where: { $0.name == InstructionCounter.name }) else { return }
            header.notBuilt.append(NotBuilt(name: InstructionCounter.name, remedy: InstructionCounter.remedy))
        }
    }

    private func expand(
        _ arguments: Arguments, _ checkout: Checkout, _ registries: Registries
    ) throws -> (Plan, PlanFilter, [PlannedCase]) {
        var plan = try checkout.plan(arguments.positional.first ?? "quick")
        EngineLibraries.add(registries, to: &plan)
        let filter = try PlanFilter(arguments)
        let expansion = PlanExpansion(plan: plan, filter: filter, registries: registries)
        try expansion.checkParameters()
        let cases = try expansion.cases()
        _ = try plan.checkedBudgets(registries)
        guard !cases.isEmpty else {
            throw UsageError("plan \(plan.name) has no case with these options", command: name)
        }
        try EngineLibraries.check(registries, are: cases, command: name)
        return (plan, filter, cases)
    }

    private func listCases(_ arguments: Arguments) throws -> Int32 {
        let executable = Checkout.executablePath(fallback: CommandLine.arguments[0])
        let checkout = try Checkout.find(given: arguments.value("--plans"), executable: executable)
        let all = try expand(arguments, checkout, EngineLibraries.registries(arguments)).2
        for planned in try ShardSelection(arguments, of: all).cases {
            let test = planned.test
            let state = planned.verdict.map { "  \($0.shownWord): \(planned.reason)" } ?? ""
            let data = test.dataset.isEmpty ? "-" : test.size > 0 ? "\(test.dataset) \(test.size)" : test.dataset
            try Output.line(
                "\(test.id)  \(test.scenario)  \(test.engine)  \(data)  \(test.durability.rawValue)  "
                    + "seed \(test.seed)  \(test.parameterText)\(state)")
        }
        return 0
    }

    private func begin(
        _ arguments: Arguments, _ registries: Registries, _ executable: String
    ) throws -> Prepared {
        let checkout = try Checkout.find(given: arguments.value("--plans"), executable: executable)
        let (plan, filter, all) = try expand(arguments, checkout, registries)
        let selection = try ShardSelection(arguments, of: all)
        let cases = selection.cases
        let profile = try CaseProfile(arguments, of: cases)
        let known = try checkout.knownViolations(registries)
        let budgets = try plan.checkedBudgets(registries)
        let seed = filter.seed ?? plan.seed
        let budget = filter.budgetSeconds ?? plan.budgetSeconds
        let space = FreeSpace(cases, registries: registries, lanes: plan.measures ? 1 : 4)
        try InheritedLimits.prepare(
            for: .init(
                memoryBytes: UInt64(plan.memoryMegabytes) << 20, largestFileBytes: space.largestFileBytes,
                seconds: budget ?? 3_600))
        try space.require(in: Self.existing(trimmed(arguments.value("--out") ?? "Reports")))
        let startTime = Int(time(nil))
        let claim = try Self.claim(
            out: arguments.value("--out"), id: "\(Self.timestamp(startTime))-\(plan.name)-\(seed)",
            options: try options(arguments, plan.name))
        let configuration = RunConfiguration(
            plan: plan, cases: cases, registries: registries, directory: claim.directory, executable: executable,
            known: known, budgetSeconds: budget)
        try RunManifest(plan: plan, cases: cases, budgetSeconds: configuration.budgetSeconds, budgets: budgets)
            .write(to: claim.directory)
        var header = RunHeader(
            id: claim.id, plan: plan.name, seed: seed,
            machine: try MachineInspection.inspect(directory: claim.directory.workDirectory))
        header.startTime = startTime
        header.command = Self.command(Array(CommandLine.arguments.dropFirst()))
        header.part = selection.part
        (header.commit, header.branch) = checkout.revision()
        header.budgetSeconds = configuration.budgetSeconds
        header.question = filter.keepsCases ? plan.question : ""
        header.measures = plan.measures
        for planned in cases where planned.isCompared {
            header.rounds[planned.test.id] = plan.rounds
            if planned.hasControl { header.controls.insert(planned.test.id) }
        }
        header.cases = cases.map(\.test.id)
        complete(&header, for: all.map(\.test), registries, executable)
        let verdicts = try KeptVerdicts.read().figures(build: KeptVerdicts.build(executable), machine: header.machine)
        header.doubtfulFigures =
            plan.measures ? FigureDoubts(verdicts, registries.scenarios).figures(of: cases) : []
        if let warning = FigureDoubts.warning(header.doubtfulFigures, of: cases) { header.warnings.append(warning) }
        return Prepared(claim: claim, header: header, configuration: configuration, profile: profile)
    }

    /// The directory of this run: the named one, else a new one below Reports.
    static func claim(out: String?, id: String, options: [String: [String]]) throws -> RunClaim {
        guard let out else {
            return try RunClaim.make(below: "Reports", id: id, options: options)
        }
        // A user may choose the same directory name again; the random suffix keeps ids distinct.
        let unique = "\(id)-\(ScratchDirectory.newName().suffix(6))"
        return try RunClaim.take(trimmed(out), id: unique, options: options) { target in
            Output.error("the run that was in \(out) is now in \(target)")
        }
    }

    /// The directory itself, or its nearest existing ancestor.
    static func existing(_ path: String) -> String {
        var path = path
        while !FileTree.isDirectory(path) {
            guard let slash = path.lastIndex(of: "/") else { return "." }
            path = slash == path.startIndex ? "/" : String(path[..<slash])
        }
        return path
    }

    /// The options that change the cases of a run. A resumed run must match them.
    private func options(_ arguments: Arguments, _ plan: String) throws -> [String: [String]] {
        var given = ["plan": [plan]]
        for option in options where !Self.free.contains(option.name) && arguments.has(option.name) {
            given[option.name] = try values(arguments, option.name)
        }
        return given
    }

    private func values(_ arguments: Arguments, _ option: String) throws -> [String] {
        if option == "--shard" { return try ShardSelection.shard(arguments).map { ["\($0)"] } ?? [] }
        if option == EngineLibraries.option { return EngineLibraries.paths(arguments) }
        return ["--param", PeerLibraryOption.option].contains(option)
            ? arguments.all(option) : arguments.list(option).sorted()
    }

    private func complete(
        _ header: inout RunHeader, for tests: [Case], _ registries: Registries, _ executable: String
    ) {
        for test in tests {
            header.families[test.id] = test.family
            header.scenarioQuestions[test.scenario] = registries.scenarios.scenario(named: test.scenario)?.question
        }
        let used = Set(tests.map(\.engine))
        header.assayVersion = assayVersion
        header.isReleaseBuild = ProgramBuild.isRelease
        header.buildDigest = BuildIdentity.digest(executable: executable, engines: registries.engines.engines)
        header.engines = registries.engines.engines.filter { used.contains($0.name) }
            .map { engine in
                var version = EngineVersion(
                    name: engine.name, version: engine.version,
                    promises: engine.promises.map {
                        EnginePromise(
                            kind: $0.kind.rawValue, sentence: $0.sentence, source: $0.source, level: $0.level)
                    }, library: engine.library)
                version.take(engine)
                return version
            }
        header.notBuilt = registries.engines.notBuilt
        header.warnings = MachineInspection.warnings(
            header.machine, isReleaseBuild: header.isReleaseBuild, measures: header.measures)
        #if Zoo
            header.warnings.insert("PLANTED BUGS: this build has the trait Zoo, and its figures do not count", at: 0)
        #endif
        if AllocationCounter() == nil {
            header.notBuilt.append(
                NotBuilt(name: "allocation counts", remedy: "a build for glibc, without a sanitizer"))
        }
    }

    private func resume(
        _ path: String, _ arguments: Arguments, _ executable: String
    ) throws -> Prepared {
        guard RunDirectory(path: path).exists else {
            throw UsageError("no run in \(path): there is no run.json", command: name)
        }
        let marker = try DirectoryMarker.read(from: path)
        let header = try RunDirectory(path: path).readHeader()
        guard header.merged.isEmpty else {
            throw UsageError(
                "\(path) was merged: finish the shards that it lacks, and merge all of them again", command: name)
        }
        try refuseContradictions(arguments, marker, header: header, path: path)
        try PeerLibraryOption.activate(arguments, recorded: header.engines)
        var registries = BuildRegistries.make()
        try EngineLibraries.add(header.engines.compactMap(\.file), to: &registries, option: path, command: name)
        let this = BuildIdentity.text(registries, executable: executable, isRelease: ProgramBuild.isRelease)
        guard header.buildDigest == this.digest else {
            throw UsageError(
                "the run in \(path) was made by \(header.buildText), this is \(this.text): figures of two builds do "
                    + "not belong into one run. Use that build, or start a new run", command: name)
        }
        let known = try Checkout.knownViolations(
            given: arguments.value("--plans"), executable: executable, registries: registries)
        let manifest = try RunManifest.read(from: RunDirectory(path: path))
        let budget = try arguments.seconds("--budget") ?? manifest.budgetSeconds
        let space = FreeSpace(manifest.cases, registries: registries)
        try InheritedLimits.prepare(
            for: .init(
                memoryBytes: UInt64(manifest.memoryMegabytes) << 20, largestFileBytes: space.largestFileBytes,
                seconds: budget ?? 3_600))
        let profile = try CaseProfile(arguments, of: manifest.cases)
        let claim = try RunClaim.resume(path).claim
        let configuration = RunConfiguration(
            plan: manifest.plan(name: header.plan, seed: header.seed), cases: manifest.cases, registries: registries,
            directory: claim.directory, executable: executable, known: known, budgetSeconds: budget)
        return Prepared(claim: claim, header: header, configuration: configuration, profile: profile)
    }

    /// A resumed run keeps its definition: the command refuses an option that would change it.
    private func refuseContradictions(
        _ arguments: Arguments, _ marker: DirectoryMarker, header: RunHeader, path: String
    ) throws {
        func refuse(_ begun: String, _ given: String) throws {
            throw UsageError(
                "the run in \(path) was begun \(begun), not \(given): leave that out to finish it, or start a new run",
                command: name)
        }
        if let plan = arguments.positional.first, Checkout.name(ofPlan: plan) != header.plan {
            try refuse("with plan \(header.plan)", "with \(plan)")
        }
        if let out = arguments.value("--out"), trimmed(out) != path { try refuse("there", "in \(out)") }
        for option in options where !Self.free.contains(option.name) && arguments.has(option.name) {
            let given = try values(arguments, option.name)
            let begun = marker.options[option.name]
            if given == begun || option.name == "--seed" && given == ["\(header.seed.rawValue)"] { continue }
            let text = begun.map { "with \(option.name) \($0.joined(separator: ","))" } ?? "without \(option.name)"
            try refuse(text, "with \(option.name) \(given.joined(separator: ","))")
        }
    }

    static func command(_ words: [String]) -> String {
        (["assay"] + words).map(ShellWord.quoted).joined(separator: " ")
    }

    /// `20261121-081503`, in universal time.
    static func timestamp(_ seconds: Int) -> String {
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(parts.tm_year + 1_900)\(two(parts.tm_mon + 1))\(two(parts.tm_mday))-"
            + two(parts.tm_hour) + two(parts.tm_min) + two(parts.tm_sec)
    }
}

extension EngineVersion {
    /// Records the files of the engine, and which of its libraries were built with assertions.
    mutating func take(_ engine: any Engine) {
        file = engine.file?.path
        fileDigest = engine.file?.digest ?? ""
        libraryFile = engine.peerLibrary?.path
        libraryDigest = engine.peerLibrary?.digest ?? ""
        assertions = engine.assertions
    }
}
