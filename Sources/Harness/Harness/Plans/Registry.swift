import Files
import RunRecords

/// The scenarios of this build, in the order they were registered.
package struct ScenarioRegistry: Sendable {
    package private(set) var scenarios: [any Scenario] = []

    package init() {}

    package mutating func register(_ scenario: any Scenario) {
        precondition(
            !scenarios.contains { $0.slug == scenario.slug }, "scenario \(scenario.slug) is registered twice")
        scenarios.append(scenario)
    }

    package func scenario(named slug: String) -> (any Scenario)? {
        scenarios.first { $0.slug == slug }
    }

    /// All scenarios but those that break the harness on purpose.
    package var listed: [any Scenario] {
        scenarios.filter { $0.family != .planted }
    }
}

/// The engines of this build, and the names of those that it lacks.
package struct EngineRegistry: Sendable {
    package private(set) var engines: [any Engine] = []
    package private(set) var notBuilt: [NotBuilt] = []

    package init() {}

    package mutating func register(_ engine: any Engine) {
        precondition(!engines.contains { $0.name == engine.name }, "engine \(engine.name) is registered twice")
        engines.append(engine)
    }

    package mutating func registerMissing(_ name: String, remedy: String) {
        notBuilt.append(NotBuilt(name: name, remedy: remedy))
    }

    package func engine(named name: String) -> (any Engine)? {
        engines.first { $0.name == name }
    }
}

/// Everything that a build of the harness can look up by name.
package struct Registries: Sendable {
    package var scenarios: ScenarioRegistry
    package var engines: EngineRegistry
    package var datasets: DatasetRegistry
    /// Reads a data set from a file at a path; nil when this build cannot.
    package var fileDataset: (@Sendable (_ path: String) -> any DatasetSource)?
    /// Loads an engine from a shared library into this process; nil when this build cannot.
    package var engineOfFile: (@Sendable (_ path: String) throws -> any Engine)?

    package init(
        scenarios: ScenarioRegistry = ScenarioRegistry(), engines: EngineRegistry = EngineRegistry(),
        datasets: DatasetRegistry = DatasetRegistry()
    ) {
        self.scenarios = scenarios
        self.engines = engines
        self.datasets = datasets
    }

    /// The engine of a case, with a key if the case's conditions ask for encryption.
    package func engine(of test: Case) -> (any Engine)? {
        engines.engine(named: test.engine).map { $0.under(test) }
    }

    /// A data set by name, or by path.
    package func dataset(named name: String) -> (any DatasetSource)? {
        if let source = datasets.source(named: name) { return source }
        guard name.contains("/") || name.contains("."), FileTree.exists(name) else { return nil }
        return fileDataset?(name)
    }
}
