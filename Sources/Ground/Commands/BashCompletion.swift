/// A script that bash reads: https://www.gnu.org/software/bash/manual/html_node/Programmable-Completion.html.
struct BashCompletion {
    let table: CompletionTable

    var text: String {
        let name = table.program
        let commands = (table.entries.map(\.name) + ["help", "--help", "--version"]).joined(separator: "\n")
        return """
            # Completion of \(name) for bash, made by `\(name) completion bash`.
            # Candidates are the lines of $1. Where $3 is list, those behind the last comma of $2 are asked for.
            _\(name)_offer() {
                local word=$2 before='' IFS=$'\\n'
                if [ "$3" = list ] && [ "${word%,*}" != "$word" ]; then before="${word%,*},"; word=${word##*,}; fi
                COMPREPLY=($(compgen -P "$before" -W "$1" -- "$word"))
            }
            _\(name)_paths() {
                local IFS=$'\\n'
                compopt -o filenames 2>/dev/null
                COMPREPLY=($(compgen "$1" -- "$2"))
            }
            _\(name)() {
                local word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD - 1]} program=${COMP_WORDS[0]}
                local valued='' options='' place=0 index
                COMPREPLY=()
                if [ "$COMP_CWORD" -eq 1 ]; then
                    _\(name)_offer '\(commands)' "$word"
                    return
                fi
                case ${COMP_WORDS[1]} in
            \(table.entries.map(values).joined(separator: "\n"))
                *) return ;;
                esac
                case $word in -*) _\(name)_offer "$options" "$word"; return ;; esac
                for ((index = 2; index < COMP_CWORD; index++)); do
                    case ${COMP_WORDS[index]} in
                    -*) [[ " $valued " != *" ${COMP_WORDS[index]} "* ]] || index=$((index + 1)) ;;
                    *) place=$((place + 1)) ;;
                    esac
                done
                case ${COMP_WORDS[1]}:$place in
            \(table.entries.flatMap(arguments).joined(separator: "\n"))
                esac
            }
            complete -F _\(name) \(name)

            """
    }

    /// The options of a command, and what their values are.
    private func values(_ entry: CompletionTable.Entry) -> String {
        let valued = entry.options.filter { $0.value != nil }
        var lines = ["    \(entry.name))", "        options='\(entry.options.map(\.name).joined(separator: "\n"))'"]
        lines.append("        valued='\(valued.map(\.name).joined(separator: " "))'")
        if !valued.isEmpty {
            lines.append("        case $last in")
            for option in valued {
                lines.append("        \(option.name)) \(action(option.value ?? .nothing, option.isList))return ;;")
            }
            lines.append("        esac")
        }
        return (lines + ["        ;;"]).joined(separator: "\n")
    }

    private func arguments(_ entry: CompletionTable.Entry) -> [String] {
        entry.arguments.enumerated().compactMap { place, value in
            let action = action(value, false)
            if action.isEmpty { return nil }
            let isRest = entry.repeats && place == entry.arguments.count - 1
            return "    \(entry.name):\(isRest ? "*" : "\(place)")) \(action)return ;;"
        }
    }

    /// A command with its semicolon, or nothing.
    private func action(_ value: CompletedValue, _ isList: Bool) -> String {
        let list = isList ? " list" : ""
        switch value {
        case .nothing: return ""
        case .file: return "_\(table.program)_paths -f \"$word\"; "
        case .directory: return "_\(table.program)_paths -d \"$word\"; "
        case .words(let words):
            return "_\(table.program)_offer '\(words.joined(separator: "\n"))' \"$word\"\(list); "
        case .output(let words):
            let words = words.replacing("{}", with: "\"${COMP_WORDS[2]}\"")
            return "_\(table.program)_offer \"$(\"$program\" \(words) 2>/dev/null)\" \"$word\"\(list); "
        }
    }
}
