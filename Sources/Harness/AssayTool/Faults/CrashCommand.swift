import Commands
import FaultModel
import Files
import Harness
import Measuring
import Platform
import ProgramTrials
import RunRecords
import Seeds

/// `assay crash`: records a user's program, and checks every disk state that a power loss may have left.
struct CrashCommand: Command {
    let name = "crash"
    let summary = "simulates a loss of power at every moment of a program, and checks the disks that may remain"
    let question = "does the data of my program survive a loss of power?"
    let positional = ["PROGRAM", "[ARGUMENTS...]"]
    let options =
        [
            OptionSpecification(
                "--check", value: "COMMAND", isRequired: true,
                "status 0 when the disk {} is good; the lines printed so far are in $ASSAY_ACKNOWLEDGED"),
            OptionSpecification(
                "--directory", value: "DIR", "the program's directory; with {} in its arguments, {} is a copy of DIR"),
            OptionSpecification(
                "--profile", value: "P", "the losses of the file system: strict (default), ext4-ordered or prefix"),
            OptionSpecification("--limit", value: "N", "the largest number of disks to check (1000); 0 for all"),
            OptionSpecification(
                "--volatile", value: "GLOB", "names of files that need not survive; may be repeated"),
            OptionSpecification("--pipe", "standard output is a pipe, and not a terminal"),
            OptionSpecification("--time-limit", value: "T", "of the program, and of each check (60s)"),
        ] + TrialOptions.shared.filter { $0.name != "--keep" } + [
            OptionSpecification("--keep", value: "DIR", "leaves disks that failed in DIR, to look at them")
        ]

    var details: [String] {
        [
            "Answers: \(question)", "",
            "Assay records one run of the program. It builds each disk that a loss of power may leave, and runs the",
            "check on it. {} in the arguments stands for a new directory; without {} the program runs in DIR.",
            "Assay refuses a program that fails. docs/any-program.md",
        ]
    }

    let runsProgram = true
    let exitStatus = "0 every disk passes, 2 a disk fails, 3 the record lacks some I/O"
    let examples = [
        CommandExample("crash --check 'my-check {}' -- my-program {}/data", "{} is a directory of its own"),
        CommandExample("crash --check 'my-check {}' --directory D -- my-program", "it keeps its files in D"),
    ]

    func run(_ arguments: Arguments) throws -> Int32 {
        let options = TrialOptions(arguments: arguments, command: name)
        return try options.run { try run(arguments, options) }
    }

    private func run(_ arguments: Arguments, _ options: TrialOptions) throws -> Int32 {
        let profile = try profile(arguments)
        let limit = try options.number("--limit", default: 1_000, from: 0)
        let only = try address(arguments)
        let wanted = try ProgramCaseFile.wanted(arguments)
        try options.checkCSV()
        var check = try options.check("--check")
        check.limitSeconds = try arguments.seconds("--time-limit") ?? 60
        if let keep = arguments.value("--keep"), FileTree.kind(trimmed(keep)) != nil {
            throw UsageError("--keep: \(keep) is there already; name a directory that is not", command: name)
        }
        let scratch = try options.scratch()
        let run = try recorder(arguments, scratch.path).run()
        try say(run)
        guard run.unseen.isEmpty else { return 3 }
        let trial = CrashTrial(
            run, check: check, profile: profile, limit: limit, seed: try options.seed, in: scratch.path,
            lanes: try options.lanes)
        let isBlind = try trial.isCheckBlind()
        let report = CrashReport(trial, isCheckBlind: isBlind, keep: arguments.value("--keep").map(trimmed))
        if let only { return try report.only(only) }
        let progress = ProgressLine("assay \(name)", now: MonotonicClock.now)
        let outcome = try trial.sweep { progress.report($0, of: $1) }
        try options.writeCSV(CrashReport.columns, CrashReport.rows(outcome))
        if let failed = outcome.findings.first(where: \.isSteady) {
            try wanted?.keep(
                "\(failed.address)", outcome: "broken", detail: failed.message,
                expected: "the check accepts every disk that a loss of power may leave")
        }
        let status = try report.all(outcome)
        return try options.status(
            status, isInterrupted: outcome.isInterrupted, done: outcome.checked, of: outcome.chosen)
    }

    private func recorder(_ arguments: Arguments, _ scratch: String) throws -> Recorder {
        let volatile = try VolatileNames(adding: arguments.all("--volatile"))
        let given = arguments.value("--directory").map(trimmed)
        if let given, !FileTree.isDirectory(given) {
            throw UsageError("--directory: there is no directory \(given)", command: name)
        }
        var words = arguments.positional
        var directory = given ?? ""
        if words.contains(where: { $0.contains(CheckCommand.placeholder) }) {
            directory = scratch + "/data"
            if let given {
                try FileTree.copy(from: given, to: directory)
            } else {
                try FileTree.createDirectory(directory)
            }
            words = words.map { $0.replacing(CheckCommand.placeholder, with: directory) }
        } else if given == nil {
            throw UsageError(
                "name the directory of the program's files with --directory DIR, or with {} in its arguments: "
                    + "assay crash --check 'CHECK {}' -- \(words[0]) {}/file", command: name)
        }
        var program = WatchedProgram(words, library: try TrialOptions.library())
        program.output = arguments.has("--pipe") ? .pipe : .terminal
        program.input = Output.isTerminal(STDIN_FILENO) ? nil : STDIN_FILENO
        program.limitSeconds = try arguments.seconds("--time-limit") ?? 60
        program.outputLimit = 64 << 20
        return try Recorder(program, directory: directory, volatile: volatile, in: scratch)
    }

    private func profile(_ arguments: Arguments) throws(UsageError) -> CrashProfile {
        let word = arguments.value("--profile") ?? CrashProfile.strict.rawValue
        guard let profile = CrashProfile(rawValue: word) else {
            let known = CrashProfile.allCases.map(\.rawValue)
            throw UsageError(NearestName.complaint("profile", word, among: known), command: name)
        }
        return profile
    }

    private func address(_ arguments: Arguments) throws(UsageError) -> CrashAddress? {
        guard let text = arguments.value("--only") else { return nil }
        guard let address = CrashAddress(text) else {
            throw UsageError(
                "--only: \(text) is no address of assay crash; they look like crash:op=17,state=0x3fa2", command: name)
        }
        return address
    }

    private func say(_ run: TracedRun) throws {
        let printed = run.printed.reduce(0) { $0 + $1.bytes.count { $0 == UInt8(ascii: "\n") } }
        try Output.line(
            "the program \(run.end.summary): \(counted(run.operations.count, "operation")), "
                + "\(counted(printed, "line")) printed")
        if !run.end.hasSucceeded, !run.end.errors.isEmpty {
            for line in run.end.errors.suffix(500).split(separator: UInt8(ascii: "\n")) {
                try Output.line("  \(PrintedText.escaped(line))")
            }
        }
        for reason in run.unseen { try Output.line("the record lacks I/O: \(reason)") }
        if !run.unseen.isEmpty { try Output.line("VERDICT  none") }
    }
}
