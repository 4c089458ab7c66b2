import Files
import Testing

@testable import Harness

/// The commands in a report must work.
@Suite struct ReportCommandTests {
    @Test("every command that a real report prints runs")
    func commands() throws {
        let directory = try TestDirectory()
        let shell = try ShellProcess(directory)
        // The path has a blank and a quote, so a command that does not quote it fails.
        let plan = directory.path + "/a plan's.json5"
        try FileTree.writeText(
            plan,
            """
            { summary: 'p', hang_seconds: 2, memory_megabytes: 256, budget_seconds: 100, engines: ['model'], cases: [
              { scenario: 'planted-pass' }, { scenario: 'planted-trap' }, { scenario: 'planted-checks' },
              { scenario: 'planted-trials', parameters: { count: 31, hang: false, silent: [false, true] } },
              { scenario: 'planted-silent-exit' },
              { scenario: 'bit-flip', engines: ['strata-storage', 'sqlite'], parameters: { trials: 40 } },
              { scenario: 'kill-mid-write', engines: 'strata-storage', parameters: { trials: 1 } },
              { scenario: 'read-deleted', engines: 'strata', parameters: { policy: 'trap' } },
            ] }
            """)
        let run = "assay run 'a plan'\\''s.json5' --plans . --seed 3 --out 'the run'"
        let first = try shell.run(run)
        #expect(first.status == .exited(1), "\(first.output)")
        let html = try FileTree.readText(directory.path + "/the run/report.html")
        var commands = Self.commands(html: html)
        commands.formUnion(Self.commands(text: first.output))
        #expect(commands.contains(run))
        #expect(commands.contains { $0.hasSuffix("'thread 0'") }, "\(commands)")
        #expect(commands.count { $0.hasPrefix("assay replay") } > 8, "\(commands)")
        // Repeating the run comes last, since it moves the others' directory aside.
        for command in commands.sorted(by: { ($0 == run ? 1 : 0, $0) < ($1 == run ? 1 : 0, $1) }) {
            let end = try shell.run(command)
            guard case .exited(let status) = end.status, [0, 1, 2, 3].contains(status) else {
                Issue.record("\(command): \(end.status) \(end.output)")
                continue
            }
            if command.hasPrefix("assay replay") {
                #expect(end.output.contains("same outcome: ") && status != 1, "\(command): \(end.output)")
                #expect(!end.output.contains("same outcome: 0 of 1\n"), "\(command): \(end.output)")
            }
        }
    }

    /// The texts of `code` elements, and of copy buttons.
    private static func commands(html: String) -> Set<String> {
        var found: Set<String> = []
        for (begin, end) in [("<code>assay ", "</code>"), ("=\"assay ", "\"")] {
            var rest = Substring(html)
            while let start = rest.firstRange(of: begin) {
                rest = rest[start.upperBound...]
                guard let stop = rest.firstRange(of: end) else { break }
                found.insert("assay " + unescaped(rest[..<stop.lowerBound]))
                rest = rest[stop.upperBound...]
            }
        }
        return found
    }

    private static func unescaped(_ text: Substring) -> String {
        String(text).replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
            .replacing("&#39;", with: "'").replacing("&amp;", with: "&")
    }

    /// The commands of lines, without the placeholder for all cases.
    private static func commands(text: String) -> Set<String> {
        var found: Set<String> = []
        for line in text.split(separator: "\n") {
            for name in ["run", "replay", "report", "list"] {
                guard let start = line.firstRange(of: "assay \(name) ") else { continue }
                let command = String(line[start.lowerBound...])
                if !command.contains(" CASE") { found.insert(command) }
            }
        }
        return found
    }
}
