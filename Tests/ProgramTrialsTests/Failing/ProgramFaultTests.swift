import Files
import Harness
import Measuring
import Platform
import Seeds
import Testing

@testable import ProgramTrials

/// Programs that handle a failed call, and programs with a mistake.
@Suite(.enabled(if: PreloadFolder.records, "no program can be recorded here"))
struct ProgramFaultTests {
    /// Writes a new file, syncs and renames it, and reports success at the end.
    private static let careful =
        "set -e; echo one >{}/rows.new; sync {}/rows.new; mv {}/rows.new {}/rows; sync {}; echo done"
    private static let check = "! grep -q done \"$ASSAY_ACKNOWLEDGED\" || grep -qx one {}/rows"

    private func trials(
        _ script: String, check: String = check, in directory: TrialDirectory
    ) throws -> ProgramFaultTrials {
        let library = try #require(PreloadFolder.library)
        var trials = ProgramFaultTrials(
            ["/bin/sh", "-c", script], check: CheckCommand(check), library: library, directory: directory.path)
        trials.output = .pipe
        return trials
    }

    private func report(
        _ trials: ProgramFaultTrials, mustTell: Bool = false, _ choose: (FaultChoice, FaultState) -> [CallFault]
    ) throws -> ProgramFaultReport {
        let baseline = try trials.baseline()
        let faults = choose(FaultChoice(samples: nil, seed: Seed(1)), baseline.state)
        return ProgramFaultReport(try trials.run(faults, baseline).outputs, baseline, mustTell: mustTell)
    }

    @Test("an address has one spelling")
    func addresses() {
        for text in ["io:write#3,EIO", "io:space#0,short,for-good", "kill:change#7,after", "kill:moment#2"] {
            #expect(CallFault(text)?.description == text)
        }
        for text in [
            "io:write#3", "io:write#3,kill-before", "kill:change#1", "io:#1,EIO", "io:wrote#1,EIO",
            "kill:change+#1,after", "kill:moment#1,after", "io:",
        ] {
            #expect(CallFault(text) == nil, "\(text)")
        }
    }

    @Test("a program that reports each failure and keeps its data is not blamed")
    func told() throws {
        let directory = try TrialDirectory()
        let careful = try trials(Self.careful, in: directory)
        let errors = try report(careful) { $0.inputOutputErrors(CallKind.failing, $1) }
        #expect(errors.exitStatus == 0, "\(errors.lines { "\($0)" })")
        // Faults of a write (once, for good and short), of a sync, of the rename, of the creation of the file and more.
        #expect(errors.trials.count { $0.outcome == .reported } >= 8 && !errors.baseline.isCheckBlind)
        #expect(errors.baseline.state.count(.rename) == 1 && errors.baseline.state.count(.write) == 1)
        let full = try report(careful) { $0.fullDisks(.noSpace, $1) }
        #expect(full.exitStatus == 0 && full.trials.count { $0.outcome == .reported } >= 6)
        let killed = try report(careful) { $0.kills(moments: 2, $1) }
        #expect(killed.exitStatus == 0, "\(killed.lines { "\($0)" })")
        #expect(killed.trials.count { $0.outcome == .survived } == killed.trials.count && killed.trials.count >= 10)
    }

    @Test("a failed write that the program ignores is found")
    func ignored() throws {
        let directory = try TrialDirectory()
        let script = "echo one >{}/rows; echo done"
        let errors = try report(try trials(script, in: directory)) { $0.inputOutputErrors([.write], $1) }
        #expect(errors.exitStatus == 2)
        let broken = try #require(errors.trials.first { $0.outcome == .broken })
        #expect(broken.fault == .fails(kinds: "write", number: 0, effect: .inputOutputError, isLasting: false))
        #expect(broken.detail.contains("ended with status 0"))
        #expect(try report(try trials(script, in: directory)) { $0.fullDisks(.noSpace, $1) }.exitStatus == 2)
        let text = errors.lines { "repeat \($0)" }.joined(separator: "\n")
        #expect(text.contains("repeat io:write#0,EIO") && text.contains("check"))
    }

    @Test(
        "writes through C library streams fail, too",
        .enabled(if: access("/bin/bash", X_OK) == 0))
    func streams() throws {
        let directory = try TrialDirectory()
        let library = try #require(PreloadFolder.library)
        // Its built-in commands write by stdio.
        var trials = ProgramFaultTrials(
            ["/bin/bash", "-c", "echo one >{}/rows; echo done"], check: CheckCommand(Self.check), library: library,
            directory: directory.path)
        trials.output = .pipe
        let errors = try report(trials) { $0.inputOutputErrors([.write], $1) }
        #expect(errors.baseline.state.count(.write) == 1 && errors.baseline.state.streams == 0)
        #expect(errors.exitStatus == 2 && errors.trials.contains { $0.outcome == .broken })
    }

    @Test("a program that reports success too early is found by a kill")
    func early() throws {
        let directory = try TrialDirectory()
        let killed = try report(try trials("echo done; echo one >{}/rows", in: directory)) { $0.kills(moments: 0, $1) }
        #expect(killed.exitStatus == 2)
        #expect(killed.trials.contains { $0.outcome == .broken && $0.fault.description == "kill:change#0,before" })
        // After the last call everything is there.
        #expect(killed.trials.last?.outcome == .survived)
    }

    @Test("a crash and a hang are violations, and so is silent continuation if requested")
    func ends() throws {
        let directory = try TrialDirectory()
        let fault = CallFault.fails(kinds: "write", number: 0, effect: .inputOutputError, isLasting: true)
        func outcome(_ script: String) throws -> ProgramFaultOutcome? {
            var trials = try trials(script, check: "test -d {}", in: directory)
            let baseline = try trials.baseline()
            trials.limitSeconds = 0.5
            return try trials.run(fault, baseline, in: directory.path + "/one")?.outcome
        }
        #expect(try outcome("echo one >{}/rows || kill -SEGV $$") == .crashed)
        #expect(try outcome("until echo one >{}/rows; do sleep 0.05; done") == .hung)
        #expect(try outcome("echo one >{}/rows; true") == .notNoticed)
        #expect(ProgramFaultOutcome.notNoticed.isViolation(mustTell: true))
        #expect(!ProgramFaultOutcome.notNoticed.isViolation(mustTell: false))
    }

    @Test("a short write that the program completes is no violation, one that it ignores is")
    func completed() throws {
        let directory = try TrialDirectory()
        let fault = CallFault.fails(kinds: "write", number: 0, effect: .short, isLasting: false)
        func outcome(_ script: String) throws -> ProgramFaultOutcome? {
            let trials = try trials(script, check: "test -d {}", in: directory)
            return try trials.run(fault, try trials.baseline(), in: directory.path + "/one")?.outcome
        }
        #expect(try outcome("head -c 100 /dev/zero | cat >{}/rows") == .completed)
        #expect(!ProgramFaultOutcome.completed.isViolation(mustTell: true))
        let library = try #require(PreloadFolder.library)
        var once = ProgramFaultTrials(
            [try PreloadFolder.probe(), "open:a:{}/rows", "write:a:100"], check: CheckCommand("test -d {}"),
            library: library, directory: directory.path)
        once.output = .pipe
        let trial = try once.run(fault, try once.baseline(), in: directory.path + "/one")
        #expect(trial?.outcome == .notNoticed)
        let report = ProgramFaultReport(try #require(trial.map { [$0] }), try once.baseline(), mustTell: true)
        #expect(report.exitStatus == 2)
        #expect(report.lines { "\($0)" }.last == "1 of 1 trial: a failed call that was not reported")
    }

    @Test("a run's directory is not in its report, and no control character either")
    func details() throws {
        let directory = try TrialDirectory()
        let check = "test $(wc -l <{}/rows) = 2 || { printf 'no rows in %s\\033[2J\\n' {}/rows >&2; exit 1; }"
        let report = try report(try trials("echo one >{}/rows; echo two >>{}/rows", check: check, in: directory)) {
            $0.inputOutputErrors([.write], $1)
        }
        let details = report.trials.filter { $0.outcome == .broken }.map(\.detail)
        #expect(!details.isEmpty && details.allSatisfy { $0.contains("no rows in {}/rows\\x1B[2J") }, "\(details)")
        #expect(!details.contains { $0.contains(directory.path) }, "\(details)")
    }

    @Test("a fault that never occurred decides nothing")
    func unstruck() throws {
        let directory = try TrialDirectory()
        // Only the first run writes.
        let script = "[ -e \(directory.path)/marker ] && exit; echo >\(directory.path)/marker; echo one >{}/rows"
        let errors = try report(try trials(script, check: "test -d {}", in: directory)) {
            $0.inputOutputErrors([.write], $1)
        }
        #expect(errors.trials.allSatisfy { $0.outcome == .notStruck } && !errors.trials.isEmpty)
        #expect(errors.exitStatus == 3 && errors.baseline.isCheckBlind)
        let none = try report(try trials(Self.careful, in: directory)) { $0.inputOutputErrors([.link], $1) }
        #expect(none.trials.isEmpty && none.exitStatus == 3)
    }

    @Test(
        "a check that decides nothing is refused, with the reason",
        arguments: [
            ("echo one >{}/rows; exit 3", "true {}", "without any fault"), ("echo {}", "true {}", "no call"),
            ("echo one >{}/rows", "false {}", "the check fails"), ("echo one >{}/rows", "no-such-check {}", "no-such"),
            ("env -i /bin/sh -c 'echo one >{}/rows'", "true {}", "no call"),
        ])
    func refused(script: String, check: String, words: String) throws {
        let directory = try TrialDirectory()
        do {
            _ = try trials(script, check: check, in: directory).baseline()
            Issue.record("\(script) was taken")
        } catch let error as TrialRefusal {
            #expect(error.description.contains(words), "\(error)")
        }
    }

    @Test("the first and the last call are among the chosen ones")
    func choice() throws {
        let directory = try TrialDirectory()
        let state = directory.path + "/state"
        var bytes = Array("ASSAYFL1".utf8) + [UInt8](repeating: 0, count: 4_088)
        bytes[16 * 8] = 200
        try FileTree.writeBytes(state, bytes)
        let read = try FaultState(reading: state)
        #expect(read.count(.write) == 200 && read.count(CallKind.space) == 200 && read.programs == 0)
        var choice = FaultChoice(samples: 10, seed: Seed(1))
        choice.lasting = [true]
        let numbers = choice.inputOutputErrors([.write], read).compactMap { fault -> Int? in
            guard case .fails(_, let number, _, true) = fault else { return nil }
            return number
        }
        #expect(numbers.count == 10 && numbers.first == 0 && numbers.last == 199 && Set(numbers).count == 10)
        bytes[7] = UInt8(ascii: "0")
        try FileTree.writeBytes(state, bytes)
        #expect(throws: TrialRefusal.self) { try FaultState(reading: state) }
    }
}

/// The directory of the built library.
enum PreloadFolder {
    static let library: String? = {
        let words = CommandLine.arguments + [FileTree.absolute("/proc/self/exe") ?? ""]
        for word in words {
            guard let range = word.firstRange(of: ".xctest") else { continue }
            let bundle = String(word[..<range.lowerBound])
            if let library = Preload.library(besides: bundle + ".xctest") { return library }
        }
        return nil
    }()

    /// A program that makes the named calls once each, and ignores their results.
    static func probe() throws -> String {
        let library = try #require(library)
        let path = library.dropLast(Preload.libraryName.utf8.count) + "PreloadProbe"
        try #require(access(String(path), X_OK) == 0, "no PreloadProbe beside the library")
        return String(path)
    }

    /// Whether programs can be recorded: the library exists, and the kernel reports calls that bypass it.
    static let records: Bool = {
        guard let run = try? RecordedProgram(["/bin/sh", "-c", "echo x >x"]).run else { return false }
        return !run.unseen.contains { $0.contains("seccomp") }
    }()
}
