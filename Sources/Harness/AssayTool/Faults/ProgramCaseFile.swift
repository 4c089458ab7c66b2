import CaseFiles
import Commands
import Files
import Harness
import Platform
import RunRecords

/// The option `--case` of the commands that try a user's program: the first failure becomes a case file.
struct ProgramCaseFile {
    static let option = OptionSpecification(
        "--case", value: "FILE", "keeps the first failure as a case file, for assay replay")

    /// Options that a replay leaves out, since it would overwrite the files of this run.
    private static let dropped: Set<String> = ["--case", "--csv", "--keep", "--only"]

    private let path: String
    private let words: [String]

    /// nil without `--case`. Throws: `UsageError` if the file exists.
    static func wanted(_ arguments: Arguments) throws(UsageError) -> ProgramCaseFile? {
        guard let path = arguments.value("--case") else { return nil }
        guard !FileTree.exists(path) else {
            throw UsageError("--case: \(path) exists already; name a new file", command: arguments.command)
        }
        let slash = path.lastIndex(of: "/")
        let directory = slash.map { String(path[...$0]) } ?? "."
        guard access(directory, W_OK | X_OK) == 0 else {
            throw UsageError("--case: \(path) cannot be written: \(systemMessage())", command: arguments.command)
        }
        let words = TrialOptions.words(TrialOptions.commandLine, without: dropped)
        return ProgramCaseFile(path: path, words: words)
    }

    func keep(_ address: String, outcome: String, detail: String, expected: String) throws {
        let registries = BuildRegistries.make()
        let executable = Checkout.executablePath(fallback: CommandLine.arguments[0])
        let this = BuildIdentity.text(registries, executable: executable, isRelease: ProgramBuild.isRelease)
        let file = CaseFile(
            build: CaseFile.Build(version: assayVersion, digest: this.digest),
            subject: .program(ProgramCase(arguments: words, address: address)), expected: expected,
            got: CaseFile.Finding(outcome: outcome, cause: FailureCause.text(of: detail), detail: detail))
        try FileTree.writeText(path, file.text)
        try Output.line("case file: assay replay \(ShellWord.quoted(path))")
    }
}
