import Foundation
import Strata
import Testing

@Suite struct EmbeddedObjectTests {
    final class Room: EmbeddedObject {
        @Persisted var name = ""
        @Persisted var size = 0
        @Persisted var note: Note?
        @Persisted(originProperty: "rooms") var house: LinkingObjects<House>

        convenience init(_ name: String) {
            self.init()
            self.name = name
        }
    }
    final class Place: EmbeddedObject {
        @Persisted var city = ""
        @Persisted var zip = 0
        @Persisted var inner: Room?

        convenience init(_ city: String) {
            self.init()
            self.city = city
        }
    }
    final class House: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var place: Place?
        @Persisted var second: Place?
        @Persisted var rooms: List<Room>
        @Persisted var named: Map<String, Room?>
    }

    private func open() throws -> Realm { try makeRealm([House.self]) }

    private func count(_ realm: Realm, _ name: String) -> Int { realm.dynamicObjects(name).count }

    @Test("an embedded object is added and deleted with its parent, in any kind of property")
    func livesWithItsParent() throws {
        let realm = try open()
        let house = House()
        house.place = Place("Rome")
        house.place?.inner = Room("cellar")
        house.rooms.append(objectsIn: [Room("a"), Room("b")])
        house.named["hall"] = Room("hall")
        try realm.write { realm.add(house) }
        #expect(house.place?.city == "Rome" && house.place?.inner?.name == "cellar")
        #expect(house.rooms.map(\.name) == ["a", "b"] && house.named["hall"]??.name == "hall")
        #expect(house.rooms[0].house.first == house)
        #expect(count(realm, "Place") == 1 && count(realm, "Room") == 4)
        try realm.store.checkInvariants()
        try realm.write { realm.delete(house) }
        #expect(count(realm, "Place") == 0 && count(realm, "Room") == 0)
        try realm.store.checkInvariants()
    }

    @Test("assigning another embedded object deletes the previous one")
    func assigningDeletesThePrevious() throws {
        let realm = try open()
        let house = House()
        house.place = Place("Rome")
        house.place?.inner = Room("cellar")
        try realm.write { realm.add(house) }
        let old = try #require(house.place)
        let inner = try #require(old.inner)
        try realm.write { house.place = Place("Oslo") }
        #expect(old.isInvalidated && inner.isInvalidated && house.place?.city == "Oslo")
        #expect(count(realm, "Place") == 1 && count(realm, "Room") == 0)
        try realm.write { house.place = house.place }
        #expect(house.place?.city == "Oslo")
        try realm.write { house.place = nil }
        #expect(count(realm, "Place") == 0)
    }

    @Test("an embedded object removed from a list or map is deleted, a moved one stays")
    func removedOrMoved() throws {
        let realm = try open()
        let house = House()
        house.rooms.append(objectsIn: ["a", "b", "c", "d"].map { Room($0) })
        house.named["x"] = Room("x")
        try realm.write { realm.add(house) }
        try realm.write {
            house.rooms.move(from: 0, to: 2)
            house.rooms.swapAt(0, 1)
            house.rooms.remove(at: 3)
            house.rooms[0] = Room("new")
            house.rooms.replaceSubrange(1..<2, with: [Room("y"), Room("z")])
            house.named["x"] = Room("other")
        }
        #expect(house.rooms.map(\.name) == ["new", "y", "z", "a"])
        #expect(count(realm, "Room") == 5)
        try realm.write {
            house.rooms.removeAll()
            house.named.removeObject(for: "x")
        }
        #expect(count(realm, "Room") == 0)
        try realm.store.checkInvariants()
    }

    @Test("a second parent is an error")
    func secondParent() throws {
        let realm = try open()
        let house = House()
        house.place = Place("Rome")
        house.rooms.append(Room("a"))
        try realm.write { realm.add(house) }
        func refused(_ change: () -> Void) throws {
            let error = try #require(throws: Realm.Error.self, "gave an embedded object a second parent") {
                try realm.write(change)
            }
            #expect(error.code == .invalidInput && error.message.contains("has a parent already"))
        }
        try refused { house.second = house.place }
        try refused { house.rooms.append(house.rooms[0]) }
        try refused { house.named["a"] = house.rooms[0] }
        try refused {
            let shared = Place("shared")
            let other = House(value: ["id": 2])
            other.place = shared
            other.second = shared
            realm.add(other)
        }
        try refused {
            let room = Room("twice")
            let other = House(value: ["id": 3])
            other.rooms.append(objectsIn: [room, room])
            realm.add(other)
        }
        #expect(house.second == nil && house.rooms.count == 1 && realm.objects(House.self).count == 1)
        #expect(count(realm, "Place") == 1 && count(realm, "Room") == 1)
        try realm.store.checkInvariants()
    }

    @Test("deleting an embedded object clears its parent's property")
    func deletingClearsTheParent() throws {
        let realm = try open()
        let house = House()
        house.place = Place("Rome")
        house.rooms.append(objectsIn: [Room("a"), Room("b")])
        try realm.write { realm.add(house) }
        try realm.write {
            if let place = house.place { realm.delete(place) }
            realm.delete(house.rooms[0])
        }
        #expect(house.place == nil && house.rooms.map(\.name) == ["b"])
    }

    /// Children of properties and lists kept unnamed values, while those of maps were once replaced.
    @Test("an upsert by names keeps unnamed values in the children of a map")
    func upsertKeepsUnnamed() throws {
        let realm = try open()
        try realm.write {
            realm.create(
                House.self,
                value: ["id": 1, "named": ["a": ["name": "a", "size": 3], "b": ["name": "b", "size": 4]]])
        }
        let house = try #require(realm.objects(House.self).first)
        let child = try #require(house.named["a"] ?? nil)
        try realm.write {
            realm.create(
                House.self, value: ["id": 1, "named": ["a": ["name": "new"], "c": ["name": "c"]]], update: .modified)
        }
        #expect(child.name == "new" && child.size == 3 && !child.isInvalidated)
        #expect(house.named.keys == ["a", "c"] && realm.objects(House.self).count == 1)
        try realm.write {
            realm.create(House.self, value: ["id": 1, "named": ["a": ["name": "all"]]], update: .all)
        }
        #expect((house.named["a"] ?? nil)?.size == 0 && child.isInvalidated, "all of it is new")
    }

    @Test("an update replaces children without leaving orphans")
    func noOrphans() throws {
        let realm = try open()
        for policy in [Realm.UpdatePolicy.modified, .all] {
            try realm.write { realm.deleteAll() }
            let house = House(value: ["id": 1])
            house.place = Place("Rome")
            house.place?.zip = 7
            house.rooms.append(objectsIn: [Room("a"), Room("b")])
            try realm.write { realm.add(house) }
            let place = try #require(house.place)
            let new = House(value: ["id": 1])
            new.place = Place("Oslo")
            new.rooms.append(Room("c"))
            try realm.write { realm.add(new, update: policy) }
            #expect(house.place?.city == "Oslo" && house.place?.zip == 0 && house.rooms.map(\.name) == ["c"])
            #expect(place.isInvalidated == (policy == .all))
            try realm.write {
                realm.create(
                    House.self, value: ["id": 1, "place": ["city": "Bern"], "rooms": [["name": "d"]]], update: policy)
            }
            #expect(house.place?.city == "Bern" && house.rooms.map(\.name) == ["d"])
            #expect(count(realm, "Place") == 1 && count(realm, "Room") == 1)
            try realm.store.checkInvariants()
        }
    }

    @Test("values for create are copied into new embedded objects")
    func copiedIntoNew() throws {
        let realm = try open()
        try realm.write {
            let house = realm.create(House.self, value: ["id": 1, "place": ["city": "Rome", "inner": ["name": "i"]]])
            realm.create(House.self, value: ["id": 2, "place": house.place as Any, "rooms": [Room("r")]])
        }
        let houses = realm.objects(House.self)
        #expect(houses.map { $0.place?.city } == ["Rome", "Rome"] && houses[0].place != houses[1].place)
        #expect(houses[1].place?.inner?.name == "i" && houses[1].rooms.map(\.name) == ["r"])
        #expect(count(realm, "Place") == 2 && count(realm, "Room") == 3)
    }

    @Test("a cancelled write leaves parents and children unchanged")
    func cancelledWrite() throws {
        let realm = try open()
        let house = House()
        house.place = Place("Rome")
        try realm.write { realm.add(house) }
        let place = try #require(house.place)
        realm.beginWrite()
        house.place = Place("Oslo")
        realm.cancelWrite()
        #expect(!place.isInvalidated && house.place == place && house.place?.city == "Rome")
    }

    @Test("a class can become embedded in a migration, which deletes objects without a parent")
    func becomesEmbedded() throws {
        enum Old {
            final class Place: Object { @Persisted var city = "" }
            final class House: Object {
                @Persisted(primaryKey: true) var id = 0
                @Persisted var place: Place?
            }
        }
        enum New {
            final class Place: EmbeddedObject { @Persisted var city = "" }
            final class House: Object {
                @Persisted(primaryKey: true) var id = 0
                @Persisted var place: Place?
            }
        }
        let file = TemporaryFile()
        try autoreleasing {
            let realm = try Realm(configuration: file.configuration([Old.House.self]))
            try realm.write {
                realm.create(Old.House.self, value: ["id": 1, "place": ["city": "Rome"]])
                realm.create(Old.Place.self, value: ["city": "nowhere"])
            }
        }
        #expect(throws: Realm.Error.self) { try Realm(configuration: file.configuration([New.House.self])) }
        let realm = try Realm(configuration: file.configuration([New.House.self], version: 1))
        #expect(realm.dynamicObjects("Place").map { $0["city"] as? String } == ["Rome"])
        #expect(realm.objects(New.House.self).first?.place?.city == "Rome")
        #expect(realm.schema["Place"]?.isEmbedded == true)
    }
}

/// Runs `body`; objects that it made are released when it returns.
private func autoreleasing(_ body: () throws -> Void) rethrows { try body() }
