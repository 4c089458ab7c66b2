import Foundation
import Strata
import Testing

/// The code of docs/migrations.md: compiled here, run here, and compared with the page.
@Suite struct MigrationsPageTests {
    enum V0 {
        final class Person: Object {
            @Persisted var firstName = ""
            @Persisted var lastName = ""
            @Persisted var age: Int?
            @Persisted var home: Home?
            @Persisted var pets: List<Pet>
            override class func className() -> String { "Person" }
        }
    }

    final class Home: Object {
        @Persisted var city = ""
        override class func className() -> String { "Home" }
    }

    final class Pet: Object {
        @Persisted var name = ""
        override class func className() -> String { "Pet" }
    }

    enum Owned {
        final class Pet: Object {
            @Persisted var name = ""
            @Persisted var hasOwner = false
            override class func className() -> String { "Pet" }
        }
        final class Person: Object {
            @Persisted var givenName = ""
            @Persisted var lastName = ""
            @Persisted var age: String?
            @Persisted var isAdult = false
            @Persisted var home: Home?
            @Persisted var pets: List<Pet>
            override class func className() -> String { "Person" }
        }
    }

    enum V1 {
        final class Person: Object {
            @Persisted var fullName = ""
            @Persisted var age: Int?
            override class func className() -> String { "Person" }
        }
    }

    final class Person: Object {
        @Persisted var fullName = ""
        @Persisted var age = 0
        override class func className() -> String { "Person" }
    }

    private func filled() throws -> TemporaryFile {
        let file = TemporaryFile()
        let realm = try Realm(configuration: file.configuration([V0.Person.self]))
        try realm.write {
            let ann = realm.create(
                V0.Person.self, value: ["firstName": "Ann", "lastName": "Lee", "home": ["city": "Rome"]])
            ann.age = 30
            ann.pets.append(realm.create(Pet.self, value: ["name": "Taro"]))
            realm.create(V0.Person.self, value: ["firstName": "Bob", "lastName": "Ray"])
            realm.create(Pet.self, value: ["name": "Stray"])
        }
        return file
    }

    private func expectPeople(_ configuration: Realm.Configuration) throws {
        let realm = try Realm(configuration: configuration)
        #expect(realm.objects(Person.self).map(\.fullName) == ["Ann Lee", "Bob Ray"])
        #expect(realm.objects(Person.self).map(\.age) == [30, 0])
    }

    @Test("a block brings names together and requires an age")
    func namesAndAges() throws {
        let file = try filled()
        let url = file.url
        let configuration = Realm.Configuration(
            fileURL: url, schemaVersion: 2,
            migrationBlock: { migration, oldVersion in
                if oldVersion < 1 {
                    try migration.enumerateObjects(ofType: "Person") { old, new in
                        guard let old, let new else { return }
                        let first = try old.value("firstName", as: String.self)
                        try new.set("fullName", to: first + " " + old.value("lastName", as: String.self))
                    }
                }
                if oldVersion < 2 {
                    migration.fillNulls(onType: "Person", of: "age", with: 0)
                }
            }, objectTypes: [Person.self])
        try expectPeople(configuration)
    }

    @Test("inverses, queries, names and types")
    func inversesQueriesNamesTypes() throws {
        let file = try filled()
        let block: MigrationBlock = { migration, _ in
            try migration.enumerateObjects(ofType: "Pet") { old, new in
                let owners = try old?.linkingObjects(ofType: "Person", property: "pets")
                new?["hasOwner"] = (owners?.count ?? 0) > 0
            }
            migration.renameProperty(onType: "Person", from: "firstName", to: "givenName")
            migration.convertProperty(onType: "Person", "age") { ($0 as? Int).map { "\($0) years" } }
        }
        let types: [ObjectBase.Type] = [Owned.Person.self]
        let realm = try Realm(configuration: file.configuration(types, version: 1, block))
        #expect(realm.objects(Owned.Pet.self).map(\.hasOwner) == [true, false])
        #expect(realm.objects(Owned.Person.self).map(\.givenName) == ["Ann", "Bob"])
        #expect(realm.objects(Owned.Person.self).map(\.age) == ["30 years", nil])
    }

    @Test("a query finds the adults of a town")
    func adultsOfATown() throws {
        enum Adults {
            final class Person: Object {
                @Persisted var firstName = ""
                @Persisted var age: Int?
                @Persisted var isAdult = false
                @Persisted var home: Home?
                override class func className() -> String { "Person" }
            }
        }
        let file = try filled()
        let block: MigrationBlock = { migration, _ in
            for person in migration.objects(ofType: "Person").where({ $0["age"] >= 18 && $0["home.city"] == "Rome" }) {
                person["isAdult"] = true
            }
            let known = migration.oldObjects(ofType: "Person").filter("lastName BEGINSWITH %@", "L")
            #expect(known.count == 1)
        }
        let realm = try Realm(configuration: file.configuration([Adults.Person.self], version: 1, block))
        #expect(realm.objects(Adults.Person.self).map(\.isAdult) == [true, false])
    }

    @Test("a plan, its rehearsal, a backup and progress")
    func rehearsedPlan() throws {
        let file = try filled()
        let url = file.url
        defer { try? FileManager.default.removeItem(atPath: url.path + ".before-v0") }
        let plan = MigrationPlan([
            MigrationStep(to: 1, "one name", classes: [V1.Person.self]) { migration in
                try migration.enumerateObjects(ofType: "Person") { old, new in
                    guard let old, let new else { return }
                    try new.set("fullName", to: old.value("firstName", as: String.self) + " " + old.value("lastName"))
                }
            },
            MigrationStep(to: 2, "a required age") { migration in
                migration.fillNulls(onType: "Person", of: "age", with: 0)
            },
        ])
        var configuration = Realm.Configuration(
            fileURL: url, schemaVersion: 2, objectTypes: [Person.self], migrationPlan: plan)
        let report = try Realm.dryRunMigration(for: configuration)
        for step in report.steps {
            print("\(step.fromVersion) to \(step.toVersion): \(step.schemaChanges)")
            for found in step.classes { print(found.className, found.created, found.deleted, found.changed) }
        }
        #expect(report.steps.count == 2)
        configuration.migrationBackup = .untilNextOpen
        configuration.migrationProgress = { progress in
            print("\(progress.className): \(Int(progress.fraction * 100)) %")
        }
        try expectPeople(configuration)
    }

    @Test("a step alone")
    func stepAlone() throws {
        let file = TemporaryFile()
        do {
            let realm = try Realm(configuration: file.configuration([V1.Person.self], version: 1))
            try realm.write { realm.create(V1.Person.self, value: ["fullName": "Eve"]) }
        }
        let plan = MigrationPlan([
            MigrationStep(to: 1, classes: [V1.Person.self]),
            MigrationStep(to: 2) { $0.fillNulls(onType: "Person", of: "age", with: 7) },
        ])
        let configuration = Realm.Configuration(
            fileURL: file.url, schemaVersion: 2, objectTypes: [Person.self], migrationPlan: plan)
        try plan.step(to: 2)?.run(on: configuration)
        #expect(try Realm(configuration: configuration).objects(Person.self).map(\.age) == [7])
    }

    @Test("the page shows the code of these tests")
    func pageShowsTheseTests() throws {
        try PageCode.expect("migrations.md", in: #filePath)
    }
}
