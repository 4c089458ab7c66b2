/// What a shell offers where a value is expected.
package enum CompletedValue: Sendable, Equatable {
    /// Nothing: a number, or what the user alone knows.
    case nothing
    case file
    case directory
    case words([String])
    /// The lines that the program prints when it is called with these words; `{}` is the command's first argument.
    case output(String)
}

/// What a shell offers in each place of a program's command lines: what the scripts of all shells are made from.
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
        /// By place; the last one stands for all behind it where `repeats`.
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

    /// By the name of the option or the argument, else by what the help calls the value.
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
