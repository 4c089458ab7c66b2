import Commands
import FaultModel
import Harness
import ProgramTrials
import RunRecords
import Seeds

/// `assay damage`: damages copies of files, one place at a time, and compares the output of a command that reads each.
struct DamageCommand: Command {
    let name = "damage"
    let summary = "damages copies of files, one place each, and compares the output of a command that reads them"
    let question = "when a bit or a page of my file is wrong, does my program report it?"
    let positional = ["FILE..."]
    let options =
        [
            OptionSpecification(
                "--read", value: "COMMAND", isRequired: true,
                "a command for the shell that reads the files and prints their contents; {} is the first file"),
            OptionSpecification("--faults", value: "LIST", "flip,zero,swap,age,cut,misdirect (all possible ones)"),
            OptionSpecification("--samples", value: "N", "places per fault, chosen by the seed (200)"),
            OptionSpecification("--every", "every bit, page and length; of pairs of pages all neighbours"),
            OptionSpecification("--page", value: "BYTES", "the size of a page (4096)"),
            OptionSpecification("--older", value: "COPY", "for age: an older copy of the files, or their directory"),
            OptionSpecification("--ignore", value: "PATTERN", "printed lines to leave out; may be repeated"),
            OptionSpecification("--time-limit", value: "T", "how long a read may take (20s)"),
            OptionSpecification("--memory-limit", value: "MIB", "how much memory it may take (1024)"),
        ] + TrialOptions.shared

    var details: [String] {
        [
            "Answers: \(question)", "",
            "Name the files of a database together; they keep their names in the directory of each copy. Of a",
            "directory Assay damages all files, and {} is the directory. It first runs the command twice on undamaged",
            "copies. It compares the standard output, line by line.", "",
            "Outcomes: correct, detected (a status other than 0, and every line before it right), silently-wrong",
            "(status 0 and another output), wrong-then-detected, crashed, hung, memory-limit. docs/any-program.md",
        ]
    }

    let exitStatus = "0 no wrong output, 2 wrong output, a crash or a hang, 3 the command reported no damage"
    let examples = [
        CommandExample("damage people.db --read 'my-tool dump {}'", "flips, lost pages and cuts of a copy"),
        CommandExample("damage people.db --read 'my-tool dump {}' --only bit:241997 --keep K", "one of them, kept"),
    ]

    func run(_ arguments: Arguments) throws -> Int32 {
        let options = TrialOptions(arguments: arguments, command: name)
        return try options.run { try run(arguments, options) }
    }

    private func run(_ arguments: Arguments, _ options: TrialOptions) throws -> Int32 {
        let kept = try options.keptDirectory()
        let pageSize = try options.number("--page", default: 4_096)
        let kinds = try kinds(arguments)
        let subject = try DamageSubject(at: arguments.positional.map(trimmed))
        let older = try arguments.value("--older").map { try subject.older(trimmed($0)) }
        if kinds.contains(.age), older == nil, arguments.has("--faults") {
            throw UsageError("age needs an older copy of the files: --older COPY", command: name)
        }
        let wanted = try ProgramCaseFile.wanted(arguments)
        try options.checkCSV()
        let only = try arguments.value("--only").map { try damage($0, subject, older: older, pageSize: pageSize) }
        let scratch = try options.scratch()
        var read = try options.check("--read")
        read.limitSeconds = try arguments.seconds("--time-limit") ?? 20
        read.outputLimit = 64 << 20
        var trials = DamageTrials(subject, command: read, directory: scratch.path)
        trials.older = older
        trials.pageSize = pageSize
        trials.ignored = arguments.all("--ignore")
        trials.memoryLimit = try options.number("--memory-limit", default: 1_024) << 20
        trials.lanes = try options.lanes
        let samples = try options.samples(default: 200)
        let seed = try options.seed
        let reference = try trials.reference()
        if let only { return try repeated(only, trials, reference: reference, kept: kept) }
        let damages = kinds.flatMap { kind -> [FileDamage] in
            var random = RandomStream(seed.derived(kind.rawValue))
            return subject.files.damages(
                kind, count: samples, pageSize: pageSize, older: older, spread: .bytes, random: &random)
        }
        try Output.line(
            "\(counted(subject.files.byteCount, "byte")) in \(counted(subject.files.files.count, "file")), "
                + "\(counted(damages.count, "trial")), seed \(seed)")
        let tried = try trials.run(
            damages, against: reference, progress: TrialOptions.progress("assay \(name)", of: damages.count))
        let report = DamageReport(tried.outputs, files: subject.files, pageSize: pageSize)
        try options.writeCSV(DamageReport.columns, report.rows)
        for line in report.lines(repeating: { TrialOptions.repeating("\($0)") }) { try Output.line(line) }
        if let failed = tried.outputs.first(where: { !$0.outcome.isHonest }) {
            try wanted?.keep(
                "\(failed.damage)", outcome: failed.outcome.rawValue, detail: failed.detail,
                expected: "the command prints the right output, or reports the damage")
        }
        return try options.status(
            report.exitStatus, isInterrupted: tried.isInterrupted, done: tried.outputs.count, of: damages.count)
    }

    /// The requested kinds of damage; by default all but `age`, which needs older files.
    private func kinds(_ arguments: Arguments) throws -> [FileDamage.Kind] {
        guard arguments.has("--faults") else {
            return FileDamage.Kind.allCases.filter { $0 != .age || arguments.has("--older") }
        }
        let known = FileDamage.Kind.allCases.map(\.rawValue)
        return try arguments.list("--faults").map { word in
            guard let kind = FileDamage.Kind(rawValue: word) else {
                throw UsageError(NearestName.complaint("fault", word, among: known), command: name)
            }
            return kind
        }
    }

    private func damage(
        _ text: String, _ subject: DamageSubject, older: DamagedFiles?, pageSize: Int
    ) throws -> FileDamage {
        guard let damage = FileDamage(text) else {
            throw UsageError(
                "--only: \(text) is no address of a damage; they look like bit:123456, zero:4096 or swap:0,8192",
                command: name)
        }
        guard subject.files.change(damage, pageSize: pageSize, older: older) != nil else {
            throw UsageError(
                "--only: \(text) changes no byte, or is beyond the \(subject.files.byteCount) bytes of the files",
                command: name)
        }
        return damage
    }

    private func repeated(
        _ damage: FileDamage, _ trials: DamageTrials, reference: PrintedLines, kept: String?
    ) throws -> Int32 {
        if let kept {
            let change = trials.files.change(damage, pageSize: trials.pageSize, older: trials.older)
            try trials.subject.write(change, to: kept)
        }
        guard let trial = try trials.run(damage, against: reference, in: trials.directory + "/only") else { return 3 }
        let report = DamageReport([trial], files: trials.files, pageSize: trials.pageSize)
        try Output.line("\(damage)  \(report.place(of: damage))")
        try Output.line("\(trial.outcome.rawValue)\(trial.detail.isEmpty ? "" : ": \(trial.detail)")")
        if let kept { try Output.line("kept: \(kept)") }
        return trial.outcome.isHonest ? 0 : 2
    }
}
