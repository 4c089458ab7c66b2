import Commands
import Harness
import RunRecords

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The version that reports and `assay --version` show.
let assayVersion = "0.1"

@main
enum AssayMain {
    static var program: Program {
        var program = Program(
            name: "assay", version: assayVersion,
            summary: "benchmarks and fault injection for embedded storage engines",
            commands: [
                RunCommand(), ListCommand(), ReportCommand(), ReplayCommand(), ShowCommand(), MinimizeCommand(),
                SoakCommand(), ABCommand(), BisectCommand(), CompareCommand(), MergeCommand(), BaselineCommand(),
                GateCommand(), HistoryCommand(), ExportCommand(), VerifyFiguresCommand(), EqualWorkCommand(),
                SelfTestCommand(), WorkerCommand(), CrashCommand(),
                DamageCommand(), ProgramFaultCommand(.eio), ProgramFaultCommand(.full), ProgramFaultCommand(.kill),
                ConformCommand(),
            ],
            exitStatuses:
                "Exit status: 0 fine, 1 harness error, 2 violation, 3 inconclusive only, 64 wrong arguments.")
        program.explain = { error in
            switch error {
            case let error as PlanError: Program.Failure("\(error)", status: 64)
            case let error as UnreadableRun:
                Program.Failure(
                    "\(error). Copy the run again from where it was made, or run the plan again", status: 64)
            default: nil
            }
        }
        return program
    }

    static func main() {
        // A reader of our output, or a worker, that goes away must not end a run.
        signal(SIGPIPE, SIG_IGN)
        exit(program.status(Array(CommandLine.arguments.dropFirst())))
    }
}
