import Commands
import Harness
import RunRecords

struct ListCommand: Command {
    let name = "list"
    let summary = "lists plans, engines, data sets and scenarios"
    let question = "what can be run here, and what was not built?"
    let positional: [String] = []
    let options = [
        OptionSpecification("--engines", "which scenarios drive which engines, counted by family and one by one"),
        OptionSpecification("--plans", value: "DIR", "where the plans are"),
        EngineLibraries.specification,
        PeerLibraryOption.specification,
    ]

    func run(_ arguments: Arguments) throws -> Int32 {
        if arguments.has("--engines") {
            return try listCoverage(EngineLibraries.registries(arguments, hasEveryPeer: true))
        }
        let registries = try EngineLibraries.registries(arguments)
        try listPlans(arguments)
        try listEngines(registries)
        try Output.line("\nData sets")
        for source in registries.datasets.sources {
            let size = source.defaultSize.map { "\($0) rows" } ?? "as large as it is"
            try Output.line("  \(source.name.padded(to: 14))\(source.summary) (\(size))")
        }
        try listScenarios(registries)
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

    private func listPlans(_ arguments: Arguments) throws {
        let executable = Checkout.executablePath(fallback: CommandLine.arguments[0])
        let checkout = try Checkout.find(given: arguments.value("--plans"), executable: executable)
        try Output.line("Plans (\(checkout.plansDirectory))")
        for name in try checkout.planNames() {
            let plan = try checkout.plan(name)
            let budget = plan.budgetSeconds.map { ", at most \(Int($0)) s" } ?? ""
            try Output.line("  \(name.padded(to: 14))\(plan.summary)\(budget)")
        }
    }

    private func listEngines(_ registries: Registries) throws {
        try Output.line("\nEngines")
        for engine in registries.engines.engines {
            let promises = engine.promises.map { promise in
                promise.kind.rawValue + (promise.level.map { " (\($0.rawValue))" } ?? "")
            }.joined(separator: ", ")
            try Output.line(
                "  \(engine.name.padded(to: 14))\(engine.version), promises \(promises.isEmpty ? "nothing" : promises)")
            try Output.line(
                "  \("".padded(to: 14))can: \(engine.capabilities.map(\.rawValue).sorted().joined(separator: " "))")
            if let file = engine.file ?? engine.peerLibrary {
                try Output.line("  \("".padded(to: 14))from \(file.path) (digest \(file.digest))")
            }
            if !engine.assertions.isEmpty {
                let names = engine.assertions.joined(separator: ", ")
                try Output.line(
                    "  \("".padded(to: 14))ASSERTIONS COMPILED IN: \(names); nothing is claimed of its speed")
            }
        }
        for missing in registries.engines.notBuilt {
            try Output.line("  \(missing.name.padded(to: 14))not built (\(missing.remedy))")
        }
    }

    private func listScenarios(_ registries: Registries) throws {
        for family in Family.allCases where family != .planted {
            let scenarios = registries.scenarios.listed.filter { $0.family == family }
            if scenarios.isEmpty { continue }
            try Output.line("\nScenarios: \(family.rawValue)")
            let width = (registries.scenarios.listed.map(\.slug.count).max() ?? 0) + 2
            for scenario in scenarios {
                try Output.line("  \(scenario.slug.padded(to: width))\(scenario.question)")
                for parameter in scenario.parameters { try list(parameter, indent: width) }
                // What every scenario has is listed once, below.
                for condition in Condition.allCases
                where scenario.conditions.contains(condition) && !Condition.ofTheMachine.contains(condition) {
                    try list(condition.parameter, indent: width)
                }
            }
        }
        try Output.line("\nConditions of any scenario (docs/scaling.md)")
        for condition in Condition.allCases where Condition.ofTheMachine.contains(condition) {
            try list(condition.parameter, indent: 0)
        }
    }

    private func list(_ parameter: ScenarioParameter, indent: Int) throws {
        let choices = parameter.rangeText.isEmpty ? "" : " (\(parameter.rangeText))"
        let text = "\(parameter.name)=\(parameter.defaultValue)  \(parameter.summary)\(choices)"
        try Output.line("  \("".padded(to: indent))--param \(text)")
    }
}
