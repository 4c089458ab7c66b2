import Harness
import RunRecords
import Seeds
import Strata

/// Random links, unlinks and deletions: backlinks must be the inverse of the links, at any size.
struct BacklinkEquality: Scenario {
    let slug = "backlink-equality"
    let family = Family.relations
    let question = "Are backlinks the inverse of links, lists, sets and maps after any history?"
    let requires: Set<Capability> = [.objects]
    let parameters = [
        ScenarioParameter("objects", .size, default: 1_200, range: 10...1_000_000, summary: "objects of the graph"),
        ScenarioParameter("operations", .size, default: 6_000, summary: "links made and undone"),
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
            var model = Model()
            let batches = 20
            for batch in 0..<batches {
                try realm.write {
                    for _ in 0..<operations / batches { step(realm, objects, random: &random, model: &model) }
                }
                compare(realm, model, objects: objects, report: context.report, moment: "after batch \(batch)")
                if context.isOverBudget { return context.report.cut() }
            }
            context.report.add(.links, Double(operations), statistic: "count")
        }
    }

    /// The links made by the program, in plain Swift.
    private struct Model {
        struct Links: Equatable {
            var link: Int?
            var list: [Int] = []
            var set: Set<Int> = []
            var map: [String: Int] = [:]
        }
        var nodes: [Int: Links] = [:]

        mutating func delete(_ id: Int) {
            nodes[id] = nil
            for (key, links) in nodes {
                var left = links
                if left.link == id { left.link = nil }
                left.list.removeAll { $0 == id }
                left.set.remove(id)
                // The key of a map stays, with null as its value.
                left.map = left.map.filter { $0.value != id }
                nodes[key] = left
            }
        }
    }

    private func step(_ realm: Realm, _ objects: Int, random: inout RandomStream, model: inout Model) {
        // A few targets get most of the links, so that some have more backlinks than any node holds.
        let target = random.below(3) == 0 ? random.below(objects) : random.below(4)
        guard let from = realm.object(ofType: Node.self, forPrimaryKey: random.below(objects)),
            let to = realm.object(ofType: Node.self, forPrimaryKey: target)
        else { return }
        let id = from.id
        var known = model.nodes[id] ?? Model.Links()
        defer { model.nodes[id] = known }
        switch random.below(12) {
        case 0, 1:
            from.link = to
            known.link = target
        case 2:
            from.link = nil
            known.link = nil
        case 3, 4, 5:
            from.list.append(to)
            known.list.append(target)
        case 6:
            if known.list.isEmpty { return }
            let place = random.below(known.list.count)
            from.list.remove(at: place)
            known.list.remove(at: place)
        case 7:
            from.set.insert(to)
            known.set.insert(target)
        case 8:
            from.set.remove(to)
            known.set.remove(target)
        case 9:
            let key = "key \(random.below(5))"
            from.map[key] = to
            known.map[key] = target
        case 10:
            let key = "key \(random.below(5))"
            from.map[key] = nil
            known.map[key] = nil
        default:
            if random.below(8) == 0 {
                realm.delete(from)
                realm.create(Node.self, value: ["id": id])
                model.delete(id)
                known = Model.Links()
            }
        }
    }

    /// Compares all links of the graph, from both sides, with the model.
    private func compare(_ realm: Realm, _ model: Model, objects: Int, report: CaseReport, moment: String) {
        var lost: [Int] = []
        var forward: [String: [Int: [Int]]] = [:]
        var backward: [String: [Int: [Int]]] = [:]
        for node in realm.objects(Node.self) {
            let entries = node.map.compactMap { entry in entry.value.map { (entry.key, $0.id) } }
            let there = Model.Links(
                link: node.link?.id, list: node.list.map(\.id), set: Set(node.set.map(\.id)),
                map: Dictionary(uniqueKeysWithValues: entries))
            if there != model.nodes[node.id] ?? Model.Links() { lost.append(node.id) }
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
        report.check("objects, \(moment)", expected: objects, got: realm.objects(Node.self).count)
        report.check("first object that links to something else, \(moment)", expected: nil, got: lost.min())
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
