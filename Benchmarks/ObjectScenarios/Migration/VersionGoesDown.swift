import Harness
import RunRecords
import Strata

/// A file is opened with versions in every order.
struct VersionGoesDown: MigrationScenario {
    let slug = "version-goes-down"
    let question = "Is a lower version a typed error, and a higher one without a change harmless?"

    func run(_ context: CaseContext) throws {
        try MigrationChecks.run(context) { checks in
            let url = try checks.file("database")
            let file = ResidentFile(path: url.path, count: 100)
            try file.fill(context.test.durability)
            try Realm.performMigration(for: checks.configuration(url, 5, types: [Version0.Resident.self]))
            try checks.version(url, is: 5, "bumped with no change")
            for version in [4, 1, 0] as [UInt64] {
                checks.refused(
                    "down to \(version)", .schemaMismatch, naming: ["schema version 5", "asks for \(version)"]
                ) {
                    _ = try Realm(configuration: checks.configuration(url, version, types: [Version0.Resident.self]))
                }
            }
            checks.refused("changed without a new version", .schemaMismatch, naming: ["'Resident.name' was added"]) {
                _ = try Realm(configuration: checks.configuration(url, 5, types: [Version3.Resident.self]))
            }
            try checks.version(url, is: 5, "afterwards")
            let rows = try file.rows0(context.test.durability, version: 5)
            checks.report.check("data", expected: true, got: rows == file.expected0)
        }
    }
}
