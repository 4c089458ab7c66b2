/// A command of the tool.
protocol Command: Sendable {
    var name: String { get }
    /// One line.
    var summary: String { get }
    /// What the command does and does not do, for its help.
    var details: [String] { get }
    /// Names of the arguments without a dash, all of them required.
    var positional: [String] { get }
    var options: [OptionSpecification] { get }
    /// Returns the exit status.
    func run(_ arguments: Arguments) throws -> Int32
}

extension Command {
    var usage: String {
        let required = options.filter(\.isRequired).map { "\($0.name) \($0.value ?? "")" }
        let words = ["strata", name] + positional + required
        return words.joined(separator: " ") + (options.contains { !$0.isRequired } ? " [options]" : "")
    }

    var help: String {
        var lines = [usage, "", summary] + details
        if !options.isEmpty {
            let rows = options.map { (($0.name + " " + ($0.value ?? "")), $0.summary) }
            let width = rows.map(\.0.count).max() ?? 0
            lines += ["", "Options"]
            for (left, right) in rows {
                lines.append("  \(left)\(String(repeating: " ", count: width - left.count))  \(right)")
            }
        }
        return (lines + ["", StrataMain.exitStatuses]).joined(separator: "\n")
    }
}

/// An option that a command understands.
struct OptionSpecification: Sendable {
    let name: String
    /// What stands for the value in the help text; nil for a switch.
    let value: String?
    let summary: String
    var isRequired = false

    init(_ name: String, value: String? = nil, isRequired: Bool = false, _ summary: String) {
        self.name = name
        self.value = value
        self.summary = summary
        self.isRequired = isRequired
    }

    static let json = OptionSpecification("--json", "one JSON object instead of text")
}

/// A wrong command line: the message names what would be right. Ends the program with status 64.
struct UsageError: Error, CustomStringConvertible {
    let message: String
    let command: String?

    init(_ message: String, command: String? = nil) {
        self.message = message
        self.command = command
    }

    var description: String { "\(message)\nstrata \(command.map { $0 + " " } ?? "")--help tells more" }
}

/// A command line taken apart by the specification of its command.
struct Arguments {
    private(set) var positional: [String] = []
    private var values: [String: [String]] = [:]
    let command: String

    /// `--name value`, `--name=value` and switches; `--` ends the options.
    init(_ words: [String], _ command: any Command) throws {
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
        if positional.count > command.positional.count {
            throw UsageError("too many arguments: \(positional[command.positional.count])", command: command.name)
        }
        if positional.count < command.positional.count {
            throw UsageError("\(command.positional[positional.count]) is missing", command: command.name)
        }
        for option in command.options where option.isRequired && values[option.name] == nil {
            throw UsageError("\(option.name) \(option.value ?? "") is missing", command: command.name)
        }
    }

    private mutating func take(_ word: String, _ rest: inout ArraySlice<String>, _ command: any Command) throws {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let option = command.options.first(where: { $0.name == parts[0] }) else {
            let known = command.options.map(\.name) + ["--help"]
            throw UsageError(Spelling.complaint("option", parts[0], among: known), command: command.name)
        }
        if option.value == nil {
            if parts.count > 1 { throw UsageError("\(option.name) takes no value", command: command.name) }
            values[option.name, default: []].append("")
        } else if parts.count == 2 {
            values[option.name, default: []].append(parts[1])
        } else if let value = rest.popFirst() {
            values[option.name, default: []].append(value)
        } else {
            throw UsageError("\(option.name) needs \(option.value ?? "a value")", command: command.name)
        }
    }

    func has(_ name: String) -> Bool { values[name] != nil }

    /// The last one given counts.
    func value(_ name: String) -> String? { values[name]?.last }

    func all(_ name: String) -> [String] { values[name] ?? [] }
}

/// Finds what somebody may have meant.
enum Spelling {
    /// A sentence that names what was wrong, the nearest right name, and all that there are.
    static func complaint(_ kind: String, _ name: String, among known: [String]) -> String {
        var text = "unknown \(kind) \(name)"
        let nearest = known.min { distance(name, $0) < distance(name, $1) }
        if let nearest, distance(name, nearest) <= max(2, nearest.count / 3) || nearest.hasPrefix(name) {
            text += "; did you mean \(nearest)?"
        }
        return text + " (known: \(known.joined(separator: ", ")))"
    }

    /// Letters to insert, delete or replace. Complexity: O(n * m).
    private static func distance(_ first: String, _ second: String) -> Int {
        let b = Array(second.utf8)
        var row = Array(0...b.count)
        for (i, letter) in first.utf8.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for j in b.indices {
                let above = row[j + 1]
                row[j + 1] = min(above + 1, row[j] + 1, diagonal + (letter == b[j] ? 0 : 1))
                diagonal = above
            }
        }
        return row[b.count]
    }
}
