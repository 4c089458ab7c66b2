import Commands
import Harness
import RunRecords

/// The output of `assay list`: an overview, a topic, or the details of one plan, engine, data set or scenario.
struct Listing {
    enum Topic: String, CaseIterable { case plans, engines, datasets, scenarios, conditions, cases }

    private let registries: Registries
    private let checkout: Checkout
    private let width: Int

    init(_ registries: Registries, _ checkout: Checkout, width: Int) {
        self.registries = registries
        self.checkout = checkout
        self.width = width
    }

    /// Leaves out the family whose scenarios break the harness on purpose.
    static let families = Family.allCases.filter { $0 != .planted }.map(\.rawValue)

    private var engineNames: [String] { registries.engines.engines.map(\.name) }
    private var datasetNames: [String] { registries.datasets.sources.map(\.name) }
    private var slugs: [String] { registries.scenarios.listed.map(\.slug) }

    /// The bare names of a topic; of all topics if `word` is nil; for any other word, of a family or those that contain
    /// it.
    func names(_ word: String?) throws -> [String] {
        guard let word else {
            var names: [String] = Topic.allCases.map(\.rawValue)
            names.append(contentsOf: Self.families)
            names.append(contentsOf: try checkout.planNames())
            names.append(contentsOf: engineNames)
            names.append(contentsOf: datasetNames)
            names.append(contentsOf: slugs)
            return names
        }
        switch Topic(rawValue: word) {
        case .plans: return try checkout.planNames()
        case .engines: return engineNames
        case .datasets: return datasetNames
        case .scenarios: return slugs
        case .conditions: return Condition.allCases.map(\.parameter.name)
        case .cases: return []
        case nil:
            let family = registries.scenarios.listed.filter { $0.family.rawValue == word }.map(\.slug)
            return try family.isEmpty ? names(nil).filter { $0.contains(word) } : family
        }
    }

    // MARK: Overview

    var overview: [String] {
        get throws {
            var lines = try plans
            lines += ["", "Engines    " + engineNames.joined(separator: ", ")]
            for missing in registries.engines.notBuilt {
                lines.append("           \(missing.name): not built (\(missing.remedy))")
            }
            lines.append("Data sets  " + datasetNames.joined(separator: ", "))
            lines += ["", "Scenarios"]
            for family in Self.families {
                let found = registries.scenarios.listed.filter { $0.family.rawValue == family }
                if !found.isEmpty { lines.append("  \(family.padded(to: 16))\(found.count)") }
            }
            let topics = Topic.allCases.map(\.rawValue).joined(separator: ", ")
            lines.append("")
            lines.append("assay list TOPIC: \(topics), or a family")
            lines.append("assay list NAME: all of one plan, engine, data set or scenario")
            return lines
        }
    }

    /// The lines of a topic or of a name; nil if nothing has that name.
    func lines(_ word: String) throws -> [String]? {
        if let topic = Topic(rawValue: word) {
            switch topic {
            case .plans: return try plans
            case .engines: return registries.engines.engines.flatMap(all) + notBuilt
            case .datasets: return registries.datasets.sources.map(line)
            case .scenarios: return Self.families.flatMap(scenarios)
            case .conditions: return conditions
            case .cases: return nil
            }
        }
        if Self.families.contains(word) { return scenarios(ofFamily: word) }
        var lines: [String] = []
        if let scenario = registries.scenarios.listed.first(where: { $0.slug == word }) {
            lines += try all(of: scenario)
        }
        if try checkout.planNames().contains(word) { lines += try all(ofPlan: word) }
        if let engine = registries.engines.engine(named: word) { lines += all(of: engine) }
        for source in registries.datasets.sources where source.name == word { lines.append(line(source)) }
        if !lines.isEmpty { return lines }
        let found = registries.scenarios.listed.filter { $0.slug.contains(word) }
        return found.isEmpty ? nil : found.flatMap(line)
    }

    // MARK: Plans

    private var plans: [String] {
        get throws {
            var lines = ["Plans (\(checkout.plansDirectory))"]
            let names = try checkout.planNames()
            let column = Self.column(names)
            for name in names {
                let plan = try checkout.plan(name)
                let budget = plan.budgetSeconds.map { ", at most \(Int($0)) s" } ?? ""
                lines += "  \(name.padded(to: column))\(plan.summary)\(budget)"
                    .wrapped(to: width, indent: column + 2)
            }
            return lines
        }
    }

    /// The width of a column of names: two spaces at least come after each.
    private static func column(_ names: [String]) -> Int { max(16, (names.map(\.count).max() ?? 0) + 2) }

    private func all(ofPlan name: String) throws -> [String] {
        let plan = try checkout.plan(name)
        let scenarios = Set(plan.entries.map(\.scenario.text)).sorted()
        var lines = ["plan \(name)"] + "  \(plan.summary)".wrapped(to: width, indent: 2)
        if let budget = plan.budgetSeconds { lines.append("  at most \(Int(budget)) s") }
        lines.append(plan.measures ? "  measures" : "  takes no times: the outcomes of its cases count")
        lines += "  scenarios: \(scenarios.joined(separator: ", "))".wrapped(to: width, indent: 4)
        return lines + ["  assay run \(name)"]
    }

    // MARK: Engines and data sets

    private func all(of engine: any Engine) -> [String] {
        let promises = engine.promises.map { promise in
            promise.kind.rawValue + (promise.level.map { " (\($0.rawValue))" } ?? "")
        }.joined(separator: ", ")
        let abilities = engine.capabilities.map(\.rawValue).sorted().joined(separator: ", ")
        var texts = ["promises \(promises.isEmpty ? "nothing" : promises)", "can: \(abilities)"]
        if let file = engine.file ?? engine.peerLibrary { texts.append("from \(file.path) (digest \(file.digest))") }
        if !engine.assertions.isEmpty {
            let names = engine.assertions.joined(separator: ", ")
            texts.append("ASSERTIONS COMPILED IN: \(names), which slows it down; no report claims to be faster")
        }
        let facts: [String] = texts.flatMap { "  \($0)".wrapped(to: width, indent: 4) }
        return ["\(engine.name) \(engine.version)"] + facts
    }

    private var notBuilt: [String] {
        registries.engines.notBuilt.map { "\($0.name)  not built (\($0.remedy))" }
    }

    private func line(_ source: any DatasetSource) -> String {
        let size = source.defaultSize.map { "\($0) rows" } ?? "all of its rows"
        return "  \(source.name.padded(to: Self.column(datasetNames)))\(source.summary) (\(size))"
    }

    // MARK: Scenarios

    private func scenarios(ofFamily family: String) -> [String] {
        let found = registries.scenarios.listed.filter { $0.family.rawValue == family }
        return found.isEmpty ? [] : [family] + found.flatMap(line)
    }

    private func line(_ scenario: any Scenario) -> [String] {
        let indent = min(30, slugs.map(\.count).max() ?? 0) + 4
        return "  \(scenario.slug.padded(to: indent - 2))\(scenario.question)".wrapped(to: width, indent: indent)
    }

    private func all(of scenario: any Scenario) throws -> [String] {
        var lines = ["scenario \(scenario.slug), family \(scenario.family.rawValue)"]
        lines += "  \(scenario.question)".wrapped(to: width, indent: 2)
        let engines = registries.engines.engines.filter { scenario.requires.isSubset(of: $0.capabilities) }
        lines += "  engines: \(engines.map(\.name).joined(separator: ", "))".wrapped(to: width, indent: 4)
        let plans = try checkout.planNames().filter { name in
            try checkout.plan(name).entries.contains { $0.scenario.text == scenario.slug }
        }
        let named = plans.isEmpty ? "none" : plans.joined(separator: ", ")
        lines += "  plans: \(named)".wrapped(to: width, indent: 4)
        let own = scenario.parameters
        // Parameters that every scenario has stand once, as a topic of their own.
        let conditions = Condition.allCases
            .filter { scenario.conditions.contains($0) && !Condition.ofTheMachine.contains($0) }.map(\.parameter)
        lines += (own + conditions).flatMap(line)
        return lines + ["  assay run quick --scenario \(scenario.slug)"]
    }

    private var conditions: [String] {
        ["Conditions of any scenario (docs/scaling.md)"]
            + Condition.allCases.filter(Condition.ofTheMachine.contains).flatMap { line($0.parameter) }
    }

    private func line(_ parameter: ScenarioParameter) -> [String] {
        let choices = parameter.rangeText.isEmpty ? "" : " (\(parameter.rangeText))"
        return "  --param \(parameter.name)=\(parameter.defaultValue)  \(parameter.summary)\(choices)"
            .wrapped(to: width, indent: 6)
    }
}
