import Harness
import Measuring
import RunRecords
import Strata

/// All objects link to one.
struct MillionBacklinks: Scenario {
    let slug = "million-backlinks"
    let family = Family.relations
    let question = "What does an object with very many backlinks cost, and its deletion?"
    let requires: Set<Capability> = [.objects]
    let parameters = [
        ScenarioParameter("links", .size, default: 100_000, range: 4...100_000_000, summary: "objects that link to one")
    ]

    final class Hub: Object {
        @Persisted var name = ""
        @Persisted(originProperty: "hub") var spokes: LinkingObjects<Spoke>
    }

    final class Spoke: Object {
        @Persisted var number = 0
        @Persisted var hub: Hub?
    }

    func run(_ context: CaseContext) throws {
        let links = try context.integer("links")
        let place = TrialPlace(directory: try context.emptyLocation("hub").directory, policy: .substitute)
        try context.withEngineErrors {
            // A quarter first: linear work then takes a quarter of the time, quadratic work a sixteenth.
            let small = try measure(place, links / 4, context.report, label: "quarter")
            var large = try measure(place, links, context.report, label: "all")
            // A slow first time may be a disturbance; quadratic work is slow again.
            if large >= small * Self.mostGrowth {
                large = min(large, try measure(place, links, context.report, label: "all, again"))
            }
            context.report.add(.deletionGrowth, large / small)
            guard small > Self.shortestComparedSeconds else {
                return context.report.inconclusive(
                    "deleting \(links / 4) links took \(small * 1000) ms: too short to compare with \(links)")
            }
            context.report.check("deleting is not quadratic", expected: true, got: large < small * Self.mostGrowth)
        }
    }

    /// Allowed ratio of the times: between four and sixteen.
    private static let mostGrowth = 10.0

    /// Shorter times are mostly those of the commit, and tell nothing of the links.
    private static let shortestComparedSeconds = 0.001

    /// - Returns: seconds that deleting the hub took.
    private func measure(_ place: TrialPlace, _ links: Int, _ report: CaseReport, label: String) throws -> Double {
        let realm = try place.realm([Hub.self, Spoke.self])
        let hub = Hub(value: ["name": "hub"])
        let start = MonotonicClock.now()
        try realm.write {
            realm.add(hub)
            for number in 0..<links {
                let spoke = Spoke()
                spoke.number = number
                spoke.hub = hub
                realm.add(spoke)
            }
        }
        let added = MonotonicClock.now()
        report.check("backlinks, \(label)", expected: links, got: hub.spokes.count)
        var numbers: [Int] = []
        // By a loop, which finds the backlinks once: an access by index finds all of them each time.
        for spoke in hub.spokes { numbers.append(spoke.number) }
        report.check("who leads to the hub, \(label)", expected: nil, got: Self.difference(numbers, links))
        let counted = MonotonicClock.now()
        try realm.write { realm.delete(hub) }
        let end = MonotonicClock.now()
        report.check("hubs left, \(label)", expected: 0, got: realm.objects(Hub.self).count)
        report.check("links left, \(label)", expected: 0, got: realm.objects(Spoke.self).filter("hub != nil").count)
        let left = realm.objects(Spoke.self)
        report.check("links read, \(label)", expected: nil, got: left.first { $0.hub != nil }?.number)
        report.check("spokes left, \(label)", expected: nil, got: Self.difference(left.map(\.number), links))
        report.add(.linksPerSecond, Double(links) / (Double(added - start) / 1e9), label: "add, \(label)")
        report.add(.linksPerSecond, Double(links) / (Double(end - counted) / 1e9), label: "delete, \(label)")
        return Double(end - counted) / 1e9
    }
}

extension MillionBacklinks {
    /// Missing and superfluous numbers below `count`; nil without any.
    fileprivate static func difference(_ numbers: [Int], _ count: Int) -> String? {
        if numbers.sorted() == Array(0..<count) { return nil }
        let missing = Set(0..<count).subtracting(numbers).min().map { "\($0) is missing" }
        return "\(numbers.count) of \(count), \(missing ?? "some twice")"
    }
}

extension Metric {
    /// Time for four times the links divided by the time for the quarter.
    static let deletionGrowth = Metric("deletion_growth_ratio", unit: "ratio", .lowerIsBetter, .measured)
}
