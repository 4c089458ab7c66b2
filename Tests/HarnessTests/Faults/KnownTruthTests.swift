import Files
import Foundation
import Testing

@testable import Harness

/// Programs with a publicly known answer: `Tools/known-truths`, its table and its page.
@Suite struct KnownTruthTests {
    private struct Row {
        var name: String
        var fields: [String: String] = [:]
    }

    /// The table, read without the tool's code.
    private static func rows() throws -> [Row] {
        var rows: [Row] = []
        var field = ""
        for line in try FileTree.readText(SourceTree.root + "/Examples/KnownTruths/rows").split(separator: "\n")
        where !line.hasPrefix("#") {
            if line.hasPrefix("["), line.hasSuffix("]") {
                rows.append(Row(name: String(line.dropFirst().dropLast())))
            } else if line.hasPrefix(" ") {
                let more = " " + line.trimmingCharacters(in: .whitespaces)
                rows[rows.count - 1].fields[field, default: ""] += more
            } else if let colon = line.firstIndex(of: ":") {
                field = String(line[..<colon])
                let text = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                rows[rows.count - 1].fields[field] = text
            }
        }
        return rows
    }

    static let hasPython = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .contains { FileTree.kind($0 + "/python3") != nil }

    @Test(
        "programs of every machine get their right answers",
        .enabled(if: KnownTruthTests.hasPython, "there is no python3"))
    func answers() throws {
        let shell = try ShellProcess(try TestDirectory())
        let names = ["sh-overwrite-kill", "sed-kill", "cp-sync-both"]
        let options = names.map { "--only \($0)" }.joined(separator: " ")
        let end = try shell.run("ASSAY=assay \(ShellWord.quoted(SourceTree.root))/Tools/known-truths \(options)")
        #expect(end.status == .exited(0), "\(end.output)")
        for name in names { #expect(end.output.contains("\(name): right, status "), "\(end.output)") }
    }

    @Test(
        "a wrong answer fails the run, and a missing program is skipped by name",
        .enabled(if: KnownTruthTests.hasPython, "there is no python3"))
    func wrongAnswers() throws {
        let shell = try ShellProcess(try TestDirectory())
        let end = try shell.run(
            #"""
            row() {
                printf '[%s]\nprogram: sh\nneeds: %s\nassay: %s\nright: %s\nwhy: so\nsource: here\n\n' "$@"
            }
            kept="crash --check 'test -d {}' -- sh -c 'echo a >\$1/a' sh {}"
            { row judged-wrong sh "$kept" '2 lost'; row judged-right sh "$kept" '0 kept'
              row not-there no-such-program "$kept" '2 lost'; } >rows
            ASSAY=assay TOOL/Tools/known-truths --rows rows --page page
            echo "ended with $?"
            sed 's/^/page: /' page
            """#.replacing("TOOL", with: ShellWord.quoted(SourceTree.root)))
        #expect(end.output.contains("judged-wrong: WRONG, status 0"), "\(end.output)")
        #expect(end.output.contains("judged-right: right, status 0"), "\(end.output)")
        #expect(end.output.contains("not-there: skipped, no-such-program is not there"), "\(end.output)")
        #expect(end.output.contains("1 of 2 answers are right, 1 rows were skipped; wrong: judged-wrong\n"))
        #expect(end.output.contains("ended with 1\n"), "\(end.output)")
        let lines = end.output.split(separator: "\n").filter { $0.hasPrefix("page: | [") }
        #expect(lines.map { $0.hasSuffix(" **wrong** |") } == [true, false, false], "\(end.output)")
        #expect(lines.last?.hasSuffix(" skipped: no-such-program was not there |") == true, "\(end.output)")
    }

    @Test("the table has at least 25 programs, safe and unsafe, each with its source")
    func table() throws {
        let rows = try Self.rows()
        #expect(Set(rows.map { $0.fields["program"] }).count >= 25)
        #expect(Set(rows.map(\.name)).count == rows.count)
        for status in ["0 ", "2 "] {
            let count = rows.count { $0.fields["right"]?.hasPrefix(status) == true }
            #expect(count * 3 >= rows.count, "\(count) of \(rows.count) rows have the status \(status)")
        }
        for row in rows {
            #expect(row.fields["source"]?.contains(/https?:\/\/\w/) == true, "\(row.name) has no source")
            // The status of a pipe is that of its last command, which would hide that of the command that reads the
            // file.
            let reads = row.fields["assay"].map { $0.hasPrefix("damage ") && $0.contains(" | ") } ?? false
            #expect(!reads, "\(row.name): a pipe hides how the command ended that reads the file")
        }
    }

    @Test("the page has exactly the rows of the table, and no wrong answer")
    func page() throws {
        let page = try FileTree.readText(SourceTree.root + "/docs/known-truths.md")
        let rows = try Self.rows()
        let headings = page.split(separator: "\n").filter { $0.hasPrefix("## ") }.map { String($0.dropFirst(3)) }
        #expect(headings == rows.map(\.name))
        for row in rows {
            let part = page.components(separatedBy: "\n## \(row.name)\n").last?.components(separatedBy: "\n## ").first
            for field in ["prepare", "assay", "why", "source"] {
                guard let text = row.fields[field] else { continue }
                #expect(part?.contains(text) == true, "docs/known-truths.md has another \(field) of \(row.name)")
            }
            let right = try #require(row.fields["right"])
            let said = "Right is \(right.prefix(1)), \(right.dropFirst(2)): "
            #expect(part?.contains(said) == true, "docs/known-truths.md: what is right of \(row.name)")
            #expect(page.contains("| [\(row.name)](#\(row.name)) |"), "docs/known-truths.md: the line of \(row.name)")
        }
        #expect(!page.contains("**wrong**"))
    }
}
