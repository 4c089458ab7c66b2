import Harness
import RunRecords
import Strata

/// An embedded object has exactly one parent, for as long as it is there.
struct EmbeddedParent: ObjectTrialScenario {
    let slug = "embedded-parent"
    let family = Family.relations
    let question = "Does an embedded object go with its parent, and can it have another one?"

    enum Way: String, CaseIterable {
        case deletedWithParent, cascadeDeep, secondParent, results, removedFromList
    }

    final class Leaf: EmbeddedObject {
        @Persisted var name = ""
        @Persisted var inner: Bud?
    }

    final class Bud: EmbeddedObject {
        @Persisted var name = ""
    }

    final class Tree: Object {
        @Persisted var name = ""
        @Persisted var leaf: Leaf?
        @Persisted var leaves: List<Leaf>
    }

    static func trial(_ way: Way, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.realm([Tree.self, Leaf.self, Bud.self])
        let (one, two) = (Tree(), Tree())
        one.leaf = Leaf(value: ["name": "leaf"])
        one.leaf?.inner = Bud(value: ["name": "bud"])
        for name in ["a", "b"] { one.leaves.append(Leaf(value: ["name": name])) }
        try realm.write { realm.add([one, two]) }
        func counts() -> [Int] { ["Leaf", "Bud"].map { realm.dynamicObjects($0).count } }
        guard counts() == [3, 1] else { return .wrong("\(counts()) embedded objects before") }
        switch way {
        case .deletedWithParent:
            try realm.write { realm.delete(one) }
            return .expect("embedded objects left", counts(), [0, 0])
        case .cascadeDeep:
            try realm.write { one.leaf = nil }
            return .expect("embedded objects left", counts(), [2, 0])
        case .secondParent:
            do {
                try realm.write { two.leaf = one.leaf }
                return .wrong("an embedded object got a second parent")
            } catch is Realm.Error {
                return .all([.expect("embedded objects", counts(), [3, 1]), .expect("two", two.leaf == nil, true)])
            }
        case .results:
            try realm.write { realm.delete(realm.objects(Tree.self)) }
            return .expect("embedded objects left", counts(), [0, 0])
        case .removedFromList:
            try realm.write { one.leaves.remove(at: 0) }
            return .all([.expect("embedded", counts(), [2, 1]), .expect("left", one.leaves.map(\.name), ["b"])])
        }
    }
}
