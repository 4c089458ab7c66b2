import Foundation
import Strata
import Testing

/// Objects assigned to properties by name become managed themselves, as with typed properties.
@Suite struct NamedAssignmentTests {
    final class Lamp: EmbeddedObject {
        @Persisted var watts = 0
        convenience init(_ watts: Int) {
            self.init()
            self.watts = watts
        }
    }
    final class Guest: Object {
        @Persisted var name = ""
        @Persisted var scores: List<Int>
        convenience init(_ name: String) {
            self.init()
            self.name = name
        }
    }
    final class House: Object {
        @Persisted var owner: Guest?
        @Persisted var guests: List<Guest>
        @Persisted var friends: MutableSet<Guest>
        @Persisted var rooms: Map<String, Guest?>
        @Persisted var anything: AnyRealmValue
        @Persisted var lamp: Lamp?
        @Persisted var lamps: List<Lamp>
    }

    private func open() throws -> Realm { try makeRealm([House.self, Guest.self, Lamp.self]) }

    @Test("assigning an object by name adds that very object")
    func thatVeryObject() throws {
        let realm = try open()
        let guests = (0..<5).map { Guest("g\($0)") }
        let house = try realm.write {
            let house = realm.create(House.self)
            house["owner"] = guests[0]
            house["guests"] = [guests[1], guests[0]]
            house["friends"] = [guests[2]]
            house["rooms"] = ["r": guests[3]]
            house["anything"] = guests[4]
            // The program's instance is now the managed one.
            for guest in guests { guest["scores"] = [guest.name.count, 7] }
            guests[0].name = "owner"
            return house
        }
        #expect(guests.allSatisfy { $0.realm == realm } && realm.objects(Guest.self).count == 5)
        #expect(house.owner == guests[0] && house.owner?.name == "owner" && Array(house.guests[0].scores) == [2, 7])
        #expect(Array(house.guests) == [guests[1], guests[0]] && Array(house.friends) == [guests[2]])
        #expect(house.rooms["r"] == .some(guests[3]) && house.anything.object(Guest.self) == guests[4])
        #expect(realm.objects(House.self).where { $0.owner.scores.sum == 9 && $0.owner.scores.max == 7 }.count == 1)
        try realm.store.checkInvariants()
    }

    @Test("an embedded object assigned by name belongs to exactly one owner")
    func exactlyOneOwner() throws {
        let realm = try open()
        let (lamp, other) = (Lamp(40), Lamp(60))
        let house = try realm.write {
            let house = realm.create(House.self)
            house["lamp"] = lamp
            house["lamps"] = [other, Lamp(80)]
            lamp.watts = 41
            return house
        }
        #expect(house.lamp == lamp && house.lamp?.watts == 41 && house.lamps[0] == other && house.lamps.count == 2)
        #expect(lamp.realm == realm && realm.dynamicObjects("Lamp").count == 3)
        try realm.write { house["lamp"] = Lamp(1) }
        #expect(lamp.isInvalidated && house.lamp?.watts == 1 && realm.dynamicObjects("Lamp").count == 3)
        try realm.store.checkInvariants()
    }

    @Test("an object of another or of a frozen Realm is refused by name, too")
    func foreignObjectIsRefused() throws {
        let realm = try open()
        let elsewhere = try open()
        let stranger = try elsewhere.write { elsewhere.create(Guest.self, value: ["name": "s"]) }
        let house = try realm.write { realm.create(House.self, value: ["owner": ["name": "o"]]) }
        let frozen = try #require(house.owner?.freeze())
        for guest in [stranger, frozen] {
            let error = #expect(throws: Realm.Error.self) { try realm.write { house["owner"] = guest } }
            #expect(error?.code == .invalidInput && house.owner?.name == "o")
        }
        #expect(realm.objects(Guest.self).count == 1)
    }

    @Test("create still copies unmanaged objects")
    func createStillCopies() throws {
        let realm = try open()
        let (guest, lamp) = (Guest("g"), Lamp(3))
        let house = try realm.write { realm.create(House.self, value: ["owner": guest, "lamp": lamp]) }
        #expect(guest.realm == nil && lamp.realm == nil && house.owner?.name == "g" && house.lamp?.watts == 3)
    }
}
