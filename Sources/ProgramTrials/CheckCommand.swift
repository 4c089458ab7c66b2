import Harness
import RunRecords

/// A command of the user's that looks at files: `sh -c`, with the path in place of each `{}`.
package struct CheckCommand: Sendable {
    package static let placeholder = "{}"

    package let text: String
    package var limitSeconds: Double = 20
    /// Of standard output, from the beginning.
    package var outputLimit = 1 << 20
    /// Where it starts; nil: where this process is.
    package var directory: String?

    package init(_ text: String) { self.text = text }

    /// Whether the path is asked for at all.
    package var namesPath: Bool { text.contains(Self.placeholder) }

    /// What the shell is told.
    package func line(_ path: String) -> String {
        text.replacing(Self.placeholder, with: ShellWord.quoted(path))
    }

    /// - Parameter variables: `NAME=VALUE`, in place of those of the same name that this process has.
    package func run(_ path: String, variables: [String] = []) throws -> WatchedEnd {
        try program(path, variables: variables).run()
    }

    /// What `run` starts.
    package func program(_ path: String, variables: [String] = []) -> WatchedProgram {
        var program = WatchedProgram(["/bin/sh", "-c", line(path)])
        program.output = .pipe
        program.variables = variables
        program.limitSeconds = limitSeconds
        program.outputLimit = outputLimit
        program.directory = directory
        return program
    }

    /// Why the end is none of a check that looked: the shell found no such command, or could not run it.
    package static func refusal(_ end: WatchedEnd) -> String? {
        switch end.end {
        case .exited(127): "the shell found no such command: \(lastLine(end))"
        case .exited(126): "the command cannot be run: \(lastLine(end))"
        default: nil
        }
    }

    /// What a check that failed said last, for people.
    ///
    /// - Parameter hidden: paths that are others in each run; `{}` stands for them.
    package static func lastLine(_ end: WatchedEnd, hiding hidden: [String] = []) -> String {
        let said = end.errors.isEmpty ? end.output : end.errors
        let isSpace = { (byte: UInt8) in [0x20, 0x09, 0x0D, 0x0B, 0x0C].contains(byte) }
        let lines = said.suffix(4_096).split(separator: UInt8(ascii: "\n"))
        guard let line = lines.last(where: { !$0.allSatisfy(isSpace) }) else { return "it said nothing" }
        // A line that a terminal shows in an older one's place ends with what went back.
        let text = PrintedText.escaped(line.last == 0x0D ? line.dropLast() : line)
        return String(hidden.reduce(text) { $0.replacing($1, with: placeholder) }.prefix(300))
    }
}
