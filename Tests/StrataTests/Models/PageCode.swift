import Foundation
import Testing

/// Compares the code on a page of docs/ with a compiled source file.
enum PageCode {
    /// Expects the lines of each block of Swift on the page in the source, one after the other. Ignores indentation and
    /// empty lines, and takes `var` for `let`.
    static func expect(_ page: String, in source: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let file = URL(fileURLWithPath: source)
        let root = file.deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent("docs/\(page)"), encoding: .utf8)
        let compiled = lines(try String(contentsOf: file, encoding: .utf8))
        var block: [String]?
        var blocks = 0
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "```swift" {
                block = []
            } else if line == "```", let code = block {
                blocks += 1
                let isThere = compiled.indices.contains { compiled[$0...].starts(with: code) }
                #expect(isThere, "\(page), block \(blocks): \(code.first ?? "")", sourceLocation: sourceLocation)
                block = nil
            } else if block != nil, !line.allSatisfy(\.isWhitespace) {
                block?.append(normal(line))
            }
        }
        #expect(blocks > 0, sourceLocation: sourceLocation)
    }

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n").filter { !$0.allSatisfy(\.isWhitespace) }.map(normal)
    }

    private static func normal(_ line: Substring) -> String {
        let bare = line.drop(while: \.isWhitespace)
        return bare.hasPrefix("var ") ? "let " + bare.dropFirst(4) : String(bare)
    }
}
