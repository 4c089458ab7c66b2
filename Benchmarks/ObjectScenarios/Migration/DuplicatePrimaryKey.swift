import Harness
import RunRecords
import Strata

/// A property becomes the primary key while two, or many, objects share its values.
struct DuplicatePrimaryKey: MigrationScenario {
    let slug = "duplicate-primary-key"
    let question = "Does a primary key whose values collide name class and values, and change nothing?"
    let expects: Promise.Kind? = .atomicMigration
    let parameters = [
        ScenarioParameter("rows", .size, default: 2_000, range: 10...10_000_000, summary: "objects in the file")
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
                try fill(checks.configuration(url, 0, types: [Plain.Ticket.self]), count, shared)
                let migrating = checks.configuration(url, 1, types: [Keyed.Ticket.self])
                checks.refused(name, .duplicateKey, naming: ["'Ticket.code'", "shared", "\(shared) objects"]) {
                    _ = try Realm(configuration: migrating)
                }
                try checks.version(url, is: 0, name)
                let old = try Realm(configuration: checks.configuration(url, 0, types: [Plain.Ticket.self]))
                let tickets = old.objects(Plain.Ticket.self)
                let difference = Self.difference(tickets.map { ($0.code, $0.next?.code) }, count, shared)
                checks.report.check("\(name), first object that changed", expected: nil, got: difference)
                checks.report.check(
                    "\(name), shared", expected: shared, got: tickets.where { $0.code == "shared" }.count)
            }
            let url = try checks.file("pair")
            try Realm.performMigration(
                for: checks.configuration(url, 1, types: [Keyed.Ticket.self]) { migration, _ in
                    for (place, ticket) in migration.objects(ofType: "Ticket").filter("code == 'shared'").enumerated() {
                        ticket["code"] = "shared \(place)"
                    }
                })
            let realm = try Realm(configuration: checks.configuration(url, 1, types: [Keyed.Ticket.self]))
            let found = realm.object(ofType: Keyed.Ticket.self, forPrimaryKey: "shared 1")
            checks.report.check("retry, link of a mended key", expected: "shared 0", got: found?.next?.code ?? "none")
            let mended = { (number: Int) in (1...2).contains(number) ? "shared \(number - 1)" : "code \(number)" }
            let difference = Self.difference(
                realm.objects(Keyed.Ticket.self).map { ($0.code, $0.next?.code) }, count, code: mended)
            checks.report.check("retry, first object that is wrong", expected: nil, got: difference)
            checks.report.add(.rows, Double(count), statistic: "count")
        }
    }

    private static func code(_ number: Int, _ shared: Int) -> String {
        number > 0 && number <= shared ? "shared" : "code \(number)"
    }

    private static func difference(_ tickets: [(code: String, next: String?)], _ count: Int, _ shared: Int) -> Int? {
        difference(tickets, count) { code($0, shared) }
    }

    /// The first ticket, in order of keys, whose code or linked code is wrong.
    private static func difference(
        _ tickets: [(code: String, next: String?)], _ count: Int, code: (Int) -> String
    ) -> Int? {
        let places = 0..<max(count, tickets.count)
        return places.first { place in
            guard place < count, place < tickets.count else { return true }
            return tickets[place].code != code(place) || tickets[place].next != (place == 0 ? nil : code(place - 1))
        }
    }

    private func fill(_ configuration: Realm.Configuration, _ count: Int, _ shared: Int) throws {
        let realm = try Realm(configuration: configuration)
        try realm.write {
            var last: Plain.Ticket?
            for number in 0..<count {
                let ticket = Plain.Ticket()
                ticket.code = Self.code(number, shared)
                ticket.next = last
                realm.add(ticket)
                last = ticket
            }
        }
    }
}
