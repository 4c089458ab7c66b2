import Files
import Measuring
import Platform
import RunRecords
import Testing

@testable import Harness

/// Runs harm no other process.
/// Real runs in unsuitable directories, limits and file systems.
@Suite(.serialized)
struct RunSafetyTests {
    private let directory: TestDirectory
    private let shell: ShellProcess
    private var runPath: String { directory.path + "/run" }

    init() throws {
        directory = try TestDirectory()
        shell = try ShellProcess(directory)
    }

    private func write(_ name: String, cases: String) throws {
        try FileTree.writeText(
            directory.path + "/\(name).json5",
            "{ summary: 'planted', hang_seconds: 20, memory_megabytes: 256, budget_seconds: 60, engines: ['model'], "
                + "cases: [\(cases)] }")
    }

    private func load(_ path: String? = nil) throws -> Run {
        try RunDirectory(path: path ?? runPath).load()
    }

    @Test("a directory with foreign files is refused with status 64 and left as it is")
    func foreignDirectory() throws {
        try write("p", cases: "{scenario:'planted-pass'}")
        try FileTree.createDirectory(runPath + "/" + "work/thesis")
        try FileTree.writeText(runPath + "/" + "work/thesis/text", "years")
        try FileTree.writeText(runPath + "/run.json", "{}")
        try FileTree.writeText(runPath + "/report.html", "mine")
        for command in ["run p.json5 --out run", "run --resume run", "report run", "replay run abc"] {
            let end = try shell.run("assay \(command) --plans .".replacing("report run --plans .", with: "report run"))
            #expect(end.status == .exited(64), "\(command): \(end.output)")
        }
        let end = try shell.run("assay run p.json5 --out run --plans .")
        #expect(end.status == .exited(64) && end.output.contains("Name another --out"), "\(end.output)")
        #expect(try FileTree.names(in: runPath) == ["report.html", "run.json", "work"])
        #expect(try FileTree.readText(runPath + "/report.html") == "mine")
        #expect(try FileTree.readText(runPath + "/" + "work/thesis/text") == "years")
    }

    @Test("a second run and a resume in a directory in use are refused, and the first run is undisturbed")
    func oneRunPerDirectory() throws {
        try write("p", cases: "{scenario:'planted-pass'},{scenario:'planted-wait'}")
        let first = try shell.start("exec assay run p.json5 --out run --plans .", output: "first")
        try waitUntil { try load().results.count == 1 }
        for command in ["run p.json5 --out run", "run --resume run"] {
            let end = try shell.run("assay \(command) --plans .")
            #expect(end.status == .exited(1), "\(end.output)")
            #expect(end.output.contains("in use by process \(first)"), "\(end.output)")
        }
        let case0 = try load().results[0].test.id
        let replay = try shell.run("assay replay run \(case0) --plans .")
        #expect(replay.status == .exited(0), "beside a run: \(replay.output)")
        try FileTree.writeText(directory.path + "/go", "")
        #expect(AssayProcess.wait(first) == .exited(0))
        #expect(try load().results.map(\.verdict) == [.pass, .pass])
        #expect(FileTree.kind(runPath + "/work") == nil && FileTree.kind(runPath + ".1") == nil)
    }

    @Test("the next run removes a killed run's files, on disk and in memory")
    func killed() throws {
        let memory = ScratchDirectory.memory
        func inMemory() throws -> Set<String> {
            guard FileTree.isDirectory(memory) else { return [] }
            return Set(try FileTree.names(in: memory).filter { $0.hasPrefix(ScratchDirectory.prefix) })
        }
        /// Other tests use memory meanwhile, too; the open lock identifies the owner.
        func inMemory(of run: Int32) throws -> Set<String> {
            let open = OtherProcesses.openFiles(below: run)
            return try inMemory().filter { name in open.contains { $0.hasPrefix(memory + "/" + name + "/") } }
        }
        try write("p", cases: "{scenario:'bit-flip', engines: 'strata-storage', parameters: {trials: 20000}}")
        try write("q", cases: "{scenario:'planted-pass'}")
        let run = try shell.start("exec assay run p.json5 --out run --plans .", output: "first")
        var left: Set<String> = []
        try waitUntil {
            guard FileTree.exists(runPath + "/run.json"), FileTree.isDirectory(runPath + "/work"),
                try FileTree.names(in: runPath + "/work").count == 1
            else { return false }
            left = try inMemory(of: run)
            return !left.isEmpty || !FileTree.isDirectory(memory)
        }
        kill(run, SIGKILL)
        #expect(AssayProcess.wait(run) == .signalled(SIGKILL))
        let scratch = try FileTree.names(in: runPath + "/work")
        #expect(scratch.count == 1)
        try FileTree.writeText(runPath + "/" + "work/mine", "mine")
        // The worker ends shortly after the run; from then on no process owns what the run left.
        try waitUntil {
            let end = try shell.run("assay run q.json5 --out other --plans .")
            return try end.status == .exited(0) && inMemory().isDisjoint(with: left)
        }
        let id = try RunDirectory(path: runPath).readHeader().cases[0]
        #expect(FileTree.exists(runPath + "/" + "work/" + scratch[0]), "another run's business: \(id)")
        let resumed = try shell.run("assay run --resume run --budget 1s --plans .")
        #expect([.exited(0), .exited(3)].contains(resumed.status), "cut by its budget: \(resumed.output)")
        #expect(try FileTree.names(in: runPath + "/work") == ["mine"])
        #expect(try inMemory().isDisjoint(with: left))
    }

    @Test("an interrupt ends the run with 130, a report so far and the command that resumes it")
    func interrupt() throws {
        try write("p", cases: "{scenario:'planted-pass'},{scenario:'planted-wait'}")
        let run = try shell.start("exec assay run p.json5 --out run --plans .", output: "first")
        try waitUntil { try load().results.count == 1 }
        kill(run, SIGINT)
        #expect(AssayProcess.wait(run) == .exited(130))
        let text = try FileTree.readText(directory.path + "/first")
        #expect(text.contains("1 of 2 cases done"), "\(text)")
        #expect(FileTree.exists(runPath + "/report.html") && FileTree.kind(runPath + "/work") == nil)
        let line = try #require(text.split(separator: "\n").last { $0.contains("assay run --resume") })
        try FileTree.writeText(directory.path + "/go", "")
        let end = try shell.run("\(line) --plans .")
        #expect(end.status == .exited(0), "\(end.output)")
        #expect(try load().isFinished)
    }

    @Test("a resumed run refuses another plan, other options and another build")
    func contradictions() throws {
        try write("p", cases: "{scenario:'planted-pass'}")
        try write("q", cases: "{scenario:'planted-pass'}")
        #expect(try shell.run("assay run p.json5 --seed 7 --out run --plans .").status == .exited(0))
        let resume = "--resume run --plans ."
        for (words, expected) in [
            ("q.json5", "begun with plan p, not with q.json5"), ("--engine model", "begun without --engine"),
            ("--seed 8", "begun with --seed 7, not with --seed 8"), ("--param count=3", "begun without --param"),
            ("--scenario planted-pass", "begun without --scenario"), ("--size 5", "begun without --size"),
        ] {
            let end = try shell.run("assay run \(words) \(resume)")
            #expect(end.status == .exited(64) && end.output.contains(expected), "\(words): \(end.output)")
        }
        for words in ["", "p", "p.json5", "--seed 7", "--budget 30s"] {
            let end = try shell.run("assay run \(words) \(resume)")
            #expect(end.status == .exited(0), "\(words): \(end.output)")
        }
        let header = try FileTree.readText(runPath + "/run.json")
        let digest = try load().header.buildDigest
        #expect(digest.count == 12)
        try FileTree.writeText(runPath + "/run.json", header.replacing(digest, with: "0123456789ab"))
        let end = try shell.run("assay run \(resume)")
        #expect(end.status == .exited(64), "\(end.output)")
        #expect(end.output.contains("build 0123456789ab") && end.output.contains("build \(digest)"), "\(end.output)")
        let id = try load().results[0].test.id
        let replay = try shell.run("assay replay run \(id) --plans .")
        #expect(replay.status == .exited(0))
        let first = replay.output.prefix { $0 != "\n" }
        #expect(first.hasPrefix("ANOTHER BUILD") && first.contains("0123456789ab") && first.contains(digest))
    }

    @Test("an impossible trial of a case ends with 64, and a possible one is named")
    func addresses() throws {
        try write(
            "p",
            cases: "{scenario:'planted-checks'},{scenario:'planted-trials', parameters: {count: 12, hang: false}},"
                + "{scenario:'bit-flip', engines: ['strata-storage'], parameters: {trials: 4}},"
                + "{scenario:'truncate', engines: ['strata-storage'], parameters: {trials: 1}}")
        #expect(try shell.run("assay run p.json5 --out run --plans .").status == .exited(2))
        let results = try load().results
        func replay(_ scenario: String, _ trial: String) throws -> AssayProcess.End {
            let id = try #require(results.first { $0.test.scenario == scenario }).test.id
            return try shell.run("assay replay run \(id) \(ShellWord.quoted(trial)) --plans .")
        }
        for (scenario, trial, example) in [
            ("planted-checks", "bit:12", "content, thread 0"), ("planted-checks", "thread 1", "content, thread 0"),
            ("planted-trials", "plant:12", "plant:0"), ("planted-trials", "cut:1", "plant:0"),
            ("bit-flip", "cut:1", "bit:"), ("bit-flip", "bit:999999999999", "bit:"), ("bit-flip", "bit:-1", "bit:"),
            ("bit-flip", "bit:+5", "bit:"), ("bit-flip", "bit:x", "bit:"), ("bit-flip", "bit", "bit:"),
            ("truncate", "bit:1", "cut:"), ("truncate", "cut:999999999999", "cut:"),
        ] {
            let end = try replay(scenario, trial)
            #expect(end.status == .exited(64), "\(scenario) \(trial): \(end.output)")
            #expect(end.output.contains("named like") && end.output.contains(example), "\(end.output)")
        }
        for (scenario, trial, expected) in [
            ("planted-checks", "thread 0", "now: wrong (silently-wrong)"),
            ("planted-checks", "content", "now: correct"),
            ("planted-checks", "it's 'quoted'", "now: wrong (silently-wrong)"),
            ("planted-trials", "plant:10", "now: stopped (crashed)"),
            ("planted-trials", "plant:11", "now: correct"), ("truncate", "cut:4096", "same outcome: 1 of 1"),
        ] {
            let end = try replay(scenario, trial)
            #expect(end.status == .exited(0) && end.output.contains(expected), "\(scenario) \(trial): \(end.output)")
        }
        let untried = try replay("bit-flip", "bit:5")
        #expect(untried.status == .exited(3) && untried.output.contains("that run did not try it"), "\(untried.output)")
        #expect(FileTree.kind(runPath + "/work") == nil)
    }

    @Test("impossible options and parameters are refused when they are parsed")
    func wrongValues() throws {
        try write("p", cases: "{scenario:'planted-trials'}")
        try write("q", cases: "{scenario:'planted-trials', parameters: {count: 'abc'}}")
        for (words, expected) in [
            ("p.json5 --size 0", "--size needs"), ("p.json5 --budget 0", "--budget needs"),
            ("p.json5 --param count=abc", "count needs 1 to 10000"), ("p.json5 --param count=-5", "not -5"),
            ("p.json5 --param count=0", "not 0"), ("p.json5 --engine strata", "no case on strata, but on model"),
            ("q.json5", "q.json5:1:"),
        ] {
            let end = try shell.run("assay run \(words) --out run --plans .")
            #expect(end.status == .exited(64) && end.output.contains(expected), "\(words): \(end.output)")
        }
        #expect(FileTree.kind(runPath) == nil)
    }

    @Test("a list of known violations with an unknown name is refused, and obsolete entries are reported")
    func knownViolations() throws {
        try FileTree.createDirectory(directory.path + "/plans")
        try write("plans/p", cases: "{scenario:'planted-pass'}")
        func run(_ scenario: String) throws -> AssayProcess.End {
            try FileTree.writeText(
                directory.path + "/known.json5",
                "[{ scenario: '\(scenario)', engine: 'model', outcome: 'hung', reason: 'r' }]")
            return try shell.run("assay run p --out run --plans plans")
        }
        let wrong = try run("planted-pas")
        #expect(wrong.status == .exited(64) && wrong.output.contains("did you mean planted-pass?"), "\(wrong.output)")
        let right = try run("planted-pass")
        #expect(right.status == .exited(0))
        #expect(right.output.contains("that this run does not have: planted-pass on model: hung"), "\(right.output)")
    }

    private func waitUntil(_ condition: () throws -> Bool) throws {
        guard OtherProcesses.wait(until: condition) else {
            throw HarnessError("the condition was not met")
        }
    }
}
