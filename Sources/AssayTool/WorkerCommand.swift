import Commands
import Harness
import JSONText
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
    ]

    func run(_ arguments: Arguments) throws -> Int32 {
        let registries = BuildRegistries.make()
        if arguments.has("--describe") {
            try Output.line(description(registries).text)
            return 0
        }
        let parent = try arguments.unsigned("--parent").map { Int32(truncatingIfNeeded: $0) }
        return Worker(registries: registries).run(parent: parent)
    }

    private func description(_ registries: Registries) -> JSONValue {
        let engines = registries.engines.engines.map { engine in
            JSONValue.object([
                JSONMember("name", .string(engine.name)), JSONMember("version", .string(engine.version)),
                JSONMember("capabilities", .strings(engine.capabilities.map(\.rawValue).sorted())),
            ])
        }
        let scenarios = registries.scenarios.listed.map { scenario in
            JSONValue.object([
                JSONMember("slug", .string(scenario.slug)), JSONMember("family", .string(scenario.family.rawValue)),
                JSONMember("parameters", .strings(scenario.parameters.map(\.name))),
            ])
        }
        return .object([
            JSONMember("assay", .string(assayVersion)), JSONMember("protocol", .integer(WorkerRequest.protocolVersion)),
            JSONMember("engines", .array(engines)), JSONMember("scenarios", .array(scenarios)),
            JSONMember("datasets", .strings(registries.datasets.sources.map(\.name))),
        ])
    }
}
