import Harness
import Measuring
import RunRecords
import Strata

/// Everything links to one object.
struct MillionBacklinks: Scenario {
    let slug = "million-backlinks"
    let family = Family.relations
    let question = "What does an object cost that very many others link to, and what does deleting it?"
    let requires: Set<Capability> = [.objects]
    let parameters = [
        ScenarioParameter("links", default: "100000", range: 4...100_000_000, summary: "objects that link to one")
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
            // A quarter first: an eighth of the time is linear, a sixteenth quadratic.
            let small = try measure(place, links / 4, context.report, label: "quarter")
            let large = try measure(place, links, context.report, label: "all")
            context.report.add(.deletionGrowth, large / small)
            context.report.check("deleting is not quadratic", expected: true, got: large < small * 10)
        }
    }

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
        let counted = MonotonicClock.now()
        try realm.write { realm.delete(hub) }
        let end = MonotonicClock.now()
        report.check("links left, \(label)", expected: 0, got: realm.objects(Spoke.self).filter("hub != nil").count)
        report.check("spokes left, \(label)", expected: links, got: realm.objects(Spoke.self).count)
        report.add(.linksPerSecond, Double(links) / (Double(added - start) / 1e9), label: "add, \(label)")
        report.add(.linksPerSecond, Double(links) / (Double(end - counted) / 1e9), label: "delete, \(label)")
        return Double(end - counted) / 1e9
    }
}

extension Metric {
    /// Time for four times the links over the time for the quarter.
    static let deletionGrowth = Metric("deletion_growth_ratio", unit: "ratio", .lowerIsBetter, .measured)
}
