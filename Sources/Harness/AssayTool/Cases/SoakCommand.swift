import CaseFiles
import Commands
import Files
import Harness
import Measuring
import Platform
import Reporting
import RunRecords
import Seeds

struct SoakCommand: Command {
    let name = "soak"
    let summary = "runs faults with new seeds for a given time, and keeps each failure as a case file"
    let question = "which failures do other seeds find?"
    let positional = ["[PLAN]"]
    let examples = [
        CommandExample("soak --minutes 30", "every scenario of the plan soak"),
        CommandExample("soak --minutes 5 --scenario storage-history --engine strata", "one scenario, seed after seed"),
    ]
    let exitStatus = "0 no case failed, 2 a case failed, 3 a case is undecided"
    let options = [
        OptionSpecification("--minutes", value: "N", isRequired: true, "the time; assay ends the last case by then"),
        OptionSpecification("--rounds", value: "N", "the largest number of rounds within the time"),
        OptionSpecification("--scenario", value: "NAME,..", "only these"),
        OptionSpecification("--engine", value: "NAME,..", "only these engines"),
        OptionSpecification("--param", value: "K=V", "a parameter of the scenarios that have it; may be repeated"),
        OptionSpecification("--seed", value: "N", "the seeds of an earlier soak, from this one on (drawn anew)"),
        OptionSpecification("--out", value: "DIR", "a new or empty directory for case files (Reports/..-soak)"),
        OptionSpecification("--plans", value: "DIR", "the directory of the plans"),
        EngineLibraries.specification,
        PeerLibraryOption.specification,
    ]

    var details: [String] {
        [
            "Answers: \(question)", "",
            "PLAN (default: soak) has the cases. Each round runs all of them in another order and with another",
            "seed, which follows from the first one, so that --seed repeats a soak. An interrupt ends the soak and",
            "reports its findings.",
        ]
    }

    func run(_ arguments: Arguments) throws -> Int32 {
        guard let minutes = arguments.value("--minutes").flatMap({ Double($0) }), minutes > 0, minutes.isFinite else {
            throw UsageError(
                "--minutes needs a number above 0, not \(arguments.value("--minutes") ?? "")", command: name)
        }
        let rounds = try arguments.unsigned("--rounds") ?? .max
        guard rounds > 0 else { throw UsageError("--rounds needs a number above 0", command: name) }
        let registries = try EngineLibraries.registries(arguments)
        let executable = Checkout.executablePath(fallback: CommandLine.arguments[0])
        let checkout = try Checkout.find(given: arguments.value("--plans"), executable: executable)
        var plan = try checkout.plan(arguments.positional.first ?? "soak")
        EngineLibraries.add(registries, to: &plan)
        let first = try arguments.unsigned("--seed") ?? UInt64.random(in: 1..<1 << 40)
        let out = try directory(arguments)
        var soak = Soak(
            plan: plan, registries: registries, out: out,
            deadline: MonotonicClock.now() &+ UInt64(min(minutes, 1e6) * 60e9), rounds: rounds, seed: Seed(first),
            build: build(registries, executable, checkout), known: try checkout.knownViolations(registries))
        soak.filter.scenarios = arguments.list("--scenario")
        soak.filter.engines = arguments.list("--engine")
        soak.filter.parameters = try PlanFilter(arguments).parameters
        Interruption.install()
        let time = minutes == minutes.rounded() ? counted(Int(min(minutes, 1e6)), "minute") : "\(minutes) minutes"
        try Output.line("soak from seed \(first), \(time); failures are kept in \(out)")
        try ComparisonOptions.withScratch { scratch in
            let coverage = try BranchCoverage(registries.engines.engines, in: scratch)
            try soak.run(scratch)
            if let coverage { try Output.line(try coverage.words()) }
        }
        return try soak.conclude()
    }

    private func directory(_ arguments: Arguments) throws -> String {
        let out = trimmed(
            arguments.value("--out") ?? "Reports/\(RunCommand.timestamp(Int(time(nil))))-soak")
        if FileTree.exists(out) {
            guard FileTree.isDirectory(out), try FileTree.names(in: out).isEmpty else {
                throw UsageError("\(out) is not an empty directory: name another --out", command: name)
            }
        }
        return out
    }

    private func build(
        _ registries: Registries, _ executable: String, _ checkout: Checkout
    ) -> CaseFile.Build {
        let this = BuildIdentity.text(registries, executable: executable, isRelease: ProgramBuild.isRelease)
        return CaseFile.Build(version: assayVersion, digest: this.digest, commit: checkout.revision().commit)
    }
}

/// Runs rounds of a plan, each with fresh seeds.
private struct Soak {
    let plan: Plan
    let registries: Registries
    let out: String
    let deadline: UInt64
    /// The largest number of rounds.
    let rounds: UInt64
    let seed: Seed
    let build: CaseFile.Build
    let known: [KnownViolation]
    var filter = PlanFilter()
    private let progress = ProgressLine("assay soak", now: MonotonicClock.now)

    private struct Key: Hashable {
        var scenario: String
        var engine: String
        var cause: FailureCause.Key
    }

    private struct Group {
        var cause: FailureCause
        var cases: Int
        var file: String
    }

    private var groups: [Key: Group] = [:]
    private var order: [Key] = []
    private var passed = 0
    private var failed = 0
    private var undecided: [String: Int] = [:]
    private var trials = 0
    /// Whether a case has started. A soak runs one even if the time is already over.
    private var isBegun = false

    init(
        plan: Plan, registries: Registries, out: String, deadline: UInt64, rounds: UInt64, seed: Seed,
        build: CaseFile.Build, known: [KnownViolation]
    ) {
        self.plan = plan
        self.registries = registries
        self.out = out
        self.deadline = deadline
        self.rounds = rounds
        self.seed = seed
        self.build = build
        self.known = known
    }

    private var isOver: Bool { isBegun && MonotonicClock.now() >= deadline || Interruption.isRequested }

    mutating func run(_ scratch: String) throws {
        let runner = CaseFileRunner(registries, scratch: scratch, known: known)
        var round: UInt64 = 0
        while !isOver && round < rounds {
            var filter = filter
            // Below 2^53, so that programs that read numbers as doubles keep the seed exact.
            filter.seed = Seed(seed.derived(round).rawValue >> 16)
            let expansion = PlanExpansion(plan: plan, filter: filter, registries: registries)
            try expansion.checkParameters()
            let cases = try expansion.cases().filter { $0.verdict == nil }
            guard !cases.isEmpty else {
                throw UsageError("no case of plan \(plan.name) can run here with these options", command: "soak")
            }
            var random = RandomStream(seed.derived(round).derived("order"))
            for place in random.permutation(of: cases.count) where !isOver {
                try take(cases[place].test, runner)
            }
            round += 1
        }
        progress.report("")
    }

    private mutating func take(_ test: Case, _ runner: CaseFileRunner) throws {
        isBegun = true
        let left = Double(deadline &- min(deadline, MonotonicClock.now())) / 1e9
        progress.report(
            "\(counted(passed + failed, "case")), \(counted(groups.count, "cause")), \(Int(left)) s left: "
                + "\(test.scenario) \(test.engine) seed \(test.seed)")
        let result = try runner.run(test, fault: nil, seconds: max(left, 1)).result
        if Interruption.isRequested { return }
        trials += result.trialCount
        switch result.verdict {
        case .pass, .known, .unpromised: passed += 1
        case .violation, .suspectedHarness:
            failed += 1
            for cause in result.failureCauses { try keep(cause, result) }
        // A case that the time limit cut short counts neither as passed nor as undecided.
        case .inconclusive where result.isCut: break
        default: undecided["\(test.scenario) \(test.engine): \(result.message.prefix(120))", default: 0] += 1
        }
    }

    private mutating func keep(_ cause: FailureCause, _ result: CaseResult) throws {
        let key = Key(scenario: result.test.scenario, engine: result.test.engine, cause: cause.key)
        if groups[key] != nil {
            groups[key]?.cases += 1
            return
        }
        var build = build
        build.engineVersion = result.engineVersion
        let file = out + "/" + KeptCaseName.of(result.test.id, cause.outcome, cause.example)
        try FileTree.createDirectory(out)
        try FileTree.writeText(file, KeptCases.file(cause, of: result, registries, build: build).text)
        groups[key] = Group(cause: cause, cases: 1, file: file)
        order.append(key)
        progress.report("")
        try say(key)
    }

    private func say(_ key: Key) throws {
        guard let group = groups[key] else { return }
        try Output.line("\(group.cause.outcome.shownWord)  \(key.scenario) \(key.engine)  \(group.cause.text)")
        try Output.line("  assay replay \(ShellWord.quoted(group.file))")
    }

    func conclude() throws -> Int32 {
        try Output.line(
            "\(counted(passed + failed, "case")) decided, \(counted(trials, "trial")); \(failed) failed, by "
                + counted(order.count, "cause"))
        for key in order {
            let cases = groups[key]?.cases ?? 0
            try Output.line("  \(counted(cases, "case")):")
            try say(key)
        }
        for (text, count) in undecided.sorted(by: { $0.key < $1.key }).prefix(10) {
            try Output.line("  not decided, \(counted(count, "time")): \(text)")
        }
        if failed > 0 { return 2 }
        return passed > 0 && undecided.isEmpty ? 0 : 3
    }
}
