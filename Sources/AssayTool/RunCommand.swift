import Commands
import Harness
import Measuring
import Reporting
import RunRecords
import Seeds

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

struct RunCommand: Command {
    let name = "run"
    let summary = "runs a plan (quick unless named), and writes report.html and results.csv"
    let question = "is the data safe, how fast is it, how large does it get?"
    let positional = ["[PLAN]"]
    let options = [
        OptionSpecification("--scenario", value: "NAME,..", "only these; one that the plan lacks is added"),
        OptionSpecification("--engine", value: "NAME,..", "only these engines"),
        OptionSpecification("--dataset", value: "NAME,..", "on these data sets"),
        OptionSpecification("--only", value: "WHAT,..", "only storage, only objects, or families of scenarios"),
        OptionSpecification("--size", value: "N", "rows of the data sets that are generated"),
        OptionSpecification("--seed", value: "N", "the seed of every case (the plan's: 1)"),
        OptionSpecification("--param", value: "K=V", "a parameter of the scenarios that have it; may be repeated"),
        OptionSpecification("--budget", value: "10m", "time for all cases together"),
        OptionSpecification("--out", value: "DIR", "where the run is written (Reports/..)"),
        OptionSpecification("--resume", value: "DIR", "finish a run that was stopped"),
        OptionSpecification("--dry-run", "list the cases, and run none"),
        OptionSpecification("--plans", value: "DIR", "where the plans are"),
    ]

    func run(_ arguments: Arguments) throws -> Int32 {
        if arguments.has("--dry-run") { return try listCases(arguments) }
        let executable = Checkout.executablePath(fallback: CommandLine.arguments[0])
        let registries = BuildRegistries.make()
        let prepared: (RunHeader, RunConfiguration)
        if let path = arguments.value("--resume") {
            prepared = try resume(trimmed(path), arguments, registries, executable)
        } else {
            prepared = try begin(arguments, registries, executable)
        }
        var runner = Runner(prepared.1)
        let run = try runner.run(prepared.0, observer: TerminalProgress())
        try ReportFiles.write(run)
        try Output.write(Reporting.terminal(run, width: Output.width, colour: Output.wantsColour))
        return prepared.1.exitStatus(run)
    }

    private func expand(
        _ arguments: Arguments, _ checkout: Checkout, _ registries: Registries
    ) throws -> (Plan, PlanFilter, [PlannedCase]) {
        let plan = try checkout.plan(arguments.positional.first ?? "quick")
        let filter = try filter(arguments)
        let expansion = PlanExpansion(plan: plan, filter: filter, registries: registries)
        try expansion.checkParameters()
        let cases = try expansion.cases()
        guard !cases.isEmpty else {
            throw UsageError("nothing is left of plan \(plan.name) with these options", command: name)
        }
        return (plan, filter, cases)
    }

    private func listCases(_ arguments: Arguments) throws -> Int32 {
        let executable = Checkout.executablePath(fallback: CommandLine.arguments[0])
        let checkout = try Checkout.find(given: arguments.value("--plans"), executable: executable)
        for planned in try expand(arguments, checkout, BuildRegistries.make()).2 {
            let test = planned.test
            let state = planned.verdict.map { "  \($0.rawValue): \(planned.reason)" } ?? ""
            let data = test.dataset.isEmpty ? "-" : test.size > 0 ? "\(test.dataset) \(test.size)" : test.dataset
            try Output.line(
                "\(test.id)  \(test.scenario)  \(test.engine)  \(data)  \(test.durability.rawValue)  "
                    + "seed \(test.seed)  \(test.parameterText)\(state)")
        }
        return 0
    }

    private func begin(
        _ arguments: Arguments, _ registries: Registries, _ executable: String
    ) throws -> (RunHeader, RunConfiguration) {
        let checkout = try Checkout.find(given: arguments.value("--plans"), executable: executable)
        let (plan, filter, cases) = try expand(arguments, checkout, registries)
        let seed = filter.seed ?? plan.seed
        let startTime = Int(time(nil))
        let id = "\(timestamp(startTime))-\(plan.name)-\(seed)"
        let directory = RunDirectory(path: trimmed(arguments.value("--out") ?? "Reports/\(id)"))
        try setAside(directory)
        try FileTree.createDirectory(directory.path)
        let configuration = RunConfiguration(
            plan: plan, cases: cases, registries: registries, directory: directory, executable: executable,
            known: try checkout.knownViolations(), budgetSeconds: filter.budgetSeconds)
        try RunManifest(plan: plan, cases: cases, budgetSeconds: configuration.budgetSeconds).write(to: directory)
        var header = RunHeader(
            id: id, plan: plan.name, seed: seed,
            machine: try MachineInspection.inspect(directory: directory.path))
        header.startTime = startTime
        header.command = command
        (header.commit, header.branch) = checkout.revision()
        header.budgetSeconds = configuration.budgetSeconds
        header.measures = plan.measures
        for planned in cases where planned.isHeadline && planned.verdict == nil {
            header.rounds[planned.test.id] = plan.rounds
            if planned.hasControl { header.controls.insert(planned.test.id) }
        }
        complete(&header, cases, registries)
        return (header, configuration)
    }

    private func complete(_ header: inout RunHeader, _ cases: [PlannedCase], _ registries: Registries) {
        header.assayVersion = assayVersion
        header.isReleaseBuild = Self.isReleaseBuild
        let used = Set(cases.map(\.test.engine))
        header.engines = registries.engines.engines.filter { used.contains($0.name) }
            .map { engine in
                EngineVersion(
                    name: engine.name, version: engine.version,
                    promises: engine.promises.map {
                        EnginePromise(kind: $0.kind.rawValue, sentence: $0.sentence, source: $0.source)
                    })
            }
        header.notBuilt = registries.engines.notBuilt
        header.cases = cases.map(\.test.id)
        header.warnings = MachineInspection.warnings(header.machine, isReleaseBuild: header.isReleaseBuild)
        #if Zoo
            header.warnings.insert("PLANTED BUGS: this build has the trait Zoo, and must not measure", at: 0)
        #endif
        if AllocationCounter() == nil {
            header.notBuilt.append(NotBuilt(name: "allocation counts", remedy: "apt-get install libjemalloc-dev"))
        }
    }

    private func resume(
        _ path: String, _ arguments: Arguments, _ registries: Registries, _ executable: String
    ) throws -> (RunHeader, RunConfiguration) {
        let directory = RunDirectory(path: path)
        guard directory.exists else { throw UsageError("no run in \(path): there is no run.json", command: name) }
        let header = try directory.readHeader()
        let manifest = try RunManifest.read(from: directory)
        try FileTree.remove(directory.workDirectory)
        let known = try Checkout.knownViolations(given: arguments.value("--plans"), executable: executable)
        let budget = try arguments.seconds("--budget")
        let configuration = RunConfiguration(
            plan: manifest.plan(name: header.plan, seed: header.seed), cases: manifest.cases, registries: registries,
            directory: directory, executable: executable, known: known,
            budgetSeconds: budget ?? manifest.budgetSeconds)
        return (header, configuration)
    }

    /// A run that is there already is kept beside: nothing that was measured is written over.
    private func setAside(_ directory: RunDirectory) throws {
        guard directory.exists else { return }
        var number = 1
        while FileTree.exists("\(directory.path).\(number)") { number += 1 }
        let target = "\(directory.path).\(number)"
        guard rename(directory.path, target) == 0 else {
            throw HarnessError("\(directory.path) holds a run, and cannot be moved to \(target)")
        }
        Output.error("the run that was in \(directory.path) is now in \(target)")
    }

    private func filter(_ arguments: Arguments) throws -> PlanFilter {
        var filter = PlanFilter()
        filter.scenarios = arguments.list("--scenario")
        filter.engines = arguments.list("--engine")
        filter.datasets = arguments.list("--dataset")
        filter.seed = try arguments.unsigned("--seed").map { Seed($0) }
        filter.size = try arguments.unsigned("--size").map { Int($0) }
        filter.budgetSeconds = try arguments.seconds("--budget")
        let families = Family.allCases.filter { $0 != .planted }.map(\.rawValue)
        for name in arguments.list("--only") {
            if let layer = Layer(rawValue: name) {
                filter.layers.append(layer)
                continue
            }
            let families = Layer.allCases.map(\.rawValue) + families
            guard let family = Family(rawValue: name), families.contains(name) else {
                throw UsageError(NearestName.complaint("layer or family", name, among: families), command: self.name)
            }
            filter.families.append(family)
        }
        for pair in arguments.all("--param") {
            guard let equals = pair.firstIndex(of: "="), equals != pair.startIndex else {
                throw UsageError("--param needs NAME=VALUE, not \(pair)", command: name)
            }
            filter.parameters.append(
                CaseParameter(name: String(pair[..<equals]), value: String(pair[pair.index(after: equals)...])))
        }
        return filter
    }

    private var command: String {
        (["assay"] + CommandLine.arguments.dropFirst()).joined(separator: " ")
    }

    /// `20261121-081503`, in universal time.
    private func timestamp(_ seconds: Int) -> String {
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(parts.tm_year + 1_900)\(two(parts.tm_mon + 1))\(two(parts.tm_mday))-"
            + two(parts.tm_hour) + two(parts.tm_min) + two(parts.tm_sec)
    }

    private static var isReleaseBuild: Bool {
        #if DEBUG
            false
        #else
            true
        #endif
    }
}
