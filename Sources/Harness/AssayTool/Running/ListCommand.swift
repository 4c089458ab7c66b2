import Commands
import Harness
import RunRecords

struct ListCommand: Command {
    let name = "list"
    let summary = "lists plans, engines, data sets and scenarios, or describes one of them"
    let question = "which plans, scenarios and engines has this build?"
    let positional = ["[TOPIC|NAME]"]
    let examples = [
        CommandExample("list", "an overview, in a screen"),
        CommandExample("list scenarios", "a line each; plans, engines, datasets, conditions and cases likewise"),
        CommandExample("list commit", "one scenario: its question, parameters, engines and plans"),
        CommandExample("list --engines", "which scenarios drive which engines"),
    ]
    let exitStatus = "0 printed"
    let options = [
        OptionSpecification("--engines", "which scenarios drive which engines, counted by family and one by one"),
        OptionSpecification("--names", "the bare names, one a line"),
        OptionSpecification("--run", value: "RUN", "the run whose cases to list"),
        OptionSpecification("--plans", value: "DIR", "the directory of the plans"),
        EngineLibraries.specification,
        PeerLibraryOption.specification,
    ]

    var details: [String] {
        [
            "Answers: \(question)", "",
            "TOPIC is \(Listing.Topic.allCases.map(\.rawValue).joined(separator: ", ")), or a family of scenarios.",
            "NAME is one plan, engine, data set or scenario, or a part of the names of several.",
        ]
    }

    func run(_ arguments: Arguments) throws -> Int32 {
        if arguments.has("--engines") {
            return try listCoverage(EngineLibraries.registries(arguments, hasEveryPeer: true))
        }
        let word = arguments.positional.first
        if let run = arguments.value("--run") { return try listCases(of: trimmed(run), arguments) }
        if word == Listing.Topic.cases.rawValue {
            throw UsageError("the cases of which run? assay list cases --run RUN", command: name)
        }
        let registries = try EngineLibraries.registries(arguments)
        let executable = Checkout.executablePath(fallback: CommandLine.arguments[0])
        let checkout = try Checkout.find(given: arguments.value("--plans"), executable: executable)
        let listing = Listing(registries, checkout, width: min(Output.width, 120))
        if arguments.has("--names") {
            for name in try listing.names(word) { try Output.line(name) }
            return 0
        }
        guard let word else {
            for line in try listing.overview { try Output.line(line) }
            return 0
        }
        guard let lines = try listing.lines(word) else {
            let known = try listing.names(nil)
            throw UsageError(
                NearestName.complaint("topic or name", word, among: known, list: "assay list --names"), command: name)
        }
        for line in lines { try Output.line(line) }
        return 0
    }

    private func listCases(of run: String, _ arguments: Arguments) throws -> Int32 {
        let directory = RunDirectory(path: run)
        guard directory.exists else { throw UsageError("no run in \(run): there is no run.json", command: name) }
        for planned in try RunManifest.read(from: directory).cases {
            let test = planned.test
            let words = [test.id, test.scenario, test.engine, test.dataset, test.parameterText]
            try Output.line(
                arguments.has("--names") ? test.id : words.filter { !$0.isEmpty }.joined(separator: "  "))
        }
        return 0
    }

    private func listCoverage(_ registries: Registries) throws -> Int32 {
        let coverage = EngineCoverage(registries)
        for line in coverage.familyTable { try Output.line(line) }
        for column in coverage.columns where !column.others.isEmpty {
            try Output.line("\(column.name) stands for \(column.others.joined(separator: ", ")), too")
        }
        for missing in registries.engines.notBuilt {
            try Output.line("\(missing.name) is not built (\(missing.remedy))")
        }
        try Output.line("")
        for line in coverage.scenarioTable { try Output.line(line) }
        return 0
    }
}
