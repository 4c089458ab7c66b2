import Files
import JSONText
import Platform
import Seeds
import Statistics
import Testing

@testable import Harness

/// `assay bisect` by the real executable, on a line of revisions that are scripts in front of it.
@Suite(.serialized)
struct BisectRunTests {
    private let directory: TestDirectory
    private let repository: TestRepository
    private let shell: ShellProcess
    private var out: String { directory.path + "/out" }
    private static let small = [
        "column-sum", "--engine", "model", "--size", "100", "--pairs", "10", "--allow-zoo", "--allow-debug",
    ]

    init() throws {
        directory = try TestDirectory()
        repository = try TestRepository(directory)
        shell = try ShellProcess(directory)
        try repository.write("Package.swift", "// \"AssayTool\"\n")
    }

    /// - Parameter number: distinguishes the program.
    private func program(_ number: Int, slowedBy percent: Int = 0, digest: Int? = nil) -> String {
        let slow = percent == 0 ? "" : "ASSAY_ZOO_SLOW=\(percent) "
        let assay = directory.path + "/bin/assay"
        let change = "sed 's/\"digest\":\"[^\"]*\"/\"digest\":\"digest-\(digest ?? number)\"/'"
        return "#!/bin/sh\n# \(number)\n[ \"$2\" = --describe ] && { '\(assay)' \"$@\" | \(change); exit 0; }\n"
            + "\(slow)exec '\(assay)' \"$@\"\n"
    }

    private func line(_ words: [String]) -> String {
        "SWIFT=\(ShellWord.quoted(repository.compiler)) exec assay "
            + (["bisect"] + words).map(ShellWord.quoted).joined(separator: " ")
    }

    private func begin(_ good: String, _ bad: String, _ more: [String] = Self.small) -> [String] {
        ["--good", good, "--bad", bad, "--repository", repository.path, "--builds", repository.builds, "--out", out]
            + more
    }

    private func steps() throws -> [BisectStep] { try BisectStep.read(from: out) }

    @Test("wrong words, wrong ends, no case or several: status 64, a remedy, and no directory")
    func usage() throws {
        try repository.commit("One", program: program(1))
        try repository.commit("Two", program: program(2))
        try repository.commit("Same as one", program: program(3, digest: 1))
        try repository.commit("Broken", program: program(4), also: ["broken": ""])
        let allowed = ["--allow-zoo", "--allow-debug"]
        let plans = directory.path + "/plans"
        try FileTree.createDirectory(plans)
        try FileTree.writeText(plans + "/small.json5", "{ cases: [{ scenario: \"point-read\" }] }")
        let wrong: [([String], String)] = [
            (["--good", "HEAD"] + Self.small, "name both ends"),
            (begin("HEAD", "HEAD~3"), "--good has to be an ancestor"),
            (begin("nowhere", "HEAD"), "--good: nowhere names no commit"),
            (begin("HEAD~3", "HEAD"), "Broken) does not build: one.swift:3:1"),
            (begin("HEAD~3", "HEAD~1"), "the ends are the same program"),
            (begin("HEAD~3", "HEAD~2", allowed), "which case?"),
            (begin("HEAD~3", "HEAD~2", ["point-raed"] + allowed), "did you mean point-read?"),
            (begin("HEAD~3", "HEAD~2", ["point-read"] + allowed), "a search takes one"),
            (begin("HEAD~3", "HEAD~2", ["0123456789ab", "--plans", plans] + allowed), "--dry-run lists them"),
            (begin("HEAD~3", "HEAD~2", ["abcd", "--engine", "model"] + allowed), "leave out --engine"),
            (["--resume", out], "no search in"),
            (["--resume", out, "point-read", "--pairs", "12"], "leave out point-read, --pairs"),
        ]
        for (words, expected) in wrong {
            let end = try shell.run(line(words))
            #expect(end.status == .exited(64), "\(words): \(end.output)")
            #expect(end.output.contains(expected), "\(words): \(end.output)")
            #expect(!FileTree.exists(out), "\(words)")
        }
    }

    @Test("ends without a significant difference: no search, status 3, and the step is kept")
    func nothing() throws {
        try repository.commit("One", program: program(1))
        try repository.commit("Two", program: program(2))
        try repository.commit("Three", program: program(3))
        let end = try shell.run(line(begin("HEAD~2", "HEAD")))
        #expect(end.status == .exited(3), "\(end.output)")
        #expect(end.output.contains("no search: "), "\(end.output)")
        let steps = try steps()
        #expect(steps.count == 1 && steps[0].measured.count == 1)
        #expect(try FileTree.readText(out + "/steps/00-ends.jsonl").split(separator: "\n").count >= 30)
        #expect(!FileTree.exists(out + "/work"))
    }

    #if Zoo
        @Test("a failure of the machine stops the search and marks no revision; the search can be resumed")
        func faultOfMachine() throws {
            try repository.commit("Begin", program: program(0))
            try repository.commit("Innocent", program: program(1, digest: 0), also: ["full": ""])
            try FileTree.remove(repository.path + "/full")
            try repository.commit("Slow", program: program(2, slowedBy: 400))
            let end = try shell.run(line(begin("HEAD~2", "HEAD")))
            #expect(end.status == .exited(64), "\(end.output)")
            #expect(end.output.contains("the disk is full") && end.output.contains("--resume \(out)"), "\(end.output)")
            #expect(try steps().count == 1, "the ends alone")
            let compiler = try FileTree.readText(repository.compiler)
            try FileTree.writeText(repository.compiler, compiler.replacing("/full", with: "/none"))
            let again = try shell.run(line(["--resume", out, "--allow-zoo", "--allow-debug"]))
            #expect(again.status == .exited(0), "\(again.output)")
            #expect(again.output.contains(" Slow)"), "\(again.output)")
        }

        /// A line of revisions: good ones, one of which has the good end's program and one does not build; then two
        /// slower ones.
        private func makeLine() throws -> Revision {
            try repository.commit("Begin", program: program(0))
            try repository.commit("Only words", program: program(2, digest: 0))
            try repository.commit("Break it", program: program(3), also: ["broken": ""])
            try FileTree.remove(repository.path + "/broken")
            try repository.commit("Mend it", program: program(4))
            let first = try repository.commit("Make it slower", program: program(5, slowedBy: 400))
            try repository.commit("More", program: program(6, slowedBy: 400))
            return first
        }

        @Test("the first slower revision is found and named, with each step; broken revisions are skipped")
        func found() throws {
            let first = try makeLine()
            let end = try shell.run(line(begin("HEAD~5", "HEAD")))
            #expect(end.status == .exited(0), "\(end.output)")
            let verdict = "VERDICT  the first slower revision is \(first.shortCommit) (Make it slower)"
            #expect(end.output.contains(verdict), "\(end.output)")
            #expect(end.output.contains("Look again  assay ab --a-ref"), "\(end.output)")
            let steps = try steps()
            // The steps: the two ends; the middle revision, which does not build; its neighbour, which has the good
            // end's program; the other neighbour; the first slower revision.
            #expect(steps.map(\.mark) == [.bad, .skipped, .good, .good, .bad], "\(steps)")
            #expect(steps[1].reason.contains("does not build") && steps[1].measured.isEmpty)
            #expect(steps[2].reason.contains("the same program") && steps[2].measured.isEmpty)
            #expect(end.output.contains("2 left, at most 1 more to measure"), "\(end.output)")
            let record = try BisectRecord.read(from: out)
            #expect(record.conclusion.contains("Make it slower") && record.revisions.count == 5)
            #expect(record.good.subject == "Begin" && record.bad.name == "HEAD")
            for measured in steps.flatMap(\.measured) { #expect(FileTree.exists(out + "/" + measured.raw)) }
            // A search that is complete prints its result again, and measures nothing.
            let again = try shell.run(line(["--resume", out, "--allow-zoo", "--allow-debug"]))
            #expect(again.status == .exited(0) && again.output.contains(verdict), "\(again.output)")
            #expect(try self.steps() == steps)
        }

        @Test("an interrupt keeps the decisions: 130, and the printed command resumes to the same end")
        func interrupted() throws {
            try repository.commit("Begin", program: program(0))
            let first = try repository.commit("Make it slower", program: program(1, slowedBy: 400))
            try repository.commit("More", program: program(2, slowedBy: 400))
            let processID = try shell.start(line(begin("HEAD~2", "HEAD")), output: "stopped")
            var status: Int32 = 0
            // The interrupt comes at any moment of the second step.
            func isUnderWay() -> Bool {
                let names = (try? FileTree.names(in: out + "/steps")) ?? []
                return names.contains { !$0.hasPrefix("00") }
            }
            while !isUnderWay() {
                try #require(waitpid(processID, &status, WNOHANG) == 0, "it ended by itself")
                usleep(5_000)
            }
            kill(processID, SIGINT)
            let ended = AssayProcess.wait(processID)
            let text = try FileTree.readText(directory.path + "/stopped")
            #expect(ended == .exited(Interruption.exitStatus), "\(text)")
            #expect(text.contains("assay bisect --resume \(out)"), "\(text)")
            #expect(!FileTree.exists(out + "/work"))
            let before = try steps()
            #expect(before.count >= 1)
            // As after a kill, the record ends with a torn line.
            try FileTree.append(out + "/bisect.jsonl", Array("{\"commit\":\"".utf8))
            let end = try shell.run(line(["--resume", out, "--allow-zoo", "--allow-debug"]))
            #expect(end.status == .exited(0), "\(end.output)")
            #expect(end.output.contains("is \(first.shortCommit) (Make it slower)"), "\(end.output)")
            #expect(Array(try steps().prefix(before.count)) == before, "decided once")
        }
    #endif

    @Test("the record of a search round-trips; damage is reported, and nothing changed")
    func record() throws {
        let revision = Revision(name: "v1", commit: String(repeating: "a", count: 40), subject: "One, \"two\"")
        let record = BisectRecord(
            good: revision, revisions: [revision, revision], pairs: 40, threshold: 0.03, seed: Seed(.max),
            repository: "/a b", builds: "/c")
        try FileTree.createDirectory(out)
        try record.write(to: out)
        #expect(try BisectRecord.read(from: out) == record)
        let comparison = SideComparison(ratio: 0.8, low: 0.79, high: 0.81, pairCount: 40, threshold: 0.03)
        let step = BisectStep(
            commit: revision.commit, mark: .bad, reason: "why",
            measured: [
                .init(beside: .good, finding: .slower, comparison: comparison, raw: "steps/1"),
                .init(beside: .bad, finding: .inconclusive, comparison: nil, raw: "steps/2"),
            ])
        try step.append(to: out)
        try step.append(to: out)
        #expect(try BisectStep.read(from: out) == [step, step])
        try FileTree.writeText(out + "/bisect.json", "{\"format\":\"assay-bisect/9\"}")
        let end = try shell.run(line(["--resume", out]))
        #expect(end.status == .exited(64) && end.output.contains("begin a new one"), "\(end.output)")
        #expect(try FileTree.names(in: out) == ["bisect.json", "bisect.jsonl"])
    }
}
