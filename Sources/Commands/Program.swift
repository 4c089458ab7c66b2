/// A program of commands: its help, its version, and what its exit statuses mean.
package struct Program: Sendable {
    /// How a command that failed ends the program: what to say, and the exit status.
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
    /// What `--version` says behind the version; empty for nothing.
    package var versionDetail = ""
    /// One line.
    package let summary: String
    package let commands: [any Command]
    /// What each exit status means, one sentence.
    package let exitStatuses: String
    /// Failures that end with another status than 1, or need other words than the error's own.
    package var explain: @Sendable (any Error) -> Failure? = { _ in nil }

    package init(name: String, version: String, summary: String, commands: [any Command], exitStatuses: String) {
        self.name = name
        self.version = version
        self.summary = summary
        self.commands = commands
        self.exitStatuses = exitStatuses
    }

    /// Runs the command that the words name, and says what failed on standard error. Returns the exit status: 64 for a
    /// wrong command line.
    package func status(_ words: [String]) -> Int32 {
        do {
            return try run(words)
        } catch let error as UsageError {
            let help = error.command.map { "\(name) \($0) --help" } ?? "\(name) --help"
            Output.error("\(name): \(error.message)\n\(help) tells more")
            return 64
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
        guard let command = commands.first(where: { $0.name == first }) else {
            throw UsageError(NearestName.complaint("command", first, among: listed.map(\.name)))
        }
        let rest = Array(words.dropFirst())
        if rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
            try Output.line(help(for: command))
            return 0
        }
        return try command.run(try Arguments(rest, of: command))
    }

    private var listed: [any Command] { commands.filter { !$0.isInternal } }

    private var help: String {
        var lines = ["\(name) \(version): \(summary)", "", "Usage"]
        for command in listed { lines.append("  \(name) \(command.usage)") }
        lines.append("")
        let width = (listed.map(\.name.count).max() ?? 0) + 2
        for command in listed {
            lines.append("  \(command.name.padded(to: width))\(command.summary)")
            if !command.question.isEmpty { lines.append("  \("".padded(to: width))\(command.question)") }
        }
        lines += ["", "\(name) COMMAND --help shows the options of a command.", exitStatuses]
        return lines.joined(separator: "\n")
    }

    private func help(for command: any Command) -> String {
        var lines = ["\(name) \(command.usage)", "", command.summary] + command.details
        if !command.options.isEmpty {
            let width = command.options.map(\.form.count).max() ?? 0
            lines += ["", "Options"]
            for option in command.options { lines.append("  \(option.form.padded(to: width))  \(option.summary)") }
        }
        return (lines + ["", exitStatuses]).joined(separator: "\n")
    }
}
