import Harness
import RunRecords
import Strata

/// An embedded object has exactly one parent as long as it exists.
struct EmbeddedParent: ObjectTrialScenario {
    let slug = "embedded-parent"
    let family = Family.relations
    let question = "Is an embedded object deleted with its parent, and can it get another parent?"

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
        one.name = "one"
        two.name = "two"
        try realm.write { realm.add([one, two]) }
        /// The names of all embedded objects, leaves before buds.
        func names() -> [String] {
            ["Leaf", "Bud"].flatMap { realm.dynamicObjects($0).map { $0["name"] as? String ?? "" }.sorted() }
        }
        /// The names of the trees' embedded objects.
        func held() -> [String] {
            realm.objects(Tree.self).sorted(byKeyPath: "name").map { tree in
                ([tree.name, tree.leaf?.name ?? "", tree.leaf?.inner?.name ?? ""] + tree.leaves.map(\.name))
                    .joined(separator: " ")
            }
        }
        func all(_ named: [String], _ trees: [String]) -> PolicyTrials.Finding {
            .all([.expect("embedded objects", names(), named), .expect("trees", held(), trees)])
        }
        guard names() == ["a", "b", "leaf", "bud"], held() == ["one leaf bud a b", "two  "] else {
            return .wrong("before: \(names()), \(held())")
        }
        switch way {
        case .deletedWithParent:
            try realm.write { realm.delete(one) }
            return all([], ["two  "])
        case .cascadeDeep:
            try realm.write { one.leaf = nil }
            return all(["a", "b"], ["one   a b", "two  "])
        case .secondParent:
            do {
                try realm.write { two.leaf = one.leaf }
                return .wrong("an embedded object got a second parent")
            } catch is Realm.Error {
                return all(["a", "b", "leaf", "bud"], ["one leaf bud a b", "two  "])
            }
        case .results:
            try realm.write { realm.delete(realm.objects(Tree.self)) }
            return all([], [])
        case .removedFromList:
            try realm.write { one.leaves.remove(at: 0) }
            return all(["b", "leaf", "bud"], ["one leaf bud b", "two  "])
        }
    }
}
