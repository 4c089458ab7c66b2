import Harness
import RunRecords
import Strata

/// Every kind of property is renamed at once; then every invalid rename is tried.
struct RenameProperty: MigrationScenario {
    let slug = "rename"
    let question = "Does a renamed property keep its values and links, and fail clearly otherwise?"
    let parameters = [
        ScenarioParameter("rows", .size, default: 2_000, range: 10...10_000_000, summary: "objects in the file")
    ]

    enum Old {
        final class Person: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var name = ""
            @Persisted var taken = ""
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
            @Persisted(indexed: true) var title = ""
            @Persisted var taken = ""
            @Persisted var years: Int?
            @Persisted var companion: Person?
            @Persisted var companions: List<Person>
            @Persisted var texts: List<String>
            override class func className() -> String { "Person" }
        }
    }

    private static let pairs = [
        ("id", "number"), ("name", "title"), ("age", "years"), ("friend", "companion"), ("friends", "companions"),
        ("words", "texts"),
    ]

    func run(_ context: CaseContext) throws {
        let count = try context.integer("rows")
        try MigrationChecks.run(context) { checks in
            let url = try checks.file("database")
            try fill(checks.configuration(url, 0, types: [Old.Person.self]), count)
            for (address, from, to, part) in [
                ("missing", "nmae", "title", "no property 'Person.nmae'"),
                ("to nowhere", "name", "tilte", "renamed to 'tilte', which neither"),
                ("both present", "name", "taken", "the old schema has 'taken' too"),
                ("still there", "taken", "title", "the new schema still has 'taken'"),
                ("another type", "name", "years", "it is a string, 'years' an optional int"),
            ] {
                checks.refused(address, .invalidInput, naming: [part]) {
                    try Realm.performMigration(
                        for: checks.configuration(url, 1, types: [New.Person.self]) { migration, _ in
                            migration.renameProperty(onType: "Person", from: from, to: to)
                        })
                }
                try checks.version(url, is: 0, address)
            }
            let renaming = checks.configuration(url, 3, types: [New.Person.self]) { migration, _ in
                for (old, new) in Self.pairs {
                    migration.renameProperty(onType: "Person", from: old, to: "\(new)InBetween")
                    migration.renameProperty(onType: "Person", from: "\(new)InBetween", to: new)
                }
            }
            let realm = try Realm(configuration: renaming)
            let lines = realm.objects(New.Person.self).map { person in
                Self.line(
                    person.number, person.title, taken: person.taken, years: person.years,
                    companion: person.companion?.number,
                    companions: person.companions.map(\.number), texts: Array(person.texts))
            }
            let expected = (0..<count).map { id in
                Self.line(
                    id, "name \(id)", taken: "", years: id % 5 == 0 ? nil : id, companion: id == 0 ? nil : id - 1,
                    companions: id == 0 ? [] : Array(repeating: id - 1, count: id % 3), texts: ["w\(id)"])
            }
            let wrong = expected.indices.first { !lines.indices.contains($0) || lines[$0] != expected[$0] }
            checks.report.check("chained, objects", expected: count, got: lines.count)
            checks.report.check("chained, first wrong object", expected: nil, got: wrong)
            let found = realm.objects(New.Person.self).where { $0.title == "name 7" }
            checks.report.check("index of the new name", expected: [7], got: found.map(\.number))
            checks.report.add(.rows, Double(count), statistic: "count")
        }
    }

    private static func line(
        _ number: Int, _ title: String, taken: String, years: Int?, companion: Int?, companions: [Int],
        texts: [String]
    ) -> String {
        "\(number) \(title) '\(taken)' \(years ?? -1), \(companion ?? -1), \(companions), \(texts)"
    }

    private func fill(_ configuration: Realm.Configuration, _ count: Int) throws {
        let realm = try Realm(configuration: configuration)
        try realm.write {
            var last: Old.Person?
            for id in 0..<count {
                let person = Old.Person(value: ["id": id, "name": "name \(id)"])
                person.age = id % 5 == 0 ? nil : id
                person.friend = last
                for _ in 0..<(id % 3) { if let last { person.friends.append(last) } }
                person.words.append("w\(id)")
                realm.add(person)
                last = person
            }
        }
    }
}
