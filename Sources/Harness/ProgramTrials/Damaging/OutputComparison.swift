import Files
import Platform

/// The output of a command, as lines that are comparable between runs.
package struct PrintedLines: Equatable, Sendable {
    package let lines: [[UInt8]]
    /// Whether the output ends with a newline.
    package let isEnded: Bool

    /// - Parameters:
    ///   - directory: the directory of the command's files: its path is replaced by `{}`, as it differs in each run.
    ///   - ignored: patterns of `*` and `?`; the comparison leaves out lines that match one.
    package init(_ output: [UInt8], directory: String, ignoring ignored: [String] = []) {
        let path = Array(directory.utf8)
        // An empty path would match at every place.
        let text = path.isEmpty ? output : Self.replacing(path, in: output)
        isEnded = text.last == UInt8(ascii: "\n")
        var lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
        if lines.last?.isEmpty == true { lines.removeLast() }
        self.lines = ignored.isEmpty ? lines : lines.filter { line in !Self.matches(line, ignored) }
    }

    private static func matches(_ line: [UInt8], _ patterns: [String]) -> Bool {
        let text = String(decoding: line, as: UTF8.self)
        return patterns.contains { fnmatch($0, text, 0) == 0 }
    }

    private static func replacing(_ path: [UInt8], in bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var rest = bytes[...]
        while let start = rest.firstIndex(of: path[0]) {
            result += rest[..<start]
            if rest[start...].starts(with: path) {
                result += Array("{}".utf8)
                rest = rest[(start + path.count)...]
            } else {
                result.append(rest[start])
                rest = rest[(start + 1)...]
            }
        }
        return result + rest
    }

    /// Whether this is a prefix of `whole`: every line equal, the last one possibly cut.
    package func isBeginning(of whole: PrintedLines) -> Bool {
        guard lines.count <= whole.lines.count else { return false }
        for (index, line) in lines.enumerated() {
            let expected = whole.lines[index]
            if line == expected { continue }
            guard index == lines.count - 1, !isEnded, expected.starts(with: line) else { return false }
        }
        return true
    }

    /// The first difference from the expected output, as text; nil if there is none.
    package func difference(from expected: PrintedLines) -> String? {
        for index in 0..<max(lines.count, expected.lines.count) {
            let got = index < lines.count ? lines[index] : nil
            let wanted = index < expected.lines.count ? expected.lines[index] : nil
            if got == wanted { continue }
            return "line \(index + 1): expected \(Self.quoted(wanted)), got \(Self.quoted(got))"
        }
        return isEnded == expected.isEnded ? nil : "the end of the last line"
    }

    private static func quoted(_ line: [UInt8]?) -> String {
        guard let line else { return "no line" }
        return "\"\(PrintedText.escaped(line.prefix(80)))\"" + (line.count > 80 ? ".." : "")
    }
}
