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

    /// The first word of the command line that is no UTF-8.
    private static func foreignWord() -> Int? {
        (1..<max(1, Int(CommandLine.argc))).first { index in
            CommandLine.unsafeArgv[index].map { String(validatingCString: $0) == nil } ?? false
        }
    }

    static func main() {
        // A reader of our output, or a worker, that goes away must not end a run.
        signal(SIGPIPE, SIG_IGN)
        // It would name another file than the one that was meant, without a word.
        if let number = foreignWord() {
            Output.error("assay: word \(number) of the command line is no UTF-8: name the file by another path")
            exit(64)
        }
        exit(program.status(Array(CommandLine.arguments.dropFirst())))
    }
}
