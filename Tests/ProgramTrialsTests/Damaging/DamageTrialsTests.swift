import FaultModel
import Files
import Harness
import Platform
import Seeds
import Testing

@testable import ProgramTrials

/// Readers that notice damage, and readers that do not.
@Suite struct DamageTrialsTests {
    private static let rows = (0..<40).map { "row \($0) of the table\n" }.joined()

    private func report(
        _ read: String, in directory: TrialDirectory, files: [(String, String)] = [("rows", rows)],
        faults: [FileDamage.Kind] = FileDamage.Kind.allCases, samples: Int = 6
    ) throws -> DamageReport {
        let subject = DamageSubject(files.map { ($0.0, Array($0.1.utf8)) })
        let damaged = subject.files
        let trials = DamageTrials(subject, command: CheckCommand(read), directory: directory.path)
        let reference = try trials.reference()
        let damages = faults.flatMap { kind -> [FileDamage] in
            var random = RandomStream(Seed(7))
            return damaged.damages(kind, count: samples, pageSize: 64, older: nil, random: &random)
        }
        var small = trials
        small.pageSize = 64
        return DamageReport(try small.run(damages, against: reference).outputs, files: damaged, pageSize: 64)
    }

    @Test("a reader that prints any contents is silently wrong, and the place and the line are reported")
    func careless() throws {
        let report = try report("cat {}", in: TrialDirectory())
        #expect(report.trials.count > 20 && report.trials.allSatisfy { $0.outcome == .silentlyWrong })
        #expect(report.exitStatus == 2)
        let text = report.lines { "repeat \($0)" }.joined(separator: "\n")
        #expect(text.contains("silently-wrong") && text.contains("file rows, page ") && text.contains("repeat bit:"))
        #expect(text.contains("expected \"row "))
        #expect(report.heat().allSatisfy { $0.count == "  rows  ||".count + 64 && $0.contains("#") })
        #expect(report.rows.count == report.trials.count && report.rows.allSatisfy { $0.count == 7 })
    }

    @Test("a reader that compares a checksum first is not blamed")
    func checksummed() throws {
        let directory = try TrialDirectory()
        try FileTree.writeText(directory.path + "/r", Self.rows)
        let sum = try CheckCommand("cksum < {}").run(directory.path + "/r").outputText
        let read = "[ \"$(cksum < {})\" = \"$(cat $(dirname {})/sum)\" ] || exit 1; cat {}"
        let report = try report(read, in: directory, files: [("rows", Self.rows), ("sum", sum)])
        #expect(report.exitStatus == 0)
        // The checksum file may lose its last line end without a change.
        #expect(
            report.trials.count { $0.outcome == .detected } > 20 && report.trials.allSatisfy { $0.outcome.isHonest })
    }

    @Test("a command that never reads the files decides nothing")
    func blind() throws {
        let report = try report("echo rows: {}", in: TrialDirectory(), faults: [.zero], samples: 2)
        #expect(report.exitStatus == 3 && report.trials.allSatisfy { $0.outcome == .correct })
    }

    @Test("a copy has the original's empty directories, permissions, links and names, and damage in every name")
    func surroundings() throws {
        let directory = try TrialDirectory()
        let store = directory.path + "/store"
        let odd = BytePath([0x63, 0x61, 0x66, 0xE9])
        try FileTree.createDirectory(store + "/empty/deep")
        try FileTree.createDirectory(store + "/closed")
        try FileTree.make(BytePath(store + "/run"), Array("#!/bin/sh\ncat $1/rows\n".utf8), mode: 0o755)
        try FileTree.make(BytePath(store + "/closed/key"), Array("a key".utf8), mode: 0o400)
        try FileTree.make(BytePath(store).appending(odd), Array("some rows\n".utf8), mode: 0o644)
        try FileTree.addName(BytePath(store + "/rows"), to: BytePath(store).appending(odd))
        try FileNode(.link(target: odd.bytes), mode: 0).make(at: BytePath(store + "/link"))
        try FileNode(.fifo, mode: 0o600).make(at: BytePath(store + "/fifo"))
        try FileTree.setMode(0o500, of: BytePath(store + "/closed"))
        try FileTree.setMode(0o750, of: BytePath(store))
        let listing = "cd {} && find . -printf '%P %M %n %l\\n' | LC_ALL=C sort && {}/run {} && cat link"
        let expected = try CheckCommand(listing).run(store)
        #expect(expected.hasSucceeded && expected.output.contains(0xE9), "\(expected.errorText)")
        let trials = DamageTrials(
            try DamageSubject(at: [store]), command: CheckCommand(listing), directory: directory.path)
        let reference = try trials.reference()
        #expect(reference == PrintedLines(expected.output, directory: store))
        // A file with two names is one file.
        let rows = try #require(trials.files.files.first { $0.name == "caf\\xE9" })
        #expect(trials.files.files.count == 3)
        let damage = FileDamage(.cut, rows.start + 5)
        let trial = try trials.run(damage, against: reference, in: directory.path + "/cut")
        #expect(trial?.outcome == .silentlyWrong)
        let report = DamageReport([try #require(trial)], files: trials.files, pageSize: 64)
        #expect(report.rows[0][2] == "caf\\xE9" && report.heat().contains { $0.contains("caf\\xE9 ") })
        #expect(report.place(of: damage).hasPrefix("file caf\\xE9, "))
    }

    @Test("individually named files keep permissions, and files that cannot be damaged are refused")
    func named() throws {
        let directory = try TrialDirectory()
        let path = directory.path + "/run"
        try FileTree.make(BytePath(path), Array("#!/bin/sh\necho rows\n".utf8), mode: 0o700)
        try FileTree.createDirectory(directory.path + "/other")
        try FileTree.writeText(directory.path + "/other/run", "")
        let trials = DamageTrials(
            try DamageSubject(at: [path]), command: CheckCommand("{}"), directory: directory.path + "/copies")
        #expect(try trials.reference().lines.first == Array("rows".utf8))
        for (paths, word) in [
            ([path, directory.path + "/other/run"], "same name"), ([path + "1"], "no file"),
            ([path, directory.path], "is a directory"), ([directory.path + "/other"], "no bytes"),
            (["/dev/null", path], "is no file"),
        ] {
            let refusal = #expect(throws: TrialRefusal.self) { try DamageSubject(at: paths) }
            #expect(refusal?.description.contains(word) == true, "\(refusal?.description ?? "")")
        }
    }

    @Test(
        "commands whose output decides nothing are refused, with the remedy",
        arguments: [
            ("date +%N; cat {}", "--ignore"), ("true {}", "prints nothing"), ("cat {}; false", "undamaged"),
            ("no-such-reader {}", "no-such-reader"),
        ])
    func refused(read: String, words: String) throws {
        let directory = try TrialDirectory()
        do {
            _ = try report(read, in: directory)
            Issue.record("\(read) was taken")
        } catch let error as TrialRefusal {
            #expect(error.description.contains(words), "\(error)")
        }
    }

    @Test("the outcome follows from status and output")
    func judged() {
        let reference = PrintedLines(Array("one\ntwo\nthree\n".utf8), directory: "")
        func outcome(_ end: ChildEnd, _ output: String, isTimeOut: Bool = false) -> DamageOutcome {
            let bytes = Array(output.utf8)
            let end = WatchedEnd(
                end: end, isTimeOut: isTimeOut, output: bytes, isOutputCut: false, errors: [], durationNanoseconds: 0)
            return DamageTrials.judge(end, PrintedLines(bytes, directory: ""), against: reference).0
        }
        #expect(outcome(.exited(0), "one\ntwo\nthree\n") == .correct)
        #expect(outcome(.exited(0), "one\ntwo\n") == .silentlyWrong)
        #expect(outcome(.exited(0), "one\ntwo\nthree") == .silentlyWrong)
        #expect(outcome(.exited(0), "one\ntwo\nthree\nfour\n") == .silentlyWrong)
        #expect(outcome(.exited(1), "one\ntw") == .detected)
        #expect(outcome(.exited(1), "") == .detected)
        #expect(outcome(.exited(1), "one\ntw\n") == .wrongThenDetected)
        #expect(outcome(.exited(1), "one\n2\n") == .wrongThenDetected)
        #expect(outcome(.exited(1), "one\ntwo\nthree\nfour\n") == .wrongThenDetected)
        #expect(outcome(.signalled(SIGSEGV), "one\n") == .crashed)
        #expect(outcome(.exited(128 + SIGABRT), "one\n") == .crashed)
        #expect(outcome(.signalled(SIGKILL), "one\n", isTimeOut: true) == .hung)
    }

    @Test("the path of a copy and excluded lines are not compared")
    func normalized() {
        let one = PrintedLines(Array("/x/1/rows\n//x/1\nat 17\n".utf8), directory: "/x/1", ignoring: ["at *"])
        let two = PrintedLines(Array("/x/22/rows\n//x/22\nat 18\n".utf8), directory: "/x/22", ignoring: ["at *"])
        #expect(one == two && one.lines.count == 2)
    }

    static let hasSQLite = (try? CheckCommand("command -v sqlite3 # {}").run("/"))?.hasSucceeded == true

    @Test("SQLite's shell gives wrong rows with status 0", .enabled(if: hasSQLite, "sqlite3 is not installed"))
    func sqlite() throws {
        let directory = try TrialDirectory()
        let path = directory.path + "/people.db"
        let made = try CheckCommand(
            "sqlite3 {} \"create table t(a); with recursive n(i) as (values(1) union all select i + 1 from n "
                + "where i < 300) insert into t select 'a person with the number ' || i from n\""
        ).run(path)
        #expect(made.hasSucceeded, "\(made.errorText)")
        let subject = try DamageSubject(at: [path])
        let read = "[ \"$(sqlite3 {} 'pragma integrity_check')\" = ok ] && sqlite3 {} 'select * from t'"
        let trials = DamageTrials(subject, command: CheckCommand(read), directory: directory.path + "/copies")
        let reference = try trials.reference()
        var random = RandomStream(Seed(1))
        let damages = subject.files.damages(.flip, count: 40, pageSize: 4_096, older: nil, random: &random)
        let tried = try trials.run(damages, against: reference).outputs
        // Only that both outcomes occur; their share is SQLite's affair.
        #expect(tried.contains { $0.outcome == .silentlyWrong } && tried.contains { $0.outcome == .detected })
        #expect(!tried.contains { $0.outcome == .crashed || $0.outcome == .hung })
        let wrong = try #require(tried.first { $0.outcome == .silentlyWrong })
        let again = try trials.run(wrong.damage, against: reference, in: directory.path + "/again")
        #expect(again?.outcome == .silentlyWrong && again?.detail == wrong.detail)
    }
}
