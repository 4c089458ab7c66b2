import Commands
import Files
import Harness
import JSONText
import LibraryEngine
import ProgramTrials

/// `assay conform`: checks an engine library rule by rule, for its author.
struct ConformCommand: Command {
    let name = "conform"
    let summary = "tries an engine's shared library by the rules of assay_engine.h, one line per rule"
    let question = "which rules does the library of my engine break?"
    let positional: [String] = []
    let examples = [
        CommandExample("conform --engine-library ./libmine.so", "all rules"),
        CommandExample("conform --engine-library ./libmine.so --rule own-writes", "one of them"),
    ]
    let exitStatus = "0 the library keeps every rule, 2 it breaks a rule, 3 assay could not try a rule"
    let options = [
        OptionSpecification(EngineLibraries.option, value: "FILE", isRequired: true, "the shared library"),
        OptionSpecification("--rule", value: "NAME,..", "only these rules"),
        OptionSpecification("--directory", value: "DIR", "the directory for stores, removed later (one in memory)"),
    ]

    /// The option of `assay worker` that runs the checks and prints a finding per line.
    static let workerOption = "--conform"

    func run(_ arguments: Arguments) throws -> Int32 {
        let file = arguments.value(EngineLibraries.option) ?? ""
        let rules = arguments.list("--rule")
        for rule in rules where !Conformance.ruleNames.contains(rule) {
            throw UsageError(NearestName.complaint("rule", rule, among: Conformance.ruleNames), command: name)
        }
        let description: LibraryDescription
        do throws(LibraryError) {
            description = try EngineLibraries.describe(file)
        } catch {
            throw UsageError("\(EngineLibraries.option): \(error)", command: name)
        }
        try Output.line("\(description.name) \(description.version)  \(description.file.path)")
        let findings: [RuleFinding] = try ComparisonOptions.withScratch { scratch in
            try tried(description.file.path, rules, in: try place(arguments) ?? scratch + "/stores", scratch)
        }
        for finding in findings { try Output.line(Self.line(finding)) }
        try Output.line(Self.summary(findings))
        if findings.contains(where: { $0.result == .failed }) { return 2 }
        return findings.contains { $0.result == .notTried } ? 3 : 0
    }

    /// A new directory below the one that the user named, so that no file of the user is touched.
    private func place(_ arguments: Arguments) throws -> String? {
        guard let given = arguments.value("--directory") else { return nil }
        guard FileTree.isDirectory(given), let path = FileTree.absolute(given) else {
            throw UsageError("--directory: \(given) is no directory; make it first", command: name)
        }
        return path
    }

    private func tried(
        _ library: String, _ rules: [String], in place: String, _ scratch: String
    ) throws -> [RuleFinding] {
        let own = try ScratchDirectory.make(in: try made(place))
        defer { do { try own.remove() } catch { Output.error("left behind: \(error)") } }
        let (output, errors) = (scratch + "/findings", scratch + "/errors")
        var words = [ProgramBuild.path, "worker", Self.workerOption, own.files, EngineLibraries.option, library]
        if !rules.isEmpty { words += ["--rule", rules.joined(separator: ",")] }
        var worker = ChildProgram(words, outputFile: output, errorFile: errors)
        worker.environment = WorkerEnvironment.variables(executable: ProgramBuild.path)
        let end = try worker.run()
        guard end == .exited(0) else {
            let text = try FileTree.readText(errors).suffix(500)
            throw HarnessError("the process that tried the rules ended so: \(end) \(text)")
        }
        return try FileTree.readText(output).split(separator: "\n").map { line in
            try RuleFinding(document: Array(line.utf8), named: "finding")
        }
    }

    private func made(_ place: String) throws -> String {
        try FileTree.createDirectory(place)
        return place
    }

    static func line(_ finding: RuleFinding) -> String {
        let head = "\(finding.result.rawValue.padded(to: 13))\(finding.rule.padded(to: 22))"
        guard finding.result != .ok else { return head + finding.sentence }
        return head + finding.sentence + "\n" + "".padded(to: 35)
            + PrintedText.escaped(finding.detail.replacing("\n", with: " "))
    }

    private static func summary(_ findings: [RuleFinding]) -> String {
        let counts = RuleFinding.Result.allCases.compactMap { result in
            let count = findings.count { $0.result == result }
            return count == 0 ? nil : "\(count) \(result.rawValue)"
        }
        return counts.joined(separator: ", ")
    }
}
