/// Pages for `man`, by the macros that every system has: https://man.openbsd.org/man.7.
struct ManualPage {
    private let program: Program
    /// nil for the page of the program.
    private let command: (any Command)?

    init(_ program: Program, _ command: (any Command)? = nil) {
        self.program = program
        self.command = command
    }

    /// The file name: `assay-run.1`.
    var fileName: String { "\(title).1" }

    private var title: String { ([program.name] + [command?.name].compactMap { $0 }).joined(separator: "-") }

    var text: String {
        let version = "\(program.name) \(program.version)"
        let head = ".TH \(Self.escaped(title.uppercased())) 1 \"\" \"\(version)\" \"\(program.name)\""
        return ([head] + (command.map(lines) ?? overview)).joined(separator: "\n") + "\n"
    }

    private var overview: [String] {
        var lines = [".SH NAME", "\(program.name) \\- \(Self.escaped(program.summary))", ".SH SYNOPSIS"]
        lines += [".B \(program.name)", "COMMAND [ARGUMENTS]", ".SH DESCRIPTION"]
        lines += [
            ".B \(program.name) help COMMAND", "shows usage, options and examples of a command, as its page does.",
        ]
        for group in program.listedGroups {
            lines.append(".SH \(Self.escaped(group.title.uppercased()))")
            for command in group.commands {
                lines += [".TP", ".BR \(program.name)\\-\(Self.escaped(command.name)) (1)", Self.line(command.summary)]
            }
        }
        return lines + [".SH EXIT STATUS", Self.line(program.exitStatus + ".")]
    }

    private func lines(_ command: any Command) -> [String] {
        var lines = [".SH NAME", "\(Self.escaped(title)) \\- \(Self.escaped(command.summary))", ".SH SYNOPSIS"]
        for (index, form) in command.usageForms.enumerated() {
            let words = form.dropFirst(command.name.count).drop { $0 == " " }
            lines += index == 0 ? [] : [".br"]
            lines += [".B \(program.name) \(Self.escaped(command.name))", Self.line(String(words))]
        }
        if !command.details.isEmpty {
            lines.append(".SH DESCRIPTION")
            for detail in command.details { lines.append(detail.isEmpty ? ".PP" : Self.line(detail)) }
        }
        if !command.options.isEmpty {
            lines.append(".SH OPTIONS")
            for option in command.options {
                let value = option.value.map { " \\fI\(Self.escaped($0))\\fR" } ?? ""
                lines += [".TP", "\\fB\(Self.escaped(option.name))\\fR\(value)", Self.line(option.summary)]
            }
        }
        if !command.examples.isEmpty {
            lines.append(".SH EXAMPLES")
            for example in command.examples {
                lines += [".TP", ".B \(program.name) \(Self.escaped(example.words))", Self.line(example.purpose)]
            }
        }
        lines += [".SH EXIT STATUS", Self.line(program.exitStatus(of: command) + ".")]
        return lines + [".SH SEE ALSO", ".BR \(program.name) (1)"]
    }

    /// A line of text. One that begins with a full stop or an apostrophe would be a macro call to `man`; `\&` prevents
    /// that.
    private static func line(_ text: String) -> String {
        let escaped = escaped(text)
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "\\": escaped += "\\e"
            case "-": escaped += "\\-"
            case "'": escaped += "\\(aq"
            case "`": escaped += "\\(ga"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
