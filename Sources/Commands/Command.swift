/// A command of a program: `assay run`, `strata info`.
package protocol Command: Sendable {
    var name: String { get }
    /// One line.
    var summary: String { get }
    /// The question that it answers, for the list of commands; empty for none.
    var question: String { get }
    /// What the command does and does not do, for its help.
    var details: [String] { get }
    /// Names of the arguments without a dash, in order: `FILE`, `[TRIAL]` for one that may be left out, and last
    /// `FILE...` for one or more, or `[FILE...]` for any number.
    var positional: [String] { get }
    var options: [OptionSpecification] { get }
    /// Not in the list of commands.
    var isInternal: Bool { get }
    /// Returns the exit status.
    func run(_ arguments: Arguments) throws -> Int32
}

extension Command {
    package var question: String { "" }
    package var details: [String] { question.isEmpty ? [] : ["Answers: \(question)"] }
    package var isInternal: Bool { false }

    /// Without the program's name.
    var usage: String {
        let required = options.filter(\.isRequired).map(\.form)
        let words = [name] + positional + required
        return words.joined(separator: " ") + (options.contains { !$0.isRequired } ? " [options]" : "")
    }
}

/// An option that a command understands.
package struct OptionSpecification: Sendable {
    package let name: String
    /// What stands for the value in the help text; nil for a switch.
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

/// A wrong command line: the message names what would be right. Ends the program with status 64.
package struct UsageError: Error, CustomStringConvertible {
    package let message: String
    /// The command whose help tells more; nil for the program's own.
    package let command: String?

    package init(_ message: String, command: String? = nil) {
        self.message = message
        self.command = command
    }

    package var description: String { message }
}
