import Files
import RunRecords

/// The damaged database of one trial, kept in a directory of its own for inspection: `assay replay --keep`.
///
/// Layout: `database/` has the files after the fault and before any open; `assay-kept.txt` names the run, the case, the
/// trial, and the commands that open the files. Existing files are not changed.
package struct KeptDatabase: Sendable {
    package static let note = "assay-kept.txt"

    package let directory: String

    package init(directory: String) {
        self.directory = directory
    }

    package var location: DatabaseLocation { DatabaseLocation(directory: directory + "/database") }

    /// Makes the directory, unless it is there and empty.
    ///
    /// Throws: `HarnessError` if it is not empty, or not a directory.
    package func prepare() throws {
        if FileTree.exists(directory) {
            guard FileTree.isDirectory(directory), try FileTree.names(in: directory).isEmpty else {
                throw HarnessError("\(directory) is not an empty directory: nothing is written over")
            }
        }
        try FileTree.createDirectory(directory)
    }

    /// Whether a trial has put its database there.
    package var isThere: Bool { FileTree.isDirectory(location.directory) }

    /// Writes a description into a file beside the database.
    ///
    /// - Parameters:
    ///   - command: the command that kept the database.
    ///   - detail: the message of the trial.
    /// - Returns: the commands that open it.
    package func describe(
        _ result: CaseResult, trial: FaultAddress, detail: String, command: String, engine: any Engine
    ) throws -> [String] {
        let commands = engine.inspectionCommands(at: location)
        let lines =
            [
                "A damaged database, kept by assay: do not take it for a good one.", "",
                "engine    \(engine.name) \(engine.version)", "scenario  \(result.test.scenario)",
                "case      \(result.test.canonicalText)", "trial     \(trial)",
            ] + (detail.isEmpty ? [] : ["found     \(detail)"]) + [
                "made by   \(command)", "", "The files are as they were after the fault, and before they were opened.",
            ] + (commands.isEmpty ? [] : ["To look at them:"] + commands.map { "  " + $0 })
        try FileTree.writeText(directory + "/" + Self.note, lines.joined(separator: "\n") + "\n")
        return commands
    }
}
