import Commands
import Harness

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
    ]

    func run(_ arguments: Arguments) throws -> Int32 {
        let registries = BuildRegistries.make()
        if arguments.has("--describe") {
            let description = WorkerDescription(
                registries, build: ProgramBuild.describe(registries), program: ProgramBuild.path)
            try Output.line(description.json.text)
            return 0
        }
        let parent = try arguments.unsigned("--parent").map { Int32(truncatingIfNeeded: $0) }
        return Worker(registries: registries).run(parent: parent)
    }
}
