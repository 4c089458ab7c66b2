import Commands
import Files
import Harness
import RunRecords

/// The last verdicts of `assay verify-figures`, in a file below the working directory.
enum KeptVerdicts {
    static func read() throws -> FigureVerdicts {
        do {
            return try FigureVerdicts.read(FigureVerdicts.file)
        } catch {
            throw HarnessError(
                "\(FigureVerdicts.file): \(error); remove it, and let `assay verify-figures` make it anew")
        }
    }

    /// Identifies the program and its built-in engines. Engines from libraries do not count, since no control exists
    /// for them.
    static func build(_ executable: String) -> String {
        BuildIdentity.digest(executable: executable, engines: BuildRegistries.make().engines.engines)
    }

    static func note(_ found: [FigureVerdict], _ executable: String, on machine: Machine) throws {
        let build = build(executable)
        let off = found.filter(\.isOff).count
        try Output.line()
        if build.isEmpty || found.isEmpty { return try Output.line("kept: no figure") }
        var verdicts = try read()
        verdicts.note(found, build: build, machine: machine)
        try FileTree.createDirectory("Reports")
        try verdicts.write(FigureVerdicts.file)
        try Output.line(
            "\(found.count - off) of \(found.count) figures lie within the bounds; kept in \(FigureVerdicts.file) "
                + "for build \(build) on this machine")
        if off == 0 { return }
        try Output.line("runs of this build in this directory mark the others, and make no claim about their rows")
    }
}
