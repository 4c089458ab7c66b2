import Commands
import RunRecords
import Seeds

/// Options of the command line that change a plan.
package struct PlanFilter: Sendable {
    package var scenarios: [String] = []
    package var engines: [String] = []
    package var datasets: [String] = []
    package var families: [Family] = []
    package var layers: [Layer] = []
    package var seed: Seed?
    package var parameters: [CaseParameter] = []
    package var budgetSeconds: Double?
    package var size: Int?

    package init() {}

    /// Whether it leaves the plan's cases as they are, but for their seed and time.
    package var keepsCases: Bool {
        scenarios.isEmpty && engines.isEmpty && datasets.isEmpty && families.isEmpty && layers.isEmpty
            && parameters.isEmpty && size == nil
    }
}

/// A case of a run, and what is known of it before it starts.
package struct PlannedCase: Sendable {
    package var test: Case
    package var weight: Double
    /// Set if the case does not run: `not-built`, `not-applicable`.
    package var verdict: Verdict?
    package var reason: String
    /// Whether it is measured in the plan's rounds, and compared with other engines.
    package var isHeadline = false
    /// Whether each round measures it twice, as two sides.
    package var hasControl = false
    /// Whether the run is undecided if this case is inconclusive.
    package var isRequired = true
}

extension PlannedCase {
    /// A case that is in no plan, such as that of a case file.
    package init(_ test: Case) { self.init(test: test, weight: 1, verdict: nil, reason: "") }
}

/// Expands a plan into cases.
package struct PlanExpansion {
    let plan: Plan
    let filter: PlanFilter
    let registries: Registries

    package init(plan: Plan, filter: PlanFilter, registries: Registries) {
        self.plan = plan
        self.filter = filter
        self.registries = registries
    }

    /// The cases in the order of the plan; a case that two entries have appears once.
    ///
    /// A scenario that the filter names and the plan lacks is added with its defaults.
    /// Throws: `PlanError` for unknown names, with the nearest known one.
    package func cases() throws(PlanError) -> [PlannedCase] {
        var cases: [PlannedCase] = []
        var seen: Set<String> = []
        let entries = try entries()
        try checkEngines(entries)
        for entry in entries {
            for planned in try expand(entry) where isInLayer(planned) && seen.insert(planned.test.id).inserted {
                cases.append(planned)
            }
        }
        RunOrder.chooseControls(&cases, seed: filter.seed ?? plan.seed)
        return cases
    }

    /// With `--only objects`, an engine that has no capability for objects has nothing to compare.
    private func isInLayer(_ planned: PlannedCase) -> Bool {
        guard filter.layers == [.objects], let engine = registries.engines.engine(named: planned.test.engine) else {
            return true
        }
        return !engine.capabilities.isDisjoint(with: Layer.capabilitiesOfObjects)
    }

    private func error(_ kind: String, _ name: PlanName, among known: [String]) -> PlanError {
        // The topic of `assay list` that has the names, if there is one.
        let topic = ["scenario": "scenarios", "engine": "engines", "data set": "datasets"][kind]
        let list = topic.map { "assay list \($0)" }
        return PlanError(
            file: plan.file, NearestName.complaint(kind, name.text, among: known, list: list), at: name.position)
    }

    private func entries() throws(PlanError) -> [PlanEntry] {
        for slug in filter.scenarios { _ = try scenario(PlanName(slug)) }
        var entries: [PlanEntry] = []
        for entry in plan.entries {
            let scenario = try scenario(entry.scenario)
            if !filter.scenarios.isEmpty && !filter.scenarios.contains(scenario.slug) { continue }
            if !filter.families.isEmpty && !filter.families.contains(scenario.family) { continue }
            if !filter.layers.isEmpty && scenario.layers.isDisjoint(with: filter.layers) { continue }
            entries.append(entry)
        }
        let planned = Set(plan.entries.map(\.scenario.text))
        for slug in filter.scenarios where !planned.contains(slug) {
            entries.append(PlanEntry(scenario: PlanName(slug)))
        }
        return entries
    }

    private func scenario(_ name: PlanName) throws(PlanError) -> any Scenario {
        guard let scenario = registries.scenarios.scenario(named: name.text) else {
            throw error("scenario", name, among: registries.scenarios.listed.map(\.slug))
        }
        return scenario
    }

    private func expand(_ entry: PlanEntry) throws(PlanError) -> [PlannedCase] {
        let scenario = try scenario(entry.scenario)
        let parameterSets = try parameterSets(entry, scenario)
        var cases: [PlannedCase] = []
        for dataset in try datasets(entry, scenario) {
            for size in try sizes(entry, dataset) {
                for parameters in parameterSets {
                    for durability in scenario.durability.map({ [$0] }) ?? entry.durability ?? plan.durability {
                        for seed in filter.seed.map({ [$0] }) ?? entry.seeds ?? [plan.seed] {
                            for engine in try chosenEngines(entry) {
                                let test = Case(
                                    scenario: scenario.slug, family: scenario.family, engine: engine,
                                    dataset: dataset?.name ?? "", size: size, parameters: parameters, seed: seed,
                                    durability: durability)
                                if let objection = scenario.objection(to: test) {
                                    let text = "\(scenario.slug): \(objection)"
                                    throw PlanError(file: plan.file, text, at: entry.scenario.position)
                                }
                                var planned = planned(test, scenario, weight: entry.weight)
                                planned.isHeadline = plan.rounds > 1 && (entry.isHeadline || !plan.marksHeadlines)
                                planned.isRequired = entry.isRequired ?? plan.isRequired
                                cases.append(planned)
                            }
                        }
                    }
                }
            }
        }
        return cases
    }

    private func planned(_ test: Case, _ scenario: any Scenario, weight: Double) -> PlannedCase {
        guard let engine = registries.engines.engine(named: test.engine) else {
            let remedy = registries.engines.notBuilt.first { $0.name == test.engine }?.remedy ?? ""
            return PlannedCase(test: test, weight: weight, verdict: .notBuilt, reason: remedy)
        }
        let missing = scenario.requires.subtracting(engine.capabilities).map(\.rawValue).sorted()
        guard missing.isEmpty else {
            let reason = "\(engine.name) lacks \(missing.joined(separator: ", "))"
            return PlannedCase(test: test, weight: weight, verdict: .notApplicable, reason: reason)
        }
        if test.isEncrypted, !engine.capabilities.contains(.encryption) {
            let reason = "\(engine.name) lacks \(Capability.encryption.rawValue)"
            return PlannedCase(test: test, weight: weight, verdict: .notApplicable, reason: reason)
        }
        if let reason = engine.reasonToDecline(test.durability) {
            return PlannedCase(test: test, weight: weight, verdict: .notApplicable, reason: reason)
        }
        if let source = registries.dataset(named: test.dataset),
            let reason = source.unavailableReason ?? engine.reasonToDecline(source)
        {
            return PlannedCase(test: test, weight: weight, verdict: .notApplicable, reason: reason)
        }
        return PlannedCase(test: test, weight: weight, verdict: nil, reason: "")
    }

    private func engines(_ entry: PlanEntry) throws(PlanError) -> [String] {
        let registry = registries.engines
        let known = registry.engines.map(\.name) + registry.notBuilt.map(\.name)
        for name in filter.engines where !known.contains(name) {
            throw error("engine", PlanName(name), among: known)
        }
        var names = entry.engines ?? plan.engines
        if names.isEmpty { names = registry.engines.map { PlanName($0.name) } }
        for name in names + entry.except where !known.contains(name.text) {
            throw error("engine", name, among: known)
        }
        return names.filter { !entry.except.contains($0) }.map(\.text)
    }

    /// The engines of an entry that the command line allows. A scenario that the command line names runs on every
    /// engine that it names, even if the plan does not have that scenario on that engine.
    private func chosenEngines(_ entry: PlanEntry) throws(PlanError) -> [String] {
        let list = try engines(entry)
        if filter.engines.isEmpty { return list }
        if filter.scenarios.isEmpty { return list.filter { filter.engines.contains($0) } }
        var elsewhere: Set<String> = []
        for other in plan.entries where other.scenario == entry.scenario { elsewhere.formUnion(try engines(other)) }
        return filter.engines.filter { list.contains($0) || !elsewhere.contains($0) }
    }

    /// Throws for an engine of the command line on which the plan has no case: the run would leave the engine out, and
    /// would not report that.
    private func checkEngines(_ entries: [PlanEntry]) throws(PlanError) {
        guard filter.scenarios.isEmpty, !filter.engines.isEmpty else { return }
        var planned: [String] = []
        for entry in entries {
            for name in try engines(entry) where !planned.contains(name) { planned.append(name) }
        }
        for name in filter.engines where !planned.contains(name) {
            throw PlanError(
                file: "--engine",
                "plan \(plan.name) has no case on \(name), but on \(planned.joined(separator: ", ")); "
                    + "--scenario NAME --engine \(name) runs a scenario on it")
        }
    }

    private func datasets(_ entry: PlanEntry, _ scenario: any Scenario) throws(PlanError) -> [(any DatasetSource)?] {
        guard let own = scenario.defaultDataset else {
            if let named = entry.datasets?.first {
                throw PlanError(
                    file: plan.file, "scenario \(scenario.slug) makes its own data", at: named.position)
            }
            return [nil]
        }
        var names = entry.datasets ?? [PlanName(own)]
        if !filter.datasets.isEmpty { names = filter.datasets.map { PlanName($0) } }
        var sources: [(any DatasetSource)?] = []
        for name in names {
            guard let source = registries.dataset(named: name.text) else {
                throw error("data set", name, among: registries.datasets.sources.map(\.name))
            }
            sources.append(source)
        }
        return sources
    }

    private func sizes(_ entry: PlanEntry, _ dataset: (any DatasetSource)?) throws(PlanError) -> [Int] {
        guard let dataset else { return [0] }
        guard let own = dataset.defaultSize else { return [0] }
        if let size = filter.size { return [size] }
        let sizes = entry.sizes ?? [own]
        // A size of 0 is not allowed: in a case it means that the data set decides its own size.
        guard sizes.allSatisfy({ $0 > 0 }) else {
            throw PlanError(
                file: plan.file, "\(entry.scenario.text): sizes needs whole numbers from 1", at: entry.scenario.position
            )
        }
        return sizes
    }

    /// Every combination of the values of the parameters. A parameter that is not named has its default.
    private func parameterSets(
        _ entry: PlanEntry, _ scenario: any Scenario
    ) throws(PlanError) -> [[CaseParameter]] {
        let conditions = scenario.conditionParameters
        let known = (scenario.parameters + conditions).map(\.name)
        for parameter in entry.parameters where !known.contains(parameter.name.text) {
            throw error("parameter", parameter.name, among: known)
        }
        var sets: [[CaseParameter]] = [[]]
        for parameter in scenario.parameters + conditions {
            var values = [PlanName(parameter.defaultValue)]
            if let given = entry.parameters.first(where: { $0.name.text == parameter.name }) { values = given.values }
            let overriding = filter.parameters.filter { $0.name == parameter.name }
            if !overriding.isEmpty { values = overriding.map { PlanName($0.value) } }
            let file = overriding.isEmpty ? plan.file : "--param"
            let chosen = try values.map { value throws(PlanError) in
                do throws(ParameterError) {
                    return try parameter.canonical(value.text)
                } catch {
                    throw PlanError(file: file, "\(scenario.slug): \(error)", at: value.position)
                }
            }
            // A case does not list a condition with its default, which means that there is no such condition.
            let ordinary = conditions.contains { $0.name == parameter.name } ? parameter.defaultValue : nil
            sets = sets.flatMap { set in
                chosen.map { $0 == ordinary ? set : set + [CaseParameter(name: parameter.name, value: $0)] }
            }
        }
        return sets
    }

    /// Throws for parameters of the command line that no scenario of the plan has.
    package func checkParameters() throws(PlanError) {
        var known: Set<String> = []
        for entry in try entries() {
            let scenario = try scenario(entry.scenario)
            known.formUnion((scenario.parameters + scenario.conditionParameters).map(\.name))
        }
        for parameter in filter.parameters where !known.contains(parameter.name) {
            throw error("parameter", PlanName(parameter.name), among: known.sorted())
        }
    }
}
