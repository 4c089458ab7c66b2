import Harness
import RunRecords
import Strata

/// Objects with no, one and several links become embedded, and become top-level again.
struct ObjectsEmbedded: MigrationScenario {
    let slug = "embedded-conversion"
    let question = "Does an object that becomes embedded end with exactly one parent?"

    enum Apart {
        final class Person: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var home: Address?
            @Persisted var others: List<Address>
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
            @Persisted var others: List<Address>
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

    func run(_ context: CaseContext) throws {
        try MigrationChecks.run(context) { checks in
            let url = try checks.file("database")
            do {
                let realm = try Realm(configuration: checks.configuration(url, 0, types: [Apart.Person.self]))
                try realm.write {
                    let shared = realm.create(Apart.Address.self, value: ["street": "shared", "town": ["name": "t"]])
                    realm.create(Apart.Address.self, value: ["street": "unowned", "town": ["name": "nowhere"]])
                    for id in 0..<20 {
                        let person = realm.create(Apart.Person.self, value: ["id": id, "home": shared])
                        person.others.append(objectsIn: [shared, shared])
                    }
                }
            }
            let realm = try Realm(configuration: checks.configuration(url, 1, types: [Within.Person.self]))
            checks.report.check("addresses", expected: 60, got: realm.dynamicObjects("Address").count)
            checks.report.check("towns", expected: 60, got: realm.dynamicObjects("Town").count)
            let people = realm.objects(Within.Person.self)
            let lines = people.map { person in
                ([person.home] + person.others.map { $0 }).map { address in
                    "\(address?.street ?? "none") in \(address?.town?.name ?? "none")"
                }
            }
            checks.report.check("people", expected: Array(0..<20), got: people.map(\.id))
            let copies = Array(repeating: "shared in t", count: 3)
            checks.report.check(
                "values of the copies", expected: Array(repeating: copies, count: 20), got: Array(lines))
            try realm.write {
                people[0].home?.street = "own"
                realm.delete(people[19])
            }
            checks.report.check("copies are apart", expected: "shared", got: people[1].home?.street ?? "")
            checks.report.check("children go", expected: 57, got: realm.dynamicObjects("Town").count)
        }
        try MigrationChecks.run(context) { checks in
            let url = try checks.file("database")
            let realm = try Realm(configuration: checks.configuration(url, 2, types: [Apart.Person.self]))
            let places = realm.objects(Apart.Address.self).map { "\($0.street) in \($0.town?.name ?? "none")" }
            checks.report.check(
                "back again", expected: ["own in t"] + Array(repeating: "shared in t", count: 56), got: places.sorted())
            try realm.write { realm.delete(realm.objects(Apart.Person.self)) }
            checks.report.check("of their own", expected: 57, got: realm.objects(Apart.Address.self).count)
        }
    }
}
