import Commands
import Files
import JSONText
import RunRecords

/// What the self-test expects of a case with a planted mistake.
package enum MistakeExpectation: String, Sendable, CaseIterable {
    /// The verdict blames the engine: it broke a promise, or its data is wrong without a promise.
    case caught
    /// The case is inconclusive.
    case inconclusive

    package func accepts(_ verdict: Verdict) -> Bool {
        switch self {
        case .caught: verdict == .violation || verdict == .unpromised
        case .inconclusive: verdict == .inconclusive
        }
    }
}

/// A case of the self-test, which must pass without a planted mistake.
package struct MistakenCase: Sendable {
    package var planned: PlannedCase
    /// nil to run the case without a mistake.
    package var mistake: String?
    package var expectation: MistakeExpectation
}

/// The mistakes that each scenario must find, as the files of Benchmarks/Mistakes list them.
///
/// A file is a list of objects with `scenario`, `engine` and `mistake`: a name, a list of names, or `content` for all
/// mistakes that a comparison of contents must find. Optional are `except` (mistakes of `content` that are impossible
/// there, with the reason), `dataset`, `size`, `parameters`, `durability` and `expect`.
package struct MistakeList: Sendable {
    struct Row: Sendable {
        var entry: PlanEntry
        var engines: [PlanName]
        var mistakes: [PlanName]
        var expectation: MistakeExpectation
        var file: String
    }

    /// The name that stands for every mistake that a comparison of contents must find.
    package static let content = "content"

    private(set) var rows: [Row] = []
    /// The scenarios under which no mistake can be planted, with the reason.
    package private(set) var excused: [String: String] = [:]

    package init() {}

    /// Reads the files of `Mistakes` beside the plans' directory.
    ///
    /// - Parameter content: the mistakes that the name `content` stands for.
    package init(of checkout: Checkout, content: [String]) throws {
        let directory = checkout.plansDirectory + "/../Mistakes"
        for name in try FileTree.names(in: directory) where name.hasSuffix(".json5") {
            let file = "\(directory)/\(name)"
            let text = try FileTree.readText(file)
            if name == "excused.json5" {
                try readExcused(text, file: file)
            } else {
                try read(text, file: file, content: content)
            }
        }
    }

    /// The scenarios that the rows name.
    package var scenarios: Set<String> { Set(rows.map(\.entry.scenario.text)) }

    /// Adds the rows of a file.
    ///
    /// - Parameter content: the mistakes that the name `content` stands for.
    package mutating func read(_ text: String, file: String, content: [String]) throws(PlanError) {
        for node in try JSONNode.read(text, file: file).elements(file) {
            let reader = PlanObject(
                try node.members(file), file: file, what: "a row of mistakes",
                known: [
                    "scenario", "engine", "mistake", "except", "dataset", "size", "parameters", "durability", "expect",
                ])
            try reader.checkNames()
            guard let scenario = reader.member("scenario"), let engines = try reader.names("engine"),
                let names = try reader.names("mistake")
            else { throw PlanError(file: file, "a row needs scenario, engine and mistake", at: node.position) }
            var entry = PlanEntry(scenario: try scenario.value.name(file))
            entry.datasets = try reader.names("dataset")
            entry.sizes = try reader.integers("size")
            entry.durability = try reader.durability("durability")
            for member in try reader.member("parameters")?.value.members(file) ?? [] {
                let value = try member.value.scalar(file)
                entry.parameters.append(
                    PlanParameter(name: PlanName(member.name, at: member.namePosition), values: [value]))
            }
            rows.append(
                Row(
                    entry: entry, engines: engines,
                    mistakes: try Self.mistakes(names, reader, content: content, file: file),
                    expectation: try Self.expectation(reader, file: file), file: file))
        }
    }

    /// Adds a file of excused scenarios: a list of objects with `scenario` and `reason`.
    package mutating func readExcused(_ text: String, file: String) throws(PlanError) {
        for node in try JSONNode.read(text, file: file).elements(file) {
            let reader = PlanObject(
                try node.members(file), file: file, what: "an excuse", known: ["scenario", "reason"])
            try reader.checkNames()
            guard let scenario = try reader.string("scenario"), let reason = try reader.string("reason"),
                !reason.isEmpty
            else { throw PlanError(file: file, "an excuse needs scenario and reason", at: node.position) }
            excused[scenario] = reason
        }
    }

    private static func expectation(_ reader: PlanObject, file: String) throws(PlanError) -> MistakeExpectation {
        guard let name = try reader.names("expect")?.first else { return .caught }
        guard let expectation = MistakeExpectation(rawValue: name.text) else {
            let known = MistakeExpectation.allCases.map(\.rawValue)
            throw PlanError(
                file: file, NearestName.complaint("expectation", name.text, among: known), at: name.position)
        }
        return expectation
    }

    private static func mistakes(
        _ names: [PlanName], _ reader: PlanObject, content: [String], file: String
    ) throws(PlanError) -> [PlanName] {
        var except: Set<String> = []
        for member in try reader.member("except")?.value.members(file) ?? [] {
            guard content.contains(member.name), try !member.value.name(file).text.isEmpty else {
                let text = NearestName.complaint("mistake of content", member.name, among: content)
                throw PlanError(file: file, "\(text), each with its reason", at: member.namePosition)
            }
            except.insert(member.name)
        }
        return names.flatMap { name in
            guard name.text == Self.content else { return [name] }
            return content.filter { !except.contains($0) }.map { PlanName($0, at: name.position) }
        }
    }

    /// The cases of all rows with their mistakes, and each case once without a mistake. Engines that this build lacks
    /// are left out.
    ///
    /// - Parameter mistakes: the names of the mistakes that this build can plant.
    /// Throws: `PlanError` for unknown names, and for cases that cannot run.
    package func cases(_ registries: Registries, mistakes: [String]) throws(PlanError) -> [MistakenCase] {
        var cases: [MistakenCase] = []
        var sound: Set<String> = []
        for row in rows {
            for name in row.mistakes where !mistakes.contains(name.text) {
                throw PlanError(
                    file: row.file, NearestName.complaint("mistake", name.text, among: mistakes), at: name.position)
            }
            for engine in row.engines {
                if registries.engines.notBuilt.contains(where: { $0.name == engine.text }) { continue }
                var plan = Plan(name: "self-test", file: row.file)
                var entry = row.entry
                entry.engines = [engine]
                plan.entries = [entry]
                for planned in try PlanExpansion(plan: plan, filter: PlanFilter(), registries: registries).cases() {
                    if let verdict = planned.verdict {
                        throw PlanError(
                            file: row.file,
                            "\(planned.test.scenario) on \(engine.text) is \(verdict.rawValue): \(planned.reason)",
                            at: row.entry.scenario.position)
                    }
                    if sound.insert(planned.test.id).inserted {
                        cases.append(MistakenCase(planned: planned, mistake: nil, expectation: .caught))
                    }
                    cases += row.mistakes.map {
                        MistakenCase(planned: planned, mistake: $0.text, expectation: row.expectation)
                    }
                }
            }
        }
        return cases
    }
}
