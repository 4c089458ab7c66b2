import Foundation
import Seeds
import Strata
import StrataFiles
import StrataStorage
import Testing

/// Many objects deleted at once, compared with the same objects deleted one by one.
@Suite struct BulkDeletionTests {
    final class Part: EmbeddedObject {
        @Persisted var size = 0
        @Persisted var parts: List<Part>
        @Persisted var made: Thing?
    }

    final class Thing: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted(indexed: true) var name = ""
        @Persisted(indexed: true) var weight: Int?
        @Persisted var text = ""
        @Persisted var friend: Thing?
        @Persisted var friends: List<Thing>
        @Persisted var circle: MutableSet<Thing>
        @Persisted var named: Map<String, Thing?>
        @Persisted var numbers: List<Int>
        @Persisted var part: Part?
        @Persisted var parts: List<Part>
        @Persisted(originProperty: "friends") var admirers: LinkingObjects<Thing>
    }

    final class Owner: Object {
        @Persisted var number = 0
        @Persisted var best: Thing?
        @Persisted(deleteRule: .cascade) var things: List<Thing>
        @Persisted(deleteRule: .cascadeIfLast) var shared: List<Thing>
        @Persisted(deleteRule: .cascade) var next: Owner?
    }

    private static let classes: [ObjectBase.Type] = [Thing.self, Owner.self, Part.self]

    /// Fills a Realm; equal seeds give equal contents.
    private static func fill(_ realm: Realm, _ seed: UInt64, things: Int) throws {
        var random = RandomStream(Seed(seed))
        func below(_ n: Int) -> Int { Int.random(in: 0..<n, using: &random) }
        try realm.write {
            var all: [Thing] = []
            // The other targets are only shared; otherwise which deletion removes the last link would depend on the
            // order.
            let linked = things * 7 / 8
            func any() -> Thing { all[below(min(all.count, linked))] }
            for id in 0..<things {
                let thing = Thing()
                thing.id = id * 3
                thing.name = "thing \(below(40))"
                thing.weight = below(5) == 0 ? nil : below(100)
                thing.text = String(repeating: "t", count: below(60) == 0 ? 3000 : below(9))
                if !all.isEmpty {
                    if below(3) == 0 { thing.friend = any() }
                    for _ in 0..<below(below(50) == 0 ? 900 : 5) { thing.friends.append(any()) }
                    for _ in 0..<below(3) { thing.circle.insert(any()) }
                    for number in 0..<below(3) { thing.named["k\(number)"] = any() }
                }
                thing.numbers.append(objectsIn: (0..<below(below(40) == 0 ? 2000 : 4)).map { $0 })
                if below(3) == 0 { thing.part = Part(value: ["size": id]) }
                for size in 0..<below(3) {
                    let part = Part(value: ["size": size])
                    part.parts.append(Part(value: ["size": -size]))
                    part.made = all.isEmpty ? nil : any()
                    thing.parts.append(part)
                }
                realm.add(thing)
                all.append(thing)
            }
            var last: Owner?
            for number in 0..<(things / 8) {
                let owner = Owner()
                owner.number = number
                owner.best = any()
                for _ in 0..<below(4) { owner.things.append(any()) }
                for _ in 0..<below(4) { owner.shared.append(all[linked + below(things - linked)]) }
                owner.next = below(3) == 0 ? last : nil
                realm.add(owner)
                last = owner
            }
        }
    }

    private static func contents(_ realm: Realm) -> [String] {
        func ids(_ things: some Sequence<Thing>) -> [Int] { things.map(\.id) }
        func parts(_ part: Part) -> String {
            "\(part.size) \(part.made?.id ?? -1) [\(part.parts.map { parts($0) }.joined(separator: ","))]"
        }
        let things = realm.objects(Thing.self).map { thing in
            let named = thing.named.map { "\($0.key): \($0.value?.id ?? -1)" }.sorted()
            return "\(thing.id) \(thing.name) \(thing.weight ?? -1) \(thing.text.count) \(thing.friend?.id ?? -1) "
                + "\(ids(thing.friends)) \(ids(thing.circle).sorted()) \(named) \(thing.numbers.count) "
                + "\(thing.part.map(parts) ?? "-") \(thing.parts.map(parts)) \(ids(thing.admirers).sorted())"
        }
        let owners = realm.objects(Owner.self).map {
            "\($0.number) \($0.best?.id ?? -1) \(ids($0.things)) \(ids($0.shared)) \($0.next?.number ?? -1)"
        }
        return Array(things) + Array(owners) + ["\(realm.dynamicObjects("Part").count) parts"]
    }

    /// The objects to delete, at once or one by one.
    private enum Deletion: CaseIterable {
        case someThings, mostThings, someOwners, allThings, allOwners, everything

        func run(_ realm: Realm, atOnce: Bool) {
            let things: Results<Thing>? =
                switch self {
                case .someThings: realm.objects(Thing.self).where { $0.weight < 20 }
                case .mostThings: realm.objects(Thing.self).where { $0.weight >= 6 || $0.weight == nil }
                case .allThings, .everything: realm.objects(Thing.self)
                default: nil
                }
            let owners: Results<Owner>? =
                switch self {
                case .someOwners: realm.objects(Owner.self).where { $0.number < 20 }
                case .allOwners, .everything: realm.objects(Owner.self)
                default: nil
                }
            if !atOnce {
                if let owners { for owner in Array(owners) where !owner.isInvalidated { realm.delete(owner) } }
                if let things { for thing in Array(things) where !thing.isInvalidated { realm.delete(thing) } }
            } else if self == .everything {
                realm.deleteAll()
            } else {
                if let owners { realm.delete(owners) }
                if let things { realm.delete(things) }
            }
        }
    }

    /// Mirrors a collection by its change sets only.
    private final class Follower {
        private(set) var known: [String] = []
        private(set) var failures: [String] = []
        private var token: NotificationToken?

        init<Element: ObjectBase>(_ results: Results<Element>, _ describe: @escaping (Element) -> String) {
            token = results.observe { [unowned self] change in
                switch change {
                case .initial(let all): known = all.map(describe)
                case .update(let all, let deletions, let insertions, let modifications):
                    let old = known.count
                    for place in deletions.reversed() { known.remove(at: place) }
                    for place in insertions { known.insert(describe(all[place]), at: place) }
                    for place in modifications { known[place - deletions.filter { $0 < place }.count] = "changed" }
                    let now = Array(all.map(describe))
                    if known.count != now.count || zip(known, now).contains(where: { $0 != $1 && $0 != "changed" }) {
                        failures.append("\(old) became \(known.count) instead of \(now.count)")
                    }
                    known = now
                case .error(let error): failures.append("\(error)")
                }
            }
        }
    }

    @Test(
        "deleting objects at once gives the same state as deleting them one by one",
        arguments: Deletion.allCases, [3, 60, 500])
    private func agreement(deletion: Deletion, things: Int) throws {
        let seed = UInt64(things)
        let (one, other) = (try makeRealm(Self.classes), try makeRealm(Self.classes))
        for realm in [one, other] { try Self.fill(realm, seed, things: things) }
        let before = Self.contents(one)
        #expect(before == Self.contents(other))
        let followers = [
            Follower(one.objects(Thing.self).sorted(byKeyPath: "id")) { (thing: Thing) in
                "\(thing.id) \(thing.friend?.id ?? -1) \(thing.friends.map(\.id)) \(thing.named.map { $0.value?.id })"
            },
            Follower(one.objects(Owner.self)) { (owner: Owner) in "\(owner.number) \(owner.best?.id ?? -1)" },
        ]
        one.refresh()
        struct Cancelled: Error {}
        do {
            try one.write {
                deletion.run(one, atOnce: true)
                throw Cancelled()
            }
        } catch is Cancelled {}
        #expect(Self.contents(one) == before, "given up")
        try one.store.checkInvariants()
        var inWrite: [String] = []
        try one.write {
            deletion.run(one, atOnce: true)
            inWrite = Self.contents(one)
        }
        #expect(Self.contents(one) == inWrite)
        try other.write { deletion.run(other, atOnce: false) }
        #expect(Self.contents(one) == Self.contents(other))
        for realm in [one, other] { try realm.store.checkInvariants() }
        #expect(followers.flatMap(\.failures).isEmpty)
        // Objects inserted afterwards inherit nothing from deleted ones.
        for realm in [one, other] {
            try realm.write {
                realm.add(Thing(value: ["id": 4, "name": "thing 1"]), update: .modified)
                realm.add(Owner(value: ["number": 4]))
            }
            try realm.store.checkInvariants()
        }
        #expect(Self.contents(one) == Self.contents(other))
    }
}
