import StrataStorage

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The version that `strata --version` shows.
let strataVersion = "0.1"

@main
enum StrataMain {
    static let commands: [any Command] = [
        InfoCommand(), CheckCommand(), SalvageCommand(), CompactCommand(), CopyCommand(), DumpCommand(),
    ]

    static func main() { exit(status(Array(CommandLine.arguments.dropFirst()))) }

    /// 0 fine, 1 the operation failed, 2 damage found, 64 wrong arguments.
    private static func status(_ words: [String]) -> Int32 {
        do {
            return try run(words)
        } catch let error as UsageError {
            Output.error("strata: \(error)")
            return 64
        } catch let error as ToolError {
            Output.error("strata: \(error.message)")
            return error.status
        } catch let error as StorageError {
            let explained = ToolError(error, path: "the store")
            Output.error("strata: \(explained.message)")
            return explained.status
        } catch {
            Output.error("strata: \(error)")
            return 1
        }
    }

    private static func run(_ words: [String]) throws -> Int32 {
        guard let first = words.first, first != "--help", first != "-h", first != "help" else {
            if words.first == "help", words.count > 1 { return try run([words[1], "--help"]) }
            if words.isEmpty {
                Output.error(help)
                return 64
            }
            try Output.line(help)
            return 0
        }
        if first == "--version" {
            try Output.line("strata \(strataVersion) (file format \(Format.version))")
            return 0
        }
        guard let command = commands.first(where: { $0.name == first }) else {
            throw UsageError(Spelling.complaint("command", first, among: commands.map(\.name)))
        }
        let rest = Array(words.dropFirst())
        if rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
            try Output.line(command.help)
            return 0
        }
        return try command.run(try Arguments(rest, command))
    }

    private static var help: String {
        var lines = ["strata \(strataVersion): looks into Strata's files, and repairs them", "", "Usage"]
        for command in commands { lines.append("  \(command.usage)") }
        lines.append("")
        for command in commands {
            lines.append("  \(command.name)\(String(repeating: " ", count: 9 - command.name.count))\(command.summary)")
        }
        lines += ["", "strata COMMAND --help shows the options of a command.", exitStatuses]
        return lines.joined(separator: "\n")
    }

    static let exitStatuses = "Exit status: 0 fine, 1 the operation failed, 2 damage found, 64 wrong arguments."
}
