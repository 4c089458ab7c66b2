import Harness
import RunRecords
import Seeds
import Strata

/// Random links, unlinks and deletions: backlinks have to be the inverse of what the links say, at any size.
struct BacklinkEquality: Scenario {
    let slug = "backlink-equality"
    let family = Family.relations
    let question = "Are backlinks the inverse of links, lists, sets and maps after any history?"
    let requires: Set<Capability> = [.objects]
    let parameters = [
        ScenarioParameter("objects", default: "1200", range: 10...1_000_000, summary: "objects of the graph"),
        ScenarioParameter("operations", default: "6000", summary: "links made and undone"),
    ]

    final class Node: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var link: Node?
        @Persisted var list: List<Node>
        @Persisted var set: MutableSet<Node>
        @Persisted var map: Map<String, Node?>
        @Persisted(originProperty: "link") var linking: LinkingObjects<Node>
        @Persisted(originProperty: "list") var listing: LinkingObjects<Node>
        @Persisted(originProperty: "set") var setting: LinkingObjects<Node>
        @Persisted(originProperty: "map") var mapping: LinkingObjects<Node>
    }

    func run(_ context: CaseContext) throws {
        let (objects, operations) = (try context.integer("objects"), try context.integer("operations"))
        let place = TrialPlace(directory: try context.emptyLocation("graph").directory, policy: .substitute)
        try context.withEngineErrors {
            let realm = try place.realm([Node.self])
            try realm.write { for id in 0..<objects { realm.create(Node.self, value: ["id": id]) } }
            var random = context.random("graph")
            let batches = 20
            for batch in 0..<batches {
                try realm.write {
                    for _ in 0..<operations / batches { step(realm, objects, &random) }
                }
                compare(realm, context.report, "after batch \(batch)")
                if context.isOverBudget { return context.report.cut() }
            }
            context.report.add(.links, Double(operations), statistic: "count")
        }
    }

    private func step(_ realm: Realm, _ objects: Int, _ random: inout RandomStream) {
        // Few targets get most of the links: some pass every limit of what fits in a node.
        let target = random.below(3) == 0 ? random.below(objects) : random.below(4)
        guard let from = realm.object(ofType: Node.self, forPrimaryKey: random.below(objects)),
            let to = realm.object(ofType: Node.self, forPrimaryKey: target)
        else { return }
        switch random.below(12) {
        case 0, 1: from.link = to
        case 2: from.link = nil
        case 3, 4, 5: from.list.append(to)
        case 6: if !from.list.isEmpty { from.list.remove(at: random.below(from.list.count)) }
        case 7: from.set.insert(to)
        case 8: from.set.remove(to)
        case 9: from.map["key \(random.below(5))"] = to
        case 10: from.map["key \(random.below(5))"] = nil
        default:
            if random.below(20) == 0 {
                let id = from.id
                realm.delete(from)
                realm.create(Node.self, value: ["id": id])
            }
        }
    }

    /// All links of the graph, from both sides.
    private func compare(_ realm: Realm, _ report: CaseReport, _ moment: String) {
        var forward: [String: [Int: [Int]]] = [:]
        var backward: [String: [Int: [Int]]] = [:]
        for node in realm.objects(Node.self) {
            if let to = node.link { forward["link", default: [:]][to.id, default: []].append(node.id) }
            for to in node.list { forward["list", default: [:]][to.id, default: []].append(node.id) }
            for to in node.set { forward["set", default: [:]][to.id, default: []].append(node.id) }
            for case let to? in node.map.values { forward["map", default: [:]][to.id, default: []].append(node.id) }
            for (name, links) in [
                ("link", node.linking), ("list", node.listing), ("set", node.setting), ("map", node.mapping),
            ] where !links.isEmpty {
                backward[name, default: [:]][node.id] = links.map(\.id)
            }
        }
        for name in ["link", "list", "set", "map"] {
            let there = (forward[name] ?? [:]).mapValues { $0.sorted() }
            let back = (backward[name] ?? [:]).mapValues { $0.sorted() }
            let wrong = Set(there.keys).union(back.keys).filter { there[$0] != back[$0] }.min()
            report.check("\(name), \(moment): first object whose backlinks differ", expected: nil, got: wrong)
        }
    }
}

extension Metric {
    static let links = Metric("links", unit: "count", .neutral, .deterministic)
}
