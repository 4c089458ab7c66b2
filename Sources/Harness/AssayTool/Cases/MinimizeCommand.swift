import CaseFiles
import Commands
import Files
import Harness

struct MinimizeCommand: Command {
    let name = "minimize"
    let summary = "finds a smaller case with the same failure, and keeps it beside the file as FILE.min"
    let question = "which smaller case fails in the same way?"
    let positional = ["FILE"]
    let examples = [
        CommandExample("minimize FILE", "at most two minutes; writes FILE.min.case.json"),
        CommandExample("minimize FILE --budget 10m --out SMALL", "more time, another name"),
    ]
    let exitStatus = "0 assay kept a smaller case or the same, 3 the case did not fail at all, or not again"
    let options = [
        OptionSpecification("--budget", value: "10m", "the time for candidates (2m)"),
        OptionSpecification("--trials", value: "N", "the largest number of candidates"),
        OptionSpecification("--out", value: "FILE", "the smaller case file (FILE.min.case.json)"),
        EngineLibraries.specification,
        PeerLibraryOption.specification,
    ]

    var details: [String] {
        [
            "Answers: \(question)", "",
            "Assay removes operations, then makes their arguments, the case's rows and its sizes smaller. It keeps a",
            "step only if the case still fails with the same outcome and by the same cause. At the end it repeats the",
            "smallest case three times. It overwrites no file.",
        ]
    }

    private static let defaultSeconds = 120.0

    func run(_ arguments: Arguments) throws -> Int32 {
        let path = arguments.positional[0]
        let read = try CaseFileReader.read(path: path)
        if case .program = read.file.subject {
            throw UsageError(
                "\(path) is a case of a program, whose operations assay cannot remove: shorten the work of the "
                    + "program, and run assay again", command: name)
        }
        let out = try target(arguments, path)
        let seconds = try arguments.seconds("--budget") ?? Self.defaultSeconds
        let trials = try arguments.unsigned("--trials").map { Int(clamping: $0) } ?? .max
        let registries = try EngineLibraries.registries(arguments)
        Interruption.install()
        return try ComparisonOptions.withScratch { scratch in
            let runner = CaseFileRunner(registries, scratch: scratch)
            if let other = runner.otherBuild(read.file) { try Output.line(other) }
            var search = try CaseReduction(read.file, runner, seconds: seconds, trials: trials)
            guard let file = try search.run() else { return 3 }
            // Creates the file exclusively: a file that another process made meanwhile stays.
            guard !FileTree.exists(out) else { throw HarnessError("\(out) exists by now: name another --out") }
            try FileTree.writeText(out, file.text)
            try Output.line("kept: \(out)")
            try Output.line("  assay show \(ShellWord.quoted(out))")
            try Output.line("  assay replay \(ShellWord.quoted(out))")
            return 0
        }
    }

    /// `a.case.json` becomes `a.min.case.json`, so that the ending still marks a case file.
    private func target(_ arguments: Arguments, _ path: String) throws -> String {
        let base = path.hasSuffix(CaseFile.ending) ? String(path.dropLast(CaseFile.ending.count)) : path
        let out = arguments.value("--out") ?? "\(base).min\(CaseFile.ending)"
        guard !FileTree.exists(out) else {
            throw UsageError("\(out) exists: move it away, or name another --out", command: name)
        }
        return out
    }
}
