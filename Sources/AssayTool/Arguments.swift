import Harness

/// A wrong command line: the message names what would be right. Ends the program with status 64.
struct UsageError: Error, CustomStringConvertible {
    let message: String
    /// The command whose help tells more; nil for the program's own.
    let command: String?

    init(_ message: String, command: String? = nil) {
        self.message = message
        self.command = command
    }

    var description: String {
        let help = command.map { "assay \($0) --help" } ?? "assay --help"
        return "\(message)\n\(help) tells more"
    }
}

/// An option that a command understands.
struct OptionSpecification: Sendable {
    let name: String
    /// What stands for the value in the help text; nil for a switch.
    let value: String?
    let summary: String

    init(_ name: String, value: String? = nil, _ summary: String) {
        self.name = name
        self.value = value
        self.summary = summary
    }
}

/// A command line taken apart by the specification of its command.
struct Arguments {
    private(set) var positional: [String] = []
    private var values: [String: [String]] = [:]
    let command: String

    /// `--name value`, `--name=value` and switches; `--` ends the options.
    init(_ words: [String], command: String, options: [OptionSpecification], positionalNames: [String]) throws {
        self.command = command
        var index = 0
        var isLiteral = false
        while index < words.count {
            let word = words[index]
            index += 1
            if isLiteral || !word.hasPrefix("-") || word == "-" {
                positional.append(word)
                continue
            }
            if word == "--" {
                isLiteral = true
                continue
            }
            try take(word, words, &index, options)
        }
        guard positional.count <= positionalNames.count else {
            throw UsageError("too many arguments: \(positional[positionalNames.count])", command: command)
        }
    }

    private mutating func take(
        _ word: String, _ words: [String], _ index: inout Int, _ options: [OptionSpecification]
    ) throws {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let option = options.first(where: { $0.name == parts[0] }) else {
            let known = options.map(\.name) + ["--help"]
            throw UsageError(NearestName.complaint("option", parts[0], among: known), command: command)
        }
        if option.value == nil {
            guard parts.count == 1 else { throw UsageError("\(option.name) takes no value", command: command) }
            values[option.name, default: []].append("")
            return
        }
        if parts.count == 2 {
            values[option.name, default: []].append(parts[1])
            return
        }
        guard index < words.count else {
            throw UsageError("\(option.name) needs \(option.value ?? "a value")", command: command)
        }
        values[option.name, default: []].append(words[index])
        index += 1
    }

    func has(_ name: String) -> Bool {
        values[name] != nil
    }

    /// The last one given counts.
    func value(_ name: String) -> String? {
        values[name]?.last
    }

    /// All that were given, each split at commas.
    func list(_ name: String) -> [String] {
        (values[name] ?? []).flatMap { $0.split(separator: ",").map(String.init) }
    }

    /// All that were given, whole.
    func all(_ name: String) -> [String] {
        values[name] ?? []
    }

    func unsigned(_ name: String) throws -> UInt64? {
        guard let text = value(name) else { return nil }
        guard let number = UInt64(text) else {
            throw UsageError("\(name) needs a whole number from 0, not \(text)", command: command)
        }
        return number
    }

    /// A duration as `90`, `90s`, `10m` or `2h`, in seconds.
    func seconds(_ name: String) throws -> Double? {
        guard let text = value(name) else { return nil }
        var digits = text
        var factor = 1.0
        if let unit = text.last, let unitFactor = ["s": 1.0, "m": 60, "h": 3_600][String(unit)] {
            factor = unitFactor
            digits.removeLast()
        }
        guard let number = Double(digits), number > 0, number.isFinite else {
            throw UsageError("\(name) needs a duration such as 90s or 10m, not \(text)", command: command)
        }
        return number * factor
    }
}
