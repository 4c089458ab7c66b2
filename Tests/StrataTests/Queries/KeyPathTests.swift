import Foundation
import Strata
import Testing

@Suite struct KeyPathTests {
    final class Street: EmbeddedObject {
        @Persisted var name = ""
        @Persisted var numbers: List<Int>
        let notes = List<String>()
    }
    final class House: Object {
        @Persisted var street: Street?
        @Persisted var rooms: List<Room>
        @Persisted var cellars: MutableSet<Room>
        @Persisted var doors: Map<String, Room?>
        @Persisted var best: Room?
        @Persisted var size: Double?
    }
    final class Room: Object {
        @Persisted var title = ""
        @Persisted var parent: House?
        @Persisted(originProperty: "rooms") var houses: LinkingObjects<House>
        let pets = List<Pet>()
        let tags = MutableSet<String>()
        let prices = Map<String, Int>()
    }
    final class Pet: Object {
        @Persisted var name = ""
        let rooms = LinkingObjects(fromType: Room.self, property: "pets")
    }

    @Test("key paths follow links, collections and inverses")
    func linksCollectionsInverses() {
        #expect(_name(for: \House.size) == "size" && _name(for: \House.street?.name) == "street.name")
        #expect(_name(for: \House.street?.numbers) == "street.numbers")
        #expect(_name(for: \House.rooms) == "rooms" && _name(for: \House.rooms[0].title) == "rooms.title")
        #expect(_name(for: \House.cellars[0].title) == "cellars.title")
        #expect(_name(for: \House.doors[""]??.title) == "doors.title")
        #expect(_name(for: \House.best?.houses) == "best.houses")
        #expect(_name(for: \House.best?.houses[0].rooms[0].parent?.size) == "best.houses.rooms.parent.size")
        let partial: [PartialKeyPath<House>] = [\.size, \.rooms[0].parent]
        #expect(partial.map { _name(for: $0) } == ["size", "rooms.parent"])
    }

    @Test("key paths end at collections that are declared without a wrapper")
    func endsWithoutAWrapper() {
        #expect(_name(for: \Room.pets) == "pets" && _name(for: \Room.tags) == "tags")
        #expect(_name(for: \Room.prices) == "prices" && _name(for: \Pet.rooms) == "rooms")
        #expect(_name(for: \House.best?.pets) == "best.pets" && _name(for: \House.street?.notes) == "street.notes")
        #expect(_name(for: \House.rooms[0].tags) == "rooms.tags")
    }

    @Test("collections without a wrapper are queried by key paths")
    func queriedWithoutAWrapper() throws {
        let realm = try makeRealm([House.self, Pet.self])
        try realm.write {
            for count in 0..<3 {
                let room = Room()
                room.title = "r\(count)"
                for place in 0..<count { room.pets.append(Pet(value: ["name": "p\(place)"])) }
                room.prices["a"] = count
                realm.add(room)
            }
        }
        #expect(realm.objects(Room.self).where { $0.pets.name == "p1" }.map(\.title) == ["r2"])
        #expect(realm.objects(Room.self).where { $0.pets.count >= 1 }.count == 2)
        #expect(realm.objects(Pet.self).where { $0.rooms.title == "r1" }.count == 1)
    }

    @Test("frozen objects show collections that are declared without a wrapper")
    func frozenWithoutAWrapper() throws {
        let realm = try makeRealm([House.self, Pet.self])
        let room = Room()
        room.pets.append(Pet(value: ["name": "Rex"]))
        room.tags.insert("t")
        room.prices["x"] = 3
        try realm.write { realm.add(room) }
        let frozen = room.freeze()
        try realm.write {
            room.pets.append(Pet(value: ["name": "Max"]))
            room.prices["x"] = 4
        }
        #expect(frozen.pets.map(\.name) == ["Rex"] && Array(frozen.tags) == ["t"] && frozen.prices["x"] == 3)
        #expect(frozen.pets[0].rooms.count == 1 && frozen.pets.isFrozen && room.pets.count == 2)
        #expect(realm.freeze().objects(Room.self).first?.pets.map(\.name) == ["Rex", "Max"])
        #expect(frozen.thaw()?.pets.count == 2)
    }
}
