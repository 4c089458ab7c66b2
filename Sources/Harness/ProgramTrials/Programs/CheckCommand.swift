import Files
import Harness

/// The user's command that checks files: `sh -c`, with each `{}` replaced by the path.
package struct CheckCommand: Sendable {
    package static let placeholder = "{}"

    package let text: String
    package var limitSeconds: Double = 20
    /// The largest number of bytes of standard output to keep, from the beginning.
    package var outputLimit = 1 << 20
    /// Working directory; nil: that of this process.
    package var directory: String?

    package init(_ text: String) { self.text = text }

    /// Whether the command contains the placeholder.
    package var namesPath: Bool { text.contains(Self.placeholder) }

    /// The command line for the shell.
    package func line(_ path: String) -> String {
        text.replacing(Self.placeholder, with: ShellWord.quoted(path))
    }

    /// - Parameter variables: `NAME=VALUE`; they replace variables of this process with the same name.
    package func run(_ path: String, variables: [String] = []) throws -> WatchedEnd {
        try program(path, variables: variables).run()
    }

    /// The program that `run` starts.
    package func program(_ path: String, variables: [String] = []) -> WatchedProgram {
        var program = WatchedProgram(["/bin/sh", "-c", line(path)])
        program.output = .pipe
        program.variables = variables
        program.limitSeconds = limitSeconds
        program.outputLimit = outputLimit
        program.directory = directory
        return program
    }

    /// Why the end is not that of a completed check: the shell found no such command, or could not run it. Nil
    /// otherwise.
    package static func refusal(_ end: WatchedEnd) -> String? {
        switch end.end {
        case .exited(127): "the shell found no such command: \(lastLine(end))"
        case .exited(126): "the command cannot be run: \(lastLine(end))"
        default: nil
        }
    }

    /// The last line that a failed check printed, for people.
    ///
    /// - Parameter hidden: paths that differ in each run; `{}` replaces them.
    package static func lastLine(_ end: WatchedEnd, hiding hidden: [String] = []) -> String {
        let said = end.errors.isEmpty ? end.output : end.errors
        let isSpace = { (byte: UInt8) in [0x20, 0x09, 0x0D, 0x0B, 0x0C].contains(byte) }
        let lines = said.suffix(4_096).split(separator: UInt8(ascii: "\n"))
        guard let line = lines.last(where: { !$0.allSatisfy(isSpace) }) else { return "it said nothing" }
        // A line that overwrites an older one on a terminal ends with a carriage return.
        let text = PrintedText.escaped(line.last == 0x0D ? line.dropLast() : line)
        return String(hidden.reduce(text) { $0.replacing($1, with: placeholder) }.prefix(300))
    }
}
