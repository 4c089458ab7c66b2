/// The text of a Swift file, split into code, strings and comments, so that a comment cannot break a rule about code.
/// Line numbers are kept.
///
/// Handles nested comments, raw and multi-line strings, interpolation (which is code again) and `#/regex/#`; a bare
/// `/regex/` with a quote in it would be misread.
struct SwiftSource {
    let text: String
    /// Without comments, strings kept.
    let withoutComments: String
    /// Without comments, and with empty strings; interpolated code stays.
    let code: String

    init(_ text: String) {
        self.text = text
        var scanner = Scanner(bytes: Array(text.utf8))
        scanner.scanCode(untilParenthesis: false)
        withoutComments = String(decoding: scanner.withoutComments, as: UTF8.self)
        code = String(decoding: scanner.code, as: UTF8.self)
    }

    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
    var codeLines: [Substring] { code.split(separator: "\n", omittingEmptySubsequences: false) }

    /// The modules named by `import`, each with its line, 1-based.
    var imports: [(module: String, line: Int)] {
        codeLines.enumerated().compactMap { index, line in
            guard let match = line.firstMatch(of: Self.importPattern) else { return nil }
            return (String(match.output.1), index + 1)
        }
    }

    nonisolated(unsafe) private static let importPattern =  // Guard: a Regex is immutable.
        /^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+(?:(?:struct|class|enum|protocol|typealias|func|let|var)\s+)?(\w+)/
}

/// One pass over the bytes. Every loop advances `position`, so a file that ends inside a string ends the scan.
private struct Scanner {
    let bytes: [UInt8]
    var position = 0
    var withoutComments: [UInt8] = []
    var code: [UInt8] = []

    init(bytes: [UInt8]) { self.bytes = bytes }

    private func starts(_ prefix: StaticString, at index: Int) -> Bool {
        guard index + prefix.utf8CodeUnitCount <= bytes.count else { return false }
        return prefix.withUTF8Buffer { buffer in
            buffer.indices.allSatisfy { buffer[$0] == bytes[index + $0] }
        }
    }

    private mutating func keep() {
        withoutComments.append(bytes[position])
        code.append(bytes[position])
        position += 1
    }

    mutating func scanCode(untilParenthesis: Bool) {
        var depth = 0
        while position < bytes.count {
            if starts("//", at: position) {
                while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
            } else if starts("/*", at: position) {
                skipBlockComment()
            } else if let hashes = stringStart() {
                scanString(hashes: hashes)
            } else if starts("#/", at: position) {
                while position < bytes.count, !starts("/#", at: position) { position += 1 }
                position = min(position + 2, bytes.count)
            } else {
                if bytes[position] == UInt8(ascii: "(") { depth += 1 }
                if bytes[position] == UInt8(ascii: ")") {
                    depth -= 1
                    if untilParenthesis, depth == 0 {
                        keep()
                        return
                    }
                }
                keep()
            }
        }
    }

    private mutating func skipBlockComment() {
        var depth = 0
        while position < bytes.count {
            if starts("/*", at: position) {
                depth += 1
                position += 2
            } else if starts("*/", at: position) {
                depth -= 1
                position += 2
                if depth == 0 { return }
            } else {
                if bytes[position] == UInt8(ascii: "\n") { keep() } else { position += 1 }
            }
        }
    }

    /// The number of `#` before a string that starts here, or nil when none does.
    private func stringStart() -> Int? {
        var index = position
        while index < bytes.count, bytes[index] == UInt8(ascii: "#") { index += 1 }
        return index < bytes.count && bytes[index] == UInt8(ascii: "\"") ? index - position : nil
    }

    private func hasHashes(_ count: Int, at index: Int) -> Bool {
        index + count <= bytes.count && bytes[index..<index + count].allSatisfy { $0 == UInt8(ascii: "#") }
    }

    private mutating func scanString(hashes: Int) {
        position += hashes
        let quotes = starts("\"\"\"", at: position) ? 3 : 1
        position += quotes
        emitQuote()
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "\\"), hasHashes(hashes, at: position + 1) {
                position += 1 + hashes
                if position < bytes.count, bytes[position] == UInt8(ascii: "(") {
                    scanCode(untilParenthesis: true)
                } else {
                    position = min(position + 1, bytes.count)
                }
            } else if closes(quotes: quotes, hashes: hashes) {
                position += quotes + hashes
                break
            } else {
                withoutComments.append(bytes[position])
                if bytes[position] == UInt8(ascii: "\n") { code.append(bytes[position]) }
                position += 1
            }
        }
        emitQuote()
    }

    private mutating func emitQuote() {
        withoutComments.append(UInt8(ascii: "\""))
        code.append(UInt8(ascii: "\""))
    }

    private func closes(quotes: Int, hashes: Int) -> Bool {
        let quoted = quotes == 3 ? starts("\"\"\"", at: position) : starts("\"", at: position)
        return quoted && hasHashes(hashes, at: position + quotes)
    }
}
