import Harness
import Measuring
import RunRecords
import Seeds
import Strata
import Synchronization

/// Money moves between accounts while readers add them up.
struct BankTransfer: Scenario {
    let slug = "bank-transfer"
    let family = Family.concurrency
    let question = "Does any reader, on any thread, ever see the sum of all accounts move?"
    let requires: Set<Capability> = [.objects]
    let schedule = Schedule.free
    let parameters = [
        ScenarioParameter("readers", default: "4", range: 1...256, summary: "threads that add up"),
        ScenarioParameter("writers", default: "2", range: 1...256, summary: "threads that transfer"),
        ScenarioParameter("transfers", default: "200", summary: "transfers per writer"),
    ]

    final class Account: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var balance = 100
    }

    private static let accounts = 20

    func run(_ context: CaseContext) throws {
        let (readers, writers) = (try context.integer("readers"), try context.integer("writers"))
        let transfers = try context.integer("transfers")
        let place = TrialPlace(directory: try context.emptyLocation("bank").directory, policy: .substitute)
        try context.withEngineErrors {
            let realm = try place.realm([Account.self])
            try realm.write { for id in 0..<Self.accounts { realm.create(Account.self, value: ["id": id]) } }
            let configuration = realm.configuration
            let isOver = Atomic(false)
            let wrong = Mutex<[String]>([])
            let looks = Atomic(0)
            let group = (0..<readers).map { _ in
                ThreadTask {
                    let realm = try Realm(configuration: configuration)
                    while !isOver.load(ordering: .relaxed) {
                        realm.refresh()
                        let sum: Int = realm.objects(Account.self).sum(ofProperty: "balance")
                        let again = realm.objects(Account.self).reduce(0) { $0 + $1.balance }
                        if sum != Self.accounts * 100 || again != sum {
                            wrong.withLock { $0.append("\(sum), and object by object \(again)") }
                        }
                        looks.add(1, ordering: .relaxed)
                    }
                }
            }
            let seed = context.seed
            let tasks = (0..<writers).map { writer in
                ThreadTask {
                    var random = RandomStream(seed.derived("writer \(writer)"))
                    let realm = try Realm(configuration: configuration)
                    for _ in 0..<transfers {
                        let (from, to, amount) = (random.below(20), random.below(20), random.below(50))
                        try realm.write {
                            realm.object(ofType: Account.self, forPrimaryKey: from)?.balance -= amount
                            realm.object(ofType: Account.self, forPrimaryKey: to)?.balance += amount
                        }
                    }
                }
            }
            for task in tasks { try task.wait() }
            isOver.store(true, ordering: .relaxed)
            for task in group { try task.wait() }
            realm.refresh()
            let sum: Int = realm.objects(Account.self).sum(ofProperty: "balance")
            context.report.check("sum at the end", expected: Self.accounts * 100, got: sum)
            context.report.check("sums that readers saw", expected: [], got: Array(wrong.withLock { $0 }.prefix(5)))
            context.report.add(.looks, Double(looks.load(ordering: .relaxed)), statistic: "count")
        }
    }
}

extension Metric {
    static let looks = Metric("looks", unit: "count", .higherIsBetter, .measured)
}
