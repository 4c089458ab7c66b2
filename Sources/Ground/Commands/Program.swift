/// A program of commands: its help, its version, and what its exit statuses mean.
package struct Program: Sendable {
    /// How a failed command ends the program: the message and the exit status.
    package struct Failure: Sendable {
        package var message: String
        package var status: Int32

        package init(_ message: String, status: Int32) {
            self.message = message
            self.status = status
        }
    }

    package let name: String
    package let version: String
    /// The text of `--version` after the version; may be empty.
    package var versionDetail = ""
    /// One line.
    package let summary: String
    /// The listed commands by heading, then the internal ones.
    package let groups: [CommandGroup]
    /// What each exit status means: `0 fine, 1 ..`.
    package let exitStatus: String
    /// The part of `exitStatus` that holds for every command: `1 .., 64 ..`.
    package let failureStatus: String
    /// The message and status of an error that needs other ones than its description and 1; nil for all other errors.
    package var explain: @Sendable (any Error) -> Failure? = { _ in nil }
    /// Completions of values, by the name of the option or argument.
    package var completions: [String: CompletedValue] = [:]

    /// The status that a shell reports for a program ended by SIGPIPE.
    static let closedPipeStatus: Int32 = 141

    package init(
        name: String, version: String, summary: String, groups: [CommandGroup], exitStatus: String,
        failureStatus: String
    ) {
        self.name = name
        self.version = version
        self.summary = summary
        self.groups = groups
        self.exitStatus = exitStatus
        self.failureStatus = failureStatus
    }

    /// Runs the command that the first word names, and reports errors on standard error. Returns the exit status: 64
    /// for a wrong command line, 141 if the reader of standard output has closed the pipe.
    package func status(_ words: [String]) -> Int32 {
        do {
            return try run(words)
        } catch let error as UsageError {
            let help = error.command.map { "\(name) \($0) --help" } ?? "\(name) --help"
            Output.error("\(name): \(error.message)\n\(help) tells more")
            return 64
        } catch let error as OutputError where error.isClosedPipe {
            return Self.closedPipeStatus
        } catch {
            let failure = explain(error) ?? Failure("\(error)", status: 1)
            Output.error("\(name): \(failure.message)")
            return failure.status
        }
    }

    private func run(_ words: [String]) throws -> Int32 {
        guard let first = words.first else {
            Output.error(help)
            return 64
        }
        if first == "help", words.count > 1 { return try run([words[1], "--help"]) }
        if ["--help", "-h", "help"].contains(first) {
            try Output.line(help)
            return 0
        }
        if first == "--version" {
            try Output.line("\(name) \(version)\(versionDetail.isEmpty ? "" : " (\(versionDetail))")")
            return 0
        }
        guard let command = allGroups.flatMap(\.commands).first(where: { $0.name == first }) else {
            throw UsageError(
                NearestName.complaint("command", first, among: listed.map(\.name), list: "\(name) --help"))
        }
        let rest = Array(words.dropFirst())
        if rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
            try Output.line(CommandHelp(self, command).text)
            return 0
        }
        return try command.run(try Arguments(rest, of: command))
    }

    // MARK: Help

    /// All groups, with the commands that every program has.
    private var allGroups: [CommandGroup] {
        groups + [CommandGroup("Set up a shell", [CompletionCommand(self), ManualCommand(self)])]
    }

    /// The groups that help, manual and completion show: without internal commands and without headings left empty.
    var listedGroups: [CommandGroup] {
        allGroups.map { CommandGroup($0.title, $0.commands.filter { !$0.isInternal }) }
            .filter { !$0.commands.isEmpty }
    }

    var listed: [any Command] { listedGroups.flatMap(\.commands) }

    /// The statuses `0 .., 2 .., 1 .., 64 ..` of one command; those of the program if the command states none.
    func exitStatus(of command: any Command) -> String {
        command.exitStatus.isEmpty ? exitStatus : "\(command.exitStatus), \(failureStatus)"
    }

    var help: String {
        var lines = ["\(name) \(version): \(summary)", "", "Usage: \(name) COMMAND [ARGUMENTS]"]
        let width = (listed.map(\.name.count).max() ?? 0) + 2
        for group in listedGroups {
            lines += ["", group.title]
            for command in group.commands { lines.append("  \(command.name.padded(to: width))\(command.summary)") }
        }
        lines += [
            "", "\(name) COMMAND --help shows usage, options and examples of a command.", "Exit status: \(exitStatus).",
        ]
        return lines.joined(separator: "\n")
    }
}

/// The help of one command.
struct CommandHelp {
    private let program: Program
    private let command: any Command

    init(_ program: Program, _ command: any Command) {
        self.program = program
        self.command = command
    }

    /// Columns of a narrow terminal; the lines of `details` are broken by hand to fit them.
    private static let width = 110

    var text: String {
        var lines = command.usageForms.map { "\(program.name) \($0)" } + ["", command.summary] + command.details
        if !command.options.isEmpty {
            let width = min(28, command.options.map(\.form.count).max() ?? 0)
            lines += ["", "Options"]
            for option in command.options {
                let form = "  \(option.form.padded(to: width))"
                let text = option.summary.wrapped(to: Self.width - width - 4, indent: 0)
                let start = String(repeating: " ", count: width + 4)
                if option.form.count > width {
                    lines += [form] + text.map { start + $0 }
                } else {
                    lines += ["\(form)  \(text[0])"] + text.dropFirst().map { start + $0 }
                }
            }
        }
        if !command.examples.isEmpty {
            let width = min(64, command.examples.map(\.words.count).max() ?? 0)
            lines += ["", "Examples"]
            for example in command.examples {
                lines.append("  \(program.name) \(example.words.padded(to: width))  # \(example.purpose)")
            }
        }
        lines.append("")
        lines += "Exit status: \(program.exitStatus(of: command)).".wrapped(to: Self.width, indent: 2)
        return lines.joined(separator: "\n")
    }
}
