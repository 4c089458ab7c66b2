import Harness
import RunRecords
import Strata

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A migration block opens and deletes the file, rehearses its migration, and reads its version.
struct OpenInsideMigration: MigrationScenario {
    let slug = "open-inside-migration"
    let question = "Is opening a database inside its own migration an error at once, and no deadlock?"

    func run(_ context: CaseContext) throws {
        try MigrationChecks.run(context) { checks in
            let url = try checks.file("database")
            let file = ResidentFile(path: url.path, count: 50)
            try file.fill(context.test.durability)
            let inner = checks.configuration(url, 0, types: [Version0.Resident.self])
            let attempts: [(String, Realm.Error.Code, @Sendable () throws -> Void)] = [
                ("open", .wrongState, { _ = try Realm(configuration: inner) }),
                ("migrate", .wrongState, { try Realm.performMigration(for: inner) }),
                ("delete", .alreadyOpen, { try Realm.deleteFiles(for: inner) }),
            ]
            for (name, code, attempt) in attempts {
                checks.refused(name, code) {
                    try Realm.performMigration(
                        for: checks.configuration(url, 3, types: [Version3.Resident.self]) { _, _ in try attempt() })
                }
                try checks.version(url, is: 0, name)
            }
            let beside = checks.configuration(try checks.file("other"), 0, types: [Version0.Resident.self])
            let asking = checks.configuration(url, 3, types: [Version3.Resident.self]) { migration, old in
                let other = try Realm(configuration: beside)
                guard other.isEmpty, migration.objects(ofType: "Resident").filter("number < 10").count == 10 else {
                    throw Realm.Error(.fail, "another file, or a query, is not what it should be")
                }
                try ResidentFile.block3(migration, old)
            }
            checks.report.check("queries and other files", expected: true, got: try file.rows3(asking) == file.expected)
        }
    }
}
