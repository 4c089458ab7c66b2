import Commands
import Files
import Reporting

/// `assay export`: writes a finished run in a format of other tools.
struct ExportCommand: Command {
    let name = "export"
    let summary = "writes a finished run in a format that other tools read"
    let question = ""
    let positional = ["RUN"]
    let examples = [
        CommandExample("export D --format junit", "for a CI that shows tests"),
        CommandExample("export D --format openmetrics --out FILE", "for Prometheus and readers of its format"),
    ]
    let exitStatus = "0 written"
    let options = [
        OptionSpecification(
            "--format", value: "F", isRequired: true,
            ExportFormat.allCases.map(\.rawValue).joined(separator: ", ")),
        OptionSpecification("--better", value: "bigger|smaller", "github-action-benchmark: which of its two files"),
        OptionSpecification("--out", value: "FILE", "the file to write (standard output)"),
    ]

    var details: [String] {
        [
            "An export leaves out figures of cases that failed or were cut. Of a plan without times it has counts.",
            "docs/exports.md has the contents of each format.",
        ]
    }

    func run(_ arguments: Arguments) throws -> Int32 {
        let word = arguments.value("--format") ?? ""
        guard let format = ExportFormat(rawValue: word) else {
            let known = ExportFormat.allCases.map(\.rawValue)
            throw UsageError(NearestName.complaint("format", word, among: known), command: name)
        }
        let better = try direction(arguments, format)
        let run = try BaselineCommand.load(arguments.positional[0], command: name)
        let text = Reporting.export(run, as: format, better: better)
        if let file = arguments.value("--out") {
            try FileTree.replaceText(file, text)
        } else {
            try Output.write(text)
        }
        return 0
    }

    private func direction(_ arguments: Arguments, _ format: ExportFormat) throws -> BetterDirection {
        let choices = BetterDirection.allCases.map(\.rawValue)
        guard format == .githubActionBenchmark else {
            if arguments.has("--better") {
                throw UsageError("--better belongs to github-action-benchmark", command: name)
            }
            return .smaller
        }
        guard let word = arguments.value("--better") else {
            throw UsageError(
                "github-action-benchmark has a file for each direction: --better bigger, or --better smaller",
                command: name)
        }
        guard let direction = BetterDirection(rawValue: word) else {
            throw UsageError(NearestName.complaint("direction", word, among: choices), command: name)
        }
        return direction
    }
}
