import Commands
import Files
import Harness
import Reporting

/// The option `--profile`: repeats one case of a run under a profiler.
struct CaseProfile {
    private let tool: Profiler.Tool
    private let planned: PlannedCase

    /// nil without `--profile`. Throws before any case runs: for an unknown tool, for a tool that is not installed, and
    /// for a run of more than one case.
    init?(_ arguments: Arguments, of cases: [PlannedCase]) throws {
        guard let name = arguments.value("--profile") else { return nil }
        guard let tool = Profiler.Tool(rawValue: name) else {
            let known = Profiler.Tool.allCases.map(\.rawValue)
            throw UsageError(NearestName.complaint("profiler", name, among: known), command: arguments.command)
        }
        let runnable = cases.filter { $0.verdict == nil }
        guard let only = runnable.first, runnable.count == 1 else {
            let list = runnable.prefix(6).map {
                "\n  \($0.test.scenario) \($0.test.engine) \($0.test.dataset) \($0.test.parameterText)"
            }
            throw UsageError(
                "--profile is for one case, and this plan has \(runnable.count) with these options: name it by "
                    + "--scenario, --engine, --size and --param" + list.joined() + (runnable.count > 6 ? "\n  .." : ""),
                command: arguments.command)
        }
        try Profiler.check(tool)
        (self.tool, planned) = (tool, only)
    }

    /// Runs the case, writes the flame graph, and prints its path.
    func take(_ runner: inout Runner, _ configuration: RunConfiguration) throws {
        let (directory, test) = (configuration.directory, planned.test)
        let profiler = try Profiler(
            tool, of: test.id, run: directory, scratch: directory.workDirectory + "/profile")
        let front = try profiler.front(executable: configuration.executable)
        let (result, processID) = try runner.watch(planned, by: front)
        if result.verdict != .pass {
            Output.error("under \(tool.rawValue) the case is \(result.verdict.shownWord): \(result.message)")
        }
        let stacks = try profiler.stacks(processID: processID)
        let title = "\(test.scenario) \(test.engine) \(test.parameterText): \(stacks.unit) by \(tool.rawValue)"
        try FileTree.replaceText(profiler.graphFile, Reporting.flameGraph(stacks, title: title))
        try Output.line("Profile  \(profiler.graphFile)  (\(profiler.rawFile))")
    }
}
