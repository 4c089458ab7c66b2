import RunRecords

/// The damaged database of one trial, left in a directory of its own for somebody to look at: `assay replay --keep`.
///
/// Layout: `database/`, the files as they were after the fault and before anybody opened them; `assay-kept.txt`, which
/// says of what run, case and trial they are, and how they are opened. Nothing that was there before is touched.
package struct KeptDatabase: Sendable {
    package static let note = "assay-kept.txt"

    package let directory: String

    package init(directory: String) {
        self.directory = directory
    }

    package var location: DatabaseLocation { DatabaseLocation(directory: directory + "/database") }

    /// Makes the directory, unless it is there and holds nothing.
    ///
    /// Throws: `HarnessError` where it holds something, or is none.
    package func prepare() throws {
        if FileTree.exists(directory) {
            guard FileTree.isDirectory(directory), try FileTree.names(in: directory).isEmpty else {
                throw HarnessError("\(directory) is not an empty directory: nothing is written over")
            }
        }
        try FileTree.createDirectory(directory)
    }

    /// Whether a trial has left its database there.
    package var isThere: Bool { FileTree.isDirectory(location.directory) }

    /// Says what it is, in a file beside it.
    ///
    /// - Parameters:
    ///   - command: by which it was made.
    ///   - detail: what the trial said.
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
