import Foundation
import Strata
import Testing

/// A plan with one step per version; each step has its version's classes and can be tested alone.
@Suite struct MigrationPlanTests {
    enum V0 {
        final class Person: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var firstName = ""
            @Persisted var lastName = ""
            @Persisted var friend: Person?
            override class func className() -> String { "Person" }
        }
    }

    enum V1 {
        final class Person: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var fullName = ""
            @Persisted var age: Int?
            @Persisted var friend: Person?
            override class func className() -> String { "Person" }
        }
    }

    enum V2 {
        final class Person: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var name = ""
            @Persisted var age = 0
            @Persisted var friend: Person?
            @Persisted var tags: List<Tag>
            override class func className() -> String { "Person" }
        }
        final class Tag: Object {
            @Persisted var text = ""
            override class func className() -> String { "Tag" }
        }
    }

    enum V3 {
        final class Person: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted(indexed: true) var name = ""
            @Persisted var age = ""
            @Persisted var friend: Person?
            override class func className() -> String { "Person" }
        }
    }

    struct Stop: Error {}

    static let plan = MigrationPlan([
        MigrationStep(to: 1, "one name", classes: [V1.Person.self]) { migration in
            try migration.enumerateObjects(ofType: "Person") { old, new in
                guard let old, let new else { return }
                let name = try [old.value("firstName", as: String.self), old.value("lastName")].joined(separator: " ")
                try new.set("fullName", to: name)
                if name.hasPrefix("A") { try new.set("age", to: 30) }
            }
        },
        MigrationStep(to: 2, "a required age, tags", classes: [V2.Person.self]) { migration in
            migration.renameProperty(onType: "Person", from: "fullName", to: "name")
            migration.fillNulls(onType: "Person", of: "age", with: 1)
            migration.enumerateObjects(ofType: "Person") { old, new in
                if old?["age"] == nil { new?["tags"] = [migration.create("Tag", value: ["text": "guessed"])] }
            }
        },
        MigrationStep(to: 3, "age as text, no tags") { migration in
            migration.convertProperty(onType: "Person", "age") { "\($0 ?? 0) years" }
            migration.deleteData(forType: "Tag")
        },
    ])

    private func configuration(
        _ file: TemporaryFile, _ version: UInt64 = 3, _ types: [ObjectBase.Type] = [V3.Person.self],
        _ plan: MigrationPlan = MigrationPlanTests.plan
    ) -> Realm.Configuration {
        var configuration = file.configuration(types, version: version)
        configuration.migrationPlan = MigrationPlan(plan.steps.filter { $0.schemaVersion <= version })
        return configuration
    }

    private func filled(count: Int = 3) throws -> TemporaryFile {
        let file = TemporaryFile()
        let realm = try Realm(configuration: file.configuration([V0.Person.self]))
        try realm.write {
            var last: V0.Person?
            for id in 0..<count {
                let name = ["Ann", "Bob", "Alf"][id % 3]
                let person = realm.create(V0.Person.self, value: ["id": id, "firstName": name, "lastName": "\(id)"])
                person.friend = last
                last = person
            }
        }
        return file
    }

    private func rows(_ file: TemporaryFile) throws -> [String] {
        let realm = try Realm(configuration: configuration(file))
        return realm.objects(V3.Person.self).map { "\($0.id) \($0.name) \($0.age) \($0.friend?.id ?? -1)" }
    }

    private static let expected = ["0 Ann 0 30 years -1", "1 Bob 1 1 years 0", "2 Alf 2 30 years 1"]

    @Test("skip-versions: 0 to 3 gives what 0 to 1 to 2 to 3 gives, from every version in between")
    func skippedVersions() throws {
        for through in [[], [1], [2], [1, 2]] as [[UInt64]] {
            let file = try filled()
            for version in through {
                let types: [ObjectBase.Type] = version == 1 ? [V1.Person.self] : [V2.Person.self]
                try Realm.performMigration(for: configuration(file, version, types))
                #expect(try Realm.schemaVersionAtURL(file.url) == version)
            }
            #expect(try rows(file) == Self.expected, "through \(through)")
            #expect(try Realm.schemaVersionAtURL(file.url) == 3)
            let realm = try Realm(configuration: configuration(file))
            #expect(realm.schema["Tag"] == nil)
            #expect(!FileManager.default.fileExists(atPath: file.url.path + ".migrating"))
        }
    }

    @Test("each step can be tested alone, on a file of the version before")
    func stepAlone() throws {
        let file = TemporaryFile()
        do {
            let realm = try Realm(configuration: file.configuration([V1.Person.self], version: 1))
            try realm.write { realm.create(V1.Person.self, value: ["id": 4, "fullName": "Eve"]) }
        }
        try Self.plan.step(to: 2)?.run(on: Realm.Configuration(fileURL: file.url))
        let realm = try Realm(configuration: file.configuration([V2.Person.self], version: 2))
        let eve = try #require(realm.object(ofType: V2.Person.self, forPrimaryKey: 4))
        #expect(eve.name == "Eve" && eve.age == 1)
        #expect(eve.tags.map(\.text) == ["guessed"])
    }

    @Test("throw-in-block: a later step that throws leaves version, schema and data, and a retry works")
    func laterStepThrows() throws {
        let file = try filled()
        let failing = MigrationPlan(
            Self.plan.steps.dropLast() + [
                MigrationStep(to: 3) { migration in
                    migration.enumerateObjects(ofType: "Person") { _, new in new?["age"] = "?" }
                    throw Stop()
                }
            ])
        #expect(throws: Stop.self) { try Realm(configuration: configuration(file, 3, [V3.Person.self], failing)) }
        #expect(try Realm.schemaVersionAtURL(file.url) == 0)
        do {
            let realm = try Realm(configuration: file.configuration([V0.Person.self]))
            #expect(realm.objects(V0.Person.self).map(\.firstName) == ["Ann", "Bob", "Alf"])
        }
        #expect(!FileManager.default.fileExists(atPath: file.url.path + ".migrating"))
        #expect(try rows(file) == Self.expected)
    }

    @Test("a step without a rule fails by name, and the plan names a step with a wrong result")
    func stepWithoutARule() throws {
        let file = try filled()
        let lacking = MigrationPlan([
            Self.plan.steps[0], MigrationStep(to: 2, classes: [V2.Person.self]), Self.plan.steps[2],
        ])
        #expect(throws: Realm.Error.self) {
            try Realm(configuration: configuration(file, 3, [V3.Person.self], lacking))
        }
        let error = try #require(throws: Realm.Error.self, "a plan that ends at other classes") {
            try Realm(configuration: configuration(file, 2, [V3.Person.self]))
        }
        #expect(error.message.contains("the step to version 2 does not lead to the classes of the program"))
        #expect(try Realm.schemaVersionAtURL(file.url) == 0)
    }

    @Test("a plan that does not fit its configuration is refused")
    func unfittingPlan() throws {
        let file = try filled()
        var short = configuration(file)
        short.schemaVersion = 4
        #expect(throws: Realm.Error.self) { try Realm(configuration: short) }
        var both = configuration(file)
        both.migrationBlock = { _, _ in }
        #expect(throws: Realm.Error.self) { try Realm(configuration: both) }
        let classless = MigrationPlan([MigrationStep(to: 1), MigrationStep(to: 3)])
        #expect(throws: Realm.Error.self) {
            try Realm(configuration: configuration(file, 3, [V3.Person.self], classless))
        }
    }

    @Test("several steps are not run under open Realms")
    func notUnderOpenRealms() throws {
        let file = try filled()
        let open = try Realm(configuration: file.configuration([V0.Person.self]))
        do {
            _ = try Realm(configuration: configuration(file))
            Issue.record("migrated an open file")
        } catch Realm.Error.alreadyOpen {}
        #expect(open.objects(V0.Person.self).count == 3)
    }

    @Test("progress is reported per version and class, up to the end")
    func progressToTheEnd() throws {
        let file = try filled(count: 10_000)
        let seen = Locked<[MigrationProgress]>([])
        var configuration = configuration(file)
        configuration.migrationProgress = { progress in seen.with { $0.append(progress) } }
        _ = try Realm(configuration: configuration)
        let told = seen.current
        for version in [1, 2, 3] as [UInt64] {
            let own = told.filter { $0.schemaVersion == version && $0.className == "Person" }
            #expect(own.count > 1)
            #expect(own.allSatisfy { $0.objectsTotal == 10_000 })
            #expect(own.last?.objectsDone == 10_000 && own.last?.fraction == 1)
            #expect(own.map(\.objectsDone) == own.map(\.objectsDone).sorted())
        }
    }

    @Test("a dry run reports what would change and writes nothing")
    func dryRunWritesNothing() throws {
        let file = try filled()
        let before = try Data(contentsOf: file.url)
        let report = try Realm.dryRunMigration(for: configuration(file))
        #expect(try Data(contentsOf: file.url) == before)
        #expect(!FileManager.default.fileExists(atPath: file.url.path + ".dry-run"))
        #expect(report.fromVersion == 0 && report.toVersion == 3)
        #expect(report.steps.map(\.toVersion) == [1, 2, 3])
        #expect(report.steps.map(\.summary) == ["one name", "a required age, tags", "age as text, no tags"])
        #expect(report.steps[0].schemaChanges.contains("property 'Person.fullName' was added"))
        #expect(report.steps[1].schemaChanges.contains("class 'Tag' was added"))
        #expect(report.steps[2].schemaChanges.contains("class 'Tag' was removed with its objects"))
        let tags = try #require(report.steps[1].classes.first { $0.className == "Tag" })
        #expect(tags.created == 1 && tags.objectsAfter == 1)
        let people = try #require(report.steps[1].classes.first { $0.className == "Person" })
        #expect(people.changed == ["age": 1])
        #expect(report.fileBytesBefore > 0 && report.fileBytesAfter > 0)
        #expect(try Realm.schemaVersionAtURL(file.url) == 0)
        #expect(try rows(file) == Self.expected)
        #expect(try Realm.dryRunMigration(for: configuration(file)).steps.isEmpty)
    }

    @Test("a dry run throws the migration's errors, also beside an open Realm")
    func dryRunThrows() throws {
        let file = try filled()
        let open = try Realm(configuration: file.configuration([V0.Person.self]))
        let wrong = file.configuration([V2.Person.self], version: 1) { _, _ in throw Stop() }
        #expect(throws: Stop.self) { try Realm.dryRunMigration(for: wrong) }
        #expect(try Realm.dryRunMigration(for: configuration(file)).steps.count == 3)
        #expect(open.objects(V0.Person.self).count == 3)
    }
}
