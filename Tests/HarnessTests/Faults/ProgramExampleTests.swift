import Files
import Foundation
import Testing

@testable import Harness

/// Known crash bugs of common programs, which `assay crash` finds: `Examples/Programs`.
@Suite struct ProgramExampleTests {
    private static let directory = SourceTree.root + "/Examples/Programs"

    private struct Example {
        var name: String
        var command: String
        var status: String
    }

    private static func examples() throws -> [Example] {
        try FileTree.readText(directory + "/examples").split(separator: "\n").compactMap { line in
            let fields = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard fields.count == 4, !line.hasPrefix("#") else { return nil }
            return Example(name: fields[0], command: fields[1], status: fields[2])
        }
    }

    @Test("each example gives its expected result, or is skipped with the name of what is missing")
    func ends() throws {
        let scratch = try TestDirectory()
        let shell = try ShellProcess(scratch)
        // One of the programs has to be compiled, and is skipped if its library is missing.
        let end = try shell.run(
            """
            cp -R \(ShellWord.quoted(Self.directory)) programs
            make -C programs || echo there is no LevelDB to compile with
            programs/try
            """)
        #expect(end.status == .exited(0), "\(end.output)")
        var tried = 0
        for example in try Self.examples() {
            let line = end.output.split(separator: "\n").first { $0.hasPrefix(example.name + ": ") }
            let words = try #require(line, "\(example.name): \(end.output)")
            if words.contains("skipped, \(example.command) is not there") {
                print("SKIPPED \(words)")
            } else {
                #expect(words.hasSuffix("status \(example.status), as expected"), "\(end.output)")
                tried += 1
            }
        }
        // mv, sync and git exist wherever this checkout does.
        #expect(tried >= 5, "\(end.output)")
    }

    @Test("the document lists every example, with its result")
    func documented() throws {
        let text = try FileTree.readText(SourceTree.root + "/docs/any-program.md")
        for example in try Self.examples() {
            #expect(text.contains("`\(example.name)`"), "docs/any-program.md does not speak of \(example.name)")
        }
    }
}
