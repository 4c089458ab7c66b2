import Foundation
import Testing

@testable import Commands

/// The scripts, executed by installed shells: bash always, zsh and fish if present.
@Suite struct CompletionTests {
    private final class Sample: Command {
        let name = "look"
        let summary = "looks at [all] of it: what's there"
        let positional = ["[PLAN]", "FILE..."]
        let options = [
            OptionSpecification("--engine", value: "NAME,..", "only these"),
            OptionSpecification("--format", value: "jsonl|csv", "how"),
            OptionSpecification("--out", value: "DIR", "where"), OptionSpecification("--json", "a switch"),
        ]
        let examples = [CommandExample("look quick a --format csv", "as CSV")]
        func run(_ arguments: Arguments) -> Int32 { 0 }
    }

    private static let program: Program = {
        // A shell function of the same name replaces the program.
        var program = Program(
            name: "probe", version: "1", summary: "s", groups: [CommandGroup("Look", [Sample(), Runs()])],
            exitStatus: "0 fine", failureStatus: "1 failed")
        program.completions = ["PLAN": .output("names plans"), "--engine": .output("names engines {}")]
        return program
    }()

    private static let table = CompletionTable(program)

    /// The completions of bash with these words before the cursor, the last one incomplete.
    private func offered(_ words: String...) throws -> [String] {
        let list = words.map { "'\($0)'" }.joined(separator: " ")
        let script =
            BashCompletion(table: Self.table).text + """
                probe() { case "$*" in
                    'names plans') printf 'quick\\nsmoke\\n' ;;
                    'names engines '*) printf 'strata\\nsqlite %s\\n' "$3" ;;
                esac; }
                COMP_WORDS=(probe \(list)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _probe
                for reply in "${COMPREPLY[@]}"; do echo "$reply"; done
                """
        let (status, output) = try Self.run("/bin/bash", ["-c", script])
        #expect(status == 0)
        return output.split(separator: "\n").map(String.init).sorted()
    }

    private static func run(_ path: String, _ arguments: [String]) throws -> (Int32, String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, output)
    }

    @Test("bash offers commands, options, and the values of each")
    func bash() throws {
        #expect(try offered("lo") == ["look"])
        #expect(try offered("") == ["--help", "--version", "completion", "help", "look", "man", "runs"])
        #expect(try offered("look", "--f") == ["--format"])
        #expect(try offered("look", "--") == ["--engine", "--format", "--help", "--json", "--out"])
        #expect(try offered("look", "--format", "") == ["csv", "jsonl"])
        #expect(try offered("look", "") == ["quick", "smoke"])
        #expect(try offered("look", "--json", "sm") == ["smoke"], "a switch takes no value")
        #expect(try offered("look", "--format", "csv", "s") == ["smoke"], "the value of an option is no argument")
    }

    @Test("names come from the program, also after a comma")
    func names() throws {
        #expect(try offered("look", "--engine", "st") == ["strata"])
        #expect(try offered("look", "--engine", "sqlite,st") == ["sqlite,strata"])
        #expect(try offered("look", "quick", "--engine", "sq") == ["sqlite quick"], "the first argument is told")
    }

    @Test("files and directories are offered where expected")
    func paths() throws {
        #expect(try offered("look", "--out", "/us").contains("/usr"))
        #expect(try offered("look", "quick", "/etc/passw").contains("/etc/passwd"))
        #expect(try offered("look", "--out", "/etc/passwd").isEmpty)
    }

    @Test("the scripts of zsh and fish have every command and option, and those shells can read them")
    func others() throws {
        let zsh = ZshCompletion(table: Self.table).text
        #expect(zsh.hasPrefix("#compdef probe\n"))
        #expect(zsh.contains("'look:looks at [all] of it\\: what'\\''s there'"))
        #expect(zsh.contains("'--engine[only these]:value: _probe_output names engines \"$words[2]\"'"))
        let fish = FishCompletion(table: Self.table).text
        #expect(fish.contains("-l engine -x -a '(__fish_complete_list , \\'probe names engines"))
        #expect(fish.contains("-a look -d 'looks at [all] of it: what\\'s there'"))
        for option in ["--format", "--out", "--json", "--check"] {
            #expect(zsh.contains("'\(option)[") && fish.contains(" -l \(option.dropFirst(2)) "), "\(option)")
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("completion-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (shell, text) in [("zsh", zsh), ("fish", fish), ("bash", BashCompletion(table: Self.table).text)] {
            let path = ["/bin/\(shell)", "/usr/bin/\(shell)"].first(where: FileManager.default.isExecutableFile)
            guard let path else { continue }
            let file = folder.appendingPathComponent(shell)
            try Data(text.utf8).write(to: file)
            let (status, said) = try Self.run(path, ["-n", file.path])
            #expect(status == 0 && said.isEmpty, "\(shell): \(said)")
        }
    }

    // MARK: Manual

    @Test("a page has usage, options, examples and exit status, and no accidental request")
    func manual() {
        struct Odd: Command {
            let name = "odd"
            let summary = "does 'this' - and that"
            let details = [".TH is no request here", "", "a \\ backslash"]
            let positional: [String] = []
            let options = [OptionSpecification("--to", value: "NEW", "where")]
            let examples = [CommandExample("odd --to x", "there")]
            func run(_ arguments: Arguments) -> Int32 { 0 }
        }
        let page = ManualPage(Self.program, Odd())
        #expect(page.fileName == "probe-odd.1")
        let lines = page.text.split(separator: "\n").map(String.init)
        #expect(lines.contains("probe\\-odd \\- does \\(aqthis\\(aq \\- and that"))
        #expect(lines.contains("\\&.TH is no request here") && lines.contains("a \\e backslash"))
        #expect(lines.contains("\\fB\\-\\-to\\fR \\fINEW\\fR") && lines.contains(".B probe odd \\-\\-to x"))
        #expect(lines.contains("0 fine."))
        let overview = ManualPage(Self.program).text
        #expect(overview.contains(".SH LOOK\n.TP\n.BR probe\\-look (1)\n"))
    }

    @Test("an example that its command refuses fails the page")
    func wrongExample() throws {
        struct Wrong: Command {
            let name = "wrong"
            let summary = "has an example that does not work"
            let positional = ["FILE"]
            let options: [OptionSpecification] = []
            let examples: [CommandExample]
            func run(_ arguments: Arguments) -> Int32 { 0 }
        }
        for example in ["wrong", "wrong a --too b", "other a"] {
            let command = Wrong(examples: [CommandExample(example, "")])
            #expect(throws: TableMistake.self, "\(example)") { try ManualCommand.checkExamples(command) }
        }
        #expect(throws: TableMistake.self) { try ManualCommand.checkExamples(Wrong(examples: [])) }
        try ManualCommand.checkExamples(Wrong(examples: [CommandExample("wrong a", "")]))
    }
}
