/// Commands that fish reads from `completions/PROGRAM.fish`: https://fishshell.com/docs/current/completions.html.
struct FishCompletion {
    let table: CompletionTable

    var text: String {
        let name = table.program
        var lines = [
            "# Completion of \(name) for fish, made by `\(name) completion fish`.", "complete -c \(name) -f",
            "complete -c \(name) -n __fish_use_subcommand -l version -d 'the version'",
            "complete -c \(name) -n __fish_use_subcommand -l help -d 'the commands'",
        ]
        for entry in table.entries {
            lines.append(
                "complete -c \(name) -n __fish_use_subcommand -a \(entry.name) -d \(quoted(entry.summary))")
            let condition = "complete -c \(name) -n '__fish_seen_subcommand_from \(entry.name)'"
            for option in entry.options {
                let long = option.name.drop { $0 == "-" }
                let value = option.value.map { action($0, isList: option.isList) } ?? ""
                lines.append("\(condition) -l \(long)\(value) -d \(quoted(option.summary))")
            }
            // fish does not count arguments, so the completions of every position are offered at all positions.
            var seen: [CompletedValue] = []
            for value in entry.arguments where value != .nothing && !seen.contains(value) {
                seen.append(value)
                lines.append(condition + argument(value))
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The value of an option: `-x` requires one and suppresses file names.
    private func action(_ value: CompletedValue, isList: Bool) -> String {
        switch value {
        case .nothing: return " -x"
        case .file: return " -r -F"
        case .directory: return " -x -a '(__fish_complete_directories)'"
        case .words(let words): return " -x -a \(quoted(words.joined(separator: " ")))"
        case .output(let words):
            let words = words.replacing("{}", with: "(commandline -opc)[3]")
            let command = "\(table.program) \(words) 2>/dev/null"
            return " -x -a " + quoted(isList ? "(__fish_complete_list , '\(command)')" : "(\(command))")
        }
    }

    private func argument(_ value: CompletedValue) -> String {
        value == .file ? " -F" : action(value, isList: false).replacing(" -x", with: "")
    }

    private func quoted(_ text: String) -> String {
        "'\(text.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
    }
}
