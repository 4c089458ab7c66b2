import JSONText
import RunRecords

/// What a build can run, as its `worker --describe` prints it: it decides whether two builds can be compared in a case.
package struct WorkerDescription: Equatable {
    package struct Engine: Hashable, Sendable {
        package var name: String
        package var version: String
        package var capabilities: [String]
        /// The digest of the shared library that has the engine; empty if the engine is part of the program.
        package var fileDigest = ""
    }

    package struct Scenario: Hashable, Sendable {
        package var slug: String
        package var family: String
        /// Ascending.
        package var parameters: [String]
        /// Parameters that a case may leave out. A build that is older than conditions has none.
        package var conditions: [String] = []
    }

    package var protocolVersion: Int
    /// The program's path, with symbolic links resolved; it is not that of a wrapper script.
    package var program: String
    package var build: BuildDescription
    package var engines: [Engine]
    package var scenarios: [Scenario]
    /// Data sets that have a name; all others are named by the path of a file.
    package var datasets: [String]

    package init(_ registries: Registries, build: BuildDescription, program: String) {
        protocolVersion = WorkerRequest.protocolVersion
        self.build = build
        self.program = program
        engines = registries.engines.engines.map {
            Engine(
                name: $0.name, version: $0.version, capabilities: $0.capabilities.map(\.rawValue).sorted(),
                fileDigest: $0.file?.digest ?? "")
        }
        scenarios = registries.scenarios.listed.map {
            Scenario(
                slug: $0.slug, family: $0.family.rawValue, parameters: $0.parameters.map(\.name).sorted(),
                conditions: $0.conditionParameters.map(\.name))
        }
        datasets = registries.datasets.sources.map(\.name)
    }

    /// Why this build cannot run a case; nil if it can.
    package func reasonToRefuse(_ test: Case) -> String? {
        guard let scenario = scenarios.first(where: { $0.slug == test.scenario }) else {
            return "has no scenario \(test.scenario)"
        }
        guard engines.contains(where: { $0.name == test.engine }) else { return "has no engine \(test.engine)" }
        let given = test.parameters.map(\.name)
        if let unknown = given.first(where: { !(scenario.parameters + scenario.conditions).contains($0) }) {
            return "has no parameter \(unknown) of \(test.scenario)"
        }
        if let missing = scenario.parameters.first(where: { !given.contains($0) }) {
            return "has another parameter of \(test.scenario), \(missing)"
        }
        let isPath = test.dataset.contains("/") || test.dataset.contains(".")
        if !test.dataset.isEmpty, !isPath, !datasets.contains(test.dataset) {
            return "has no data set \(test.dataset)"
        }
        return nil
    }

    /// The cases that both builds can run in the same way, and the other ones with the reason, both in the given order.
    package static func compare(
        _ planned: [PlannedCase], a: WorkerDescription, b: WorkerDescription
    ) -> (cases: [Case], refused: [BuildComparison.Refused]) {
        var cases: [Case] = []
        var refused: [BuildComparison.Refused] = []
        for entry in planned {
            if let reason = reasonToRefuse(entry, a, b) {
                refused.append(BuildComparison.Refused(test: entry.test, reason: reason))
            } else {
                cases.append(entry.test)
            }
        }
        return (cases, refused)
    }

    private static func reasonToRefuse(
        _ planned: PlannedCase, _ a: WorkerDescription, _ b: WorkerDescription
    ) -> String? {
        let test = planned.test
        if let reason = a.reasonToRefuse(test) { return "side A " + reason }
        if let reason = b.reasonToRefuse(test) { return "side B " + reason }
        let engines = [a, b].compactMap { side in side.engines.first { $0.name == test.engine } }
        let versions = engines.map(\.version)
        // An engine of this repository has the version of its build, and another version is what the user compares.
        // That also holds for an engine that each side loads from a library.
        let isOwn =
            versions == [a.build.version, b.build.version] || !engines.contains { $0.fileDigest.isEmpty }
        if versions.count == 2, versions[0] != versions[1], !isOwn {
            return "\(test.engine) is \(versions[0]) on side A and \(versions[1]) on side B"
        }
        return planned.verdict.map { $0.rawValue + (planned.reason.isEmpty ? "" : ", \(planned.reason)") }
    }
}

extension WorkerDescription: JSONRecord {
    package static let blank = WorkerDescription(Registries(), build: .blank, program: "")

    /// Reading throws for a build so old that it does not describe itself: a comparison cannot use such a build.
    package static let fields: [JSONField<WorkerDescription>] = [
        .member("assay", \.build.version), .member("protocol", \.protocolVersion), .member("program", \.program),
        JSONField("build", write: { $0.build.json }) { (json, description) throws(JSONShapeError) in
            description.build = try BuildDescription(json: json ?? .null, onto: description.build)
        },
        .member("engines", \.engines), .member("scenarios", \.scenarios), .member("datasets", \.datasets),
    ]
}

extension WorkerDescription.Engine: JSONRecord {
    package static let blank = Self(name: "", version: "", capabilities: [])
    package static let fields: [JSONField<Self>] = [
        .member("name", \.name), .member("version", \.version), .member("capabilities", \.capabilities),
        .sparse("file_digest", \.fileDigest),
    ]
}

extension WorkerDescription.Scenario: JSONRecord {
    package static let blank = Self(slug: "", family: "", parameters: [])
    package static let fields: [JSONField<Self>] = [
        .member("slug", \.slug), .member("family", \.family),
        JSONField("parameters", write: { $0.parameters.json }) { (json, scenario) throws(JSONShapeError) in
            scenario.parameters = try [String](json: json ?? .null).sorted()
        },
        .lenient("conditions", \.conditions),
    ]
}
