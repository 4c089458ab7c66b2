import Commands
import Harness
import LibraryEngine
import Platform
import RunRecords

/// The process that runs one case.
struct WorkerCommand: Command {
    let name = "worker"
    let summary = "runs one case for the runner (internal)"
    let question = "which protocol and cases does this program have?"
    let positional: [String] = []
    let isInternal = true
    let options = [
        OptionSpecification("--parent", value: "PID", "end at once when this is not the parent process"),
        OptionSpecification("--describe", "print protocol, engines and scenarios as JSON"),
        OptionSpecification(LibraryAnswer.option, value: "FILE", "load an engine's library and print its description"),
        OptionSpecification(ConformCommand.workerOption, value: "DIR", "try a library by the rules, below DIR"),
        OptionSpecification("--rule", value: "NAME,..", "only these of them"),
        EngineLibraries.specification,
        OptionSpecification(PeerLibraryAnswer.option, value: "FILE", "load DuckDB's library and print its version"),
        OptionSpecification(PeerLibraryAnswer.checkOption, "print the files of the peers' libraries"),
    ]

    func run(_ arguments: Arguments) throws -> Int32 {
        if let path = arguments.value(LibraryAnswer.option) {
            alarm(LibraryAnswer.secondsToAnswer)
            try Output.line(LibraryAnswer.line(path))
            return 0
        }
        if let directory = arguments.value(ConformCommand.workerOption) {
            let library = arguments.value(EngineLibraries.option) ?? ""
            try Conformance(path: library, directory: directory).run(only: arguments.list("--rule")) { finding in
                try Output.line(finding.json.text)
            }
            return 0
        }
        if let path = arguments.value(PeerLibraryAnswer.option) {
            alarm(LibraryAnswer.secondsToAnswer)
            return try say(PeerLibraryAnswer.version(path))
        }
        let registries = try EngineLibraries.registries(arguments)
        if arguments.has(PeerLibraryAnswer.checkOption) {
            alarm(LibraryAnswer.secondsToAnswer)
            return try say(PeerLibraryAnswer.check(registries))
        }
        if arguments.has("--describe") {
            let description = WorkerDescription(
                registries, build: ProgramBuild.describe(registries), program: ProgramBuild.path)
            try Output.line(description.json.text)
            return 0
        }
        let parent = try arguments.unsigned("--parent").map { Int32(truncatingIfNeeded: $0) }
        return Worker(registries: registries).run(parent: parent)
    }

    private func say(_ answer: (line: String, status: Int32)) throws -> Int32 {
        try Output.line(answer.line)
        return answer.status
    }
}
