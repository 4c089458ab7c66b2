import Files
import Harness
import RunRecords
import Strata

/// Opens a bundled file of an older version read-only; and opens a file that is to be deleted and created anew while
/// another Realm has it open.
struct ReadOnlyMigration: MigrationScenario {
    let slug = "read-only-migration"
    let question =
        "What happens to a read-only file that needs a migration, and to one that is to be deleted while it is open?"

    func run(_ context: CaseContext) throws {
        try MigrationChecks.run(context) { checks in
            let url = try checks.file("database")
            let file = ResidentFile(path: url.path, count: 50)
            try file.fill(context.test.durability)
            let bytes = try FileTree.readBytes(url.path)
            var reading = checks.configuration(url, 3, types: [Version3.Resident.self], block: ResidentFile.block3)
            reading.readOnly = true
            checks.refused("read-only", .schemaMismatch, naming: ["is read-only and cannot be migrated"]) {
                _ = try Realm(configuration: reading)
            }
            reading.deleteRealmIfMigrationNeeded = true
            checks.refused("read-only and to be deleted", .schemaMismatch) { _ = try Realm(configuration: reading) }
            checks.report.check("file untouched", expected: true, got: try FileTree.readBytes(url.path) == bytes)
            var afresh = checks.configuration(url, 3, types: [Version3.Resident.self])
            afresh.deleteRealmIfMigrationNeeded = true
            do {
                let open = try Realm(configuration: checks.configuration(url, 0, types: [Version0.Resident.self]))
                checks.refused("deleted while open", .alreadyOpen) { _ = try Realm(configuration: afresh) }
                try open.write { open.create(Version0.Resident.self, value: ["number": 1000]) }
                checks.report.check("still usable", expected: 51, got: open.objects(Version0.Resident.self).count)
                let rows = try file.rows0(context.test.durability)
                checks.report.check("its data", expected: true, got: Array(rows.prefix(50)) == file.expected0)
            }
            let realm = try Realm(configuration: afresh)
            checks.report.check("afresh", expected: 0, got: realm.objects(Version3.Resident.self).count)
            try checks.version(url, is: 3, "afresh")
        }
    }
}
