import Strata
import Testing

/// Top-level objects that become embedded, and the reverse.
@Suite struct MigrationEmbeddedTests {
    enum Apart {
        final class Person: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var home: Address?
            @Persisted var places: List<Address>
            override class func className() -> String { "Person" }
        }
        final class Address: Object {
            @Persisted var street = ""
            @Persisted var town: Town?
            override class func className() -> String { "Address" }
        }
        final class Town: Object {
            @Persisted var name = ""
            override class func className() -> String { "Town" }
        }
    }

    enum Within {
        final class Person: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var home: Address?
            @Persisted var places: List<Address>
            override class func className() -> String { "Person" }
        }
        final class Address: EmbeddedObject {
            @Persisted var street = ""
            @Persisted var town: Town?
            override class func className() -> String { "Address" }
        }
        final class Town: EmbeddedObject {
            @Persisted var name = ""
            override class func className() -> String { "Town" }
        }
    }

    private func fill(_ file: TemporaryFile) throws {
        let realm = try Realm(configuration: file.configuration([Apart.Person.self]))
        try realm.write {
            let shared = realm.create(Apart.Address.self, value: ["street": "Main", "town": ["name": "Rome"]])
            realm.create(Apart.Address.self, value: ["street": "Unowned", "town": ["name": "Nowhere"]])
            let first = realm.create(Apart.Person.self, value: ["id": 1, "home": shared])
            first.places.append(objectsIn: [
                shared, realm.create(Apart.Address.self, value: ["street": "Side"]), shared,
            ])
            realm.create(Apart.Person.self, value: ["id": 2, "home": shared])
        }
    }

    @Test("embedded-conversion: an object without a link is deleted, one with several is duplicated")
    func noLinkOrSeveral() throws {
        let file = TemporaryFile()
        try fill(file)
        #expect(throws: Realm.Error.self) { try Realm(configuration: file.configuration([Within.Person.self])) }
        let realm = try Realm(configuration: file.configuration([Within.Person.self], version: 1))
        let people = realm.objects(Within.Person.self)
        #expect(people.map { $0.home?.street } == ["Main", "Main"])
        #expect(people[0].places.map(\.street) == ["Main", "Side", "Main"])
        #expect(people[0].places.map { $0.town?.name } == ["Rome", nil, "Rome"])
        #expect(realm.dynamicObjects("Address").count == 5)
        #expect(realm.dynamicObjects("Town").count == 4)
        try realm.write { people[0].home?.town?.name = "Changed" }
        #expect(people[1].home?.town?.name == "Rome")
        #expect(people[0].places[0].town?.name == "Rome")
        try realm.write { realm.delete(people[0]) }
        #expect(realm.dynamicObjects("Address").count == 1)
        #expect(realm.dynamicObjects("Town").count == 1)
    }

    @Test("embedded-conversion: the block can choose the parent")
    func chosenParent() throws {
        let file = TemporaryFile()
        try fill(file)
        let configuration = file.configuration([Within.Person.self], version: 1) { migration, _ in
            migration.enumerateObjects(ofType: "Person") { _, new in
                new?["places"] = [MigrationObject]()
                if new?["id"] as? Int == 1 { new?["home"] = nil }
            }
        }
        let realm = try Realm(configuration: configuration)
        #expect(realm.objects(Within.Person.self).map { $0.home?.street } == [nil, "Main"])
        #expect(realm.dynamicObjects("Address").count == 1)
        #expect(realm.dynamicObjects("Town").count == 1)
    }

    @Test("embedded-conversion: an object that embeds itself is an unresolved conflict, and an error")
    func embedsItself() throws {
        enum Loop {
            final class Node: Object {
                @Persisted var next: Node?
                override class func className() -> String { "Node" }
            }
        }
        enum Inner {
            final class Node: EmbeddedObject {
                @Persisted var next: Node?
                override class func className() -> String { "Node" }
            }
            final class Owner: Object {
                @Persisted var node: Node?
                override class func className() -> String { "Owner" }
            }
        }
        let file = TemporaryFile()
        do {
            let realm = try Realm(configuration: file.configuration([Loop.Node.self]))
            try realm.write {
                let node = realm.create(Loop.Node.self)
                node.next = node
            }
        }
        let configuration = file.configuration([Inner.Owner.self, Inner.Node.self], version: 1) { migration, _ in
            let node = migration.objects(ofType: "Node")[0]
            migration.create("Owner", value: ["node": node])
        }
        #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
        let realm = try Realm(configuration: file.configuration([Loop.Node.self]))
        #expect(realm.objects(Loop.Node.self).count == 1)
    }

    @Test("embedded-conversion: embedded objects become top-level objects")
    func becomesTopLevel() throws {
        let file = TemporaryFile()
        do {
            let realm = try Realm(configuration: file.configuration([Within.Person.self]))
            try realm.write {
                realm.create(
                    Within.Person.self, value: ["id": 1, "home": ["street": "Main", "town": ["name": "Rome"]]])
            }
        }
        let realm = try Realm(configuration: file.configuration([Apart.Person.self], version: 1))
        let person = try #require(realm.objects(Apart.Person.self).first)
        #expect(person.home?.town?.name == "Rome")
        try realm.write { realm.delete(person) }
        #expect(realm.objects(Apart.Address.self).map(\.street) == ["Main"])
    }
}
