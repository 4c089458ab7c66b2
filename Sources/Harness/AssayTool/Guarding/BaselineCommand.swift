import Commands
import Files
import Harness
import RunRecords

/// `assay baseline`: keeps the counts of a run for `assay gate`.
struct BaselineCommand: Command {
    let name = "baseline"
    let summary = "keeps the counts of a run (`assay baseline save RUN --name N`), for `assay gate`"
    let question = "which calls, bytes and syncs does a build make, in counts that repeat exactly?"
    let positional = ["save", "RUN"]
    let examples = [
        CommandExample("baseline save D --name mine", "Benchmarks/Baselines/mine.json"),
        CommandExample("baseline save D --name ./ci/assay.json --replace", "a file of your project, written anew"),
    ]
    let exitStatus = "0 kept"
    let options = [
        OptionSpecification("--name", value: "N", isRequired: true, "a name in Benchmarks/Baselines, or a path"),
        OptionSpecification("--also", value: "RUN", "another run of the same plan by the same build; may be repeated"),
        OptionSpecification("--replace", "write over a baseline of that name"),
        OptionSpecification("--plans", value: "DIR", "the directory of the plans; baselines stand beside them"),
    ]

    func run(_ arguments: Arguments) throws -> Int32 {
        guard arguments.positional[0] == "save" else {
            throw UsageError(
                NearestName.complaint("action", arguments.positional[0], among: ["save"]), command: name)
        }
        do {
            return try save(arguments)
        } catch let error as BaselineError {
            throw UsageError(error.description, command: name)
        }
    }

    private func save(_ arguments: Arguments) throws -> Int32 {
        let given = arguments.value("--name") ?? ""
        let file = try Self.file(given, arguments)
        // Checked before the command reads the run, since a taken name is the likeliest mistake.
        let isThere = FileTree.kind(file) != nil
        if isThere, !arguments.has("--replace") {
            throw UsageError(
                "\(file) exists, and assay did not change it: name another baseline, or write over it with --replace",
                command: name)
        }
        guard !isThere || FileTree.kind(file) == .file else {
            throw UsageError("\(file) is no file: name another baseline", command: name)
        }
        var runs: [Run] = []
        for path in [arguments.positional[1]] + arguments.all("--also") {
            let run = try Self.load(path, command: name)
            guard !runs.contains(where: { $0.header.id == run.header.id }) else {
                throw UsageError("\(path) is given twice: it would count as a repetition", command: name)
            }
            runs.append(run)
        }
        let title = Checkout.name(ofBaseline: given)
        let (baseline, leftOut) = try Baseline.make(name: title, of: runs)
        if let slash = file.lastIndex(of: "/"), slash != file.startIndex {
            try FileTree.createDirectory(String(file[..<slash]))
        }
        try FileTree.replaceText(file, baseline.text)
        try Output.write(Self.text(baseline, file: file, leftOut: leftOut))
        return 0
    }

    /// The path of a baseline, whether it exists or not.
    static func file(_ given: String, _ arguments: Arguments) throws -> String {
        if given.contains("/") || given.hasSuffix(".json") { return given }
        guard !given.isEmpty, given.utf8.allSatisfy(isPlain), !given.hasPrefix(".") else {
            throw UsageError(
                "the name of a baseline is of letters, digits, - _ and ., or its path, not \"\(given)\"",
                command: arguments.command)
        }
        let executable = Checkout.executablePath(fallback: CommandLine.arguments[0])
        return try Checkout.find(given: arguments.value("--plans"), executable: executable).baselineFile(given)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
        default: false
        }
    }

    /// A complete run. Throws: `UsageError` with the remedy.
    static func load(_ path: String, command: String) throws -> Run {
        let directory = RunDirectory(path: trimmed(path))
        guard directory.exists else {
            throw UsageError(
                "no run in \(path): there is no run.json. Name the directory that assay run wrote", command: command)
        }
        do {
            let run = try directory.load()
            if let part = run.header.part {
                throw BaselineError(
                    "\(path) is shard \(part.shard) of a plan: unite all shards first, with  assay merge")
            }
            try run.requireFinished()
            return run
        } catch let error as BaselineError {
            throw UsageError(error.description, command: command)
        } catch {
            throw UsageError("the run in \(path) cannot be read (\(error)): run the plan again", command: command)
        }
    }

    private static func text(_ baseline: Baseline, file: String, leftOut: [String]) -> String {
        let figures = baseline.cases.flatMap { counted in counted.figures.map { (counted.test, $0.key, $0.value) } }
        let varying = figures.filter { $0.2.low != $0.2.high }
        let isSingle = figures.contains { $0.2.count == 1 }
        var lines = [
            "\(file): \(figures.count) figures of \(baseline.cases.count) cases, \(figures.count - varying.count) of "
                + "which gave the same each time"
        ]
        let shown = varying.sorted { ($0.0.title, $0.1) < ($1.0.title, $1.1) }.prefix(20)
        for (test, name, range) in shown {
            let values = "\(GateNumber.text(range.low)) to \(GateNumber.text(range.high))"
            lines.append("  does not repeat: \(test.title): \(name), \(values) in \(range.count) measurements")
        }
        if varying.count > shown.count { lines.append("  and \(varying.count - shown.count) more") }
        lines += leftOut.map { "  left out: \($0)" }
        if isSingle {
            lines.append(
                "one measurement: no budget \"==\" can use that. Save from a plan with rounds, or with --also RUN")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
