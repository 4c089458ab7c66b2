import Commands
import Files
import Reporting
import RunRecords

/// `assay compare`: shows two finished runs side by side.
struct CompareCommand: Command {
    let name = "compare"
    let summary = "lists the differences of two finished runs in values that repeat exactly"
    let question = "do two runs differ in a value that repeats exactly?"
    let positional = ["RUN", "RUN"]
    let examples = [
        CommandExample("compare D E", "two finished runs of one plan")
    ]
    let exitStatus = "0 no difference, 2 a difference, 3 a count is undecided"
    let options: [OptionSpecification] = []

    var details: [String] {
        [
            "Answers: \(question)", "",
            "Verdicts, outcomes, settings, and counts that repeat: system calls, syncs, bytes, allocations. The",
            "command compares no times of two runs; assay ab measures which build is slower.",
        ]
    }

    func run(_ arguments: Arguments) throws -> Int32 {
        let (first, second) = (arguments.positional[0], arguments.positional[1])
        if let path = FileTree.absolute(first), path == FileTree.absolute(second) {
            throw UsageError("\(first) and \(second) are one run: name two", command: name)
        }
        let runs = [try load(first), try load(second)]
        let comparison = RunComparison(runs[0], runs[1])
        guard !comparison.common.isEmpty else {
            let remarks = comparison.remarks.isEmpty ? "" : " (\(comparison.remarks.joined(separator: "; ")))"
            throw UsageError(
                "the runs have no case in common\(remarks): compare runs of one plan, seed and options",
                command: name)
        }
        try Output.write(Reporting.terminal(comparison, width: Output.width, colour: Output.wantsColour))
        return comparison.exitStatus
    }

    private func load(_ path: String) throws -> Run {
        if FileTree.exists(trimmed(path) + "/ab.json") {
            throw UsageError("\(path) holds a comparison of two builds, and no run of a plan", command: name)
        }
        return try BaselineCommand.load(path, command: name)
    }
}
