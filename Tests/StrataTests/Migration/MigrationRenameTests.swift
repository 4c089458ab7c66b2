import Strata
import Testing

@Suite struct MigrationRenameTests {
    enum Old {
        final class Person: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var first = ""
            @Persisted var second = ""
            @Persisted var age: Int?
            @Persisted var friend: Person?
            @Persisted var friends: List<Person>
            @Persisted var words: List<String>
            override class func className() -> String { "Person" }
        }
    }

    enum New {
        final class Person: Object {
            @Persisted(primaryKey: true) var number = 0
            @Persisted(indexed: true) var name = ""
            @Persisted var second = ""
            @Persisted var years: Int?
            @Persisted var companion: Person?
            @Persisted var companions: List<Person>
            @Persisted var texts: List<String>
            override class func className() -> String { "Person" }
        }
    }

    private func filled() throws -> TemporaryFile {
        let file = TemporaryFile()
        let realm = try Realm(configuration: file.configuration([Old.Person.self]))
        try realm.write {
            let ann = realm.create(Old.Person.self, value: ["id": 7, "first": "Ann", "second": "A", "age": 30])
            let bob = realm.create(Old.Person.self, value: ["id": 9, "first": "Bob", "second": "B"])
            ann.friend = bob
            bob.friends.append(objectsIn: [ann, bob, ann])
            ann.words.append(objectsIn: ["x", "y"])
        }
        return file
    }

    private static let all: [(String, String)] = [
        ("id", "number"), ("first", "name"), ("age", "years"), ("friend", "companion"), ("friends", "companions"),
        ("words", "texts"),
    ]

    /// The error of a renaming.
    private func message(
        _ file: TemporaryFile, from old: String, to new: String, onType type: String = "Person"
    ) -> String {
        let configuration = file.configuration([New.Person.self], version: 1) { migration, _ in
            migration.renameProperty(onType: type, from: old, to: new)
        }
        do {
            _ = try Realm(configuration: configuration)
            return "opened"
        } catch { return "\(error)" }
    }

    @Test("rename: values, links, lists and the primary key are kept")
    func keptValuesAndLinks() throws {
        let file = try filled()
        let configuration = file.configuration([New.Person.self], version: 1) { migration, _ in
            for (old, new) in Self.all { migration.renameProperty(onType: "Person", from: old, to: new) }
            migration.enumerateObjects(ofType: "Person") { old, new in
                #expect(new?["name"] as? String == old?["first"] as? String)
            }
        }
        let realm = try Realm(configuration: configuration)
        let ann = try #require(realm.object(ofType: New.Person.self, forPrimaryKey: 7))
        let bob = try #require(realm.object(ofType: New.Person.self, forPrimaryKey: 9))
        #expect([ann.name, ann.second, bob.name] == ["Ann", "A", "Bob"])
        #expect([ann.years, bob.years] == [30, nil])
        #expect(ann.companion == bob)
        #expect(bob.companions.map(\.number) == [7, 9, 7])
        #expect(Array(ann.texts) == ["x", "y"])
        #expect(realm.objects(New.Person.self).where { $0.name == "Bob" }.map(\.number) == [9])
        try realm.write { realm.delete(ann) }
        #expect(bob.companions.map(\.number) == [9])
        try realm.write { realm.create(New.Person.self, value: ["number": 7]) }
        #expect(bob.companions.map(\.number) == [9])
    }

    @Test("rename: a property that is missing is a clear error")
    func missingProperty() throws {
        let file = try filled()
        #expect(
            message(file, from: "frist", to: "name")
                .contains("no property 'Person.frist' to rename; 'Person' has id, first"))
        #expect(message(file, from: "first", to: "name", onType: "Persn").contains("no class 'Persn'"))
        #expect(
            message(file, from: "first", to: "nmae")
                .contains("'Person.first' was renamed to 'nmae', which neither"))
        #expect(try Realm.schemaVersionAtURL(file.url) == 0)
    }

    @Test("rename: both names in one schema are a clear error")
    func bothNames() throws {
        enum Kept {
            final class Person: Object {
                @Persisted(primaryKey: true) var id = 0
                @Persisted var first = ""
                @Persisted var second = ""
                @Persisted var name = ""
                override class func className() -> String { "Person" }
            }
        }
        let file = try filled()
        #expect(message(file, from: "first", to: "second").contains("the old schema has 'second' too"))
        let configuration = file.configuration([Kept.Person.self], version: 1) { migration, _ in
            migration.renameProperty(onType: "Person", from: "first", to: "name")
        }
        let error = try #require(throws: Realm.Error.self, "renamed what is still there") {
            try Realm(configuration: configuration)
        }
        #expect(error.message.contains("the new schema still has 'first'"))
    }

    @Test("rename: to another type is a clear error")
    func otherType() throws {
        let file = try filled()
        #expect(message(file, from: "first", to: "years").contains("it is a string, 'years' an optional int"))
        #expect(message(file, from: "words", to: "name").contains("it is a list of string, 'name' a string"))
    }

    @Test("rename: a chain of names of versions in between leads to the last one")
    func chainOfNames() throws {
        let file = try filled()
        let configuration = file.configuration([New.Person.self], version: 3) { migration, _ in
            for (old, new) in Self.all where old != "first" {
                migration.renameProperty(onType: "Person", from: old, to: new)
            }
            migration.renameProperty(onType: "Person", from: "first", to: "middle")
            migration.renameProperty(onType: "Person", from: "middle", to: "almost")
            migration.renameProperty(onType: "Person", from: "almost", to: "name")
        }
        let realm = try Realm(configuration: configuration)
        #expect(realm.objects(New.Person.self).map(\.name) == ["Ann", "Bob"])
    }

    @Test("rename: from optional to required needs a rule like any other change")
    func optionalToRequired() throws {
        enum Aged {
            final class Person: Object {
                @Persisted(primaryKey: true) var id = 0
                @Persisted var years = 0
                override class func className() -> String { "Person" }
            }
        }
        let file = try filled()
        let renaming: MigrationBlock = { migration, _ in
            migration.renameProperty(onType: "Person", from: "age", to: "years")
        }
        let error = try #require(throws: Realm.Error.self, "lost a null") {
            try Realm(configuration: file.configuration([Aged.Person.self], version: 1, renaming))
        }
        #expect(error.code == .missingValues)
        #expect(error.message.contains("'Person.years' is required now and 1 object has"))
        let filling: MigrationBlock = { migration, old in
            try renaming(migration, old)
            migration.fillNulls(onType: "Person", of: "years", with: -1)
        }
        let realm = try Realm(configuration: file.configuration([Aged.Person.self], version: 1, filling))
        #expect(realm.objects(Aged.Person.self).map(\.years) == [30, -1])
    }

    @Test("rename: a primary key that becomes a plain property keeps its values")
    func keyBecomesPlain() throws {
        enum Plain {
            final class Person: Object {
                @Persisted var number: Int?
                @Persisted(primaryKey: true) var first = ""
                @Persisted var friend: Person?
                override class func className() -> String { "Person" }
            }
        }
        let file = try filled()
        let configuration = file.configuration([Plain.Person.self], version: 1) { migration, _ in
            migration.renameProperty(onType: "Person", from: "id", to: "number")
        }
        let realm = try Realm(configuration: configuration)
        #expect(realm.objects(Plain.Person.self).map(\.number) == [7, 9])
        #expect(realm.object(ofType: Plain.Person.self, forPrimaryKey: "Ann")?.friend?.first == "Bob")
    }
}
