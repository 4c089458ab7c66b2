import Files
import JSONText
import Measuring
import Platform
import RunRecords
import Testing

@testable import Harness

/// Plants failures in the harness, with the real executable and real processes.
@Suite(.serialized)
struct PlantedRunTests {
    private let directory: TestDirectory
    private var runPath: String { directory.path + "/run" }
    private var planFile: String { directory.path + "/planted.json5" }

    init() throws {
        directory = try TestDirectory()
    }

    private func write(cases: String, hangSeconds: Double = 2, budgetSeconds: Int = 60) throws {
        try FileTree.writeText(
            planFile,
            "{ summary: 'planted', hang_seconds: \(hangSeconds), memory_megabytes: 256, "
                + "budget_seconds: \(budgetSeconds), "
                + "engines: ['model'], cases: [\(cases)] }")
    }

    private func load() throws -> [String: CaseResult] {
        let run = try RunDirectory(path: runPath).load()
        return Dictionary(uniqueKeysWithValues: run.results.map { ($0.test.scenario, $0) })
    }

    private func execute(_ arguments: [String]) throws -> AssayProcess.End {
        try AssayProcess.run(arguments, in: directory)
    }

    @Test("a trap, a hang, excessive memory and a silent exit are each classified, and the run continues")
    func classes() throws {
        try write(
            cases: "{scenario:'planted-trap'},{scenario:'planted-hang', weight: 0.05},{scenario:'planted-memory'},"
                + "{scenario:'planted-silent-exit'},{scenario:'planted-exit'},{scenario:'planted-pass'}")
        let end = try execute(["run", planFile, "--out", runPath, "--plans", directory.path])
        #expect(end.status == .exited(1), "a harness error comes before a violation: \(end.output)")
        let results = try load()
        #expect(results.count == 6)
        #expect(results["planted-trap"]?.outcome == .crashed)
        #expect(results["planted-trap"]?.verdict == .violation)
        #expect(results["planted-trap"]?.crash?.signal != nil)
        #expect(results["planted-trap"]?.crash?.standardError.contains("planted trap") == true)
        #expect(results["planted-hang"]?.outcome == .hung)
        #expect(results["planted-memory"]?.outcome == .memoryLimit)
        #expect(results["planted-silent-exit"]?.outcome == nil)
        #expect(results["planted-silent-exit"]?.verdict == .harnessError)
        #expect(results["planted-exit"]?.outcome == .crashed)
        #expect(results["planted-exit"]?.trials.first?.detail == "exit inside a call: fatal error: planted words")
        #expect(results["planted-pass"]?.verdict == .pass)
        #expect(!FileTree.exists(runPath + "/work"), "no files of the cases remain")
        #expect(FileTree.exists(runPath + "/report.html"))
        #expect(FileTree.exists(runPath + "/results.csv"))
    }

    /// A run with a budget of 12 s once took 40 s, and its output did not say so.
    @Test("a run that takes longer than its budget says by how much, and what the budget is for")
    func overrun() throws {
        try write(cases: "{scenario:'planted-hang'}", hangSeconds: 2, budgetSeconds: 1)
        let late = try execute(["run", planFile, "--out", runPath, "--plans", directory.path])
        #expect(late.output.contains(/the run took [3-9] s: the budget of 1 s is for the cases/), "\(late.output)")
        try write(cases: "{scenario:'planted-pass'}")
        let early = try execute(["run", planFile, "--out", runPath, "--plans", directory.path])
        #expect(early.status == .exited(0) && !early.output.contains("the budget of"), "\(early.output)")
    }

    @Test("each bad trial of a sweep costs that trial alone")
    func trials() throws {
        try write(cases: "{scenario:'planted-trials', parameters: {silent: true}}", hangSeconds: 60)
        let end = try execute(["run", planFile, "--budget", "60s", "--out", runPath, "--plans", directory.path])
        #expect(end.status == .exited(1))
        let result = try #require(try load()["planted-trials"])
        #expect(result.verdict == .harnessError)
        #expect(result.message.contains("plant:40"))
        let codes = try FileTree.readBytes(RunDirectory(path: runPath).trialsFile(result.test.id))
        #expect(codes.count == 60)
        for (index, code) in codes.enumerated() {
            let expected: UInt8 =
                switch index {
                case 10, 45: Outcome.crashed.code
                case 20: Outcome.hung.code
                case 30: Outcome.memoryLimit.code
                case 40: 0
                case 50: Outcome.detectedAtRead.code
                default: Outcome.correct.code
                }
            #expect(code == expected, "trial \(index)")
        }
        #expect(Set(result.trials.map(\.address.text)) == ["plant:10", "plant:20", "plant:30", "plant:45"])
        let crashes = result.trials.filter { $0.outcome == .crashed }.map(\.detail).sorted()
        #expect(crashes.contains { $0.contains("planted trap") })
        #expect(crashes.contains("exit inside a call: fatal error: planted words"), "what the engine printed")
        #expect(try execute(["replay", runPath, result.test.id, "plant:10"]).status == .exited(0))
        #expect(try execute(["replay", runPath, result.test.id, "plant:45"]).status == .exited(0))
        #expect(try execute(["replay", runPath, String(result.test.id.prefix(6)), "plant:11"]).status == .exited(0))
        #expect(!FileTree.exists(runPath + "/replay"))
    }

    @Test("after an interruption rounds are complete, each in its own process, and merged")
    func rounds() throws {
        try FileTree.writeText(
            planFile,
            "{ summary: 'planted', rounds: 7, engines: ['model'], cases: [{scenario:'planted-pass', headline: true}] }")
        let end = try execute(["run", planFile, "--out", runPath, "--plans", directory.path])
        #expect(end.status == .exited(0), "\(end.output)")
        let whole = try RunDirectory(path: runPath).load()
        let id = try #require(whole.header.cases.first)
        #expect(whole.rounds[id]?.count == 14, "seven rounds of two sides")
        #expect(whole.results.first?.outcomes == [OutcomeCount(outcome: .correct, count: 14)])
        #expect(whole.results.first?.value(.peakResidentBytes, label: "whole case") != nil)
        let resident = whole.results.first?.samples.first { $0.metric == .peakResidentBytes }
        #expect(resident?.count == 7)
        #expect(resident?.low != nil)

        // Nine lines and an invalid one: the other rounds are repeated, and the invalid line is reported. A disturbed
        // round has two more lines.
        let lines = try FileTree.readText(runPath + "/results.jsonl").split(separator: "\n")
        try FileTree.writeText(
            runPath + "/results.jsonl", lines.prefix(9).joined(separator: "\n") + "\n{\"case\": broken\n")
        let again = try execute(["run", "--resume", runPath, "--plans", directory.path])
        #expect(again.status == .exited(0), "\(again.output)")
        let resumed = try RunDirectory(path: runPath).load()
        #expect(resumed.isFinished)
        #expect(resumed.rounds[id]?.count == 14)
        #expect(resumed.unreadable.count == 1)
        #expect(resumed.unreadable.first?.contains("results.jsonl line 10") == true, "\(resumed.unreadable)")
    }

    @Test("a killed run leaves no process, can be rendered, and is finished by --resume")
    func killAndResume() throws {
        try write(
            cases: "{scenario:'planted-pass'},{scenario:'planted-trials', parameters: {count: 21}},"
                + "{scenario:'planted-hang', weight: 0.05}", budgetSeconds: 8)
        let arguments = ["run", planFile, "--out", runPath, "--plans", directory.path]
        let runner = try AssayProcess.start(arguments, outputFile: directory.path + "/first")
        // Trial 20 of the sweep hangs for two seconds; by then a worker and its forked child exist.
        let family = try waitForGrandchild(of: runner)
        kill(runner, SIGKILL)
        #expect(AssayProcess.wait(runner) == .signalled(SIGKILL))
        for process in family { try waitUntilGone(process) }

        let partial = try RunDirectory(path: runPath).load()
        #expect(!partial.isFinished)
        #expect(partial.results.map(\.test.scenario) == ["planted-pass"])
        #expect(try execute(["report", runPath]).status == .exited(0))
        #expect(FileTree.exists(runPath + "/report.html"))

        let lines = try FileTree.readText(runPath + "/results.jsonl")
        let end = try execute(["run", "--resume", runPath, "--plans", directory.path])
        #expect(end.status == .exited(2), "\(end.output)")
        let finished = try RunDirectory(path: runPath).load()
        #expect(finished.isFinished)
        #expect(finished.results[2].outcome == .hung)
        #expect(try FileTree.readText(runPath + "/results.jsonl").hasPrefix(lines), "completed cases are not repeated")
    }

    /// The worker and its forked child, once both exist.
    private func waitForGrandchild(of runner: Int32) throws -> [Int32] {
        var found: [Int32] = []
        let isThere = OtherProcesses.wait {
            for worker in OtherProcesses.children(of: runner) {
                let grandchildren = OtherProcesses.children(of: worker)
                if !grandchildren.isEmpty, hasHeader() {
                    found = [worker] + grandchildren
                    return true
                }
            }
            return false
        }
        if !isThere { throw HarnessError("no forked trial came up") }
        return found
    }

    private func hasHeader() -> Bool {
        let results = try? RunDirectory(path: runPath).readResults().results
        return results?.count == 1
    }

    /// A killed process may be a zombie until its new parent reaps it, which is no running orphan.
    private func waitUntilGone(_ process: Int32) throws {
        let isGone = OtherProcesses.wait {
            let state = ProcessFile.text("/proc/\(process)/stat").split(separator: ")").last ?? ""
            return state.isEmpty || state.hasPrefix(" Z") || state.hasPrefix(" X")
        }
        if !isGone { Issue.record("process \(process) outlived its runner") }
    }

    @Test("using a directory twice moves the first run aside")
    func setAside() throws {
        try write(cases: "{scenario:'planted-pass'}")
        let arguments = ["run", planFile, "--out", runPath, "--plans", directory.path]
        #expect(try execute(arguments).status == .exited(0))
        let first = try execute(["report", runPath, "--deterministic"]).output
        #expect(try execute(arguments).status == .exited(0))
        #expect(try execute(["report", runPath, "--deterministic"]).output == first)
        #expect(try execute(["report", runPath + ".1", "--deterministic"]).output == first)
    }

    @Test("wrong arguments end with status 64 and a correction")
    func usage() throws {
        let wrong: [([String], String)] = [
            (["rnu"], "did you mean run?"), (["run", "--scenaro", "x"], "did you mean --scenario?"),
            (["run", planFile, "--scenario", "planted-trp"], "unknown scenario planted-trp"),
            (["run", planFile, "--seed", "x"], "--seed needs a whole number"),
            (["run", planFile, "--budget", "soon"], "--budget needs a duration"),
            (["run", planFile, "--only", "workloads"], "did you mean workload?"),
            (["run", planFile, "--param", "x"], "--param needs NAME=VALUE"),
            (["run", planFile, "--engine", "modle"], "did you mean model?"),
            (["run", "--resume", "/no/such/run"], "no run in"), (["report"], "DIR is missing"),
            (["replay", "/no/such/run", "abc"], "no run in"), (["list", "--plan"], "did you mean --plans?"),
        ]
        try write(cases: "{scenario:'planted-pass'}")
        for (arguments, expected) in wrong {
            let end = try execute(arguments + (arguments.first == "run" ? ["--plans", directory.path] : []))
            #expect(end.status == .exited(64), "\(arguments): \(end.output)")
            #expect(end.output.contains(expected), "\(arguments): \(end.output)")
        }
    }

    @Test("this build can run the plans of the checkout, and quick stays within its size")
    func plansExpand() throws {
        let executable = try #require(AssayProcess.executable)
        let names = try Checkout.find(given: nil, executable: executable).planNames()
        #expect(names.contains("smoke") && names.contains("quick"))
        for name in names {
            let end = try execute(["run", name, "--dry-run"])
            #expect(end.status == .exited(0), "\(name): \(end.output)")
            let cases = end.output.split(separator: "\n")
            #expect(!cases.isEmpty)
            if name == "quick" {
                #expect(cases.count <= 40)
                let trials = cases.flatMap { $0.split(separator: " ") }.filter { $0.hasPrefix("trials=") }
                #expect(trials.allSatisfy { (Int($0.dropFirst(7)) ?? .max) <= 2_000 && $0 != "trials=0" })
            }
        }
    }

    @Test("a file with commas in its path is one data set, among comma-separated ones")
    func commas() throws {
        let file = directory.path + "/rows,of,a table.csv"
        try FileTree.writeText(file, "id,name\n1,one\n2,two\n")
        let end = try execute(
            [
                "run", "smoke", "--scenario", "iterate", "--engine", "model", "--dataset", "people,\(file),damage",
                "--size", "10", "--dry-run",
            ])
        let lines = end.output.split(separator: "\n")
        #expect(end.status == .exited(0) && lines.count == 3, "\(end.output)")
        for name in ["people", file, "damage"] {
            #expect(lines.count { $0.contains("  model  \(name) ") } == 1, "\(name): \(end.output)")
        }
    }

    /// A list of 528 lines of up to 242 columns once could not be restricted.
    @Test("a topic, a family or a name can be listed alone, and no line is wider than the terminal")
    func listed() throws {
        let all = try execute(["list"])
        #expect(all.status == .exited(0) && all.output.split(separator: "\n").count < 80, "\(all.output)")
        // The longest name of a plan once ran into the summary.
        #expect(all.output.contains("migration-double  "), "\(all.output)")
        for topic in ["plans", "engines", "datasets", "scenarios", "conditions", "corruption", "commit", "quick"] {
            let end = try execute(["list", topic])
            #expect(end.status == .exited(0) && !end.output.isEmpty, "\(topic)")
            for line in end.output.split(separator: "\n") { #expect(line.count <= 120, "\(topic): \(line)") }
        }
        let commit = try execute(["list", "commit"]).output
        #expect(commit.hasPrefix("scenario commit, family workload") && commit.contains("--param commits="))
        #expect(commit.contains("plans: ") && commit.contains("quick"))
        let names = try execute(["list", "scenarios", "--names"]).output.split(separator: "\n")
        #expect(names.count > 100 && names.allSatisfy { !$0.contains(" ") } && names.contains("commit"))
        let wrong = try execute(["list", "comit"])
        #expect(wrong.status == .exited(64) && wrong.output.contains("did you mean commit?"), "\(wrong.output)")
        #expect(wrong.output.count < 400, "no dump of all names")
        let cases = try execute(["list", "cases"])
        #expect(cases.status == .exited(64) && cases.output.contains("--run RUN"))
    }

    @Test("a closed pipe ends a list silently, with the status of SIGPIPE")
    func closedPipe() throws {
        let shell = try ShellProcess(directory)
        // A pipe without a reader from the start.
        let end = try shell.run(
            "mkfifo pipe; exec 3<>pipe 4>pipe 3<&-; assay list scenarios >&4; echo \"status $?\"")
        #expect(end.output == "status 141\n", "\(end.output)")
    }

    @Test("a missing plan file is a wrong argument, and a duration needs a unit")
    func noPlan() throws {
        let end = try execute(["run", "ci/none.json5"])
        #expect(
            end.status == .exited(64) && end.output.contains("ci/none.json5: there is no such plan"), "\(end.output)")
        try write(cases: "{scenario:'planted-pass'}")
        let unit = try execute(["run", planFile, "--budget", "5", "--plans", directory.path])
        #expect(unit.status == .exited(64) && unit.output.contains("5s, 5m or 5h?"), "\(unit.output)")
    }

    @Test("every command has a help page with valid examples, and a line about its exit status")
    func pages() throws {
        let names = try execute(["man", "--list"]).output.split(separator: "\n").map(String.init)
        #expect(names.count > 24 && names.contains("assay.1") && names.contains("assay-run.1"))
        for name in names where name != "assay.1" {
            let command = String(name.dropFirst("assay-".count).dropLast(2))
            let page = try execute(["man", command])
            #expect(page.status == .exited(0) && page.output.hasPrefix(".TH "), "\(page.output)")
            let help = try execute([command, "--help"]).output
            #expect(help.split(separator: "\n").count { $0.contains("Exit status") } == 1, "\(command)")
            #expect(help.contains("\nExamples\n  assay \(command)"), "\(command)")
            for line in help.split(separator: "\n") { #expect(line.count <= 125, "\(command): \(line)") }
        }
        func usage(_ command: String) throws -> Substring {
            try execute([command, "--help"]).output.split(separator: "\n").first ?? ""
        }
        for command in ["crash", "eio", "full", "kill"] {
            #expect(try usage(command).contains(" -- PROGRAM"), "\(command)")
        }
        // Both once began with an argument that is not enough, and the line failed when copied.
        #expect(try usage("ab").hasPrefix("assay ab --a OLD --b NEW (PLAN | --scenario"))
        #expect(try usage("bisect").hasPrefix("assay bisect --good REV --bad REV CASE"))
        for shell in ["bash", "zsh", "fish"] {
            let script = try execute(["completion", shell])
            #expect(script.status == .exited(0) && script.output.contains("list scenarios --names"), "\(shell)")
        }
    }

    @Test("every command states its purpose, and the question that it answers")
    func help() throws {
        for command in ["run", "list", "report", "replay", "worker"] {
            let end = try execute([command, "--help"])
            #expect(end.status == .exited(0))
            #expect(end.output.contains("Answers: "))
        }
        let all = try execute(["--help"])
        #expect(all.status == .exited(0))
        #expect(!all.output.contains("worker"), "internal commands are not listed")
    }

    @Test("a worker without a runner ends by itself, and planted scenarios are not listed")
    func workerAlone() throws {
        #expect(try execute(["worker"]).status == .exited(1))
        let description = try execute(["worker", "--describe"])
        #expect(description.status == .exited(0))
        #expect(!description.output.contains("planted"))
        #expect(try JSONReader.read(description.output)["protocol"] == .integer(WorkerRequest.protocolVersion))
    }
}
