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
    static let commands: [any Command] = [
        RunCommand(), ListCommand(), ReportCommand(), ReplayCommand(), VerifyFiguresCommand(), EqualWorkCommand(),
        WorkerCommand(),
    ]

    static func main() {
        // A reader of our output, or a worker, that goes away must not end a run.
        signal(SIGPIPE, SIG_IGN)
        exit(status(Array(CommandLine.arguments.dropFirst())))
    }

    /// 0 fine, 1 harness error, 2 violation, 3 inconclusive only, 64 usage.
    static func status(_ words: [String]) -> Int32 {
        do {
            return try run(words)
        } catch let error as UsageError {
            Output.error("assay: \(error)")
            return 64
        } catch let error as PlanError {
            Output.error("assay: \(error)")
            return 64
        } catch {
            Output.error("assay: \(error)")
            return 1
        }
    }

    private static func run(_ words: [String]) throws -> Int32 {
        guard let first = words.first, first != "--help", first != "-h", first != "help" else {
            if words.first == "help", words.count > 1 { return try run([words[1], "--help"]) }
            Output.line(help)
            return words.isEmpty ? 64 : 0
        }
        if first == "--version" {
            Output.line("assay \(assayVersion)")
            return 0
        }
        guard let command = commands.first(where: { $0.name == first }) else {
            let known = commands.filter { !$0.isInternal }.map(\.name)
            throw UsageError(NearestName.complaint("command", first, among: known))
        }
        let rest = Array(words.dropFirst())
        if rest.contains("--help") || rest.contains("-h") {
            Output.line(command.help)
            return 0
        }
        let arguments = try Arguments(
            rest, command: command.name, options: command.options, positionalNames: command.positional)
        return try command.run(arguments)
    }

    static var help: String {
        var lines = [
            "assay \(assayVersion): benchmarks and fault injection for embedded storage engines", "",
            "assay COMMAND [arguments]", "",
        ]
        for command in commands where !command.isInternal {
            lines.append("  \(padded(command.name, 8))\(command.summary)")
            lines.append("          \(command.question)")
        }
        lines += [
            "", "assay COMMAND --help shows the options of a command.",
            "Exit status: 0 fine, 1 harness error, 2 violation, 3 inconclusive only, 64 wrong arguments.",
        ]
        return lines.joined(separator: "\n")
    }
}
