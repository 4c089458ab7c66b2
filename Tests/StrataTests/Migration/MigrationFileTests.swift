import Foundation
import Strata
import Testing

/// Migrations and the file: backups, wrong versions, read-only files, open Realms.
@Suite struct MigrationFileTests {
    enum V0 {
        final class Note: Object {
            @Persisted var text = ""
            override class func className() -> String { "Note" }
        }
    }

    enum V1 {
        final class Note: Object {
            @Persisted var text = ""
            @Persisted var length = 0
            override class func className() -> String { "Note" }
        }
    }

    struct Stop: Error {}

    private static let block: MigrationBlock = { migration, _ in
        migration.enumerateObjects(ofType: "Note") { old, new in
            new?["length"] = (old?["text"] as? String ?? "").count
        }
    }

    private func filled() throws -> TemporaryFile {
        let file = TemporaryFile()
        let realm = try Realm(configuration: file.configuration([V0.Note.self]))
        try realm.write { for text in ["a", "bb", "ccc"] { realm.add(V0.Note(value: ["text": text])) } }
        return file
    }

    private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    @Test("a backup stays beside the file until the next open, and opens with its version")
    func backupStays() throws {
        let file = try filled()
        let backup = file.url.path + ".before-v0"
        defer { try? FileManager.default.removeItem(atPath: backup) }
        var configuration = file.configuration([V1.Note.self], version: 1, Self.block)
        configuration.migrationBackup = .untilNextOpen
        do {
            let realm = try Realm(configuration: configuration)
            #expect(realm.objects(V1.Note.self).map(\.length) == [1, 2, 3])
            #expect(exists(backup))
            let old = try Realm(
                configuration: Realm.Configuration(
                    fileURL: URL(fileURLWithPath: backup), readOnly: true, objectTypes: [V0.Note.self]))
            #expect(old.objects(V0.Note.self).map(\.text) == ["a", "bb", "ccc"])
            _ = try Realm(configuration: configuration)
            #expect(exists(backup))
        }
        _ = try Realm(configuration: configuration)
        #expect(!exists(backup))
    }

    @Test("a backup can be kept, is replaced by the next attempt, and is off by default")
    func backupIsReplaced() throws {
        let file = try filled()
        let backup = file.url.path + ".before-v0"
        defer { try? FileManager.default.removeItem(atPath: backup) }
        var configuration = file.configuration([V1.Note.self], version: 1) { _, _ in throw Stop() }
        configuration.migrationBackup = .keep
        #expect(throws: Stop.self) { try Realm(configuration: configuration) }
        #expect(!exists(backup))
        try Data("left by an attempt that died".utf8).write(to: URL(fileURLWithPath: backup))
        configuration.migrationBlock = Self.block
        do { _ = try Realm(configuration: configuration) }
        do { _ = try Realm(configuration: configuration) }
        #expect(try Realm.schemaVersionAtURL(URL(fileURLWithPath: backup)) == 0)

        let other = try filled()
        _ = try Realm(configuration: other.configuration([V1.Note.self], version: 1, Self.block))
        #expect(!exists(other.url.path + ".before-v0"))
    }

    @Test("version-goes-down: a typed error names both versions, and the file stays")
    func versionGoesDown() throws {
        let file = TemporaryFile()
        do { _ = try Realm(configuration: file.configuration([V0.Note.self], version: 5)) }
        let error = try #require(throws: Realm.Error.self, "opened a newer file") {
            try Realm(configuration: file.configuration([V0.Note.self], version: 4))
        }
        #expect(error.code == .schemaMismatch)
        #expect(error.message.contains("has schema version 5, the configuration asks for 4"))
        #expect(try Realm.schemaVersionAtURL(file.url) == 5)
    }

    @Test("version-goes-down: a version that goes up without a change calls the block and keeps the data")
    func versionGoesUpWithoutChange() throws {
        let file = try filled()
        let calls = Locked<[UInt64]>([])
        let configuration = file.configuration([V0.Note.self], version: 7) { _, old in calls.with { $0.append(old) } }
        let realm = try Realm(configuration: configuration)
        #expect(calls.current == [0])
        #expect(realm.objects(V0.Note.self).map(\.text) == ["a", "bb", "ccc"])
        #expect(try Realm.schemaVersionAtURL(file.url) == 7)
    }

    @Test("read-only-migration: a read-only file that needs a migration is a typed error")
    func readOnlyMigration() throws {
        let file = try filled()
        let before = try Data(contentsOf: file.url)
        var configuration = file.configuration([V1.Note.self], version: 1, Self.block)
        configuration.readOnly = true
        let error = try #require(throws: Realm.Error.self, "migrated a read-only file") {
            try Realm(configuration: configuration)
        }
        #expect(error.code == .schemaMismatch)
        #expect(error.message.contains("is read-only and cannot be migrated"))
        configuration.deleteRealmIfMigrationNeeded = true
        #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
        #expect(try Data(contentsOf: file.url) == before)
    }

    @Test("read-only-migration: deleteRealmIfMigrationNeeded under an open Realm is a typed error")
    func deletedUnderAnOpenRealm() throws {
        let file = try filled()
        var configuration = file.configuration([V1.Note.self], version: 1)
        configuration.deleteRealmIfMigrationNeeded = true
        do {
            let open = try Realm(configuration: file.configuration([V0.Note.self]))
            do {
                _ = try Realm(configuration: configuration)
                Issue.record("deleted an open file")
            } catch Realm.Error.alreadyOpen {}
            #expect(open.objects(V0.Note.self).count == 3)
            try open.write { open.add(V0.Note(value: ["text": "dddd"])) }
        }
        #expect(try Realm(configuration: configuration).objects(V1.Note.self).isEmpty)
    }

    @Test("two-schemas: a Realm whose file another configuration migrated gets a typed error")
    func twoSchemas() throws {
        let file = try filled()
        let old = try Realm(configuration: file.configuration([V0.Note.self]))
        let notes = old.objects(V0.Note.self)
        #expect(notes.count == 3)
        let failure = Locked<(any Error)?>(nil)
        let newer = file.configuration([V1.Note.self], version: 1, Self.block)
        OtherThread.run {
            do {
                let realm = try Realm(configuration: newer)
                try realm.write { realm.create(V1.Note.self, value: ["text": "dddd", "length": 4]) }
            } catch { failure.with { $0 = error } }
        }
        #expect(failure.current == nil)
        let error = try #require(throws: Realm.Error.self, "wrote with an old schema") {
            try old.write { old.add(V0.Note(value: ["text": "lost?"])) }
        }
        #expect(error.code == .schemaMismatch)
        #expect(!old.isInWriteTransaction)
        #expect(notes.map(\.text) == ["a", "bb", "ccc"])
        let older = file.configuration([V0.Note.self])
        OtherThread.run {
            do { _ = try Realm(configuration: older) } catch { failure.with { $0 = error } }
        }
        #expect((failure.current as? Realm.Error)?.code == .schemaMismatch)
    }

    @Test("open-inside-migration: an immediate typed error, and so is deleting the file there")
    func openInsideMigration() throws {
        let file = try filled()
        let seen = Locked<[Realm.Error.Code]>([])
        let configuration = file.configuration([V1.Note.self], version: 1) { [url = file.url] migration, old in
            let inner = Realm.Configuration(fileURL: url, objectTypes: [V0.Note.self])
            func note(_ body: () throws -> Void) {
                do { try body() } catch let error as Realm.Error { seen.with { $0.append(error.code) } } catch {}
            }
            note { _ = try Realm(configuration: inner) }
            note { try Realm.deleteFiles(for: inner) }
            #expect(migration.objects(ofType: "Note").filter("text == %@", "bb").count == 1)
            try Self.block(migration, old)
        }
        let realm = try Realm(configuration: configuration)
        #expect(seen.current == [.wrongState, .alreadyOpen])
        #expect(realm.objects(V1.Note.self).map(\.length) == [1, 2, 3])
    }

    @Test("performMigration and schemaVersionAtURL: migrate a file, and tell its version, without opening it")
    func migratedWithoutOpening() throws {
        let file = try filled()
        #expect(try Realm.schemaVersionAtURL(file.url) == 0)
        try Realm.performMigration(for: file.configuration([V1.Note.self], version: 3, Self.block))
        #expect(try Realm.schemaVersionAtURL(file.url) == 3)
        #expect(throws: Realm.Error.self) {
            try Realm.schemaVersionAtURL(URL(fileURLWithPath: file.url.path + ".missing"))
        }
    }
}
