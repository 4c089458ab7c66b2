import Files
import Foundation
import Testing

@testable import Harness

/// Commands in documents exist, and have the given options.
@Suite struct DocumentedCommandTests {
    @Test("every assay command in a code block exists, and has the given options")
    func commands() throws {
        let directory = try TestDirectory()
        var helps: [String: String] = [:]
        var counts: [String: Int] = [:]
        let files = [
            "README.md", "docs/assay.md", "docs/ci.md", "docs/gate.md", "docs/comparing.md", "docs/exports.md",
            "docs/any-program.md",
            "docs/case-files.md", "docs/engine-library.md", "docs/peers.md",
        ]
        for file in files {
            let text = try FileTree.readText("\(SourceTree.root)/\(file)")
            for words in Self.commands(text) {
                let name = words[0]
                if helps[name] == nil {
                    let end = try AssayProcess.run([name, "--help"], in: directory)
                    #expect(end.status == .exited(0), "\(file): assay \(name)")
                    helps[name] = end.output
                }
                let known = Set((helps[name] ?? "").split { !($0.isLetter || $0 == "-") }.map(String.init))
                // Words after `--` belong to another program.
                for option in words.dropFirst().prefix(while: { $0 != "--" }) where option.hasPrefix("--") {
                    let bare = option.split(separator: "=").first.map(String.init) ?? ""
                    #expect(known.contains(bare), "\(file): assay \(words.joined(separator: " "))")
                }
                counts[file, default: 0] += 1
            }
        }
        #expect(
            (counts["docs/ci.md"] ?? 0) > 15 && (counts["docs/assay.md"] ?? 0) > 20 && (counts["README.md"] ?? 0) > 2,
            "\(counts)")
    }

    @Test("commands are found in pipes, after other programs, and not in comments or output")
    func found() {
        let text = """
            assay nowhere
            ```sh
            # assay comment
            srun -n1 assay run a --out x && assay gate x | tee  # assay no
              - run: assay list --engines
            assay 0.1  plan
            ```
            assay outside
            """
        #expect(Self.commands(text) == [["run", "a", "--out", "x"], ["gate", "x"], ["list", "--engines"]])
    }

    /// The words after `assay`, of each command in a fenced block.
    private static func commands(_ text: String) -> [[String]] {
        var found: [[String]] = []
        var isCode = false
        for line in text.split(separator: "\n") {
            if line.hasPrefix("```") {
                isCode.toggle()
                continue
            }
            if !isCode { continue }
            var words: [String]?
            for part in line.split(separator: " ") {
                let word = part.trimmingCharacters(in: ["\"", "[", "]", ",", "'", "`", "\t"])
                if word.hasPrefix("#") { break }
                if ["&&", "|", ";", "||", ">>", ":::"].contains(word) {
                    if let words { found.append(words) }
                    words = nil
                } else if word == "assay", words == nil {
                    words = []
                } else {
                    words?.append(word)
                }
            }
            if let words { found.append(words) }
        }
        return found.filter { words in words.first?.allSatisfy { $0.isLowercase || $0 == "-" } == true }
    }
}
