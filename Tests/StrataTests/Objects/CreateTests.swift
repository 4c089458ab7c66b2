import Foundation
import Strata
import Testing

/// `create` with superfluous values, and with objects among the values.
@Suite struct CreateTests {
    final class Wheel: Object {
        @Persisted var size = 26
    }
    final class Light: EmbeddedObject {
        @Persisted var lumen = 0
        @Persisted var colour = "white"
    }
    final class Cart: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var name = ""
        @Persisted var spare: Wheel? = Wheel()
        @Persisted var wheels: List<Wheel>
        @Persisted var towed: Cart?
        @Persisted var load: AnyRealmValue
        @Persisted var lights: List<Light>
    }

    private func open() throws -> Realm { try makeRealm([Cart.self, Wheel.self]) }

    @Test("names that a class does not have are ignored, at any depth")
    func unknownNamesAreIgnored() throws {
        let realm = try open()
        let values: [String: Any] = [
            "id": 1, "name": "one", "unknown": 5, "spare": ["size": 20, "brand": "x"], "wheels": [["size": 1, "y": 2]],
        ]
        let made = try realm.write { realm.create(Cart.self, value: values) }
        #expect(made.name == "one" && made.spare?.size == 20 && made.wheels.first?.size == 1)
        try realm.write { realm.create(Cart.self, value: ["id": 1, "name": "two", "z": 0], update: .modified) }
        #expect(made.name == "two" && made.spare?.size == 20)
        #expect(Cart(value: values).spare?.size == 20)
        try realm.write { realm.dynamicCreate("Wheel", value: ["size": 3, "brand": "x"]) }
        #expect(realm.objects(Wheel.self).contains { $0.size == 3 })
    }

    @Test("unmanaged objects among the values are copied and stay unmanaged")
    func unmanagedAreCopied() throws {
        let realm = try open()
        let wheel = Wheel(value: ["size": 7])
        let towed = Cart(value: ["id": 2, "name": "towed"])
        towed.towed = towed
        let made = try realm.write {
            realm.create(
                Cart.self,
                value: ["id": 1, "spare": wheel, "wheels": [wheel, wheel], "towed": towed, "load": wheel])
        }
        #expect(wheel.realm == nil && towed.realm == nil && towed.towed === towed)
        wheel.size = 8
        #expect(made.spare?.size == 7 && made.wheels.map(\.size) == [7, 7])
        #expect(made.wheels[0] == made.wheels[1] && made.wheels[0] == made.spare)
        #expect(made.load.object(Wheel.self) == made.spare)
        #expect(made.towed?.id == 2 && made.towed?.towed == made.towed && realm.objects(Cart.self).count == 2)
        let whole = Cart(value: ["id": 3, "towed": ["id": 4]])
        whole.wheels.append(wheel)
        let copy = try realm.write { realm.create(Cart.self, value: whole) }
        #expect(whole.realm == nil && copy.towed?.id == 4 && copy.wheels.first?.size == 8)
        try realm.store.checkInvariants()
    }

    @Test("objects of other Realms and frozen ones are copied, those of this Realm are linked")
    func foreignAreCopied() throws {
        let (here, there) = (try open(), try open())
        let foreign = try there.write { there.create(Cart.self, value: ["id": 1, "name": "foreign"]) }
        let own = try here.write { here.create(Cart.self, value: ["id": 5, "name": "own"]) }
        try there.write { foreign.towed = foreign }
        let made = try here.write { here.create(Cart.self, value: ["id": 2, "towed": foreign]) }
        #expect(made.towed?.name == "foreign" && made.towed?.realm == here && made.towed?.towed == made.towed)
        #expect(there.objects(Cart.self).count == 1)
        let mixed = Cart(value: ["id": 6])
        mixed.towed = own
        let leading = try here.write { here.create(Cart.self, value: ["id": 7, "towed": mixed]) }
        #expect(leading.towed?.id == 6 && leading.towed?.towed == own && here.objects(Cart.self).count == 5)
        let frozen = own.freeze()
        try here.write {
            own.name = "renamed"
            here.create(Cart.self, value: ["id": 8, "towed": frozen], update: .modified)
        }
        #expect(own.name == "own" && here.objects(Cart.self).count == 6)
        #expect(throws: Realm.Error.self) { try here.write { here.create(Cart.self, value: foreign) } }
        try here.write { here.create(Cart.self, value: foreign, update: .all) }
        try there.write { there.delete(foreign) }
        #expect(throws: Realm.Error.self) {
            try here.write { here.create(Cart.self, value: ["id": 9, "towed": foreign]) }
        }
        try here.store.checkInvariants()
    }

    @Test("a declared default that a value replaces leaves no object")
    func replacedDefault() throws {
        let realm = try open()
        let wheel = try realm.write { realm.create(Wheel.self, value: ["size": 1]) }
        try realm.write {
            realm.create(Cart.self, value: ["id": 1, "spare": Wheel?.none as Any])
            realm.create(Cart.self, value: ["id": 2, "spare": wheel])
        }
        #expect(realm.objects(Wheel.self).count == 1)
        try realm.write { _ = realm.create(Cart.self, value: ["id": 3]) }
        #expect(realm.objects(Wheel.self).count == 2)
    }

    @Test("an update of differences compares the embedded objects of a list index by index")
    func comparedIndexByIndex() throws {
        let realm = try open()
        func lights(_ count: Int) -> [[String: Any]] { (0..<count).map { ["lumen": 10 * $0] } }
        let cart = try realm.write { realm.create(Cart.self, value: ["id": 1, "lights": lights(2)]) }
        let first = cart.lights[0]
        try realm.write {
            cart.lights[1].colour = "red"
            realm.create(Cart.self, value: ["id": 1, "lights": [["lumen": 5], [:], ["lumen": 9]]], update: .modified)
        }
        #expect(cart.lights.map(\.lumen) == [5, 10, 9] && first == cart.lights[0])
        #expect(cart.lights.map(\.colour) == ["white", "red", "white"])
        let other = Cart(value: ["id": 1, "lights": [["lumen": 6]]])
        try realm.write { realm.add(other, update: .modified) }
        #expect(cart.lights.map(\.lumen) == [6] && first == cart.lights[0] && !first.isInvalidated)
        #expect(realm.dynamicObjects("Light").count == 1)
        try realm.write { _ = realm.create(Cart.self, value: ["id": 1, "lights": lights(1)], update: .all) }
        #expect(first.isInvalidated && cart.lights.map(\.lumen) == [0])
        try realm.store.checkInvariants()
    }
}
