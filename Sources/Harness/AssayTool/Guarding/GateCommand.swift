import Commands
import Files
import Harness
import Reporting
import RunRecords

/// `assay gate`: compares the counts of a run with a baseline.
struct GateCommand: Command {
    let name = "gate"
    let summary = "compares the counts of a run with a baseline, under the budgets of the run's plan"
    let question = "does this build do more than it did?"
    let examples = [
        CommandExample("gate D --baseline ci", "D is a run of the plan guard"),
        CommandExample(
            "gate D --baseline ./ci/assay.json --budgets ./ci/assay.json5",
            "a project of yours: its baseline, its budgets"),
    ]
    let exitStatus = "0 all figures within their budgets, 2 a figure exceeds its budget, 3 a figure is undecided"
    let positional = ["RUN"]
    let options = [
        OptionSpecification("--baseline", value: "N", isRequired: true, "a name in Benchmarks/Baselines, or a path"),
        OptionSpecification("--budgets", value: "PLAN", "the budgets of this plan instead of those the run began with"),
        OptionSpecification("--out", value: "DIR", "the directory for gate.xml (JUnit) and gate.md (RUN)"),
        OptionSpecification("--plans", value: "DIR", "the directory of the plans; baselines stand beside them"),
    ]

    var details: [String] {
        [
            "Answers: \(question)", "",
            "The gate compares counts: system calls, syncs, bytes, file sizes, allocations, instructions. It names and",
            "skips counts that differ by machine. It compares no times; assay ab measures whether a build is slower.",
        ]
    }

    func run(_ arguments: Arguments) throws -> Int32 {
        let report: GateReport
        do {
            report = try judge(arguments)
        } catch let error as BaselineError {
            throw UsageError(error.description, command: name)
        } catch let error as DirectoryClaimError {
            throw UsageError(error.description, command: name)
        }
        try Output.write(Reporting.terminal(report, width: Output.width, colour: Output.wantsColour))
        return report.exitStatus
    }

    private func judge(_ arguments: Arguments) throws -> GateReport {
        let run = try BaselineCommand.load(arguments.positional[0], command: name)
        let file = try BaselineCommand.file(arguments.value("--baseline") ?? "", arguments)
        guard FileTree.kind(file) != nil else { throw try missing(file, arguments) }
        let baseline = try Baseline(try FileTree.readBytes(file), path: file)
        let budgets = try budgets(run, arguments)
        guard !budgets.isEmpty else {
            throw UsageError(
                "plan \(run.header.plan) has no budgets, so that the gate has nothing to decide: add some, such as "
                    + "budgets: { \"syncs\": \"==\", \"file_bytes\": \"+1%\" }, or name a plan that has some with "
                    + "--budgets PLAN", command: name)
        }
        let report = Gate.report(run, baseline: baseline, budgets: budgets)
        if let out = arguments.value("--out").map(trimmed) {
            try FileTree.createDirectory(out)
            try FileTree.replaceText(out + "/gate.xml", Reporting.junit(report))
            try FileTree.replaceText(out + "/gate.md", Reporting.markdown(report))
        } else {
            try RunClaim.write(Reporting.junit(report), to: "gate.xml", in: run.directory)
            try RunClaim.write(Reporting.markdown(report), to: "gate.md", in: run.directory)
        }
        return report
    }

    private func missing(_ file: String, _ arguments: Arguments) throws -> UsageError {
        let remedy = "save one with  assay baseline save RUN --name N"
        let given = arguments.value("--baseline") ?? ""
        guard file != given else { return UsageError("there is no baseline \(file); \(remedy)", command: name) }
        let executable = Checkout.executablePath(fallback: CommandLine.arguments[0])
        let names = try Checkout.find(given: arguments.value("--plans"), executable: executable).baselineNames()
        let complaint = NearestName.complaint("baseline", given, among: names)
        return UsageError(
            "\(names.isEmpty ? "there is no baseline \(file)" : complaint); \(remedy)", command: name)
    }

    private func budgets(_ run: Run, _ arguments: Arguments) throws -> [Budget] {
        guard let plan = arguments.value("--budgets") else {
            do {
                return try RunManifest.read(from: RunDirectory(path: run.directory)).budgets
            } catch {
                throw BaselineError("cases.json of \(run.directory) cannot be read (\(error)): run the plan again")
            }
        }
        let executable = Checkout.executablePath(fallback: CommandLine.arguments[0])
        let checkout = try Checkout.find(given: arguments.value("--plans"), executable: executable)
        return try checkout.plan(plan).checkedBudgets(BuildRegistries.make())
    }
}
