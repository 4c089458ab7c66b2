/// A function that zsh finds below its `fpath` by the name `_PROGRAM`.
struct ZshCompletion {
    let table: CompletionTable

    var text: String {
        let name = table.program
        let entries = table.entries.map { "            \(quoted("\($0.name):\(colonless($0.summary))"))" }
            .joined(separator: "\n")
        return """
            #compdef \(name)
            # Completion of \(name) for zsh, made by `\(name) completion zsh`.
            _\(name)_output() {
                local -a found
                found=(${(f)"$(\(name) "$@" 2>/dev/null)"})
                compset -P '*,'
                compadd -a found
            }
            _\(name)() {
                if (( CURRENT == 2 )); then
                    local -a commands
                    commands=(
            \(entries)
                    )
                    _describe -t commands command commands
                    return
                fi
                shift words
                (( CURRENT-- ))
                case $words[1] in
            \(table.entries.map(entry).joined(separator: "\n"))
                esac
            }
            if [ "$funcstack[1]" = _\(name) ]; then _\(name) "$@"; else compdef _\(name) \(name); fi

            """
    }

    private func entry(_ entry: CompletionTable.Entry) -> String {
        var specifications = entry.options.map { option in
            let value = option.value.map { ":value:\(action($0))" } ?? ""
            return quoted("\(option.name)[\(bracketless(option.summary))]\(value)")
        }
        for (place, value) in entry.arguments.enumerated() {
            let isRest = entry.repeats && place == entry.arguments.count - 1
            specifications.append(quoted("\(isRest ? "*" : "\(place + 1)"):argument:\(action(value))"))
        }
        return "    \(entry.name))\n        _arguments \\\n            "
            + specifications.joined(separator: " \\\n            ") + "\n        ;;"
    }

    /// The action of `_arguments` that completes a value. A leading space keeps `_arguments` from inserting options of
    /// its own into the called command.
    private func action(_ value: CompletedValue) -> String {
        switch value {
        case .nothing: return " "
        case .file: return "_files"
        case .directory: return "_files -/"
        case .words(let words): return "(\(words.joined(separator: " ")))"
        case .output(let words):
            return " _\(table.program)_output \(words.replacing("{}", with: "\"$words[2]\""))"
        }
    }

    private func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "'\\''"))'" }

    private func colonless(_ text: String) -> String { text.replacing(":", with: "\\:") }

    private func bracketless(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("[", with: "\\[").replacing("]", with: "\\]")
    }
}
