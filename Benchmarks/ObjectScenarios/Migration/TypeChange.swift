import Harness
import RunRecords
import Strata

/// A property, a primary key and a list change their types.
struct TypeChange: MigrationScenario {
    let slug = "type-change"
    let question = "Does a value convert by a rule, or fail by name, with links preserved?"
    let parameters = [
        ScenarioParameter("rows", .size, default: 1_000, range: 10...10_000_000, summary: "objects in the file")
    ]

    enum Numbers {
        final class Part: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var price = 0
            @Persisted var sizes: List<Int>
            @Persisted var next: Part?
            override class func className() -> String { "Part" }
        }
    }

    enum Texts {
        final class Part: Object {
            @Persisted(primaryKey: true) var id = ""
            @Persisted var price = ""
            @Persisted var sizes: List<String>
            @Persisted var next: Part?
            override class func className() -> String { "Part" }
        }
    }

    func run(_ context: CaseContext) throws {
        let count = try context.integer("rows")
        try MigrationChecks.run(context) { checks in
            let url = try checks.file("database")
            do {
                let realm = try Realm(configuration: checks.configuration(url, 0, types: [Numbers.Part.self]))
                try realm.write {
                    var last: Numbers.Part?
                    for id in 0..<count {
                        let part = Numbers.Part(value: ["id": id, "price": id * 3])
                        part.sizes.append(objectsIn: [id, id + 1])
                        part.next = last
                        realm.add(part)
                        last = part
                    }
                }
            }
            checks.refused(
                "no rule", .missingValues,
                naming: ["'Part.id'", "'Part.price'", "'Part.sizes'", "\(count) objects"]
            ) {
                _ = try Realm(configuration: checks.configuration(url, 1, types: [Texts.Part.self]))
            }
            try checks.version(url, is: 0, "no rule")
            let ruled = checks.configuration(url, 1, types: [Texts.Part.self]) { migration, _ in
                migration.convertProperty(onType: "Part", "id") { ($0 as? Int).map { "part-\($0)" } }
                migration.convertProperty(onType: "Part", "price") { ($0 as? Int).map { "\($0) EUR" } }
                migration.convertProperty(onType: "Part", "sizes") { ($0 as? List<Int>)?.map { "\($0)" } }
            }
            let realm = try Realm(configuration: ruled)
            var wrong = 0
            for id in 0..<count {
                let part = realm.object(ofType: Texts.Part.self, forPrimaryKey: "part-\(id)")
                let isRight =
                    part?.price == "\(id * 3) EUR" && part.map { Array($0.sizes) } == ["\(id)", "\(id + 1)"]
                    && part?.next?.id == (id == 0 ? nil : "part-\(id - 1)")
                if !isRight { wrong += 1 }
            }
            checks.report.check("objects", expected: count, got: realm.objects(Texts.Part.self).count)
            checks.report.check("wrong values or links", expected: 0, got: wrong)
            checks.report.add(.rows, Double(count), statistic: "count")
        }
    }
}
