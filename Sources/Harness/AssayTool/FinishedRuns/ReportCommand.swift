import Commands
import Files
import Harness
import Reporting
import RunRecords

struct ReportCommand: Command {
    let name = "report"
    let summary = "renders a run again from its raw results, finished or not"
    let question = "which verdicts and figures has that run?"
    let positional = ["DIR"]
    let examples = [
        CommandExample("report D", "report.html and the CSV files anew, and the summary"),
        CommandExample("report D --markdown", "the summary as a table to paste"),
        CommandExample("report D --deterministic", "the part that equal seed, plan and build give again"),
    ]
    let exitStatus = "0 rendered, for any result of the run"
    let options = [
        OptionSpecification("--deterministic", "print only what equal seed, plan and binary give again"),
        ReportFiles.markdown,
    ]

    func run(_ arguments: Arguments) throws -> Int32 {
        let path = arguments.positional[0]
        let directory = RunDirectory(path: trimmed(path))
        guard directory.exists else { throw UsageError("no run in \(path): there is no run.json", command: name) }
        if arguments.has("--deterministic") {
            try Output.write(Reporting.deterministic(try directory.load()))
            return 0
        }
        do {
            // Checked first: a directory that holds no run is neither read nor written.
            _ = try DirectoryMarker.read(from: directory.path)
            let run = try directory.load()
            try ReportFiles.write(run)
            try Output.write(ReportFiles.summary(run, arguments))
        } catch let error as DirectoryClaimError {
            throw UsageError(error.description, command: name)
        }
        return 0
    }
}

/// The path without trailing slashes, since reports print it in commands.
func trimmed(_ path: String) -> String {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path
}

/// The files that are rendered from a run's raw results.
enum ReportFiles {
    static let markdown = OptionSpecification("--markdown", "print the summary as Markdown, to paste")

    /// Prints the summary. A closed pipe is ignored, since the run's files are already written.
    static func writeSummary(_ run: Run, _ arguments: Arguments) throws {
        do {
            try Output.write(summary(run, arguments))
        } catch {
            if !error.isClosedPipe { throw error }
        }
    }

    /// The summary that a run prints at its end.
    static func summary(_ run: Run, _ arguments: Arguments) -> String {
        arguments.has(markdown.name)
            ? Reporting.markdown(run)
            : Reporting.terminal(run, width: Output.width, colour: Output.wantsColour)
    }

    static func write(_ run: Run) throws {
        try RunClaim.write(Reporting.html(run), to: "report.html", in: run.directory)
        try RunClaim.write(Reporting.csv(run), to: "results.csv", in: run.directory)
        let scale = Reporting.scaleCSV(run)
        if !scale.isEmpty { try RunClaim.write(scale, to: "scale.csv", in: run.directory) }
        let peers = Reporting.peersCSV(run)
        if !peers.isEmpty { try RunClaim.write(peers, to: "peers.csv", in: run.directory) }
        let faults = Reporting.faultsCSV(run)
        if !faults.isEmpty { try RunClaim.write(faults, to: "faults.csv", in: run.directory) }
    }
}
