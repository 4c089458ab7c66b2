import Commands
import JSONText
import RunRecords

/// A violation that Benchmarks/known.json5 lists with its reason: it is counted, but does not fail a run.
package struct KnownViolation: Sendable, Equatable {
    package var scenario: String
    package var engine: String
    package var outcome: Outcome
    /// The data set of the case; nil for any.
    package var dataset: String?
    /// Parameters that the case must have; others may have any value.
    package var parameters: [String: String] = [:]
    package var reason: String

    package init(scenario: String, engine: String, outcome: Outcome, dataset: String? = nil, reason: String) {
        self.scenario = scenario
        self.engine = engine
        self.outcome = outcome
        self.dataset = dataset
        self.reason = reason
    }

    func covers(_ test: Case, _ outcome: Outcome) -> Bool {
        scenario == test.scenario && engine == test.engine && self.outcome == outcome
            && (dataset == nil || dataset == test.dataset)
            && parameters.allSatisfy { name, value in
                test.parameters.contains { $0.name == name && $0.value == value }
            }
    }

    /// Reads the list: an array of objects with scenario, engine, outcome, reason, and optionally dataset and
    /// parameters.
    ///
    /// - Parameter registries: where the names are looked up; nil to accept any name.
    package static func read(
        _ text: String, file: String, registries: Registries? = nil
    ) throws(PlanError) -> [KnownViolation] {
        var list: [KnownViolation] = []
        for node in try JSONNode.read(text, file: file).elements(file) {
            let reader = PlanObject(
                try node.members(file), file: file, what: "a known violation",
                known: ["scenario", "engine", "outcome", "dataset", "parameters", "reason"])
            try reader.checkNames()
            guard let scenario = try reader.string("scenario"), let engine = try reader.string("engine"),
                let outcomeName = try reader.string("outcome"), let reason = try reader.string("reason"),
                !reason.isEmpty
            else {
                throw PlanError(
                    file: file, "a known violation needs scenario, engine, outcome and reason", at: node.position)
            }
            guard let outcome = Outcome(rawValue: outcomeName) else {
                let known = Outcome.allCases.map(\.rawValue)
                throw PlanError(
                    file: file, NearestName.complaint("outcome", outcomeName, among: known),
                    at: reader.member("outcome")?.value.position ?? node.position)
            }
            if let registries { try checkNames(reader, file: file, registries) }
            var entry = KnownViolation(
                scenario: scenario, engine: engine, outcome: outcome, dataset: try reader.string("dataset"),
                reason: reason)
            entry.parameters = try parameters(reader, file: file, of: scenario, registries)
            list.append(entry)
        }
        return list
    }

    private static func parameters(
        _ reader: PlanObject, file: String, of scenario: String, _ registries: Registries?
    ) throws(PlanError) -> [String: String] {
        guard let member = reader.member("parameters") else { return [:] }
        let known = registries?.scenarios.scenario(named: scenario)?.parameters.map(\.name)
        var parameters: [String: String] = [:]
        for parameter in try member.value.members(file) {
            if let known, !known.contains(parameter.name) {
                throw PlanError(
                    file: file, NearestName.complaint("parameter", parameter.name, among: known),
                    at: parameter.value.position)
            }
            parameters[parameter.name] = try parameter.value.name(file).text
        }
        return parameters
    }

    /// Refuses unknown names: an entry with one would cover no case, without a warning.
    private static func checkNames(
        _ reader: PlanObject, file: String, _ registries: Registries
    ) throws(PlanError) {
        let engines = registries.engines.engines.map(\.name) + registries.engines.notBuilt.map(\.name)
        let known = [
            ("scenario", "scenario", registries.scenarios.scenarios.map(\.slug)), ("engine", "engine", engines),
            ("dataset", "data set", registries.datasets.sources.map(\.name)),
        ]
        for (key, what, names) in known {
            guard let member = reader.member(key) else { continue }
            let name = try member.value.name(file)
            if names.contains(name.text) || key == "dataset" && registries.dataset(named: name.text) != nil { continue }
            throw PlanError(file: file, NearestName.complaint(what, name.text, among: names), at: name.position)
        }
    }

    /// The entries whose cases ran to their end without this outcome: the violation may be fixed.
    package static func notNeeded(_ known: [KnownViolation], by results: [CaseResult]) -> [KnownViolation] {
        let judged: Set<Verdict> = [.pass, .known, .violation, .unpromised]
        return known.filter { entry in
            let concerned = results.filter { entry.covers($0.test, entry.outcome) && judged.contains($0.verdict) }
            return !concerned.isEmpty && concerned.allSatisfy { !$0.isCut && $0.count(of: entry.outcome) == 0 }
        }
    }

    package var text: String {
        "\(scenario) on \(engine)\(dataset.map { ", \($0)" } ?? ""): \(outcome.rawValue)"
    }
}
