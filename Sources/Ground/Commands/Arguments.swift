/// A command line parsed by the specification of its command.
package struct Arguments {
    package private(set) var positional: [String] = []
    private var values: [String: [String]] = [:]
    package let command: String

    /// `--name value`, `--name=value` and switches; `--` ends the options.
    ///
    /// Throws: `UsageError` for an unknown option or argument, and for a missing required one.
    package init(_ words: [String], of command: any Command) throws(UsageError) {
        self.command = command.name
        var rest = words[...]
        var isLiteral = false
        while let word = rest.popFirst() {
            if isLiteral || !word.hasPrefix("-") || word == "-" {
                positional.append(word)
            } else if word == "--" {
                isLiteral = true
            } else {
                try take(word, &rest, command)
            }
        }
        let takesMore = command.positional.last?.contains("...") == true
        if positional.count > command.positional.count, !takesMore {
            throw UsageError("too many arguments: \(positional[command.positional.count])", command: command.name)
        }
        if let missing = command.positional.dropFirst(positional.count).first(where: { !$0.hasPrefix("[") }) {
            throw UsageError("\(missing) is missing", command: command.name)
        }
        for option in command.options where option.isRequired && values[option.name] == nil {
            throw UsageError("\(option.form) is missing", command: command.name)
        }
    }

    private mutating func take(
        _ word: String, _ rest: inout ArraySlice<String>, _ command: any Command
    ) throws(UsageError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let option = command.options.first(where: { $0.name == parts[0] }) else {
            let known = command.options.map(\.name) + ["--help"]
            var message = NearestName.complaint("option", parts[0], among: known)
            if command.runsProgram { message += ". Options of the program come after --: \(command.usage)" }
            throw UsageError(message, command: command.name)
        }
        if option.value == nil {
            guard parts.count == 1 else { throw UsageError("\(option.name) takes no value", command: command.name) }
            values[option.name, default: []].append("")
        } else if parts.count == 2 {
            values[option.name, default: []].append(parts[1])
        } else if let value = rest.popFirst() {
            values[option.name, default: []].append(value)
        } else {
            throw UsageError("\(option.name) needs \(option.value ?? "a value")", command: command.name)
        }
    }

    package func has(_ name: String) -> Bool { values[name] != nil }

    /// The value of the last occurrence; empty for a switch, nil if the option was not given.
    package func value(_ name: String) -> String? { values[name]?.last }

    /// All occurrences in their order, not split at commas.
    package func all(_ name: String) -> [String] { values[name] ?? [] }

    /// All occurrences, each split at commas.
    package func list(_ name: String) -> [String] {
        all(name).flatMap { $0.split(separator: ",").map(String.init) }
    }

    package func unsigned(_ name: String) throws(UsageError) -> UInt64? {
        guard let text = value(name) else { return nil }
        guard let number = UInt64(text) else {
            throw UsageError("\(name) needs a whole number from 0, not \(text)", command: command)
        }
        return number
    }

    /// A duration as `90s`, `10m` or `2h`, in seconds. A number without a unit is refused as ambiguous.
    package func seconds(_ name: String) throws(UsageError) -> Double? {
        guard let text = value(name) else { return nil }
        let factor = text.last.flatMap { ["s": 1.0, "m": 60, "h": 3_600][String($0)] }
        guard let number = Double(factor == nil ? text : String(text.dropLast())), number > 0, number.isFinite else {
            throw UsageError("\(name) needs a duration such as 90s or 10m, not \(text)", command: command)
        }
        guard let factor else {
            throw UsageError("\(name) \(text) has no unit: \(text)s, \(text)m or \(text)h?", command: command)
        }
        guard number * factor <= Self.longestSeconds else {
            throw UsageError("\(name) \(text) is more than 31 years; give a shorter duration", command: command)
        }
        return number * factor
    }

    /// The longest duration that an option accepts, in seconds: its nanoseconds fit into 64 bits, and the records of a
    /// run hold no longer one.
    private static let longestSeconds = 1e9
}
