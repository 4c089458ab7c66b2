import Harness
import RunRecords
import Strata

/// Threads open a database, look at it and let it go, again and again, while others do the same.
struct OpenCloseRace: Scenario {
    let slug = "open-close-race"
    let family = Family.concurrency
    let question = "May a database be opened on one thread while another one lets it go?"
    let requires: Set<Capability> = [.objects]
    let schedule = Schedule.free
    let parameters = [
        ScenarioParameter("threads", default: "4", range: 2...256, summary: "threads that open and let go"),
        ScenarioParameter("rounds", default: "60", summary: "openings per thread"),
    ]
    func run(_ context: CaseContext) throws {
        let (threads, rounds) = (try context.integer("threads"), try context.integer("rounds"))
        let place = TrialPlace(directory: try context.emptyLocation("race").directory, policy: .substitute)
        try context.withEngineErrors {
            let configuration: Realm.Configuration
            do {
                let realm = try place.realm(EntryClasses.all)
                try EntryClasses.fill(realm, count: 5)
                configuration = realm.configuration
            }
            let tasks = (0..<threads).map { thread in
                ThreadTask {
                    for round in 0..<rounds {
                        let realm = try Realm(configuration: configuration)
                        let count = realm.objects(Entry.self).count
                        if count < 5 { throw HarnessError("\(count) objects in round \(round)") }
                        if round % 5 == 0 {
                            try realm.write { realm.add(EntryClasses.make(100 + thread * 1_000 + round)) }
                        }
                    }
                }
            }
            for task in tasks { try task.wait() }
            let realm = try Realm(configuration: configuration)
            let expected = 5 + threads * ((rounds + 4) / 5)
            context.report.check("objects", expected: expected, got: realm.objects(Entry.self).count)
        }
    }
}
