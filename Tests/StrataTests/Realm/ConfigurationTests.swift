import Foundation
import Strata
import Testing

/// Opening in one place, and migrating version by version.
@Suite struct ConfigurationTests {
    enum V0 {
        final class Person: Object {
            @Persisted var firstName = ""
            @Persisted var lastName = ""
            override class func className() -> String { "Person" }
        }
    }

    enum V1 {
        final class Person: Object {
            @Persisted var fullName = ""
            override class func className() -> String { "Person" }
        }
    }

    enum V3 {
        final class Person: Object {
            @Persisted var name = ""
            @Persisted var age: Int?
            @Persisted var isAdult = false
            override class func className() -> String { "Person" }
        }
    }

    struct Stop: Error {}

    private static let steps: MigrationBlock = { migration, old in
        let hasFullName = migration.newSchema["Person"]?["fullName"] != nil
        if old < 1 {
            migration.enumerateObjects(ofType: "Person") { old, new in
                let name = "\(old?["firstName"] as? String ?? "") \(old?["lastName"] as? String ?? "")"
                new?[hasFullName ? "fullName" : "name"] = name
            }
        }
        if old < 2 && !hasFullName {
            if old >= 1 { migration.renameProperty(onType: "Person", from: "fullName", to: "name") }
            migration.enumerateObjects(ofType: "Person") { _, new in new?["age"] = 20 }
        }
        if old < 3 && !hasFullName {
            migration.enumerateObjects(ofType: "Person") { _, new in
                new?["isAdult"] = (new?["age"] as? Int ?? 0) >= 18
            }
        }
    }

    private func filled() throws -> TemporaryFile {
        let file = TemporaryFile()
        let realm = try Realm(configuration: file.configuration([V0.Person.self]))
        try realm.write {
            realm.add(V0.Person(value: ["firstName": "Ann", "lastName": "Lee"]))
            realm.add(V0.Person(value: ["firstName": "Bob", "lastName": "Ray"]))
        }
        return file
    }

    private func contents(_ file: TemporaryFile) throws -> [String] {
        let realm = try Realm(configuration: file.configuration([V3.Person.self], version: 3, Self.steps))
        return realm.objects(V3.Person.self).map { "\($0.name) \($0.age ?? -1) \($0.isAdult)" }
    }

    @Test("skipping versions gives the same result as every version in turn")
    func skippedVersions() throws {
        let skipping = try filled()
        let direct = try contents(skipping)

        let stepping = try filled()
        do {
            let realm = try Realm(configuration: stepping.configuration([V1.Person.self], version: 1, Self.steps))
            #expect(realm.objects(V1.Person.self).map(\.fullName) == ["Ann Lee", "Bob Ray"])
        }
        #expect(try contents(stepping) == direct)
        #expect(direct == ["Ann Lee 20 true", "Bob Ray 20 true"])
        #expect(try Realm.schemaVersionAtURL(stepping.url) == 3)
    }

    @Test("only the missing steps run, in order")
    func onlyMissingSteps() throws {
        let file = try filled()
        let order = Locked<[Int]>([])
        let block: MigrationBlock = { _, old in
            if old < 1 { order.with { $0.append(1) } }
            if old < 2 { order.with { $0.append(2) } }
            if old < 3 { order.with { $0.append(3) } }
        }
        _ = try Realm(configuration: file.configuration([V0.Person.self], version: 1, block))
        _ = try Realm(configuration: file.configuration([V0.Person.self], version: 3, block))
        #expect(order.current == [1, 2, 3, 2, 3])
    }

    @Test("a block that throws leaves version, schema and data, and a retry works")
    func throwingBlock() throws {
        let file = try filled()
        let failing = file.configuration([V1.Person.self], version: 1) { migration, _ in
            migration.enumerateObjects(ofType: "Person") { _, new in new?["fullName"] = "half" }
            throw Stop()
        }
        #expect(throws: Stop.self) { try Realm(configuration: failing) }
        #expect(try Realm.schemaVersionAtURL(file.url) == 0)
        do {
            let realm = try Realm(configuration: file.configuration([V0.Person.self]))
            #expect(realm.objects(V0.Person.self).map(\.lastName) == ["Lee", "Ray"])
        }
        let realm = try Realm(configuration: file.configuration([V1.Person.self], version: 1, Self.steps))
        #expect(realm.objects(V1.Person.self).map(\.fullName) == ["Ann Lee", "Bob Ray"])
    }

    @Test("a changed class without a new version is a typed error that names the property")
    func changeWithoutVersion() throws {
        let file = try filled()
        let error = try #require(throws: Realm.Error.self, "opened with another schema") {
            try Realm(configuration: file.configuration([V1.Person.self]))
        }
        #expect(error.code == .schemaMismatch)
        #expect(error.message.contains("'Person.fullName' was added"))
    }

    @Test("a file may start afresh instead of migrating")
    func afreshInsteadOfMigrating() throws {
        let file = try filled()
        var configuration = file.configuration([V1.Person.self], version: 1)
        configuration.deleteRealmIfMigrationNeeded = true
        let realm = try Realm(configuration: configuration)
        #expect(realm.objects(V1.Person.self).isEmpty)
    }

    @Test("an older program is told that the file is newer")
    func newerFile() throws {
        let file = try filled()
        do { _ = try Realm(configuration: file.configuration([V1.Person.self], version: 2, Self.steps)) }
        do {
            _ = try Realm(configuration: file.configuration([V1.Person.self], version: 1))
            Issue.record("opened a newer file")
        } catch Realm.Error.schemaMismatch {}
    }

    @Test("a block is not called for a new file, or one with the present version")
    func blockIsNotCalled() throws {
        let file = TemporaryFile()
        let calls = Locked(0)
        let configuration = file.configuration([V0.Person.self], version: 5) { _, _ in calls.with { $0 += 1 } }
        do { _ = try Realm(configuration: configuration) }
        do { _ = try Realm(configuration: configuration) }
        #expect(calls.current == 0)
        #expect(try Realm.schemaVersionAtURL(file.url) == 5)
    }

    @Test("a database in memory ends with its last instance")
    func inMemoryDatabaseEnds() throws {
        let configuration = Realm.Configuration(inMemoryIdentifier: "brief-\(UUID())", objectTypes: [Note.self])
        do {
            let realm = try Realm(configuration: configuration)
            let again = try Realm(configuration: configuration)
            try realm.write { realm.add(Note("kept")) }
            #expect(again.objects(Note.self).count == 1)
        }
        #expect(try Realm(configuration: configuration).objects(Note.self).isEmpty)
    }

    @Test("a read-only file is read, not written, and not migrated")
    func readOnlyFile() throws {
        let file = try filled()
        var configuration = file.configuration([V0.Person.self])
        configuration.readOnly = true
        do {
            let realm = try Realm(configuration: configuration)
            #expect(realm.objects(V0.Person.self).count == 2)
            #expect(throws: Realm.Error.self) { try realm.write {} }
        }
        configuration.objectTypes = [V1.Person.self]
        configuration.schemaVersion = 1
        #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
    }

    @Test("opening a file inside its own migration is an error, not a deadlock")
    func openInsideMigration() throws {
        let file = try filled()
        let configuration = file.configuration([V1.Person.self], version: 1) { [url = file.url] _, _ in
            _ = try Realm(configuration: Realm.Configuration(fileURL: url, objectTypes: [V0.Person.self]))
        }
        #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
    }

    // MARK: What an open asks for

    /// The storage of these properties has the names of fields of every object: `_key`, `_slot`, `_group`, `_frame`.
    final class OwnNames: Object {
        @Persisted(primaryKey: true) var key = 0
        @Persisted var slot = ""
        @Persisted var group = 0.0
        @Persisted var frame: OwnNames?
    }

    @Test("properties may have the names of an object's own fields")
    func namesOfOwnFields() throws {
        let realm = try Realm(
            configuration: Realm.Configuration(inMemoryIdentifier: "own names", objectTypes: [OwnNames.self]))
        try realm.write {
            let made = OwnNames()
            (made.key, made.slot, made.group) = (7, "seven", 0.5)
            made.frame = made
            realm.add(made)
        }
        let found = try #require(realm.object(ofType: OwnNames.self, forPrimaryKey: 7))
        #expect(found.slot == "seven" && found.group == 0.5 && found.frame?.key == 7)
        #expect(realm.schema["OwnNames"]?.properties.map(\.name) == ["key", "slot", "group", "frame"])
    }

    @Test("the default file lies in the user's data directory")
    func defaultFile() throws {
        let environment = ProcessInfo.processInfo.environment
        let base = environment["XDG_DATA_HOME"] ?? (environment["HOME"] ?? ".") + "/.local/share"
        let program = URL(fileURLWithPath: CommandLine.arguments[0]).lastPathComponent
        let url = try #require(Realm.Configuration.defaultFileURL())
        #expect(url.path.hasSuffix("/\(program)/default.strata"))
        if base.hasPrefix("/") { #expect(url.path == "\(base)/\(program)/default.strata") }
        #expect(url.isFileURL && Realm.Configuration().fileURL == url)
    }

    @Test("an open makes no directory except that of the default file")
    func noOtherDirectory() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("none-\(UUID().uuidString)")
        let url = directory.appendingPathComponent("default.strata")
        #expect(throws: Realm.Error.self) {
            try Realm(configuration: Realm.Configuration(fileURL: url, objectTypes: [OwnNames.self]))
        }
        #expect(!FileManager.default.fileExists(atPath: directory.path))
    }
}
