import Harness
import Measuring
import RunRecords

/// Deletes all rows in one transaction and inserts them again in another, round after round.
///
/// A violation: a file that grows from round to round, or other rows than were inserted last. The series shows the
/// space that the engine reports as free after a deletion.
struct DeleteRefill: Scenario {
    let slug = "delete-refill"
    let family = Family.growth
    let question = "Does a file grow when all of it is deleted and filled again?"
    let requires: Set<Capability> = [.tables, .deletions, .persistent]
    let defaultDataset: String? = "people"
    let parameters = [
        ScenarioParameter(
            "rounds", .size, default: 10, range: 1...10_000,
            summary: "times that everything is deleted and inserted again"),
        ScenarioParameter(
            "warm-up", .condition, default: 2, range: 1...100,
            summary: "first rounds, whose largest size of the file is the basis"),
        ScenarioParameter(
            "bound", .allowance, default: 110, range: 100...10_000,
            summary: "largest size in later rounds, in percent of the basis, besides a step of growth"),
    ]

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let report = context.report
        let tables = try context.tables()
        guard case .integer(let keys)? = tables.main.keyColumn?.values else {
            throw HarnessError("\(tables.main.name) has no integer key")
        }
        let location = try context.fixtureLocation()
        let session = try context.open(location, as: (any DeletionSession).self)
        guard let inserts = session as? any TableSession else {
            throw HarnessError("\(context.engine.name) declares tables that its session has not")
        }
        var course = SizeCourse(step: "transactions")
        try course.note(session, at: 0)
        let rounds = try context.integer("rounds")
        let warmUp = try context.integer("warm-up")
        var (deletes, refills) = (UInt64(0), UInt64(0))
        var done = 0
        while done < rounds {
            let start = MonotonicClock.now()
            try session.delete(table: tables.main.name, keys: keys)
            let middle = MonotonicClock.now()
            try course.note(session, at: done * 2 + 1)
            let rows = Self.refill(tables.main, round: done)
            let again = MonotonicClock.now()
            try inserts.insertAll(rows)
            refills += MonotonicClock.now() - again
            deletes += middle - start
            done += 1
            try course.note(session, at: done * 2)
            if context.isOverBudget && done > warmUp {
                report.cut()
                break
            }
        }
        try session.close()
        report.add(.rowsPerSecond, Double(done * keys.count) / (Double(max(1, deletes)) / 1e9), label: "delete")
        report.add(.rowsPerSecond, Double(done * keys.count) / (Double(max(1, refills)) / 1e9), label: "refill")
        report.add(.fileBytes, Double(try context.fileBytes(at: location)), label: "closed")
        course.judgePlateau(context, warmUp: warmUp * 2 + 1, percent: try context.integer("bound"))
        var last = tables
        if done > 0 { last.tables[0] = Self.refill(tables.main, round: done - 1) }
        context.judgeContent("content", at: location, expected: ExactOracle(last))
    }

    /// The same rows with other integers in each round: old values must not reappear.
    private static func refill(_ table: Table, round: Int) -> Table {
        var table = table
        for column in table.columns.indices where table.columns[column].name != table.key {
            guard case .integer(let values) = table.columns[column].values else { continue }
            table.columns[column].values = .integer(values.map { $0 &+ Int64(round + 1) })
        }
        return table
    }
}
