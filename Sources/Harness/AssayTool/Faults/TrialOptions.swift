import Commands
import Files
import Harness
import Measuring
import Platform
import ProgramTrials
import Reporting
import Seeds

/// Options shared by the commands that try many faults on a user's files or program.
struct TrialOptions {
    static let shared = [
        OptionSpecification("--seed", value: "N", "chooses the places (1)"),
        OptionSpecification("--jobs", value: "N", "trials at a time (the number of processors)"),
        OptionSpecification("--csv", value: "FILE", "writes a row per trial"),
        OptionSpecification("--only", value: "ADDRESS", "repeats only the trial of that address"),
        OptionSpecification("--keep", value: "DIR", "with --only: leaves its files in DIR, to look at them"),
        ProgramCaseFile.option,
        OptionSpecification("--scratch", value: "DIR", "the directory of copies (TMPDIR); /dev/shm is memory"),
    ]

    let arguments: Arguments
    let command: String

    var seed: Seed { get throws { Seed(try arguments.unsigned("--seed") ?? 1) } }

    func number(_ name: String, default standard: Int, from least: Int = 1) throws -> Int {
        guard let number = try arguments.unsigned(name) else { return standard }
        guard number >= UInt64(least), number <= 1 << 40 else {
            throw UsageError("\(name) needs a whole number from \(least), not \(number)", command: command)
        }
        return Int(number)
    }

    var lanes: Int { get throws { min(64, try number("--jobs", default: TrialLanes.processors)) } }

    /// nil to try every place.
    func samples(default standard: Int) throws -> Int? {
        guard arguments.has("--every") else { return try number("--samples", default: standard) }
        if arguments.has("--samples") {
            throw UsageError("--every and --samples contradict each other: leave one out", command: command)
        }
        return nil
    }

    /// The command that an option names. Throws: `UsageError` if none of its words contains `{}`, the place of the
    /// path.
    func check(_ option: String) throws -> CheckCommand {
        let check = CheckCommand(arguments.value(option) ?? "")
        guard check.namesPath else {
            throw UsageError(
                "\(option) has no {}, which stands for the path to check: \(option) 'COMMAND {}'",
                command: command)
        }
        return check
    }

    func keptDirectory() throws -> String? {
        guard let path = arguments.value("--keep").map(trimmed) else { return nil }
        guard arguments.has("--only") else {
            throw UsageError("--keep keeps the files of one trial: add --only ADDRESS", command: command)
        }
        guard FileTree.kind(path) == nil else {
            throw UsageError("--keep: \(path) exists already; name a new directory", command: command)
        }
        return path
    }

    func scratch() throws -> TrialDirectory {
        let parent = arguments.value("--scratch").map(trimmed)
        if let parent, !FileTree.isDirectory(parent) {
            throw UsageError("--scratch: there is no directory \(parent)", command: command)
        }
        return try TrialDirectory(in: parent)
    }

    /// The recorder library that is preloaded into programs.
    static func library() throws -> String {
        let executable = Checkout.executablePath(fallback: CommandLine.arguments[0])
        guard let library = Preload.library(besides: executable) else {
            throw HarnessError(
                "\(Preload.libraryName) is not beside \(executable): build it (make), and keep the two together in a "
                    + "directory without spaces and colons in its path")
        }
        return library
    }

    /// Runs `body`, which an interrupt may end, and turns errors that the user can correct into usage errors.
    func run(_ body: () throws -> Int32) throws -> Int32 {
        StartedProcesses.adoptOrphans()
        Interruption.install()
        do {
            return try body()
        } catch let error as TrialRefusal {
            throw UsageError(error.description, command: command)
        } catch is WorkInterrupted {
            Output.progress("")
            Output.error("interrupted before a verdict")
            return Interruption.exitStatus
        }
    }

    /// Call it before the first trial. Throws: `UsageError` if the CSV file cannot be written.
    func checkCSV() throws(UsageError) {
        guard let file = arguments.value("--csv") else { return }
        let isNew = !FileTree.exists(file)
        let descriptor = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            throw UsageError("--csv: \(file) cannot be written: \(systemMessage())", command: command)
        }
        close(descriptor)
        if isNew { unlink(file) }
    }

    func writeCSV(_ columns: [String], _ rows: [[String]]) throws {
        guard let file = arguments.value("--csv") else { return }
        try FileTree.writeText(file, Reporting.csv([columns] + rows))
    }

    /// After an interrupt, prints that the trials are incomplete.
    ///
    /// Returns: the exit status.
    func status(_ status: Int32, isInterrupted: Bool, done: Int, of total: Int) throws -> Int32 {
        guard isInterrupted else { return status }
        Output.progress("")
        try Output.line("INTERRUPTED: \(done) of \(counted(total, "trial")) ran, and the others have no outcome")
        return Interruption.exitStatus
    }

    /// The words of the command line after `assay`; while a case file is replayed, those of its recorded command.
    @TaskLocal static var commandLine: [String] = Array(CommandLine.arguments.dropFirst())

    /// The command line that repeats one trial of this command.
    static func repeating(_ address: String) -> String {
        let dropped: Set = ["--csv", "--jobs", "--case", "--keep", "--only"]
        var words = words(commandLine, without: dropped)
        // Words after `--` belong to the program.
        words.insert(contentsOf: ["--only", address], at: words.firstIndex(of: "--") ?? words.count)
        return (["assay"] + words).map(ShellWord.quoted).joined(separator: " ")
    }

    /// The words of a command line without the dropped options and their values. Words after `--` all stay.
    static func words(_ words: [String], without dropped: Set<String>) -> [String] {
        var kept: [String] = []
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" { return kept + [word] + rest }
            guard dropped.contains(word.split(separator: "=").first.map(String.init) ?? "") else {
                kept.append(word)
                continue
            }
            if !word.contains("=") { rest = rest.dropFirst() }
        }
        return kept
    }

    /// Shows the number of finished trials.
    static func progress(_ command: String, of count: Int) -> @Sendable (Int) -> Void {
        let line = ProgressLine(command, now: MonotonicClock.now)
        return { line.report($0, of: count) }
    }
}
