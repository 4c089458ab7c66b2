import Harness

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A command of the tool.
protocol Command: Sendable {
    var name: String { get }
    /// One line.
    var summary: String { get }
    /// The question that it answers.
    var question: String { get }
    /// Names of the arguments without a dash, in order: `PLAN`, `[TRIAL]`.
    var positional: [String] { get }
    var options: [OptionSpecification] { get }
    /// Not in the list of commands.
    var isInternal: Bool { get }
    /// Returns the exit status.
    func run(_ arguments: Arguments) throws -> Int32
}

extension Command {
    var isInternal: Bool { false }

    var usage: String {
        let words = ["assay", name] + positional + (options.isEmpty ? [] : ["[options]"])
        return words.joined(separator: " ")
    }

    var help: String {
        var lines = ["\(usage)", "", "\(summary)", "Answers: \(question)"]
        let rows = options.map { option in
            (left: [option.name, option.value].compactMap { $0 }.joined(separator: " "), right: option.summary)
        }
        if !rows.isEmpty {
            lines += ["", "Options"]
            let width = rows.map(\.left.count).max() ?? 0
            for row in rows {
                lines.append("  \(padded(row.left, width))  \(row.right)")
            }
        }
        return lines.joined(separator: "\n")
    }
}

func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
}

/// Text on standard output or standard error, whole lines at a time.
enum Output {
    static func line(_ text: String = "") {
        write(text + "\n", to: STDOUT_FILENO)
    }

    static func error(_ text: String) {
        write(text + "\n", to: STDERR_FILENO)
    }

    static func write(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                #if canImport(Glibc)
                    Glibc.write(descriptor, buffer.baseAddress?.advanced(by: offset), bytes.count - offset)
                #else
                    Darwin.write(descriptor, buffer.baseAddress?.advanced(by: offset), bytes.count - offset)
                #endif
            }
            if count < 0 && errno == EINTR { continue }
            // Nobody listens any more.
            guard count > 0 else { return }
            offset += count
        }
    }

    static func isTerminal(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1
    }

    /// Colour only on a terminal that wants it: https://no-color.org.
    static func wantsColour(_ descriptor: Int32) -> Bool {
        isTerminal(descriptor) && environment("NO_COLOR") == nil && environment("TERM") != "dumb"
    }

    /// nil for a variable that is not set or empty.
    static func environment(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

    static var width: Int {
        var size = winsize()
        if ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col >= 40 { return Int(size.ws_col) }
        return environment("COLUMNS").flatMap { Int($0) } ?? 100
    }
}
