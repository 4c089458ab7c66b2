import Datasets
import FaultModel
import Harness
import Measuring
import RunRecords
import Seeds
import SimulatedDisk

/// Cuts power at every operation of a simulated disk, and opens every possible disk afterwards.
///
/// Each transaction sets one column of all rows to its number. A read after a crash must find one transaction as a
/// whole, with all else as loaded: in the class `full` at least the last acknowledged one, and in every class at most
/// the last begun one. The engine's own check must find nothing.
struct PowerLoss: Scenario {
    let slug = "power-loss"
    let family = Family.crash
    let question = "Is everything acknowledged there, and nothing torn, after power went at any moment?"
    let requires: Set<Capability> = [.tables, .updates, .simulatedDisk]
    let schedule = Schedule.free
    let expects: Promise.Kind? = .durability
    let parameters = [
        ScenarioParameter("transactions", .size, default: 12, summary: "transactions of the history"),
        ScenarioParameter("rows", .size, default: 40, summary: "rows that each of them sets"),
        ScenarioParameter("states", .effort, default: 20_000, summary: "disks that are opened at most"),
    ]

    /// Absolute, since engines that take URLs make paths absolute.
    private static let location = DatabaseLocation(directory: "/folder")

    func promise(brokenBy outcome: Outcome) -> Promise.Kind? { outcome.brokenPromise(or: expects) }

    func run(_ context: CaseContext) throws {
        guard let engine = context.engine as? any SimulatableEngine else {
            throw HarnessError("\(context.engine.name) declares simulated-disk, and is no SimulatableEngine")
        }
        let rows = try context.integer("rows")
        let most = try context.integer("states")
        let disk = SimulatedDisk(seed: Seed(context.seed.rawValue))
        let marks = try record(engine, context, disk, rows: rows)
        let loaded = ExactOracle(try Self.tables(rows))
        try context.judgeSeals(on: disk, secrets: CaseContext.secrets(loaded.schema))
        let keeps = context.test.durability == .full
        let (start, ends) = (MonotonicClock.now(), marks.stretches(operations: disk.operations))
        var (tried, last) = (0, 0)
        var sweep = disk.sweep()
        var found = CrashCoverage()
        for (index, stretch) in ends.enumerated() where !context.isOverBudget {
            // A stretch that needs less than its share leaves the rest to later ones.
            let share = tried + max(1, (most - tried) / (ends.count - index))
            found += sweep.visit(
                points: stretch, context: { operation in UInt64(marks.acknowledged.count { $0 <= operation }) }
            ) { state in
                let allowed = marks.allowed(before: state.step.operation, keepsAcknowledged: keeps)
                let (outcome, detail) = judge(
                    engine, context, disk: disk.crash(state), allowed: allowed, loaded: loaded)
                context.report.add(
                    Trial(address: FaultAddress(text: "\(state.address)"), outcome: outcome, detail: detail))
                (tried, last) = (tried + 1, state.step.operation)
                return tried < share && !context.isOverBudget
            }
        }
        if context.isOverBudget { context.report.cut() }
        found.operations = disk.operations
        let seconds = Double(MonotonicClock.now() - start) / 1e9
        context.report.add(.trials, Double(tried), statistic: "count")
        context.report.add(.statesPerSecond, Double(tried) / max(seconds, 1e-9), count: tried)
        let isWhole = last >= marks.acknowledged.last ?? .max
        context.require(isWhole ? tried : 0, "no disk was opened on which all transactions were acknowledged")
        context.report.note(tried < most ? "\(found)" : "\(found); ended after \(most) states, as the parameter says")
    }

    /// Loads the rows as transaction 0, and runs the transactions. The marks are operation counts of the disk.
    private func record(
        _ engine: any SimulatableEngine, _ context: CaseContext, _ disk: SimulatedDisk, rows: Int
    ) throws -> CrashMarks {
        var marks = CrashMarks()
        let session = try engine.open(on: disk, Self.location, settings: context.settings)
        guard let tables = session as? any TableSession, let updates = session as? any UpdateSession else {
            throw HarnessError("\(engine.name) declares a capability that its session has not")
        }
        disk.setOperation("load")
        marks.begun.append(disk.operations)
        try tables.load(Self.tables(rows))
        marks.acknowledged.append(disk.operations)
        let keys = (0..<Int64(rows)).map { $0 }
        for number in 1...(try context.integer("transactions")) {
            disk.setOperation("commit-\(number)")
            marks.begun.append(disk.operations)
            try updates.update(
                table: "Person", column: "age", keys: keys, values: keys.map { _ in Self.value(number) })
            marks.acknowledged.append(disk.operations)
        }
        disk.setOperation("close")
        try session.close()
        return marks
    }

    private static func tables(_ rows: Int) throws -> TableSet {
        var set = try PeopleDataset().tables(size: rows, seed: Seed(0))
        guard let column = set.tables[0].columnIndex("age") else { throw HarnessError("people have no age") }
        set.tables[0].columns[column].values = .integer(Array(repeating: value(0), count: rows))
        return set
    }

    /// The value of transaction `number`: no two alike, small and large alternately, so that columns change their
    /// width.
    private static func value(_ number: Int) -> Int64 {
        number % 3 == 0 ? Int64(number) : Int64(number) << (number % 5 * 8)
    }

    /// `allowed`: the numbers of transactions that may have survived, the loading one included; 0 is a database without
    /// tables.
    private func judge(
        _ engine: any SimulatableEngine, _ context: CaseContext, disk: SimulatedDisk, allowed: ClosedRange<Int>,
        loaded: ExactOracle
    ) -> (Outcome, String) {
        let rows = loaded.schema.main.rowCount
        let cells = (0..<rows).map { CellPlace(table: "Person", row: $0, column: "age") }
        let comparison = FullReadComparison(loaded, open: cells)
        do {
            disk.setOperation("recover")
            let session = try engine.open(on: disk, Self.location, settings: context.settings)
            guard let tables = session as? any TableSession else { throw EngineError(.unsupported, "no tables") }
            do throws(EngineError) {
                try tables.readAll(loaded.schema, into: comparison)
            } catch {
                // Without its table the database is in its state before the first transaction. A read that returned
                // rows had a table.
                let isEmpty = comparison.rowCount == 0 && comparison.difference == nil
                if allowed.lowerBound > 0 || error.kind == .damaged || !isEmpty { throw error }
                try session.close()
                try engine.check(on: disk, Self.location)
                return (.correct, "")
            }
            try session.close()
            try engine.check(on: disk, Self.location)
        } catch let error as EngineError {
            if let difference = comparison.difference { return (.silentlyWrong, difference) }
            return (error.outcomeOfRead, "allowed \(allowed): \(error)")
        } catch {
            return (.refused, "\(error)")
        }
        if comparison.rowCount == 0 {
            let isEmpty = allowed.contains(0)
            return (isEmpty ? .correct : .lostCommit, isEmpty ? "" : "no row, allowed transactions \(allowed)")
        }
        comparison.finish()
        if let difference = comparison.difference { return (.silentlyWrong, difference) }
        return Self.judge(cells.map { comparison.found[$0] }, allowed: allowed)
    }

    /// Judges the values: they must all be those of one transaction, and it must be an allowed one.
    private static func judge(_ ages: [Value?], allowed: ClosedRange<Int>) -> (Outcome, String) {
        guard case .integer(let first)?? = ages.first, ages.allSatisfy({ $0 == .integer(first) }) else {
            return (.silentlyWrong, "a transaction is there in part")
        }
        if allowed.contains(where: { $0 > 0 && value($0 - 1) == first }) { return (.correct, "") }
        let isOlder = (1...max(1, allowed.lowerBound)).contains { value($0 - 1) == first }
        return (isOlder ? .lostCommit : .silentlyWrong, "found \(first), allowed transactions \(allowed)")
    }
}
