import Harness
import RunRecords
import Strata

/// A property becomes the primary key while two, then many, objects share its values.
struct DuplicatePrimaryKey: Scenario {
    let slug = "duplicate-primary-key"
    let family = Family.migration
    let question = "Does a primary key whose values collide name class and values, and change nothing?"
    let requires: Set<Capability> = [.migrations]
    let expects: Promise.Kind? = .atomicMigration
    let parameters = [
        ScenarioParameter("rows", default: "2000", range: 10...10_000_000, summary: "objects in the file")
    ]

    enum Plain {
        final class Ticket: Object {
            @Persisted var code = ""
            @Persisted var next: Ticket?
            override class func className() -> String { "Ticket" }
        }
    }

    enum Keyed {
        final class Ticket: Object {
            @Persisted(primaryKey: true) var code = ""
            @Persisted var next: Ticket?
            override class func className() -> String { "Ticket" }
        }
    }

    func run(_ context: CaseContext) throws {
        let count = try context.integer("rows")
        try MigrationChecks.run(context) { checks in
            for (name, shared) in [("pair", 2), ("half", count / 2)] {
                let url = try checks.file(name)
                try fill(checks.configuration(url, 0, [Plain.Ticket.self]), count, shared)
                let migrating = checks.configuration(url, 1, [Keyed.Ticket.self])
                checks.refused(name, .duplicateKey, naming: ["'Ticket.code'", "shared", "\(shared) objects"]) {
                    _ = try Realm(configuration: migrating)
                }
                try checks.version(url, is: 0, name)
                let old = try Realm(configuration: checks.configuration(url, 0, [Plain.Ticket.self]))
                let tickets = old.objects(Plain.Ticket.self)
                checks.report.check("\(name), objects", expected: count, got: tickets.count)
                checks.report.check(
                    "\(name), shared", expected: shared, got: tickets.where { $0.code == "shared" }.count)
            }
            let url = try checks.file("pair")
            try Realm.performMigration(
                for: checks.configuration(url, 1, [Keyed.Ticket.self]) { migration, _ in
                    for (place, ticket) in migration.objects(ofType: "Ticket").filter("code == 'shared'").enumerated() {
                        ticket["code"] = "shared \(place)"
                    }
                })
            let realm = try Realm(configuration: checks.configuration(url, 1, [Keyed.Ticket.self]))
            let found = realm.object(ofType: Keyed.Ticket.self, forPrimaryKey: "shared 1")
            checks.report.check("retry, link of a mended key", expected: true, got: found?.next != nil)
            checks.report.add(.rows, Double(count), statistic: "count")
        }
    }

    private func fill(_ configuration: Realm.Configuration, _ count: Int, _ shared: Int) throws {
        let realm = try Realm(configuration: configuration)
        try realm.write {
            var last: Plain.Ticket?
            for number in 0..<count {
                let ticket = Plain.Ticket()
                ticket.code = number > 0 && number <= shared ? "shared" : "code \(number)"
                ticket.next = last
                realm.add(ticket)
                last = ticket
            }
        }
    }
}
