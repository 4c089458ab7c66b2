import FaultModel
import Files
import Harness
import Seeds
import Testing

@testable import ProgramTrials

/// Programs that survive a loss of power, and programs that do not.
@Suite(.enabled(if: PreloadFolder.records, "no program can be recorded here"))
struct CrashTrialTests {
    private static let careless = "echo one >{}/new; mv {}/new {}/rows; echo done"
    private static let careful = "echo one >{}/new; sync {}/new; mv {}/new {}/rows; sync {}; echo done"
    private static let notLost = "! grep -q done \"$ASSAY_ACKNOWLEDGED\" || grep -qx one {}/rows"
    private static let whole = "test $(wc -l <{}/rows) = 40"
    private static let wholeOrEmpty = "! test -s {}/rows || \(whole)"
    private static let notTorn = "! test -e {}/rows || grep -qx one {}/rows"

    private func trial(
        _ script: String, check: String, _ profile: CrashProfile = .strict, limit: Int = 200, seed: UInt64 = 1,
        output: WatchedProgram.Output = .pipe, in scratch: TrialDirectory
    ) throws -> CrashTrial {
        let directory = scratch.path + "/watched"
        try FileTree.createDirectory(directory)
        let library = try #require(PreloadFolder.library)
        var program = WatchedProgram(
            ["/bin/sh", "-c", script.replacing("{}", with: directory)], library: library)
        program.output = output
        let recorder = try Recorder(
            program, directory: directory, volatile: try VolatileNames(adding: []), in: scratch.path)
        let run = try recorder.run()
        try #require(run.unseen == [] && run.end.hasSucceeded, "\(run.unseen) \(run.end.errorText)")
        return CrashTrial(
            run, check: CheckCommand(check), profile: profile, limit: limit, seed: Seed(seed), in: scratch.path)
    }

    @Test("a rename without a sync loses data, with syncs of file and directory it does not")
    func renamed() throws {
        for (script, check, profile, fails) in [
            (Self.careless, Self.notLost, CrashProfile.strict, true),
            (Self.careless, Self.notTorn, .strict, true),
            (Self.careful, Self.notLost, .strict, false),
            (Self.careful, Self.notTorn, .strict, false),
            // The name may be durable before the contents.
            (Self.careless, Self.notTorn, .ext4Ordered, true),
            (Self.careful, Self.notLost, .ext4Ordered, false),
            // With ordered writes nothing is torn, but the last writes can still be lost.
            (Self.careless, Self.notTorn, .prefix, false),
            (Self.careless, Self.notLost, .prefix, true),
        ] {
            let scratch = try TrialDirectory()
            let trial = try trial(script, check: check, profile, in: scratch)
            #expect(try trial.isCheckBlind() == (check == Self.notTorn))
            let outcome = try trial.sweep()
            #expect(outcome.findings.isEmpty == !fails, "\(script) \(check) \(profile)")
            #expect(outcome.findings.allSatisfy(\.isSteady) && outcome.checked == outcome.coverage.distinct)
            guard let finding = outcome.findings.last else { continue }
            // The address gives the same disk, and its description names what is missing.
            #expect(try trial.look(at: finding.address)?.ending == finding.ending)
            let text = finding.address.steps.flatMap { trial.description(of: $0) }.joined(separator: "\n")
            #expect(text.contains("lost: operation") || text.contains("in part: operation"), "\(text)")
        }
    }

    @Test("an unknown address of the run is refused")
    func addresses() throws {
        let scratch = try TrialDirectory()
        let trial = try trial(Self.careful, check: Self.notLost, in: scratch)
        for text in ["crash:op=99,state=0x0", "crash:op=0,state=0x1", "crash:op=1,kill"] {
            let address = try #require(CrashAddress(text))
            #expect(throws: TrialRefusal.self) { try trial.look(at: address) }
        }
        #expect(try trial.look(at: try #require(CrashAddress("crash:op=0,state=0x0"))) == nil)
    }

    @Test("a program that fails, or times out, without a loss of power is refused")
    func failing() throws {
        for (script, limit, word) in [
            ("echo a >{}/f; sync {}/f; exit 3", 60.0, "ended with status 3"),
            ("echo a >{}/f; sync {}/f; sleep 100", 0.5, "was killed"),
        ] {
            let scratch = try TrialDirectory()
            let directory = scratch.path + "/watched"
            try FileTree.createDirectory(directory)
            let library = try #require(PreloadFolder.library)
            var program = WatchedProgram(
                ["/bin/sh", "-c", script.replacing("{}", with: directory)], library: library)
            program.output = .pipe
            program.limitSeconds = limit
            let run = try Recorder(
                program, directory: directory, volatile: try VolatileNames(adding: []), in: scratch.path
            ).run()
            let trial = CrashTrial(
                run, check: CheckCommand("test -d {}"), profile: .strict, limit: 100, seed: Seed(1), in: scratch.path)
            let refusal = #expect(throws: TrialRefusal.self) { try trial.isCheckBlind() }
            #expect(refusal?.description.contains(word) == true, "\(refusal?.description ?? "")")
        }
    }

    @Test(
        "ext4 keeps a file replaced by a rename; a truncated and rewritten one may be empty",
        arguments: [
            ("tr l L <{}/rows >{}/new; mv {}/new {}/rows", CrashProfile.ext4Ordered, whole, false),
            ("tr l L <{}/rows >{}/new; mv {}/new {}/rows", .strict, whole, true),
            // Writes a file of another name and renames it, too.
            ("sed -i s/l/L/ {}/rows", .ext4Ordered, whole, false),
            ("sed -i s/l/L/ {}/rows", .strict, whole, true),
            ("tr l L <{}/rows >{}/new; cat {}/new >{}/rows", .ext4Ordered, whole, true),
            ("tr l L <{}/rows >{}/new; cat {}/new >{}/rows", .ext4Ordered, wholeOrEmpty, false),
            ("tr l L <{}/rows >{}/new; cat {}/new >{}/rows", .strict, wholeOrEmpty, true),
        ])
    func replaced(program: String, profile: CrashProfile, check: String, fails: Bool) throws {
        let scratch = try TrialDirectory()
        let directory = scratch.path + "/watched"
        try FileTree.createDirectory(directory)
        let lines = (1...40).map { "line \($0)\n" }.joined()
        try FileTree.writeText(directory + "/rows", lines)
        let trial = try trial(program, check: check, profile, in: scratch)
        _ = try trial.isCheckBlind()
        let outcome = try trial.sweep()
        #expect(outcome.findings.isEmpty == !fails && outcome.checked > 1)
    }

    @Test("a check that decides nothing is refused")
    func checks() throws {
        for (check, word) in [
            ("false {}", "on what the program itself left"), ("no-such-check {}", "no such command"),
            ("true", "has no {}"), ("test -e {}/rows", "before the program did anything"),
        ] {
            let scratch = try TrialDirectory()
            let trial = try trial(Self.careful, check: check, in: scratch)
            let refusal = #expect(throws: TrialRefusal.self) { try trial.isCheckBlind() }
            #expect(refusal?.description.contains(word) == true, "\(refusal?.description ?? "")")
        }
    }

    static let hasSQLite: Bool = {
        var program = WatchedProgram(["sqlite3", "-version"])
        program.output = .pipe
        return (try? program.run().hasSucceeded) == true
    }()

    @Test("SQLite with a WAL keeps its commits under FULL, and not under NORMAL", .enabled(if: hasSQLite, "no sqlite3"))
    func sqlite() throws {
        for (mode, fails) in [("normal", true), ("full", false)] {
            let rows = (1...3).map { row in "insert into t values(\(row)); select 'row \(row)';" }
                .joined(separator: " ")
            let script =
                "sqlite3 {}/x.db \"pragma journal_mode=wal; pragma synchronous=\(mode); create table t(a); \(rows)\""
            let check =
                "n=$(grep -c row \"$ASSAY_ACKNOWLEDGED\"); test $n = 0 || "
                + "test \"$(sqlite3 {}/x.db 'select count(*) from t')\" -ge $n"
            let scratch = try TrialDirectory()
            let trial = try trial(script, check: check, limit: 100, output: .terminal, in: scratch)
            #expect(try !trial.isCheckBlind())
            let outcome = try trial.sweep()
            #expect(outcome.findings.isEmpty == !fails, "\(mode): \(outcome.findings.first?.message ?? "")")
            #expect(outcome.checked >= 50 && trial.run.printed.count >= 3)
        }
    }
}
