import Harness
import RunRecords

/// Judges a full read of a damaged database. The database went through several states, of which the last one is right;
/// or, in shape `log`, rows were appended to its main table by one transaction each, of which the last may be missing.
struct DamageReadOracle {
    /// The states before rows were appended, the last one last.
    private let states: [ExactOracle]
    private let full: ExactOracle
    private let mainTable: String
    private let baseCount: Int
    private let fullCount: Int

    /// - Parameter states: the last one last.
    init(_ tables: TableSet, states: [ExactOracle], appended: Table?) {
        self.states = states
        mainTable = tables.main.name
        baseCount = tables.main.rowCount
        fullCount = baseCount + (appended?.rowCount ?? 0)
        full = appended.map { ExactOracle(tables.appending($0)) } ?? ExactOracle(tables)
    }

    init(_ fixture: DamageFixture) throws {
        self.init(
            try fixture.context.tables(), states: try fixture.states(), appended: try fixture.appended())
    }

    func judge(
        engine: any Engine, settings: EngineSettings, location: DatabaseLocation
    ) -> (outcome: Outcome, detail: String) {
        guard fullCount > baseCount else {
            let comparison = StateComparison(states)
            let finding = DamageOracle.read(
                engine: engine, settings: settings, location: location, schema: full.schema, into: comparison)
            if let age = comparison.age {
                let words = "an earlier state, whole: the last \(age) acknowledged transactions are missing"
                return (.lostCommit, words)
            }
            return (finding.outcome, finding.detail)
        }
        let session: any Session
        do {
            session = try engine.open(location, settings: settings)
        } catch {
            return (error.outcomeOfOpen, error.description)
        }
        guard let tables = session as? any TableSession else { return (.refused, "\(engine.name) has no tables") }
        let reading = PrefixReading(full, mainTable: mainTable)
        var failure: EngineError?
        do throws(EngineError) {
            try tables.readAll(full.schema, into: reading)
        } catch {
            failure = error
        }
        do throws(EngineError) {
            try session.close()
        } catch {
            failure = failure ?? error
        }
        if let failure {
            if let difference = reading.comparison.difference { return (.silentlyWrong, difference) }
            return (failure.outcomeOfRead, failure.description)
        }
        return judge(reading)
    }

    /// Judges a completed read: whether its rows are right, and how many are missing at the end.
    private func judge(_ reading: PrefixReading) -> (outcome: Outcome, detail: String) {
        if let difference = reading.comparison.difference { return (.silentlyWrong, difference) }
        let count = reading.mainRows
        let otherTables = full.schema.tables.filter { $0.name != mainTable }
        for table in otherTables where reading.rows[table.name, default: 0] != table.rowCount {
            return (.silentlyWrong, "\(table.name): rows are missing")
        }
        if count < baseCount { return (.silentlyWrong, "\(mainTable): row \(count) and those after it are missing") }
        if count == fullCount { return (.correct, "") }
        let detail = "the last \(fullCount - count) of \(fullCount - baseCount) acknowledged transactions are missing"
        return (count == fullCount - 1 ? .fellBack : .lostCommit, detail)
    }
}

/// Compares and counts rows as they arrive, so that rows missing at the end are told from other missing rows.
private final class PrefixReading: RowSink {
    let comparison: FullReadComparison
    private(set) var rows: [String: Int] = [:]
    private let mainTable: String

    init(_ oracle: ExactOracle, mainTable: String) {
        comparison = FullReadComparison(oracle)
        self.mainTable = mainTable
    }

    var mainRows: Int { rows[mainTable, default: 0] }

    func receive(table: String, row: Int, values: [Value]) -> Bool {
        rows[table, default: 0] += 1
        return comparison.receive(table: table, row: row, values: values)
    }
}
