import Commands
import Harness
import Reporting
import RunRecords

/// The one case that a command line names: by a scenario and its distinguishing options, or by the id of a plan's case.
struct CaseSelection {
    private let arguments: Arguments
    private let registries: Registries
    private static let idOptions = ["--engine", "--dataset", "--size", "--param"]

    init(_ arguments: Arguments, _ registries: Registries) {
        self.arguments = arguments
        self.registries = registries
    }

    private func usage(_ message: String) -> UsageError { UsageError(message, command: arguments.command) }

    /// Throws: `UsageError` if no case or several match.
    func planned() throws -> PlannedCase {
        guard let text = arguments.positional.first else {
            throw usage("which case? name a scenario, with --engine and further options, or the id of a case")
        }
        let isID = registries.scenarios.scenario(named: text) == nil && Self.isID(text)
        let found = isID ? try byID(text) : try byScenario(text)
        let runnable = found.filter { $0.verdict == nil }
        guard let only = runnable.first else {
            let reason = found.first.map { "\($0.test.engine): \($0.verdict?.shownWord ?? ""), \($0.reason)" }
            throw usage("no case of \(text) can run here" + (reason.map { " (\($0))" } ?? ""))
        }
        guard runnable.count == 1 else {
            let list = runnable.prefix(12).map {
                "  \($0.test.id)  \($0.test.scenario) \($0.test.engine) \($0.test.dataset) \($0.test.parameterText)"
            }
            let rest = runnable.count > 12 ? ["  .."] : []
            throw usage(
                "\(text) is \(runnable.count) cases, and a search takes one: name its id, or --engine and the "
                    + "options that select one case\n" + (list + rest).joined(separator: "\n"))
        }
        return only
    }

    private static func isID(_ text: String) -> Bool {
        (4...12).contains(text.count) && text.allSatisfy { $0.isHexDigit && !$0.isUppercase }
    }

    private func byScenario(_ slug: String) throws -> [PlannedCase] {
        var filter = try PlanFilter(arguments)
        filter.scenarios = [slug]
        let plan = Plan(name: arguments.command, file: "the command line")
        let expansion = PlanExpansion(plan: plan, filter: filter, registries: registries)
        try expansion.checkParameters()
        return try expansion.cases()
    }

    private func byID(_ id: String) throws -> [PlannedCase] {
        if let given = Self.idOptions.first(where: arguments.has) {
            throw usage("the id \(id) names a case with all its options: leave out \(given)")
        }
        let executable = Checkout.executablePath(fallback: CommandLine.arguments[0])
        let checkout = try Checkout.find(given: arguments.value("--plans"), executable: executable)
        var filter = PlanFilter()
        filter.seed = try PlanFilter(arguments).seed
        var found: [PlannedCase] = []
        let names = try arguments.value("--plan").map { [$0] } ?? checkout.planNames()
        for name in names {
            let expansion = PlanExpansion(plan: try checkout.plan(name), filter: filter, registries: registries)
            for planned in try expansion.cases() where planned.test.id.hasPrefix(id) {
                if !found.contains(where: { $0.test.id == planned.test.id }) { found.append(planned) }
            }
        }
        guard !found.isEmpty else {
            throw usage(
                "no case of \(names.joined(separator: ", ")) has the id \(id); assay run PLAN --dry-run lists them")
        }
        return found
    }
}
