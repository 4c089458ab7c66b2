import Files
import Measuring
import RunRecords
import Seeds

/// What a scenario has at hand while its case runs: one per worker process.
///
/// Not Sendable: threads that a scenario starts get copies of the values in it (engine, settings, location, seed).
package final class CaseContext {
    package let test: Case
    package let engine: any Engine
    package let settings: EngineSettings
    package let source: (any DatasetSource)?
    /// Empty at the start, private to this case, and removed after it.
    package let directory: String
    /// The case's copy of its fixture; nil when it has none.
    package let fixture: DatabaseLocation?
    /// The end of the case's share of the time budget, on the monotonic clock.
    package let deadline: UInt64
    /// Everything that the case found. Written by the scenario.
    package let report: CaseReport
    /// The only fault of the sweep to try, when `assay replay RUN CASE TRIAL` set it.
    package let onlyTrial: FaultAddress?
    /// Inside a trial of a sweep: the directory of the child process that runs it, which that process uses for all its
    /// trials.
    package internal(set) var trialDirectory: String
    /// Where a replay keeps the damaged database of its trial; nil otherwise.
    package var keepDirectory: String?
    /// The program whose workers run steps; nil if the case does not run in a worker.
    package var executable: String?
    private var loaded: TableSet?

    package init(
        test: Case, engine: any Engine, source: (any DatasetSource)?, directory: String, fixture: DatabaseLocation?,
        deadline: UInt64, onlyTrial: FaultAddress? = nil, report: CaseReport = CaseReport()
    ) {
        self.test = test
        self.engine = engine
        self.settings = engine.settings(for: test.durability)
        self.source = source
        self.directory = directory
        self.fixture = fixture
        self.deadline = deadline
        self.onlyTrial = onlyTrial
        self.trialDirectory = directory
        self.report = report
    }

    package var seed: Seed { test.seed }

    /// A stream of random choices for a part of the case, independent of the other parts.
    package func random(_ label: String) -> RandomStream {
        RandomStream(seed.derived(label))
    }

    /// Whether the case should stop soon. A scenario that stops for this reason calls `report.cut()`.
    package var isOverBudget: Bool {
        MonotonicClock.now() >= deadline
    }

    /// The case's data, generated on first use. A scenario calls it before a measurement, so that the time does not
    /// include the generation.
    package func tables() throws -> TableSet {
        if let loaded { return loaded }
        guard let source else { throw HarnessError("scenario \(test.scenario) has no data set") }
        let tables = try source.tables(size: test.size > 0 ? test.size : nil, seed: seed.derived("dataset"))
        loaded = tables
        return tables
    }

    /// The case's data set, if it is so large that it is generated in pieces.
    package var sourceInPieces: (any RangedDatasetSource)? { source?.inPieces(size: test.size) }

    /// The functions of the preloaded library. If this process runs without it, they are nil, and the report makes the
    /// case inconclusive.
    package func witness() -> IOWitness? {
        if IOWitness.shared == nil { report.lackPreload() }
        return IOWitness.shared
    }

    /// A new, empty directory of that name inside the case's directory.
    package func emptyLocation(_ name: String) throws -> DatabaseLocation {
        let path = directory + "/" + name
        try FileTree.createDirectory(path)
        return DatabaseLocation(directory: path)
    }

    /// The location of the case's prepared data. An engine in memory loads it in this call.
    package func fixtureLocation() throws -> DatabaseLocation {
        if let fixture { return fixture }
        guard !engine.capabilities.contains(.persistent) else {
            throw HarnessError("scenario \(test.scenario) asked for a fixture that it did not declare")
        }
        let location = try emptyLocation("fixture")
        let session = try open(location)
        guard let tables = session as? any TableSession else {
            throw HarnessError("\(test.engine) cannot load a data set")
        }
        try tables.load(try self.tables())
        try tables.close()
        return location
    }

    /// Copies the database to where `assay replay --keep` asked for it; does nothing without that option. A trial calls
    /// it after the fault and before the next open, which may repair the database or damage it further.
    package func keepDatabase(at location: DatabaseLocation) throws {
        guard let keepDirectory else { return }
        let target = KeptDatabase(directory: keepDirectory).location.directory
        try FileTree.remove(target)
        try FileTree.copy(from: location.directory, to: target)
    }

    package func open(_ location: DatabaseLocation) throws(EngineError) -> any Session {
        try engine.open(location, settings: settings)
    }

    /// A parameter of the case as a number. It is within the parameter's range, since the values of a plan are checked
    /// when the plan is read.
    package func integer(_ name: String) throws -> Int {
        guard let text = test.parameter(name) else { throw HarnessError("no parameter \(name)") }
        guard let value = Int(text) else { throw HarnessError("parameter \(name) is no integer: \(text)") }
        return value
    }

    package func text(_ name: String) throws -> String {
        guard let text = test.parameter(name) else { throw HarnessError("no parameter \(name)") }
        return text
    }
}
