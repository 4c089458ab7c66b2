import Strata
import Testing

/// Migrations that read through links, lists and inverses by name, in the old schema and in the new one.
@Suite struct NestedMigrationTests {
    enum Old {
        final class Person: Object {
            @Persisted var firstName = ""
            @Persisted var lastName = ""
            @Persisted var bar: Bar?
            @Persisted var pets: List<Pet>

            override class func className() -> String { "Person" }
        }

        final class Bar: Object {
            @Persisted var baz: Baz?
            override class func className() -> String { "Bar" }
        }

        final class Baz: Object {
            @Persisted var qux = 0
            override class func className() -> String { "Baz" }
        }

        final class Pet: Object {
            @Persisted var name = ""
            @Persisted(originProperty: "pets") var owners: LinkingObjects<Person>
            override class func className() -> String { "Pet" }
        }
    }

    enum New {
        final class Person: Object {
            @Persisted var fullName = ""
            @Persisted var qux = 0
            @Persisted var bar: Bar?
            @Persisted var pets: List<Pet>
            @Persisted var petNames: List<String>

            override class func className() -> String { "Person" }
        }

        final class Bar: Object {
            @Persisted var baz: Baz?
            override class func className() -> String { "Bar" }
        }

        final class Baz: Object {
            @Persisted var qux = 0
            override class func className() -> String { "Baz" }
        }

        final class Pet: Object {
            @Persisted var name = ""
            @Persisted var hasOwner = false
            @Persisted(originProperty: "pets") var owners: LinkingObjects<Person>
            override class func className() -> String { "Pet" }
        }
    }

    private func fill(_ file: TemporaryFile) throws {
        let realm = try Realm(configuration: file.configuration([Old.Person.self]))
        try realm.write {
            let person = Old.Person(value: ["firstName": "Ann", "lastName": "Lee"])
            person.bar = Old.Bar(value: ["baz": ["qux": 42]])
            person.pets.append(Old.Pet(value: ["name": "Taro"]))
            person.pets.append(Old.Pet(value: ["name": "Hanako"]))
            realm.add(person)
            realm.add(Old.Person(value: ["firstName": "Bob", "lastName": "Ray"]))
            realm.add(Old.Pet(value: ["name": "Stray"]))
        }
    }

    @Test("values are lifted up two links, lists and inverses are read by name on both sides")
    func liftedUpTwoLinks() throws {
        let file = TemporaryFile()
        try fill(file)
        let oldOwners = Locked<[Int]>([])
        let configuration = file.configuration([New.Person.self], version: 1) { migration, oldVersion in
            #expect(oldVersion == 0)
            migration.enumerateObjects(ofType: New.Person.className()) { oldObject, newObject in
                let first = oldObject?["firstName"] as? String ?? ""
                let last = oldObject?["lastName"] as? String ?? ""
                newObject!["fullName"] = "\(first) \(last)"
                newObject!["qux"] = oldObject!["bar"]["baz"]["qux"] as? Int ?? -1
                let pets = newObject?["pets"] as? List<MigrationObject>
                newObject!["petNames"] = pets?.map { $0["name"] as? String ?? "" }
            }
            migration.enumerateObjects(ofType: New.Pet.className()) { oldObject, newObject in
                let owners = newObject?["owners"] as? Results<MigrationObject>
                newObject?["hasOwner"] = (owners?.count ?? 0) > 0
                oldOwners.with { $0.append((oldObject?["owners"] as? Results<MigrationObject>)?.count ?? -1) }
            }
        }
        let realm = try Realm(configuration: configuration)
        let people = realm.objects(New.Person.self)
        #expect(people.map(\.fullName) == ["Ann Lee", "Bob Ray"])
        #expect(people.map(\.qux) == [42, -1])
        #expect(Array(people[0].petNames) == ["Taro", "Hanako"])
        #expect(people[0].pets.map(\.name) == ["Taro", "Hanako"])
        #expect(realm.objects(New.Pet.self).map(\.hasOwner) == [true, true, false])
        #expect(oldOwners.current == [1, 1, 0])
    }

    @Test("an unknown name is an error that can be caught")
    func unknownNameIsCaught() throws {
        let file = TemporaryFile()
        try fill(file)
        let messages = Locked<[String]>([])
        let configuration = file.configuration([New.Person.self], version: 1) { migration, _ in
            try migration.enumerateObjects(ofType: "Person") { oldObject, _ in
                #expect(try oldObject?.tryGetValue(for: "firstName") as? String != nil)
                do { _ = try oldObject?.tryGetValue(for: "nickname") } catch { messages.with { $0.append("\(error)") } }
                _ = try oldObject?.value(for: "bar", "baz", "qux")
            }
        }
        _ = try Realm(configuration: configuration)
        #expect(messages.current.count == 2)
        #expect(messages.current.first?.contains("'Person' has no property 'nickname'") == true)
    }

    @Test("reading a misspelt name by subscript fails the migration instead of losing data")
    func misspeltSubscript() throws {
        let file = TemporaryFile()
        try fill(file)
        let configuration = file.configuration([New.Person.self], version: 1) { migration, _ in
            migration.enumerateObjects(ofType: "Person") { oldObject, newObject in
                newObject?["fullName"] = oldObject?["fristName"] as? String ?? ""
            }
        }
        #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
        let realm = try Realm(configuration: file.configuration([Old.Person.self]))
        #expect(realm.objects(Old.Person.self).map(\.firstName) == ["Ann", "Bob"])
    }
}
