import Strata
import Testing

@Suite struct DynamicObjectTests {
    final class Crate: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var first = ""
        @Persisted var items: List<Item>
        @Persisted var spares: MutableSet<Item>
        @Persisted var value: AnyRealmValue
        @Persisted var named: Map<String, Item?>
        override class func propertiesMapping() -> [String: String] { ["first": "first_word"] }
    }
    final class Item: Object {
        @Persisted var name = ""
        convenience init(_ name: String) {
            self.init()
            self.name = name
        }
    }

    final class Shop: Object {
        @Persisted var crate: Crate?
        @Persisted var item: Item?
    }
    final class Row: Object {
        @Persisted var numbers: List<Int>
        @Persisted var words: MutableSet<String>
        @Persisted var prices: Map<String, Double>
    }

    @Test("collections of objects are read and changed by name")
    func changedByName() throws {
        let realm = try makeRealm([Crate.self])
        let crate = Crate()
        crate.items.append(Item("a"))
        crate.spares.insert(Item("s"))
        crate.named["k"] = Item("m")
        try realm.write { realm.add(crate) }
        let list = crate.dynamicList("items")
        #expect(list.map { $0["name"] as? String } == ["a"] && list[0].dynamicClassName == "Item")
        #expect(crate.dynamicMutableSet("spares").first?["name"] as? String == "s")
        let named: Map<String, DynamicObject?> = crate.dynamicMap("named")
        #expect(named.keys == ["k"] && named["k"]??.dynamicClassName == "Item" && named["k"]??.name as? String == "m")
        try realm.write {
            list.append(realm.dynamicCreate("Item", value: ["name": "b"]))
            list[0]["name"] = "z"
        }
        #expect(crate.items.map(\.name) == ["z", "b"])
        let same = realm.dynamicObjects("Crate")[0]
        #expect(same.dynamicList("items").count == 2 && same.dynamicMutableSet("spares").count == 1)
    }

    /// The planted mistake: `RunningWrite.failure(of:)` makes the change, and then puts back the failure from before.
    @Test("a refused assignment fails no write, and a write that has failed takes no assignment")
    func refusedAssignment() throws {
        let realm = try makeRealm([Item.self])
        try realm.write { realm.add(Item("first")) }
        let item = realm.dynamicObjects("Item")[0]
        try realm.write {
            #expect(throws: Realm.Error.self) { try item.set("weight", to: 1) }
            #expect(throws: Realm.Error.self) { try item.set("name", to: 1) }
            try item.set("name", to: "second")
        }
        #expect(item["name"] as? String == "second")
        var refusal: Realm.Error?
        var seen: String?
        let failure = #expect(throws: Realm.Error.self) {
            try realm.write {
                item["weight"] = 1
                do { try item.set("name", to: "third") } catch let error as Realm.Error { refusal = error }
                seen = item["name"] as? String
            }
        }
        #expect(failure?.message.contains("weight") == true && refusal == failure && seen == "second")
        #expect(item["name"] as? String == "second")
    }

    @Test("an object in a value of any type is read by name, also without its class")
    func objectInAnyValue() throws {
        let file = TemporaryFile()
        do {
            let realm = try Realm(configuration: file.configuration([Crate.self, Item.self]))
            let crate = Crate()
            crate.value = .object(Item("inside"))
            try realm.write { realm.add(crate) }
            #expect(crate.value.dynamicObject?["name"] as? String == "inside")
            #expect(AnyRealmValue.int(1).dynamicObject == nil && AnyRealmValue.object(Item("x")).dynamicObject == nil)
        }
        let realm = try Realm(configuration: file.configuration([Crate.self]))
        let value = try #require(realm.objects(Crate.self).first?.value)
        #expect(value.dynamicObject?.name as? String == "inside")
    }

    @Test("a value of any type is read by name as its content")
    func anyValueByName() throws {
        let realm = try makeRealm([Crate.self, Item.self])
        let crate = Crate()
        for (value, text) in [(AnyRealmValue.string("x"), "x"), (.int(4), "4"), (.bool(true), "true")] {
            crate.value = value
            #expect(crate["value"].map { "\($0)" } == text)
        }
        crate["value"] = Item("in it")
        try realm.write { realm.add(crate) }
        #expect((crate["value"] as? Item)?.name == "in it" && crate.value.object(Item.self)?.name == "in it")
        #expect((realm.dynamicObjects("Crate")[0]["value"] as? Object)?["name"] as? String == "in it")
        #expect(crate.detached().value.object(Item.self)?.name == "in it")
        try realm.write { crate["value"] = 2.5 }
        #expect(crate["value"] as? Double == 2.5 && realm.dynamicObjects("Crate")[0]["value"] as? Double == 2.5)
        try realm.write { crate["value"] = nil }
        #expect(crate["value"] == nil && crate.value == .none)
    }

    @Test("properties are read by the program's names and by those in the file")
    func bothNames() throws {
        let realm = try makeRealm([Crate.self])
        try realm.write { realm.dynamicCreate("Crate", value: ["id": 3, "first": "one"]) }
        let crate = try #require(realm.dynamicObject(ofType: "Crate", forPrimaryKey: 3))
        #expect(crate["first"] as? String == "one" && crate["first_word"] as? String == "one")
        try realm.write { crate["first"] = "two" }
        #expect(realm.object(ofType: Crate.self, forPrimaryKey: 3)?.first == "two")
    }

    @Test("a link read by name gives an object of the program's class")
    func linkByName() throws {
        let file = TemporaryFile()
        do {
            let realm = try Realm(configuration: file.configuration([Shop.self, Crate.self, Item.self]))
            let shop = Shop(value: ["crate": ["id": 4, "first": "f"], "item": ["name": "i"]])
            try realm.write { realm.add(shop) }
            let dynamic = realm.dynamicObjects("Shop")[0]
            #expect((dynamic["crate"] as? Crate)?.first == "f" && (dynamic.item as? Item)?.name == "i")
            #expect(dynamic["crate"] as? Crate == shop.crate)
            #expect(try dynamic.value(for: "crate", "first") as? String == "f")
            #expect(try dynamic.value("crate.first", as: String.self) == "f")
            #expect(throws: Realm.Error.self) { try dynamic.value(for: "crate", "last") }
            #expect(throws: Realm.Error.self) { try dynamic.value("crate.last", as: String?.self) }
        }
        let realm = try Realm(configuration: file.configuration([Item.self]))
        let dynamic = realm.dynamicObjects("Shop")[0]
        #expect((dynamic["crate"] as? DynamicObject)?["first_word"] as? String == "f" && dynamic["item"] is Item)
    }

    @Test("collections of plain values are counted by name, and take no objects")
    func plainValuesAreCounted() throws {
        let realm = try makeRealm([Row.self, Item.self])
        let row = Row(value: ["numbers": [4, 5, 6], "words": ["a", "b"], "prices": ["x": 1.5]])
        try realm.write { realm.add(row) }
        let prices: Map<String, DynamicObject?> = row.dynamicMap("prices")
        #expect(row.dynamicList("numbers").count == 3 && row.dynamicMutableSet("words").count == 2 && prices.count == 1)
        #expect(row.dynamicList("numbers")[0].realm == nil && row.dynamicList("numbers").allSatisfy { $0.realm == nil })
        #expect(Array(try #require(realm.dynamicObjects("Row")[0]["numbers"] as? List<Int>)) == [4, 5, 6])
        let numbers = realm.dynamicObjects("Row")[0].dynamicList("numbers")
        #expect(throws: Realm.Error.self) {
            try realm.write { numbers.append(realm.dynamicCreate("Item", value: ["name": "i"])) }
        }
        #expect(Array(row.numbers) == [4, 5, 6] && realm.objects(Item.self).isEmpty)
    }
}
