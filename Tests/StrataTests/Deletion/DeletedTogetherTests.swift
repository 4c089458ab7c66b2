import Testing

@testable import Strata

private final class Crate: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var weight = 0
    @Persisted var parts: List<Part>
    @Persisted(deleteRule: .cascade) var label: Label?
}

private final class Part: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var size = 0
}

private final class Label: Object {
    @Persisted var text = ""
}

/// Objects of several classes that one call deletes, compared with a model of their keys.
@Suite struct DeletedTogetherTests {
    private func open() throws -> Realm { try makeRealm([Crate.self, Part.self, Label.self]) }

    @Test(
        "an array of any objects is deleted, whatever was changed since they were read",
        arguments: [1, 2, 3] as [UInt64])
    func random(seed: UInt64) throws {
        let realm = try open()
        var dice = Dice(state: seed)
        var crates: [Int: [Int]] = [:], parts: Set<Int> = []
        var labels = 0
        for turn in 0..<30 {
            var labelled: Set<Int> = Set(realm.objects(Crate.self).filter { $0.label != nil }.map(\.id))
            try realm.write {
                for _ in 0..<dice.roll(6) {
                    let id = dice.roll(60)
                    if parts.insert(id).inserted { realm.add(Part(value: ["id": id])) }
                }
                for _ in 0..<dice.roll(6) {
                    let id = dice.roll(60)
                    let wanted = parts.sorted().filter { _ in dice.roll(3) == 0 }
                    guard crates[id] == nil else { continue }
                    let crate = realm.create(Crate.self, value: ["id": id])
                    crate.parts.append(
                        objectsIn: wanted.compactMap { realm.object(ofType: Part.self, forPrimaryKey: $0) })
                    if dice.roll(2) == 0 {
                        crate.label = Label()
                        labels += 1
                        labelled.insert(id)
                    }
                    crates[id] = wanted
                }
                var objects: [Object] = []
                for part in realm.objects(Part.self) where dice.roll(4) == 0 { objects.append(part) }
                for crate in realm.objects(Crate.self) where dice.roll(4) == 0 { objects.append(crate) }
                if dice.roll(2) == 0, let first = objects.first { objects.append(first) }
                if dice.roll(2) == 0 { objects.shuffle(using: &dice) }
                // This change voids every row location that the objects have found.
                if dice.roll(2) == 0 { realm.objects(Part.self).first?.size = turn }
                let (goneParts, goneCrates) = (
                    objects.compactMap { ($0 as? Part)?.id }, objects.compactMap { ($0 as? Crate)?.id }
                )
                if dice.roll(2) == 0 {
                    realm.delete(objects)
                } else {
                    realm.delete(objects.compactMap { $0 as? Part })
                    realm.delete(AnySequence(objects.compactMap { $0 as? Crate }))
                }
                for id in goneParts { parts.remove(id) }
                for id in Set(goneCrates) {
                    crates[id] = nil
                    if labelled.contains(id) { labels -= 1 }
                }
                for id in crates.keys { crates[id]?.removeAll { !parts.contains($0) } }
            }
            let place = "seed \(seed), turn \(turn)"
            #expect(realm.objects(Part.self).map(\.id) == parts.sorted(), "\(place)")
            #expect(realm.objects(Crate.self).map(\.id) == crates.keys.sorted(), "\(place)")
            for crate in realm.objects(Crate.self) {
                #expect(crate.parts.map(\.id) == crates[crate.id], "\(place)")
            }
            #expect(realm.objects(Label.self).count == labels, "\(place)")
        }
        try realm.store.checkInvariants()
    }

    @Test("an object that cannot be deleted fails the write, wherever it stands in the array")
    func refused() throws {
        let (realm, other) = (try open(), try open())
        for realm in [realm, other] {
            try realm.write { for id in 0..<6 { realm.add(Part(value: ["id": id])) } }
        }
        let parts = Array(realm.objects(Part.self))
        let frozen = parts[3].freeze()
        let gone = try #require(realm.object(ofType: Part.self, forPrimaryKey: 5))
        try realm.write { realm.delete(parts[5]) }
        let foreign = try #require(other.objects(Part.self).first)
        for (object, code) in [
            (frozen, .invalidInput), (gone, .objectDeleted), (foreign, .invalidInput), (Part(), .invalidInput),
        ] as [(Part, Realm.Error.Code)] {
            for place in [0, 1, 3] {
                var objects = Array(parts.prefix(3))
                objects.insert(object, at: place)
                let error = #expect(throws: Realm.Error.self) { try realm.write { realm.delete(objects) } }
                #expect(error?.code == code, "\(place)")
                #expect(realm.objects(Part.self).count == 5 && other.objects(Part.self).count == 6)
            }
        }
        try realm.write { realm.delete(parts.prefix(2)) }
        #expect(realm.objects(Part.self).map(\.id) == [2, 3, 4])
    }
}
