import Files
import Harness
import RunRecords

/// Kills a writing process, deletes the database's data file with or without the files beside it, and creates a new
/// database at the same path: nothing of the old one may reappear, and the new one must work.
struct DeleteFiles: Scenario {
    let slug = "delete-files"
    let family = Family.crash
    let question = "Is a database that is created in place of a deleted one really new?"
    let requires: Set<Capability> = [.tables, .persistent, .updates, .processes]
    let schedule = Schedule.free
    let defaultDataset: String? = "damage"
    let expects: Promise.Kind? = .atomicity
    let parameters = [
        ScenarioParameter("trials", .effort, default: 20, summary: "deletions, of the data file alone or of all files")
    ]

    func promise(brokenBy outcome: Outcome) -> Promise.Kind? {
        // A row that was acknowledged in the new database and is missing was lost.
        outcome.brokenPromise(or: expects)
    }

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let files = try FixtureFiles(context)
        let addresses = (0..<(try context.integer("trials"))).map { FaultAddress(.delete, $0) }
        let tables = try context.tables()
        let deletions = TrialTally(context, "deleted")
        try context.sweep(addresses, secondsPerTrial: 90) { address in
            var random = context.random("delete \(address.position ?? 0)")
            let trial = try IncrementTrial(context, files)
            let writer = try trial.start()
            if !writer.hears(1 + random.below(20)) { return try trial.notWriting(writer, address) }
            writer.kill()
            writer.wait()
            let isWhole = (address.position ?? 0) % 2 == 0
            let gone = context.engine.files(at: trial.location).filter { isWhole || $0.role == .data }
            for file in gone { try FileTree.remove(file.path) }
            if !gone.isEmpty { try deletions.add() }
            let (engine, settings, location) = (context.engine, context.settings, trial.location)
            let finding = try ForkedReader.finding(seconds: 30) {
                try Self.makeNew(engine, settings, location: location, tables: tables)
            }
            return Trial(address: address, outcome: finding.outcome, detail: finding.detail)
        }
        context.require(try deletions.count(), "no file was deleted: the engine named none")
    }

    /// Creates empty tables and checks them; then commits all rows of the data set table by table, and reads them.
    private static func makeNew(
        _ engine: any Engine, _ settings: EngineSettings, location: DatabaseLocation, tables: TableSet
    ) throws -> ContentFinding {
        func open() throws -> any TableSession {
            try CaseContext.session(engine, location, settings, as: (any TableSession).self)
        }
        let made = try open()
        try made.create(tables)
        try made.close()
        var none = ExactOracle(tables)
        for table in tables.tables { none.deleteAll(table: table.name) }
        var finding = DamageOracle.read(try open(), expected: none)
        guard finding.outcome == .correct else {
            finding.detail = "before anything was inserted: \(finding.detail)"
            return finding
        }
        let filling = try open()
        for table in tables.targetsFirst { try filling.insertAll(table) }
        try filling.close()
        finding = DamageOracle.read(try open(), expected: ExactOracle(tables))
        if finding.outcome != .correct { finding.detail = "after all was inserted: \(finding.detail)" }
        return finding
    }
}
