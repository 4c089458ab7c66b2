import CaseFiles
import Commands
import Files
import Harness

struct MinimizeCommand: Command {
    let name = "minimize"
    let summary = "makes the failure of a case file smaller, and keeps it beside as FILE.min"
    let question = "which is the smallest case that still fails?"
    let positional = ["FILE"]
    let examples = [
        CommandExample("minimize FILE", "at most two minutes; writes FILE.min.case.json"),
        CommandExample("minimize FILE --budget 10m --out SMALL", "more time, another name"),
    ]
    let exitStatus = "0 a smaller one or the same was kept, 3 it did not fail at all, or not again"
    let options = [
        OptionSpecification("--budget", value: "10m", "how long candidates are looked for (2m)"),
        OptionSpecification("--trials", value: "N", "how many candidates are tried at most"),
        OptionSpecification("--out", value: "FILE", "where the smaller case file is written (FILE.min.case.json)"),
        EngineLibraries.specification,
        PeerLibraryOption.specification,
    ]

    var details: [String] {
        [
            "Answers: \(question)", "",
            "First operations are removed, then their arguments, the case's rows and its sizes are made smaller. A",
            "step is kept only if the case still fails with the same outcome and by the same cause. At the end the",
            "smallest case is repeated three times. No existing file is overwritten.",
        ]
    }

    private static let defaultSeconds = 120.0

    func run(_ arguments: Arguments) throws -> Int32 {
        let path = arguments.positional[0]
        let read = try CaseFileReader.read(path: path)
        if case .program = read.file.subject {
            throw UsageError(
                "\(path) keeps what was tried on a program, which cannot be made smaller from here: shorten what the "
                    + "program does, and run assay again", command: name)
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
            guard !FileTree.exists(out) else { throw HarnessError("\(out) is there by now: nothing is written over") }
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
            throw UsageError("\(out) is there: move it away, or name another --out", command: name)
        }
        return out
    }
}
