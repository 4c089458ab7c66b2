/// A command of a program: `assay run`, `strata info`.
package protocol Command: Sendable {
    var name: String { get }
    /// One line.
    var summary: String { get }
    /// The question that the command answers, which its help shows by default; empty for none.
    var question: String { get }
    /// What the command does and does not do, for its help.
    var details: [String] { get }
    /// Command lines that work as they stand, for its help.
    var examples: [CommandExample] { get }
    /// What its exit statuses mean, `0 .., 2 ..`, except those that hold for every command (`Program.failureStatus`);
    /// if empty, the help prints the program's own.
    var exitStatus: String { get }
    /// Whether the positional arguments are the command line of another program, which the user writes after `--`.
    var runsProgram: Bool { get }
    /// Names of the positional arguments in order: `FILE` for a required one, `[TRIAL]` for an optional one. The last
    /// may be `FILE...` for one or more, or `[FILE...]` for any number.
    var positional: [String] { get }
    /// The command lines in short that the help begins with, without the program's name. Each is accepted once its
    /// names are replaced, so that a command with several sets of required options has a form for each.
    var usageForms: [String] { get }
    var options: [OptionSpecification] { get }
    /// Whether the list of commands leaves it out.
    var isInternal: Bool { get }
    /// Returns the exit status.
    func run(_ arguments: Arguments) throws -> Int32
}

extension Command {
    package var question: String { "" }
    package var details: [String] { question.isEmpty ? [] : ["Answers: \(question)"] }
    package var examples: [CommandExample] { [] }
    package var exitStatus: String { "" }
    package var runsProgram: Bool { false }
    package var isInternal: Bool { false }
    package var usageForms: [String] { [usage] }

    /// The command line in short, without the program's name, in an order that `Arguments` accepts.
    package var usage: String {
        let required = options.filter(\.isRequired).map(\.form)
        let optional = options.contains { !$0.isRequired } ? ["[options]"] : []
        let words = runsProgram ? required + optional + ["--"] + positional : positional + required + optional
        return ([name] + words).joined(separator: " ")
    }
}

/// An example command line of a help text, and its purpose.
package struct CommandExample: Sendable {
    /// Without the program's name: `run quick`.
    package let words: String
    package let purpose: String

    package init(_ words: String, _ purpose: String) {
        self.words = words
        self.purpose = purpose
    }

    /// Split as a shell does: at spaces outside single quotes.
    package var arguments: [String] {
        var words: [String] = []
        var word: String?
        var isQuoted = false
        for character in self.words {
            switch character {
            case "'":
                isQuoted.toggle()
                word = word ?? ""
            case " " where !isQuoted:
                if let word { words.append(word) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        return words + [word].compactMap { $0 }
    }
}

/// Commands that belong together, under one heading of the help.
package struct CommandGroup: Sendable {
    package let title: String
    package let commands: [any Command]

    package init(_ title: String, _ commands: [any Command]) {
        self.title = title
        self.commands = commands
    }
}

/// An option that a command understands.
package struct OptionSpecification: Sendable {
    package let name: String
    /// The placeholder of the value in the help text; nil for a switch.
    package let value: String?
    package let summary: String
    package let isRequired: Bool

    package init(_ name: String, value: String? = nil, isRequired: Bool = false, _ summary: String) {
        self.name = name
        self.value = value
        self.summary = summary
        self.isRequired = isRequired
    }

    /// As the help writes it: `--to NEW`.
    var form: String { [name, value].compactMap { $0 }.joined(separator: " ") }
}

/// A wrong command line. The message names the correct form, and `Program.status` ends the program with status 64.
package struct UsageError: Error, CustomStringConvertible {
    package let message: String
    /// The command whose help the message points to; nil for the program's help.
    package let command: String?

    package init(_ message: String, command: String? = nil) {
        self.message = message
        self.command = command
    }

    package var description: String { message }
}
