import RunRecords
import Seeds

/// Whether two runs with the same seed do the same steps in the same order.
package enum Schedule: String, Sendable {
    case deterministic
    /// Threads run freely: each does the same steps, but their interleaving differs.
    case free
}

extension Case {
    /// A parameter that is a whole number; 0 if it has none of that name.
    package func integer(_ name: String) -> Int {
        parameter(name).flatMap { Int($0) } ?? 0
    }
}

/// The database that must be on disk before a case starts. A process of its own builds it once per run; each case gets
/// a copy.
package struct FixtureRequest: Hashable, Sendable {
    /// Names the way in which the fixture is built, and is a part of its key. `load` is the data set in one
    /// transaction.
    package var recipe: String
    /// Whether the case works on the fixture itself. It is for cases that only read, and whose copy of the database
    /// would take longer than the measurement. The run checks that the case changed no file.
    package var isReadInPlace: Bool
    /// Whether files that the engine never changes once written (`Engine.constantPatterns`) are hard-linked into the
    /// copy.
    package var linksConstantFiles: Bool

    package init(recipe: String = "load", isReadInPlace: Bool = false, linksConstantFiles: Bool = false) {
        self.recipe = recipe
        self.isReadInPlace = isReadInPlace
        self.linksConstantFiles = linksConstantFiles
    }

    /// With so many rows, a copy takes longer than most measurements.
    private static let largeRows = 2_000_000

    /// The data set, for a case that only reads.
    package static func reading(_ test: Case) -> FixtureRequest {
        let isLarge = test.size >= largeRows
        return FixtureRequest(isReadInPlace: isLarge, linksConstantFiles: isLarge)
    }

    /// The data set, for a case that changes it.
    package static func changing(_ test: Case) -> FixtureRequest {
        FixtureRequest(linksConstantFiles: test.size >= largeRows)
    }
}

/// Which part of a database a scenario is about. `--only` selects scenarios by it, or by their family.
package enum Layer: String, Sendable, CaseIterable {
    /// Tables, transactions and files: every engine has them.
    case storage
    /// Objects, their links, and how a program navigates along them.
    case objects

    /// Capabilities of engines and scenarios that go beyond storage.
    package static let capabilitiesOfObjects: Set<Capability> = [.objects, .links, .heldObjects, .migrations]
}

/// A named experiment. `docs/harness.md` lists the steps to add one.
package protocol Scenario: Sendable {
    /// Its name in the catalogue: `bulk-insert`.
    var slug: String { get }
    var family: Family { get }
    /// The question that it answers, as `assay list` and the report put it.
    var question: String { get }
    var parameters: [ScenarioParameter] { get }
    /// The conditions that its cases may have; by default all that the harness can create for any case.
    var conditions: Set<Condition> { get }
    var schedule: Schedule { get }
    var requires: Set<Capability> { get }
    /// By default derived from `requires`. Reads that both objects and bare tables offer belong to both layers.
    var layers: Set<Layer> { get }
    /// The only durability class in which the scenario makes sense; nil for that of the plan.
    var durability: DurabilityClass? { get }
    /// The data set that it runs on unless the plan says otherwise; nil if it makes its own data.
    var defaultDataset: String? { get }
    /// The outcomes that are right. Any other one is a violation if the engine makes the promise that `expects` names.
    var accepts: Set<Outcome> { get }
    /// The promise that a wrong outcome breaks; nil if a wrong outcome is a violation for every engine, whatever it
    /// promises.
    var expects: Promise.Kind? { get }
    /// The promise that this outcome breaks: `expects`, unless the scenario tests several promises. Safety and progress
    /// are separate promises: an engine that hangs has lost no data.
    func promise(brokenBy outcome: Outcome) -> Promise.Kind?
    /// Whether a promise of an engine covers this case: some promises exclude a power failure.
    func isMeant(_ promise: Promise, for test: Case) -> Bool
    /// Whether the scenario judges the state after a power failure on files of this machine. If the machine's syncs are
    /// not honest, such a case is inconclusive (``SyncHonesty``). Other cases do not depend on them: the files of a
    /// killed process keep what was written without a sync, and the simulated disk honours every sync.
    var restsOnSyncs: Bool { get }
    /// The weakest isolation level at which a wrong outcome breaks the promise of isolation: an engine that promises
    /// only a weaker level has not broken its promise.
    var isolation: IsolationLevel { get }

    /// Why the values of a case's parameters do not go together; nil if they do. Each value is already known to be
    /// within its own range.
    func objection(to test: Case) -> String?

    /// nil when the case starts from an empty directory.
    func fixture(for test: Case) -> FixtureRequest?

    /// Builds the fixture into an empty directory. The default loads the case's data set in one transaction.
    func buildFixture(_ context: CaseContext, at location: DatabaseLocation) throws

    /// Runs a step, in a fresh process, for a case that called `CaseContext.runStep`. By default a scenario has no
    /// steps.
    func runStep(_ arguments: [String], _ context: CaseContext) throws

    /// Runs the case and adds its findings to `context.report`; findings before an error are kept.
    /// Throws: `EngineError` for what the engine refused (the outcome becomes `refused`), `HarnessError` for a failure
    /// that says nothing about the engine.
    func run(_ context: CaseContext) throws
}

extension Scenario {
    package var parameters: [ScenarioParameter] { [] }

    /// The parameters of a case that are sizes, with their values and minima. Smaller sizes do not change what is
    /// promised.
    package func sizes(of test: Case) -> [(name: String, value: Int, least: Int)] {
        parameters.compactMap { parameter in
            guard case .integer(let range) = parameter.kind, parameter.role == .size,
                let text = test.parameter(parameter.name), let value = Int(text)
            else { return nil }
            return (parameter.name, value, range.lowerBound)
        }
    }

    package var schedule: Schedule { .deterministic }
    package var layers: Set<Layer> {
        requires.isDisjoint(with: Layer.capabilitiesOfObjects) ? [.storage] : [.objects]
    }
    package var durability: DurabilityClass? { nil }
    package var defaultDataset: String? { nil }
    package var accepts: Set<Outcome> { [.correct] }
    package var expects: Promise.Kind? { nil }
    package func promise(brokenBy outcome: Outcome) -> Promise.Kind? { expects }
    package func isMeant(_ promise: Promise, for test: Case) -> Bool { true }
    package var restsOnSyncs: Bool { false }
    package var isolation: IsolationLevel { .snapshot }

    package func objection(to test: Case) -> String? { nil }

    package func fixture(for test: Case) -> FixtureRequest? { nil }

    package func runStep(_ arguments: [String], _ context: CaseContext) throws {
        throw HarnessError("scenario \(slug) has no steps")
    }

    package func buildFixture(_ context: CaseContext, at location: DatabaseLocation) throws {
        let session = try context.open(location)
        guard let tables = session as? any TableSession else {
            throw HarnessError("\(context.test.engine) cannot load a data set: its session has no tables")
        }
        if let source = context.sourceInPieces {
            try Self.load(source, context.test.size, into: tables)
        } else {
            try tables.load(try context.tables())
        }
        try tables.close()
    }

    /// Loads rows in transactions of `RangedDatasetSource.rowsOfAPiece` rows each: one transaction for all rows would
    /// need memory in proportion to the database.
    private static func load(
        _ source: any RangedDatasetSource, _ size: Int, into session: any TableSession
    ) throws {
        try session.create(try source.tables(size: 0, seed: Seed(0)))
        let step = type(of: source).rowsOfAPiece
        for first in stride(from: 0, to: size, by: step) {
            try session.insertAll(source.mainRows(first..<min(first + step, size)))
        }
    }
}
