import Harness
import RunRecords
import Strata

/// A block creates, deletes and replaces objects of the class that it walks.
struct MutateWhileEnumerating: MigrationScenario {
    let slug = "mutate-while-enumerating"
    let question = "Does a walk visit exactly the objects of its start, whatever the block makes and deletes?"
    let parameters = [
        ScenarioParameter("rows", .size, default: 5_000, range: 100...10_000_000, summary: "objects in the file")
    ]

    enum Before {
        final class Item: Object {
            @Persisted(primaryKey: true) var id = 0
            override class func className() -> String { "Item" }
        }
    }

    enum After {
        final class Item: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var visits = 0
            override class func className() -> String { "Item" }
        }
    }

    func run(_ context: CaseContext) throws {
        let count = try context.integer("rows")
        try MigrationChecks.run(context) { checks in
            let url = try checks.file("database")
            do {
                let realm = try Realm(configuration: checks.configuration(url, 0, types: [Before.Item.self]))
                try realm.write { for id in 0..<count { realm.create(Before.Item.self, value: ["id": id]) } }
            }
            let first = count - count / 10
            let migrating = checks.configuration(url, 1, types: [After.Item.self]) { migration, _ in
                var victims = migration.objects(ofType: "Item").filter("id >= %@", first).map { $0 }
                migration.enumerateObjects(ofType: "Item") { _, new in
                    guard let new, let id = new["id"] as? Int else { return }
                    new["visits"] = (new["visits"] as? Int ?? 0) + 1
                    migration.create("Item", value: ["id": count + id])
                    if let victim = victims.popLast() { migration.delete(victim) }
                    if id % 2 == 1 { migration.delete(new) }
                }
            }
            let realm = try Realm(configuration: migrating)
            let items = realm.objects(After.Item.self)
            let visited = items.where { $0.visits == 1 }
            checks.report.check(
                "visited once", expected: (0..<first).filter { $0 % 2 == 0 }, got: visited.map(\.id))
            checks.report.check("visited again", expected: 0, got: items.where { $0.visits > 1 }.count)
            checks.report.check(
                "made and not visited", expected: (0..<first).map { count + $0 },
                got: items.where { $0.visits == 0 }.map(\.id))
            checks.report.add(.rows, Double(count), statistic: "count")
        }
    }
}
