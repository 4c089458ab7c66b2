import Commands
import FaultModel
import Harness
import Platform
import ProgramTrials
import Reporting
import RunRecords

/// The version that reports and `assay --version` show.
let assayVersion = "0.1"

@main
enum AssayMain {
    static var program: Program {
        var program = Program(
            name: "assay", version: assayVersion,
            summary: "benchmarks and fault injection for embedded storage engines",
            groups: [
                CommandGroup("Run", [RunCommand(), ListCommand(), SoakCommand()]),
                CommandGroup(
                    "Look at a run", [ReportCommand(), ExportCommand(), HistoryCommand(), CompareCommand()]),
                CommandGroup("Repeat a failure", [ReplayCommand(), ShowCommand(), MinimizeCommand()]),
                CommandGroup("Which build is slower", [ABCommand(), BisectCommand()]),
                CommandGroup("Guard a CI", [GateCommand(), BaselineCommand(), MergeCommand()]),
                CommandGroup(
                    "Break the files of any program",
                    [
                        DamageCommand(), CrashCommand(), ProgramFaultCommand(.eio), ProgramFaultCommand(.full),
                        ProgramFaultCommand(.kill),
                    ]),
                CommandGroup(
                    "Check the harness, or an engine of your own",
                    [
                        ConformCommand(), SelfTestCommand(), VerifyFiguresCommand(), EqualWorkCommand(),
                        WorkerCommand(),
                    ]),
            ],
            exitStatus: "0 fine, 1 harness error, 2 violation, 3 inconclusive only, 64 wrong arguments",
            failureStatus: "1 harness error, 64 wrong arguments")
        program.completions = completions
        program.explain = { error in
            switch error {
            case let error as PlanError: Program.Failure("\(error)", status: 64)
            case let error as UnreadableRun:
                Program.Failure(
                    "\(error). Copy the run again from its machine, or run the plan again", status: 64)
            default: nil
            }
        }
        return program
    }

    /// The words that shell completion offers for each option and argument, by the name in the help.
    private static var completions: [String: CompletedValue] {
        let plans = CompletedValue.output("list plans --names")
        let layers: [String] = Layer.allCases.map(\.rawValue)
        let damages: [String] = FileDamage.Kind.allCases.map(\.rawValue)
        let calls: [String] = CallKind.allCases.map(\.rawValue)
        let formats: [String] = ExportFormat.allCases.map(\.rawValue)
        var values: [String: CompletedValue] = ["PLAN": plans, "--plan": plans, "--budgets": plans]
        values["--scenario"] = .output("list scenarios --names")
        values["--engine"] = .output("list engines --names")
        values["--dataset"] = .output("list datasets --names")
        values["--only"] = .words(layers + Listing.families)
        values["--profile"] = .words(["callgrind", "perf"])
        values["--faults"] = .words(damages)
        values["--calls"] = .words(calls)
        values["--error"] = .words(["ENOSPC", "EDQUOT"])
        values["--format"] = .words(formats)
        values["--baseline"] = .file
        values["save"] = .words(["save"])
        values["ACTION"] = .words(["add", "list", "show", "trend", "site"])
        values["[TOPIC|NAME]"] = .output("list --names")
        values["RUN|FILE"] = .file
        values["PROGRAM"] = .file
        values["[CASE]"] = .output("list cases --names --run {}")
        return values
    }

    /// The index of the first command-line word that is not UTF-8.
    private static func foreignWord() -> Int? {
        (1..<max(1, Int(CommandLine.argc))).first { index in
            CommandLine.unsafeArgv[index].map { String(validatingCString: $0) == nil } ?? false
        }
    }

    static func main() {
        // A closed pipe, of standard output or of a worker, must not end a run.
        signal(SIGPIPE, SIG_IGN)
        // Decoded with replacement characters, the word would silently name another file.
        if let number = foreignWord() {
            Output.error("assay: word \(number) of the command line is no UTF-8: name the file by another path")
            exit(64)
        }
        exit(program.status(Array(CommandLine.arguments.dropFirst())))
    }
}
