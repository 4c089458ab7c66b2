import Commands
import JSONText
import RunRecords

/// A counter budget of a plan with its place in the file, for error messages.
package struct PlanBudget: Sendable {
    /// `SCENARIO.ENGINE.METRIC` or a shorter form, as written.
    package var name: PlanName
    /// The limit as the plan has it.
    package var text: String
    package var limit: BudgetLimit

    /// Members of an object: `"commit.syncs": "==1"`. Names are checked when the plan is expanded.
    static func read(_ node: JSONNode, file: String) throws(PlanError) -> [PlanBudget] {
        var budgets: [PlanBudget] = []
        for member in try node.members(file) {
            let text = try member.value.name(file).text
            guard let limit = BudgetLimit(text) else {
                throw PlanError(
                    file: file, "\"\(text)\" is no budget: write \(BudgetLimit.forms)", at: member.value.position)
            }
            budgets.append(
                PlanBudget(name: PlanName(member.name, at: member.namePosition), text: text, limit: limit))
        }
        return budgets
    }

    /// Looks up the parts of the name.
    func budget(file: String, _ registries: Registries) throws(PlanError) -> Budget {
        var parts = name.text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard (1...3).contains(parts.count), let metric = parts.popLast() else {
            throw PlanError(
                file: file,
                "\(name.text): a budget is for METRIC, SCENARIO.METRIC, ENGINE.METRIC or SCENARIO.ENGINE.METRIC",
                at: name.position)
        }
        let scenarios = registries.scenarios.scenarios.map(\.slug)
        let engines = registries.engines.engines.map(\.name) + registries.engines.notBuilt.map(\.name)
        let listed = registries.scenarios.listed.map(\.slug)
        func unknown(_ kind: String, _ name: String, among known: [String]) -> PlanError {
            PlanError(file: file, NearestName.complaint(kind, name, among: known), at: self.name.position)
        }
        guard Counter(rawValue: metric) != nil || Counter(metric: metric) != nil else {
            throw unknown("counter", metric, among: Counter.names)
        }
        var key = BudgetKey(metric: metric)
        switch parts.count {
        case 2:
            guard scenarios.contains(parts[0]) else { throw unknown("scenario", parts[0], among: listed) }
            guard engines.contains(parts[1]) else { throw unknown("engine", parts[1], among: engines) }
            key = BudgetKey(scenario: parts[0], engine: parts[1], metric: metric)
        case 1 where scenarios.contains(parts[0]): key = BudgetKey(scenario: parts[0], metric: metric)
        case 1 where engines.contains(parts[0]): key = BudgetKey(engine: parts[0], metric: metric)
        case 1: throw unknown("scenario or engine", parts[0], among: listed + engines)
        default: break
        }
        return Budget(key, limit: limit, text: text)
    }
}

extension Plan {
    /// Throws: `PlanError` for a budget that names no counter, or an unknown scenario or engine.
    package func checkedBudgets(_ registries: Registries) throws(PlanError) -> [Budget] {
        var checked: [Budget] = []
        for budget in budgets { checked.append(try budget.budget(file: file, registries)) }
        return checked
    }
}
