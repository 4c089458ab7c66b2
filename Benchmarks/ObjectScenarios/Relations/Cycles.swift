import Harness
import RunRecords
import Strata

/// Objects that link to themselves, directly or in a cycle.
struct Cycles: ObjectTrialScenario {
    let slug = "cycles"
    let family = Family.relations
    let question = "Does every operation on a cycle of objects end?"

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

    /// Each knot with its backlinks and links, by the numbers in the names.
    private static func texts(_ realm: Realm) -> [String] {
        let texts = realm.objects(Knot.self).map { knot in
            "\(knot.name) from \(knot.before.map(\.name)) to \(knot.next?.name ?? "nothing"), "
                + "and \(knot.others.map(\.name))"
        }
        func number(_ text: String) -> Int { Int(text.dropFirst(5).prefix { $0 != " " }) ?? -1 }
        return texts.sorted { number($0) < number($1) }
    }

    /// A complete cycle.
    private static func expected(_ count: Int) -> [String] {
        (0..<count).map { index in
            let (before, next) = ((index + count - 1) % count, (index + 1) % count)
            return "knot \(index) from [\"knot \(before)\"] to knot \(next), and [\"knot \(next)\"]"
        }
    }

    static func trial(_ way: Way, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.realm([Knot.self])
        let knots = circle(way == .addSelf || way == .detachSelf ? 1 : 500, owning: way == .cascade)
        try realm.write { realm.add(knots[0]) }
        let table = realm.objects(Knot.self)
        let first = knots[0]
        guard table.count == knots.count else { return .wrong("\(table.count) objects were added") }
        switch way {
        case .addCircle, .addSelf: return .same("knots", texts(realm), expected(knots.count))
        case .delete:
            try realm.write { realm.delete(first) }
            var left = expected(500)
            left.removeFirst()
            left[0] = "knot 1 from [] to knot 2, and [\"knot 2\"]"
            left[498] = "knot 499 from [\"knot 498\"] to nothing, and []"
            return .same("knots", texts(realm), left)
        case .cascade:
            try realm.write { realm.delete(first) }
            return .expect("objects", table.count, 0)
        case .description: return .expect("the description ends", first.description.count < 1_000_000, true)
        case .notify:
            var calls = 0
            let token = table.observe(keyPaths: ["next.next.name"]) { if case .update = $0 { calls += 1 } }
            try realm.write { knots[7].name = "renamed" }
            token.invalidate()
            return .all([
                .expect("calls", calls, 1),
                .expect("names", knots.map(\.name), (0..<500).map { $0 == 7 ? "renamed" : "knot \($0)" }),
            ])
        case .freeze: return .expect("a round of frozen links", first.freeze().next?.next?.name, "knot 2")
        case .detach, .detachSelf: return try detached(first, realm, count: knots.count)
        case .equality: return .expect("equal after a round", knots[499].next == first, true)
        }
    }

    /// A detached copy of the whole cycle, each object once, that later changes do not affect.
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
