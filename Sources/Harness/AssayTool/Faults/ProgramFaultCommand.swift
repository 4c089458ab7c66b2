import Commands
import Files
import Harness
import ProgramTrials
import RunRecords
import Seeds

/// The commands `eio`, `full` and `kill`: run a program once for each fault of its file calls, and check the files that
/// it leaves.
struct ProgramFaultCommand: Command {
    enum Fault: String { case eio, full, kill }

    let fault: Fault

    init(_ fault: Fault) { self.fault = fault }

    var name: String { fault.rawValue }

    var summary: String {
        switch fault {
        case .eio: "makes a program's file calls fail one by one, and checks the files that remain"
        case .full: "fills the disk at each call of a program that needs room, and checks the files that remain"
        case .kill: "kills a program before and after each of its file calls, and checks the files that remain"
        }
    }

    var question: String {
        switch fault {
        case .eio: "when the disk reports an error, does my program lose data, or hide the error?"
        case .full: "when the disk is full, does my program lose its earlier data?"
        case .kill: "when my program is killed, is its file still good?"
        }
    }

    let positional = ["PROGRAM", "[ARGUMENTS...]"]

    var options: [OptionSpecification] {
        let samples = fault == .kill ? 100 : 25
        let common = [
            OptionSpecification(
                "--check", value: "COMMAND", isRequired: true,
                "status 0 when the directory {} is good; the lines printed so far are in $ASSAY_ACKNOWLEDGED"),
            OptionSpecification("--directory", value: "DIR", "the directory that each trial gets a copy of (empty)"),
            OptionSpecification(
                "--samples", value: "N", "the number of calls for each fault, chosen by the seed (\(samples))"),
            OptionSpecification("--every", "at every call"),
        ]
        let shared = [
            OptionSpecification("--volatile", value: "GLOB", "names of files to ignore; may be repeated"),
            OptionSpecification("--pipe", "standard output is a pipe, and not a terminal"),
            OptionSpecification("--time-limit", value: "T", "of the program (20 times as long as without a fault)"),
        ]
        return common + own + shared + TrialOptions.shared
    }

    private var own: [OptionSpecification] {
        let lasting = [
            OptionSpecification("--once", "only the call itself fails"),
            OptionSpecification("--for-good", "the calls after it fail, too (default: both)"),
            OptionSpecification("--must-tell", "a program that ends with status 0 after a fault has broken a promise"),
        ]
        switch fault {
        case .eio:
            let known = CallKind.allCases.map(\.rawValue).joined(separator: ",")
            return [OptionSpecification("--calls", value: "LIST", "\(known) (all but open)")] + lasting
        case .full:
            return [OptionSpecification("--error", value: "E", "ENOSPC, or EDQUOT (ENOSPC)")] + lasting
        case .kill:
            return [OptionSpecification("--random", value: "N", "and at so many moments, chosen by the seed (20)")]
        }
    }

    var details: [String] {
        let outcomes =
            fault == .kill
            ? ["Outcomes: survived, broken (the check fails), hung."]
            : [
                "Outcomes: reported (another status than 0, and the check passes), not-noticed (status 0, and the",
                "check passes), completed (the program wrote the rest of a half write), broken (the check",
                "fails), crashed (by a signal of its own), hung.",
            ]
        return [
            "Answers: \(question)", "",
            "{} in the arguments stands for a new directory for each run. The first run is without a",
            "fault, and has to pass. A trial whose fault did not strike has no outcome. docs/any-program.md", "",
        ] + outcomes
    }

    let runsProgram = true
    let exitStatus = "0 every promise was kept, 2 broken, crashed or hung, 3 some faults did not strike"

    var examples: [CommandExample] {
        let program = "-- my-program {}/data"
        let own =
            switch fault {
            case .eio: CommandExample("eio --check 'my-check {}' --calls sync,rename \(program)", "two kinds of calls")
            case .full: CommandExample("full --check 'my-check {}' --error EDQUOT \(program)", "a quota is used up")
            case .kill: CommandExample("kill --check 'my-check {}' --every \(program)", "at every call")
            }
        return [CommandExample("\(name) --check 'my-check {}' \(program)", "{} is a directory of its own"), own]
    }

    func run(_ arguments: Arguments) throws -> Int32 {
        let options = TrialOptions(arguments: arguments, command: name)
        return try options.run { try run(arguments, options) }
    }

    private func run(_ arguments: Arguments, _ options: TrialOptions) throws -> Int32 {
        let kept = try options.keptDirectory()
        let only = try arguments.value("--only").map(address)
        let wanted = try ProgramCaseFile.wanted(arguments)
        try options.checkCSV()
        let choice = try choice(arguments, options)
        let calls = try calls(arguments)
        let effect = try effect(arguments)
        let moments = try options.number("--random", default: 20, from: 0)
        let scratch = try options.scratch()
        var trials = try trials(arguments, options, in: scratch.path)
        let baseline = try trials.baseline()
        if trials.limitSeconds == nil {
            trials.limitSeconds = max(10, 20 * Double(baseline.durationNanoseconds) / 1e9)
        }
        if let only { return try repeated(only, trials, baseline: baseline, kept: kept, arguments: arguments) }
        let faults =
            switch fault {
            case .eio: choice.inputOutputErrors(calls, baseline.state)
            case .full: choice.fullDisks(effect, baseline.state)
            case .kill: choice.kills(moments: moments, baseline.state)
            }
        try Output.line(describe(baseline) + "; \(counted(faults.count, "trial")), seed \(choice.seed)")
        let tried = try trials.run(faults, baseline, progress: TrialOptions.progress("assay \(name)", of: faults.count))
        let left = faults.count - tried.outputs.count
        if left > 0, !tried.isInterrupted {
            try Output.line(
                "\(left) of them \(left == 1 ? "is" : "are") impossible: a call that transfers one byte or none has "
                    + "no half")
        }
        let mustTell = arguments.has("--must-tell")
        let report = ProgramFaultReport(tried.outputs, baseline, mustTell: mustTell)
        try options.writeCSV(ProgramFaultReport.columns, report.rows)
        for line in report.lines(repeating: { TrialOptions.repeating("\($0)") }) { try Output.line(line) }
        if let failed = tried.outputs.first(where: { $0.outcome.isViolation(mustTell: mustTell) }) {
            try wanted?.keep(
                "\(failed.fault)", outcome: failed.outcome.rawValue, detail: failed.detail,
                expected: "the check accepts what the program leaves, and the program neither crashes nor hangs")
        }
        return try options.status(
            report.exitStatus, isInterrupted: tried.isInterrupted, done: tried.outputs.count, of: faults.count)
    }

    private func trials(
        _ arguments: Arguments, _ options: TrialOptions, in directory: String
    ) throws -> ProgramFaultTrials {
        let words = arguments.positional
        guard words.contains(where: { $0.contains(CheckCommand.placeholder) }) else {
            throw UsageError(
                "no argument of the program is {}, the new directory of each run: "
                    + "assay \(name) --check 'CHECK {}' -- \(words[0]) {}/file", command: name)
        }
        let check = try options.check("--check")
        var trials = ProgramFaultTrials(
            words, check: check, library: try TrialOptions.library(), directory: directory)
        if let original = arguments.value("--directory").map(trimmed) {
            guard FileTree.isDirectory(original) else {
                throw UsageError("--directory: there is no directory \(original)", command: name)
            }
            trials.original = original
        }
        trials.output = arguments.has("--pipe") ? .pipe : .terminal
        trials.limitSeconds = try arguments.seconds("--time-limit")
        trials.ignoredNames = arguments.all("--volatile")
        // Known lock and temporary files are faulted as well: a lock file may be renamed over a data file.
        _ = try VolatileNames(adding: trials.ignoredNames)
        trials.lanes = try options.lanes
        trials.seed = try options.seed
        return trials
    }

    private func choice(_ arguments: Arguments, _ options: TrialOptions) throws -> FaultChoice {
        var choice = FaultChoice(
            samples: try options.samples(default: fault == .kill ? 100 : 25), seed: try options.seed)
        let (once, forGood) = (arguments.has("--once"), arguments.has("--for-good"))
        if once != forGood { choice.lasting = [forGood] }
        return choice
    }

    private func calls(_ arguments: Arguments) throws -> [CallKind] {
        guard arguments.has("--calls") else { return CallKind.failing }
        let known = CallKind.allCases.map(\.rawValue)
        return try arguments.list("--calls").map { word in
            guard let kind = CallKind(rawValue: word) else {
                throw UsageError(NearestName.complaint("kind of call", word, among: known), command: name)
            }
            return kind
        }
    }

    private func effect(_ arguments: Arguments) throws -> CallFault.Effect {
        guard let word = arguments.value("--error") else { return .noSpace }
        let known = [CallFault.Effect.noSpace, .quota]
        guard let effect = known.first(where: { $0.rawValue == word }) else {
            throw UsageError(NearestName.complaint("error", word, among: known.map(\.rawValue)), command: name)
        }
        return effect
    }

    private func address(_ text: String) throws -> CallFault {
        guard let address = CallFault(text), address.isKill == (fault == .kill) else {
            let example = fault == .kill ? "kill:change#3,before or kill:moment#0" : "io:write#3,EIO,for-good"
            throw UsageError(
                "--only: \(text) is no address of assay \(name); they look like \(example)", command: name)
        }
        return address
    }

    private func describe(_ baseline: ProgramFaultTrials.Baseline) -> String {
        let counts = CallKind.allCases.filter { baseline.state.count($0) > 0 }
        let calls = counts.map { "\($0.rawValue) \(baseline.state.count($0))" }.joined(separator: ", ")
        return "without a fault: \(calls); \(counted(baseline.lineCount, "line")) printed"
    }

    private func repeated(
        _ fault: CallFault, _ trials: ProgramFaultTrials, baseline: ProgramFaultTrials.Baseline, kept: String?,
        arguments: Arguments
    ) throws -> Int32 {
        var place = trials.directory + "/only"
        if let kept {
            try FileTree.createDirectory(kept)
            // Resolved as the kernel resolves it, to match the paths below it.
            place = FileTree.absolute(kept) ?? kept
        }
        guard let trial = try trials.run(fault, baseline, in: place, keeps: kept != nil) else {
            try Output.line("\(fault): this fault cannot strike that call")
            return 3
        }
        let mustTell = arguments.has("--must-tell")
        try Output.line("\(trial.outcome.rawValue): \(fault)")
        if !trial.detail.isEmpty { try Output.line(trial.detail) }
        if kept != nil {
            try Output.line("kept: \(place)/data, and the lines that were printed: \(place)/acknowledged")
        }
        if trial.outcome == .notStruck { return 3 }
        return trial.outcome.isViolation(mustTell: mustTell) ? 2 : 0
    }
}
