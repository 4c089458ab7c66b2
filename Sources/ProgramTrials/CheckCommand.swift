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
    package static func lastLine(_ end: WatchedEnd) -> String {
        let said = end.errors.isEmpty ? end.output : end.errors
        let lines = String(decoding: said.suffix(4_096), as: UTF8.self).split(separator: "\n")
        return lines.last { !$0.allSatisfy(\.isWhitespace) }.map { String($0.prefix(300)) } ?? "it said nothing"
    }
}
