/// The completions that a shell offers for a value.
package enum CompletedValue: Sendable, Equatable {
    /// No completion: a number, or a value that only the user knows.
    case nothing
    case file
    case directory
    case words([String])
    /// The lines that the program prints when it is called with these words; `{}` is the command's first argument.
    case output(String)
}

/// The completions for each position of a program's command lines. The scripts of all shells are generated from this
/// table.
struct CompletionTable {
    struct Option {
        var name: String
        var summary: String
        /// nil for a switch.
        var value: CompletedValue?
        /// `NAME,..`: several, with commas between them.
        var isList: Bool
    }

    struct Entry {
        var name: String
        var summary: String
        var options: [Option]
        /// By position; with `repeats`, the last one also serves all later positions.
        var arguments: [CompletedValue]
        var repeats: Bool
    }

    let program: String
    let entries: [Entry]

    init(_ program: Program) {
        self.program = program.name
        entries = program.listed.map { command in
            Entry(
                name: command.name, summary: command.summary,
                options: command.options.map { option in
                    Option(
                        name: option.name, summary: option.summary,
                        value: option.value.map { Self.value(option.name, $0, program.completions) },
                        isList: option.value?.hasSuffix(",..") == true)
                } + [Option(name: "--help", summary: "usage, options and examples", value: nil, isList: false)],
                arguments: command.positional.map { Self.value($0, $0, program.completions) },
                repeats: command.positional.last?.contains("...") == true)
        }
    }

    /// Completions are looked up by the name of the option or argument, then by its placeholder in the help.
    /// Placeholders of neither table are lists of words, `bash|zsh`, or complete nothing.
    private static func value(
        _ name: String, _ form: String, _ known: [String: CompletedValue]
    ) -> CompletedValue {
        if let value = known[name] { return value }
        let plain = form.filter { !"[].".contains($0) }
        let words = plain.split(separator: "|").map(String.init)
        if let value = known[plain] { return value }
        switch plain {
        case "FILE", "BINARY", "KEY", "COPY": return .file
        case "DIR", "RUN", "OUT": return .directory
        default:
            let isLower = words.allSatisfy { $0.allSatisfy { $0.isLowercase || $0 == "-" } }
            return isLower ? .words(words) : words.contains("FILE") ? .file : .nothing
        }
    }
}
