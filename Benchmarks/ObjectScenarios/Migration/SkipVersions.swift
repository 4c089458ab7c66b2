import Harness
import Measuring
import RunRecords
import Strata

/// A file of version 0 opened by version 3, and one opened by every version in turn.
struct SkipVersions: MigrationScenario {
    let slug = "skip-versions"
    let question = "Does a user who skipped updates get the same data as one who took each?"
    let parameters = [ScenarioParameter("rows", .size, default: 2_000, summary: "objects that are migrated")]

    func run(_ context: CaseContext) throws {
        try context.withEngineErrors { try runCase(context) }
    }

    private func runCase(_ context: CaseContext) throws {
        let report = context.report
        let count = try context.integer("rows")
        let durability = context.test.durability
        let direct = ResidentFile(path: try context.emptyLocation("direct").directory + "/a.strata", count: count)
        let stepwise = ResidentFile(path: try context.emptyLocation("stepwise").directory + "/a.strata", count: count)
        try direct.fill(durability)
        try stepwise.fill(durability)

        func final(_ file: ResidentFile) -> Realm.Configuration {
            file.configuration(3, Version3.Resident.self, durability: durability, ResidentFile.block3)
        }
        let start = MonotonicClock.now()
        try Realm.performMigration(for: final(direct))
        let middle = MonotonicClock.now()
        try Realm.performMigration(
            for: stepwise.configuration(1, Version1.Resident.self, durability: durability, ResidentFile.block1))
        report.check("version after the first step", expected: 1, got: try stepwise.schemaVersion())
        try Realm.performMigration(
            for: stepwise.configuration(2, Version2.Resident.self, durability: durability, ResidentFile.block2))
        report.check("version after the second step", expected: 2, got: try stepwise.schemaVersion())
        try Realm.performMigration(for: final(stepwise))
        let end = MonotonicClock.now()

        report.check("version, direct", expected: 3, got: try direct.schemaVersion())
        report.check("version, stepwise", expected: 3, got: try stepwise.schemaVersion())
        let expected = direct.expected
        compare("direct", expected, got: try direct.rows3(final(direct)), report: report)
        compare("stepwise", expected, got: try stepwise.rows3(final(stepwise)), report: report)
        report.add(.durationMilliseconds, Double(middle - start) / 1e6, label: "direct")
        report.add(.durationMilliseconds, Double(end - middle) / 1e6, label: "stepwise")
        report.add(.rows, Double(count), statistic: "count")
    }

    /// One trial; the detail names the first row that differs.
    private func compare(
        _ address: String, _ expected: [ResidentFile.Row], got: [ResidentFile.Row], report: CaseReport
    ) {
        guard expected.count == got.count else {
            report.check("\(address), rows", expected: expected.count, got: got.count)
            return
        }
        guard let difference = expected.indices.first(where: { expected[$0] != got[$0] }) else {
            report.check(address, expected: true, got: true)
            return
        }
        report.check("\(address), row \(difference)", expected: expected[difference], got: got[difference])
    }
}
