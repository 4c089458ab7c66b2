import Datasets
import Files
import Harness
import Measuring
import RunRecords
import Seeds
import Testing

/// Runs a case in this process, as a worker does: builds its fixture, copies it, runs the scenario.
enum CaseUnderTest {
    static func context(
        _ scenario: any Scenario, on engine: any Engine, dataset: String? = nil, size: Int = 100,
        parameters: [String: String] = [:], in directory: String
    ) throws -> CaseContext {
        var datasets = DatasetRegistry()
        DatasetRegistration.register(into: &datasets)
        let name = dataset ?? scenario.defaultDataset ?? ""
        let source = datasets.source(named: name)
        try #require(source != nil || name.isEmpty, "no data set \(name)")
        let unknown = Set(parameters.keys).subtracting(scenario.parameters.map(\.name))
        try #require(unknown.isEmpty, "unknown parameters of the scenario")
        let test = Case(
            scenario: scenario.slug, family: scenario.family, engine: engine.name, dataset: name,
            size: source?.defaultSize == nil ? 0 : size,
            parameters: scenario.parameters.map {
                CaseParameter(name: $0.name, value: parameters[$0.name] ?? $0.defaultValue)
            },
            seed: Seed(1), durability: .none)
        var fixture: DatabaseLocation?
        if scenario.fixture(for: test) != nil, engine.capabilities.contains(.persistent) {
            let location = DatabaseLocation(directory: directory + "/fixture")
            try FileTree.createDirectory(location.directory)
            let scratch = directory + "/building"
            try FileTree.createDirectory(scratch)
            let building = CaseContext(
                test: test, engine: engine, source: source, directory: scratch, fixture: location, deadline: .max)
            try scenario.buildFixture(building, at: location)
            fixture = location
        }
        let own = directory + "/case"
        try FileTree.createDirectory(own)
        return CaseContext(
            test: test, engine: engine, source: source, directory: own, fixture: fixture, deadline: .max)
    }

    /// Runs the scenario, and returns its report.
    static func run(
        _ scenario: any Scenario, on engine: any Engine, dataset: String? = nil, size: Int = 100,
        parameters: [String: String] = [:]
    ) throws -> CaseReport {
        try EnginesUnderTest.withDirectory { directory in
            let context = try context(
                scenario, on: engine, dataset: dataset, size: size, parameters: parameters, in: directory)
            try scenario.run(context)
            return context.report
        }
    }
}

extension CaseReport {
    /// The value of the first sample of that metric.
    func value(_ metric: String, label: String? = nil) -> Double? {
        self.samples.first { $0.metric.name == metric && (label == nil || $0.label == label) }?.value
    }
}
