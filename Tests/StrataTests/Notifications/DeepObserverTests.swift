import Strata
import Testing

final class DeepStreet: EmbeddedObject {
    @Persisted var number = 0
    @Persisted var lamp: DeepLamp?
}

final class DeepLamp: EmbeddedObject {
    @Persisted var isOn = false
}

/// A chain by `next`, with other links, and the inverse of `next`.
final class DeepNode: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var name = ""
    @Persisted var next: DeepNode?
    @Persisted var home: DeepStreet?
    @Persisted var streets: List<DeepStreet>
    @Persisted var named: Map<String, DeepNode?>
    @Persisted var any: AnyRealmValue
    @Persisted(originProperty: "next") var before: LinkingObjects<DeepNode>

    convenience init(_ id: Int, next: DeepNode? = nil) {
        self.init()
        self.id = id
        self.next = next
    }
}

/// Observing `realm.objects(Owner.self)` without key paths once missed changes of an owner's embedded address, while
/// Realm follows four links.
@Suite struct DeepObserverTests {
    private let realm: Realm
    private let file = TemporaryFile()

    init() throws {
        realm = try Realm(configuration: file.configuration([DeepNode.self, DeepStreet.self, DeepLamp.self]))
    }

    /// Seven nodes: 0 links to 1, 1 to 2, and so on to 6. Each embeds a home with a lamp, and two streets.
    private func chain() throws -> [DeepNode] {
        try realm.write {
            var last: DeepNode?
            for id in (0...6).reversed() {
                let node = DeepNode(id, next: last)
                node.home = DeepStreet()
                node.home?.lamp = DeepLamp()
                node.streets.append(objectsIn: [DeepStreet(), DeepStreet()])
                realm.add(node)
                last = node
            }
        }
        return Array(realm.objects(DeepNode.self).sorted(byKeyPath: "id"))
    }

    /// The modified indexes in each update of a collection's observer.
    private final class Told {
        var modified: [[Int]] = []
        var isQuiet: Bool { modified.isEmpty }
    }

    private func observe<Observed: RealmCollection>(
        _ collection: Observed, _ told: Told
    ) -> NotificationToken where Observed.Element: DeepNode {
        collection.observe {
            guard case .update(_, let deletions, let insertions, let modifications) = $0 else { return }
            #expect(deletions.isEmpty && insertions.isEmpty)
            told.modified.append(modifications)
        }
    }

    @Test("changes of an embedded object, a nested one, and one in a list reach every kind of observer")
    func embedded() throws {
        let nodes = try chain()
        let all = Told(), some = Told(), sorted = Told(), sliced = Told(), inverse = Told()
        let tokens = [
            observe(realm.objects(DeepNode.self), all), observe(realm.objects(DeepNode.self).where { $0.id < 3 }, some),
            observe(realm.objects(DeepNode.self).sorted(byKeyPath: "id", ascending: false), sorted),
            observe(realm.objects(DeepNode.self).distinct(by: ["id"]), sliced), observe(nodes[3].before, inverse),
        ]
        try realm.write { nodes[2].home?.number = 7 }
        // Node 2, and nodes that reach it by at most three links: its embedded home takes one of the four.
        #expect(all.modified == [[0, 1, 2]])
        #expect(some.modified == [[0, 1, 2]])
        #expect(sorted.modified == [[4, 5, 6]])
        #expect(sliced.modified == [[0, 1, 2]])
        #expect(inverse.modified == [[0]])
        try realm.write { nodes[6].home?.lamp?.isOn = true }
        #expect(all.modified.last == [4, 5, 6], "two links to the lamp, and two more")
        #expect(some.modified.count == 1)
        try realm.write { nodes[6].streets[1].number = 3 }
        #expect(all.modified.last == [3, 4, 5, 6])
        for token in tokens { token.invalidate() }
    }

    @Test("a change is reported to objects within four links, also over links that were set since")
    func four() throws {
        let nodes = try chain()
        let told = Told()
        let token = observe(realm.objects(DeepNode.self), told)
        try realm.write { nodes[5].name = "five" }
        #expect(told.modified == [[1, 2, 3, 4, 5]])
        try realm.write { nodes[0].named["x"] = nodes[5] }
        #expect(told.modified.last == [0])
        try realm.write { nodes[5].name = "V" }
        #expect(told.modified.last == [0, 1, 2, 3, 4, 5])
        try realm.write { nodes[6].next = nodes[0] }
        #expect(told.modified.last == [2, 3, 4, 5, 6, 0].sorted(), "now in a circle")
        token.invalidate()
    }

    @Test("a deletion is reported to objects that reached the deleted one indirectly")
    func deleted() throws {
        let nodes = try chain()
        var modified: [Int] = []
        let token = realm.objects(DeepNode.self).where { $0.id < 4 }.observe {
            if case .update(_, _, _, let places) = $0 { modified = places }
        }
        try realm.write { realm.delete(nodes[6]) }
        #expect(modified == [1, 2, 3], "5 lost its link")
        token.invalidate()
    }

    @Test("observers of lists and maps of objects get changes behind links as well")
    func columns() throws {
        let nodes = try chain()
        try realm.write { nodes[0].named["a"] = nodes[4] }
        var keys: [String] = []
        let token = nodes[0].named.observe {
            if case .update(_, _, _, let modifications) = $0 { keys += modifications }
        }
        try realm.write { nodes[6].home?.number = 5 }
        #expect(keys == ["a"])
        var places: [[Int]] = []
        let street = nodes[1].streets.observe {
            if case .update(_, _, _, let modifications) = $0 { places.append(modifications) }
        }
        try realm.write { nodes[1].streets[1].lamp = DeepLamp() }
        try realm.write { nodes[1].streets[1].lamp?.isOn = true }
        #expect(places == [[1], [1]])
        for token in [token, street] { token.invalidate() }
    }

    @Test("an observed object, key paths and values of any type report only their own changes")
    func own() throws {
        let nodes = try chain()
        try realm.write { nodes[0].any = .object(nodes[6]) }
        var names: [String] = []
        let object = nodes[4].observe {
            if case .change(_, let properties) = $0 { names += properties.map(\.name) }
        }
        let byName = Told(), first = Told()
        let tokens = [
            realm.objects(DeepNode.self).observe(keyPaths: ["name", "next"]) { change in
                if case .update(_, _, _, let modifications) = change { byName.modified.append(modifications) }
            }, observe(realm.objects(DeepNode.self).where { $0.id == 0 }, first),
        ]
        try realm.write { nodes[5].home?.number = 1 }
        try realm.write { nodes[6].name = "six" }
        #expect(names.isEmpty && first.isQuiet)
        #expect(byName.modified == [[6]])
        try realm.write { nodes[4].name = "four" }
        #expect(names == ["name"])
        for token in tokens + [object] { token.invalidate() }
    }
}
