import Foundation
import Testing

@testable import Strata

/// The typed syntax against loops over the objects.
@Suite struct TypedQueryTests {
    final class Pet: Object {
        @Persisted var name = ""
        @Persisted var age = 0
        @Persisted var weight: Double?
        @Persisted(originProperty: "pets") var owners: LinkingObjects<Owner>
    }

    final class Owner: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var name = ""
        @Persisted var nickname: String?
        @Persisted var age = 0
        @Persisted var maximum: Int?
        @Persisted var mood = Mood.calm
        @Persisted var data = Data()
        @Persisted var isMember = false
        @Persisted var friend: Owner?
        @Persisted var pets: List<Pet>
        @Persisted var tags: List<String>
        @Persisted var scores: List<Double?>
    }

    typealias Condition = (typed: (Query<Owner>) -> Query<Bool>, loop: (Owner) -> Bool)

    static func world(_ dice: inout Dice) throws -> Realm {
        let realm = try makeRealm([Owner.self, Pet.self])
        try realm.write {
            for id in 0..<70 {
                let owner = Owner()
                owner.id = id
                owner.name = dice.pick(["Ann", "ánn", "Bob", "bobby", "", "Zoë"])
                owner.nickname = dice.pick([nil, "ann", "B", ""])
                owner.age = dice.roll(9)
                owner.maximum = dice.pick([nil, 3, 5])
                owner.mood = dice.pick([.calm, .cross])
                owner.data = Data((0..<dice.roll(4)).map { UInt8($0) })
                owner.isMember = dice.roll(2) == 0
                owner.tags.append(objectsIn: (0..<dice.roll(3)).map { _ in dice.pick(["red", "green", "Red"]) })
                owner.scores.append(objectsIn: (0..<dice.roll(4)).map { _ in dice.pick([nil, 1, 2.5, 4]) })
                for _ in 0..<dice.roll(4) {
                    let pet = Pet()
                    pet.name = dice.pick(["Rex", "Ida"])
                    pet.age = dice.roll(6)
                    pet.weight = dice.pick([nil, 1, 2])
                    owner.pets.append(pet)
                }
                realm.add(owner)
                if id > 0 { owner.friend = realm.object(ofType: Owner.self, forPrimaryKey: dice.roll(id * 2)) }
            }
        }
        return realm
    }

    static var conditions: [Condition] { scalars + collections + counted }

    static var scalars: [Condition] {
        [
            ({ $0.age == 3 }, { $0.age == 3 }),
            ({ $0.age < $0.maximum }, { owner in owner.maximum.map { owner.age < $0 } ?? false }),
            ({ $0.maximum >= $0.age }, { owner in owner.maximum.map { $0 >= owner.age } ?? false }),
            ({ $0.maximum == nil }, { $0.maximum == nil }),
            ({ $0.maximum.in([nil, 3]) }, { $0.maximum == nil || $0.maximum == 3 }),
            ({ $0.maximum.contains(2...4) }, { $0.maximum.map { (2...4).contains($0) } ?? false }),
            ({ $0.age.contains(2..<4) }, { (2..<4).contains($0.age) }),
            ({ $0.mood == .cross }, { $0.mood == .cross }),
            ({ $0.mood.rawValue.starts(with: "ca") }, { $0.mood == .calm }),
            ({ $0.isMember }, { $0.isMember }),
            ({ !$0.isMember }, { !$0.isMember }),
            ({ $0.name.contains("ANN", options: .caseInsensitive) }, { $0.name == "Ann" }),
            (
                { $0.name.equals("ann", options: [.caseInsensitive, .diacriticInsensitive]) },
                { $0.name == "Ann" || $0.name == "ánn" }
            ),
            ({ $0.name.notEquals("ann", options: .caseInsensitive) }, { $0.name != "Ann" }),
            ({ $0.name.like("*o?*") }, { $0.name.hasPrefix("Bob") || $0.name.hasPrefix("bob") || $0.name == "Zoë" }),
            ({ $0.name.like("b*", caseInsensitive: true) }, { $0.name.lowercased().hasPrefix("b") }),
            (
                { $0.name.starts(with: $0.nickname, options: .caseInsensitive) },
                { owner in
                    owner.nickname.map {
                        owner.name.lowercased().hasPrefix($0) || $0 == "B" && owner.name.lowercased().hasPrefix("b")
                    } ?? false
                }
            ),
            (
                { $0.name.like($0.nickname, caseInsensitive: true) },
                { owner in owner.nickname.map { owner.name.lowercased() == $0.lowercased() } ?? false }
            ),
            ({ $0.name < "C" }, { $0.name.utf8.lexicographicallyPrecedes("C".utf8) }),
            ({ $0.data.starts(with: [0, 1]) }, { $0.data.starts(with: [0, 1]) }),
            ({ $0.friend.name == "Bob" }, { $0.friend?.name == "Bob" }),
            ({ $0.friend.friend.age > 4 }, { ($0.friend?.friend?.age ?? -1) > 4 }),
            ({ $0.friend.nickname == nil }, { $0.friend?.nickname == nil }),
            ({ $0.friend != nil }, { $0.friend != nil }),
        ]
    }

    static var collections: [Condition] {
        [
            ({ $0.pets.age > 3 }, { $0.pets.contains { $0.age > 3 } }),
            ({ $0.pets.any.age > 3 }, { $0.pets.contains { $0.age > 3 } }),
            ({ $0.pets.all.age > 3 }, { $0.pets.allSatisfy { $0.age > 3 } }),
            ({ $0.pets.none.age > 3 }, { !$0.pets.contains { $0.age > 3 } }),
            ({ $0.pets.count >= 2 }, { $0.pets.count >= 2 }),
            ({ $0.pets.age.max == 5 }, { $0.pets.map(\.age).max() == 5 }),
            ({ $0.pets.age.min == nil || $0.pets.age.min < 1 }, { ($0.pets.map(\.age).min() ?? 0) < 1 }),
            ({ $0.pets.age.sum > 5 }, { $0.pets.reduce(0) { $0 + $1.age } > 5 }),
            (
                { $0.pets.weight.avg > 1.4 },
                { owner in
                    let weights = owner.pets.compactMap(\.weight)
                    return !weights.isEmpty && weights.reduce(0, +) / Double(weights.count) > 1.4
                }
            ),
            ({ $0.friend.pets.name == "Rex" }, { $0.friend?.pets.contains { $0.name == "Rex" } ?? false }),
            ({ $0.pets.owners.age > 6 }, { $0.age > 6 && !$0.pets.isEmpty }),
            ({ $0.tags.contains("red") }, { $0.tags.contains("red") }),
            ({ $0.tags == "red" }, { $0.tags.contains("red") }),
            ({ $0.tags.containsAny(in: ["green", "blue"]) }, { $0.tags.contains("green") }),
            (
                { $0.tags.any.contains("ED", options: .caseInsensitive) },
                { $0.tags.contains { $0.lowercased().contains("ed") } }
            ),
            ({ $0.tags.all.starts(with: "r") }, { $0.tags.allSatisfy { $0.hasPrefix("r") } }),
            ({ $0.tags.none == "green" }, { !$0.tags.contains("green") }),
            ({ $0.tags.count == 0 }, { $0.tags.isEmpty }),
            ({ $0.scores > 2 }, { $0.scores.contains { ($0 ?? 0) > 2 } }),
            ({ $0.scores.contains(nil) }, { $0.scores.contains(nil) }),
            ({ $0.scores.sum >= 4 }, { $0.scores.compactMap { $0 }.reduce(0, +) >= 4 }),
            ({ $0.scores.max == 4 }, { $0.scores.compactMap { $0 }.max() == 4 }),
        ]
    }

    static var counted: [Condition] {
        [
            (
                { ($0.pets.age > 2 && $0.pets.name == "Rex").count > 0 },
                { $0.pets.contains { $0.age > 2 && $0.name == "Rex" } }
            ),
            (
                { ($0.pets.age > 2 || !($0.pets.name == "Rex")).count == 2 },
                { $0.pets.filter { $0.age > 2 || $0.name != "Rex" }.count == 2 }
            ),
            // The property without a path is the pet's, too.
            ({ ($0.pets.age >= $0.age).count >= 2 }, { $0.pets.count >= 2 }),
            (
                { ($0.friend.pets.weight == nil).count == 0 },
                { $0.friend?.pets.allSatisfy { $0.weight != nil } ?? true }
            ),
        ]
    }

    @Test("each typed condition finds what a loop finds", arguments: UInt64(1)...2)
    func each(seed: UInt64) throws {
        var dice = Dice(state: seed)
        let owners = try Self.world(&dice).objects(Owner.self)
        for (place, condition) in Self.conditions.enumerated() {
            let found = owners.where(condition.typed)
            let comment: Comment = "seed \(seed), condition \(place): \(found.explain())"
            #expect(found.map(\.id) == owners.filter(condition.loop).map(\.id), comment)
        }
    }

    @Test("typed conditions combine like loops", arguments: UInt64(1)...2)
    func combined(seed: UInt64) throws {
        var dice = Dice(state: seed)
        let owners = try Self.world(&dice).objects(Owner.self)
        let conditions = Self.conditions
        for round in 0..<30 {
            let (a, b, c) = (dice.pick(conditions), dice.pick(conditions), dice.pick(conditions))
            let kind = dice.roll(3)
            let found = owners.where { query in
                switch kind {
                case 0: a.typed(query) && (b.typed(query) || !c.typed(query))
                case 1: !(a.typed(query) && b.typed(query)) || c.typed(query)
                default: a.typed(query) && b.typed(query) && !c.typed(query)
                }
            }
            let expected = owners.filter { owner in
                switch kind {
                case 0: a.loop(owner) && (b.loop(owner) || !c.loop(owner))
                case 1: !(a.loop(owner) && b.loop(owner)) || c.loop(owner)
                default: a.loop(owner) && b.loop(owner) && !c.loop(owner)
                }
            }
            #expect(found.map(\.id) == expected.map(\.id), "seed \(seed), round \(round): \(found.explain())")
        }
    }

    @Test("objects are compared by identity; deleted and foreign ones match nothing")
    func comparedByIdentity() throws {
        var dice = Dice(state: 7)
        let realm = try Self.world(&dice)
        let owners = realm.objects(Owner.self)
        let friend = try #require(owners.first { $0.friend != nil }?.friend)
        let expected = owners.filter { $0.friend == friend }.map(\.id)
        #expect(owners.where { $0.friend == friend }.map(\.id) == expected)
        #expect(owners.where { $0.friend.in([friend]) }.map(\.id) == expected)
        #expect(owners.filter("friend == %@", friend).map(\.id) == expected)
        #expect(owners.filter("SELF == %@", friend).map(\.id) == [friend.id])
        #expect(
            owners.filter("@links.Owner.friend.@count > 0").map(\.id)
                == Array(Set(owners.compactMap { $0.friend?.id })).sorted())
        let pet = try #require(realm.objects(Pet.self).first)
        #expect(owners.where { $0.pets.contains(pet) }.count == 1)
        #expect(owners.filter("pets CONTAINS %@", pet).count == 1)
        #expect(owners.where { $0.pets.containsAny(in: [pet]) }.count == 1)
        #expect(owners.where { $0.friend == Owner() }.isEmpty)
        let other = try Self.world(&dice).objects(Owner.self)[0]
        #expect(owners.where { $0.friend == other }.isEmpty)
        try realm.write { realm.delete(friend) }
        #expect(owners.where { $0.friend == friend }.isEmpty)
    }
}
