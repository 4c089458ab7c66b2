import Harness
import RunRecords
import Strata

/// Objects that lead to themselves, at once or in a circle.
struct Cycles: ObjectTrialScenario {
    let slug = "cycles"
    let family = Family.relations
    let question = "Does every operation on a circle of objects end?"

    enum Way: String, CaseIterable {
        case addCircle, addSelf, delete, cascade, description, notify, freeze, equality, detach, detachSelf
    }

    final class Knot: Object {
        @Persisted var name = ""
        @Persisted var next: Knot?
        @Persisted(deleteRule: .cascade) var owned: Knot?
        @Persisted var others: List<Knot>
        @Persisted(originProperty: "next") var before: LinkingObjects<Knot>
    }

    private static func circle(_ count: Int, owning: Bool) -> [Knot] {
        let knots = (0..<count).map { Knot(value: ["name": "knot \($0)"]) }
        for (index, knot) in knots.enumerated() {
            let next = knots[(index + 1) % count]
            if owning { knot.owned = next } else { knot.next = next }
            knot.others.append(next)
        }
        return knots
    }

    static func trial(_ way: Way, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.realm([Knot.self])
        let knots = circle(way == .addSelf || way == .detachSelf ? 1 : 500, owning: way == .cascade)
        try realm.write { realm.add(knots[0]) }
        let table = realm.objects(Knot.self)
        let first = knots[0]
        guard table.count == knots.count else { return .wrong("\(table.count) objects were added") }
        switch way {
        case .addCircle, .addSelf: return .expect("backlinks", first.before.count, 1)
        case .delete:
            try realm.write { realm.delete(first) }
            return .all([
                .expect("objects", table.count, 499), .expect("last link", knots[499].next == nil, true),
                .expect("entries of the last", knots[499].others.count, 0),
            ])
        case .cascade:
            try realm.write { realm.delete(first) }
            return .expect("objects", table.count, 0)
        case .description: return .expect("the description ends", first.description.count < 1_000_000, true)
        case .notify:
            var calls = 0
            let token = table.observe(keyPaths: ["next.next.name"]) { if case .update = $0 { calls += 1 } }
            try realm.write { knots[7].name = "renamed" }
            token.invalidate()
            return .expect("calls", calls, 1)
        case .freeze: return .expect("a round of frozen links", first.freeze().next?.next?.name, "knot 2")
        case .detach, .detachSelf: return try detached(first, realm, count: knots.count)
        case .equality: return .expect("equal after a round", knots[499].next == first, true)
        }
    }

    /// A copy of the whole circle, each object once, that no change reaches.
    private static func detached(_ first: Knot, _ realm: Realm, count: Int) throws -> PolicyTrials.Finding {
        let copy = first.detached()
        try realm.write { first.next?.name = "changed" }
        var names: [String] = []
        var knot = copy
        while names.count <= count {
            names.append(knot.name)
            guard let next = knot.next else { return .wrong("the copy ends after \(names.count)") }
            guard knot.others.first === next else { return .wrong("a list of the copy leads elsewhere") }
            knot = next
            if knot === copy { break }
        }
        return .expect("names of the copies", names, (0..<count).map { "knot \($0)" })
    }
}
