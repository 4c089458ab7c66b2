import Files
import RunRecords
import Testing

@testable import Harness

/// Case files from end to end, by the real executable: a run keeps them, and a replay repeats its failures.
@Suite struct CaseFileRunTests {
    private let directory: TestDirectory
    private var run: String { directory.path + "/run" }

    init() throws {
        directory = try TestDirectory()
    }

    private func execute(_ arguments: String...) throws -> AssayProcess.End {
        try AssayProcess.run(arguments, in: directory)
    }

    /// Runs the cases, and returns the paths of kept files, by scenario.
    private func kept(_ cases: String, engine: String = "model") throws -> [String: [String]] {
        let plan = directory.path + "/plan.json5"
        try FileTree.writeText(
            plan, "{ summary: 's', measures: false, engines: ['\(engine)'], cases: [\(cases)] }")
        let end = try execute("run", plan, "--out", run, "--plans", directory.path)
        #expect(end.status == .exited(2), "\(end.output)")
        var files: [String: [String]] = [:]
        for result in try RunDirectory(path: run).load().results {
            let names = try FileTree.names(in: run + "/cases").filter { $0.hasPrefix(result.test.id) }
            files[result.test.scenario] = names.map { "\(run)/cases/\($0)" }
            for name in names { #expect(end.output.contains(name) || names.count > 1, "\(end.output)") }
        }
        return files
    }

    private func edit(_ path: String, _ part: String, _ other: String, as name: String) throws -> String {
        let text = try FileTree.readText(path)
        try #require(text.contains(part), "\(text)")
        let copy = directory.path + "/" + name
        try FileTree.writeText(copy, text.replacing(part, with: other))
        return copy
    }

    @Test("a violation leaves a file that can be repeated, shown and minimized; no file is overwritten")
    func scenario() throws {
        let files = try kept(
            "{scenario:'planted-checks'},{scenario:'planted-trials', parameters: {count: 20, hang: false}},"
                + "{scenario:'planted-pass'}")
        #expect(files["planted-pass"] == [])
        #expect(files["planted-checks"]?.count == 2, "one for each of two causes")
        let trap = try #require(files["planted-trials"]?.first)
        #expect(try FileTree.readText(run + "/report.html").contains(trap))
        let again = try execute("replay", trap)
        #expect(again.status == .exited(2) && again.output.contains("same outcome: 1 of 1"), "\(again.output)")
        #expect(!again.output.contains("ANOTHER BUILD") && !again.output.contains("WARNING"), "\(again.output)")
        let shown = try execute("show", trap)
        for words in ["What was done", "planted-trials on model", "plant:10", "crashed", "planted trap"] {
            #expect(shown.output.contains(words), "\(shown.output)")
        }
        let smaller = try execute("minimize", trap)
        #expect(smaller.status == .exited(0), "\(smaller.output)")
        #expect(smaller.output.contains("the same outcome 3 times"), "\(smaller.output)")
        let least = trap.replacing(".case.json", with: ".min.case.json")
        #expect(try FileTree.readText(least).contains("\"count\":\"11\""))
        #expect(try execute("replay", least).status == .exited(2))
        let twice = try execute("minimize", trap)
        #expect(twice.status == .exited(64) && twice.output.contains("move it away"), "\(twice.output)")
    }

    @Test("an edited file is run with a warning, and the new outcome is reported")
    func edited() throws {
        let check = try #require(try kept("{scenario:'planted-checks'}")["planted-checks"]?.first)
        let wrong = try FileTree.readText(check).contains("thread 0") ? "thread 0" : "it's 'quoted'"
        let gone = try execute("replay", try edit(check, "[\"\(wrong)\"]", "[\"content\"]", as: "gone.case.json"))
        #expect(gone.status == .exited(0), "\(gone.output)")
        #expect(gone.output.contains("WARNING"), "\(gone.output)")
        #expect(gone.output.contains("does not happen any more"), "\(gone.output)")
        let other = try execute(
            "replay", try edit(check, "\"silently-wrong\"", "\"lost-commit\"", as: "other.case.json"))
        #expect(other.status == .exited(2) && other.output.contains("another outcome"), "\(other.output)")
        for (part, replacement, words) in [
            ("[\"\(wrong)\"]", "[\"thread 7\"]", "has no trial thread 7"),
            ("planted-checks", "planted-cheques", "no such scenario"),
            ("\"model\"", "\"modle\"", "did you mean model?"),
            ("\"parameters\":{", "\"parameters\":{\"rows\":\"3\"", "no such parameter"),
        ] {
            let end = try execute("replay", try edit(check, part, replacement, as: "undecided.case.json"))
            #expect(end.status == .exited(3) && end.output.contains("CANNOT BE DECIDED"), "\(end.output)")
            #expect(end.output.contains(words), "\(end.output)")
        }
        let build = try execute(
            "replay", try edit(check, "\"digest\":\"", "\"digest\":\"0", as: "build.case.json"))
        #expect(build.status == .exited(2) && build.output.contains("ANOTHER BUILD"), "\(build.output)")
    }

    @Test("a file that is no case file is one error with the remedy, and status 64")
    func refused() throws {
        let path = directory.path
        let cut = path + "/cut.case.json"
        try FileTree.writeText(cut, "{\n  \"format\": \"assay-case/1\",\n")
        try FileTree.writeText(path + "/future.case.json", "{\"format\": \"assay-case/2\"}")
        try FileTree.writeText(path + "/other.json", "{\"a\": 1}")
        for (words, message) in [
            (["replay", cut], "cut short"), (["show", cut], "cut short"), (["minimize", cut], "cut short"),
            (["replay", path + "/future.case.json"], "use a build that reads it"),
            (["show", path + "/other.json"], "is no case file"), (["show", path], "is a directory"),
            (["replay", path + "/none.case.json"], "no such file"), (["show", path + "/none"], "no such file"),
            (["replay", path], "no run in"), (["replay", cut, "abc"], "leave out the rest"),
            (["replay", cut, "--keep", path + "/k"], "--keep is for a trial"), (["show"], "FILE is missing"),
            (["minimize", cut, "--budget", "soon"], "cut short"),
        ] {
            let end = try AssayProcess.run(words, in: directory)
            #expect(end.status == .exited(64), "\(words): \(end.output)")
            #expect(end.output.contains(message), "\(words): \(end.output)")
        }
    }

    @Test("--case keeps a failure of a user's program, and the file's own command replays it")
    func program() throws {
        let rows = directory.path + "/rows"
        try FileTree.writeText(rows, "rows of a table\n")
        let file = directory.path + "/damage.case.json"
        let damage = ["damage", rows, "--read", "cat {}", "--faults", "flip", "--samples", "2", "--case", file]
        let end = try AssayProcess.run(damage, in: directory)
        #expect(end.status == .exited(2) && end.output.contains("assay replay \(file)"), "\(end.output)")
        let text = try FileTree.readText(file)
        #expect(text.contains("\"kind\": \"program\"") && !text.contains("--case"), "\(text)")
        let again = try execute("replay", file)
        #expect(again.status == .exited(2) && again.output.contains("same outcome"), "\(again.output)")
        // Each printed command line works.
        let typed = again.output.split(separator: "\n").filter { $0.contains("assay ") }
        #expect(!typed.isEmpty && typed.allSatisfy { $0.contains("assay damage ") }, "\(again.output)")
        try FileTree.remove(rows)
        let gone = try execute("replay", file)
        #expect(gone.status == .exited(3) && gone.output.contains("CANNOT BE DECIDED"), "\(gone.output)")
        let twice = try AssayProcess.run(damage, in: directory)
        #expect(twice.status == .exited(64), "\(twice.output)")
        let smaller = try execute("minimize", file)
        #expect(
            smaller.status == .exited(64) && smaller.output.contains("whose operations assay cannot remove"),
            "\(smaller.output)")
    }

    @Test("a soak ends in time, and wrong arguments are refused")
    func soak() throws {
        let plan = directory.path + "/soak.json5"
        try FileTree.writeText(
            plan,
            "{ summary: 's', measures: false, engines: ['model'], cases: [{scenario:'planted-checks'}] }")
        let out = directory.path + "/soaked"
        let end = try execute(
            "soak", plan, "--minutes", "0.1", "--seed", "5", "--out", out, "--plans", directory.path)
        #expect(end.status == .exited(2), "\(end.output)")
        #expect(end.output.contains("by 2 causes"), "\(end.output)")
        let names = try FileTree.names(in: out)
        #expect(names.count == 2 && names.allSatisfy { $0.hasSuffix(".case.json") }, "\(names)")
        #expect(try execute("replay", "\(out)/\(names[0])").status == .exited(2))
        for (words, message) in [
            (["--minutes", "1", "--rounds", "0"], "--rounds needs a number above 0"),
            (["--minutes", "0"], "--minutes needs a number above 0"), (["--out", out], "--minutes N is missing"),
            (["--minutes", "1", "--out", out], "is not an empty directory"),
            (["--minutes", "1", "--scenario", "storage-histroy"], "did you mean"),
        ] {
            let end = try AssayProcess.run(["soak", plan, "--plans", directory.path] + words, in: directory)
            #expect(end.status == .exited(64), "\(words): \(end.output)")
            #expect(end.output.contains(message), "\(words): \(end.output)")
        }
    }

    #if Zoo
        @Test("a soak names the branches that no case took")
        func rareBranches() throws {
            let plan = directory.path + "/branches.json5"
            try FileTree.writeText(
                plan,
                """
                { summary: 's', measures: false, engines: ['strata-storage'],
                  cases: [{ scenario: 'storage-history', parameters: { operations: 12, keys: 4, states: 10 } }] }
                """)
            let end = try execute(
                "soak", plan, "--minutes", "5", "--rounds", "4", "--seed", "5", "--plans", directory.path)
            #expect(end.status == .exited(0), "\(end.output)")
            #expect(end.output.contains("4 cases decided"), "\(end.output)")
            let line = try #require(end.output.split(separator: "\n").first { $0.contains("rarely taken branches") })
            // Every script that a loss of power interrupts has a replay; none has a second process.
            let never = try #require(line.split(separator: ":").last)
            #expect(!never.contains("recovery.replayed,") && never.contains("processes.lentTurn"), "\(line)")
        }

        @Test("a planted loss is minimized to fewer than ten operations, and vanishes without the mistake")
        func history() throws {
            let shell = try ShellProcess(directory)
            let end = try shell.run(
                """
                export ASSAY_ZOO_MISTAKE=sync-left-out
                assay run smoke --plans '\(Self.plans)' --scenario storage-history --engine strata-storage \
                    --param operations=30 --param states=6 --out run
                ls run/cases
                file=$(ls -d run/cases/* | head -1)
                assay minimize $file --out least.case.json --trials 150 || echo MINIMIZE FAILED
                assay replay least.case.json
                echo "planted $?"
                unset ASSAY_ZOO_MISTAKE
                assay replay least.case.json --times 1
                echo "sound $?"
                """)
            #expect(end.output.contains("planted 2") && end.output.contains("sound 0"), "\(end.output)")
            let text = try FileTree.readText(directory.path + "/least.case.json")
            #expect(text.contains("\"kind\": \"history\""))
            let left = text.matches(of: /"label":/).count
            #expect((1..<10).contains(left), "\(left) operations are left: \(text)")
        }

        @Test("a planted wrong change set is minimized to few operations, and described in sentences")
        func objectHistory() throws {
            let shell = try ShellProcess(directory)
            let end = try shell.run(
                """
                export ASSAY_ZOO_MISTAKE=strata-wrong-changeset
                assay run invalidation --plans '\(Self.plans)' --scenario object-history \
                    --param operations=200 --out run
                file=$(ls -d run/cases/* | head -1)
                assay minimize $file --out least.case.json --trials 120 || echo MINIMIZE FAILED
                assay show least.case.json
                assay replay least.case.json
                echo "planted $?"
                unset ASSAY_ZOO_MISTAKE
                assay replay least.case.json
                echo "sound $?"
                """)
            #expect(end.output.contains("planted 2") && end.output.contains("sound 0"), "\(end.output)")
            #expect(end.output.contains(" observed, as observer "), "\(end.output)")
            #expect(end.output.contains("the observer of "), "\(end.output)")
            let text = try FileTree.readText(directory.path + "/least.case.json")
            let left = text.matches(of: /"label":/).count
            #expect((1..<10).contains(left), "\(left) operations are left: \(text)")
        }

        private static let plans =
            #filePath.replacing("Tests/HarnessTests/Faults/CaseFileRunTests.swift", with: "")
            + "Benchmarks/Plans"
    #endif
}
