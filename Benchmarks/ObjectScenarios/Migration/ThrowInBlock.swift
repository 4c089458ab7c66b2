import Harness
import Measuring
import RunRecords
import Strata

/// A migration block throws half way. Version, schema and data must be unchanged, and a second attempt must work.
struct ThrowInBlock: MigrationScenario {
    let slug = "throw-in-block"
    let question = "Is a file untouched when its migration fails, and can it be migrated afterwards?"
    let expects: Promise.Kind? = .atomicMigration
    let parameters = [
        ScenarioParameter("rows", .size, default: 1_000, summary: "objects in the file"),
        ScenarioParameter("times", .size, default: 5, summary: "failures, at rows spread over the file"),
    ]

    private struct Stop: Error, Equatable {
        var row: Int
    }

    func run(_ context: CaseContext) throws {
        try context.withEngineErrors { try runCase(context) }
    }

    private func runCase(_ context: CaseContext) throws {
        let report = context.report
        let count = try context.integer("rows")
        let times = try context.integer("times")
        let durability = context.test.durability
        let file = ResidentFile(path: try context.emptyLocation("database").directory + "/a.strata", count: count)
        try file.fill(durability)
        let before = file.expected0
        report.check("data before", expected: true, got: try file.rows0(durability) == before)
        for time in 0..<times {
            let row = times == 1 ? count / 2 : (count - 1) * time / (times - 1)
            try fail(file, at: row, durability, report)
            report.check("version after failure \(time)", expected: 0, got: try file.schemaVersion())
            report.check("data after failure \(time)", expected: true, got: try file.rows0(durability) == before)
        }
        let start = MonotonicClock.now()
        let rows = try file.rows3(
            file.configuration(3, Version3.Resident.self, durability: durability, ResidentFile.block3))
        report.add(.durationMilliseconds, Double(MonotonicClock.now() - start) / 1e6, label: "retry")
        report.check("version after the retry", expected: 3, got: try file.schemaVersion())
        report.check("data after the retry", expected: true, got: rows == file.expected)
        report.add(.operations, Double(times), statistic: "count")
    }

    /// Opens with a block that changes, creates and deletes objects, and throws at a row.
    private func fail(
        _ file: ResidentFile, at row: Int, _ durability: DurabilityClass, _ report: CaseReport
    ) throws {
        let block: MigrationBlock = { migration, old in
            try ResidentFile.block3(migration, old)
            migration.create("Resident", value: ["number": -1, "name": "made half way"])
            var seen = 0
            try migration.enumerateObjects(ofType: "Resident") { _, new in
                if seen == row { throw Stop(row: row) }
                seen += 1
                if let new, seen % 2 == 0 { migration.delete(new) }
            }
        }
        do {
            _ = try Realm(
                configuration: file.configuration(3, Version3.Resident.self, durability: durability, block))
            report.check("the error of row \(row)", expected: "thrown", got: "nothing thrown")
        } catch let error as Stop {
            report.check("the error of row \(row)", expected: Stop(row: row), got: error)
        }
    }
}
