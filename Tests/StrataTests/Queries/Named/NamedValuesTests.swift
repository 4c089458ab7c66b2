import Strata
import Testing

@Suite struct NamedValuesTests {
    final class Tool: Object {
        @Persisted var name = ""
        @Persisted var weight = 0
        @Persisted var maker: Tool?
        @Persisted var parts: List<Tool>
        @Persisted var prices: Map<String, Int>
        @Persisted var spares: Map<String, Tool?>
        convenience init(_ name: String, _ weight: Int = 0) {
            self.init()
            self.name = name
            self.weight = weight
        }
    }

    final class Bag: Object {
        @Persisted var sizes: MutableSet<Int>
        @Persisted var marks: List<String?>
    }

    @Test("a property of every object of a collection is read and written by name")
    func everyObjectByName() throws {
        let realm = try makeRealm([Tool.self])
        let saw = Tool("saw", 3)
        saw.parts.append(objectsIn: [Tool("blade", 1), Tool("grip", 2)])
        saw.parts[0].maker = saw
        try realm.write { realm.add(saw) }
        let parts = saw.parts
        #expect(parts.value(forKey: "name") as? [String] == ["blade", "grip"])
        #expect(parts.value(forKey: "self") as? [Tool] == Array(parts))
        #expect((parts.value(forKeyPath: "maker.name") as? [Any?])?.map { $0 as? String } == ["saw", nil])
        try realm.write {
            parts.setValue(9, forKey: "weight")
            realm.objects(Tool.self).where { $0.weight == 9 }.setValue(nil, forKey: "maker")
            realm.objects(Tool.self).setValue("all", forKey: "name")
        }
        #expect(parts.map(\.weight) == [9, 9] && parts[0].maker == nil && saw.weight == 3)
        #expect(realm.objects(Tool.self).value(forKey: "name") as? [String] == ["all", "all", "all"])
    }

    @Test("properties of one object are read and written by name", arguments: [false, true])
    func oneObjectByName(managed: Bool) throws {
        let realm = try makeRealm([Tool.self])
        let saw = Tool("saw", 3)
        saw.maker = Tool("smith")
        realm.beginWrite()
        if managed { realm.add(saw) }
        saw.setValue(4, forKey: "weight")
        saw.setValue("Smith", forKeyPath: "maker.name")
        saw.setValue("unknown", forKeyPath: "maker.maker.name")
        saw.setValue("Saw", forKeyPath: "name")
        try realm.commitWrite()
        #expect(saw.weight == 4 && saw.name == "Saw" && saw.maker?.name == "Smith")
        #expect(saw.value(forKey: "weight") as? Int == 4 && saw.value(forKey: "self") as? Tool === saw)
        #expect(saw.value(forKeyPath: "maker.name") as? String == "Smith" && saw.value(forKey: "spares") != nil)
        #expect(saw.value(forKeyPath: "maker.maker.name") == nil && saw.maker?.value(forKey: "maker") == nil)
    }

    @Test("an unknown name or an invalid value fails the write")
    func unknownNameFailsTheWrite() throws {
        let realm = try makeRealm([Tool.self])
        try realm.write { realm.add([Tool("a", 1), Tool("b", 2)]) }
        let tools = realm.objects(Tool.self)
        #expect(throws: Realm.Error.self) { try realm.write { tools.setValue(1, forKey: "none") } }
        #expect(throws: Realm.Error.self) {
            try realm.write {
                tools.setValue(7, forKey: "weight")
                tools.setValue("text", forKey: "weight")
            }
        }
        #expect(tools.map(\.weight) == [1, 2])
        #expect(throws: Realm.Error.self) { try realm.write { tools[0].prices.setValue("text", forKey: "a") } }
        #expect(tools[0].prices.isEmpty)
    }

    @Test("entries of maps are read and written in any type", arguments: [false, true])
    func entriesInAnyType(managed: Bool) throws {
        let realm = try makeRealm([Tool.self])
        let tool = Tool("saw")
        if managed { try realm.write { realm.add(tool) } }
        func change(_ body: () -> Void) throws { if managed { try realm.write(body) } else { body() } }
        try change {
            tool.prices.setValue(3, forKey: "a")
            tool.prices.setValue(4 as Int64, forKey: "b")
            tool.spares.setValue(tool, forKey: "self")
        }
        #expect(tool.prices.value(forKey: "a") as? Int == 3 && tool.prices.object(forKey: "b") as? Int == 4)
        #expect(tool.spares.value(forKey: "self") as? Tool == tool && tool.prices.value(forKey: "c") == nil)
        try change { tool.prices.setValue(nil, forKey: "a") }
        #expect(tool.prices.keys == ["b"])
    }

    @Test("a caller that asks for objects gets each value as one", arguments: [false, true])
    func valuesAsObjects(managed: Bool) throws {
        let realm = try makeRealm([Tool.self, Bag.self])
        let saw = Tool("saw", 3)
        saw.parts.append(objectsIn: [Tool("blade", 1), Tool("grip", 2)])
        saw.parts[0].maker = saw
        saw.prices["a"] = 3
        let bag = Bag()
        bag.sizes.insert(objectsIn: [1, 2])
        bag.marks.append(objectsIn: [nil, "x"])
        if managed { try realm.write { realm.add([saw, bag]) } }
        let names: [AnyObject] = saw.parts.value(forKey: "name")
        #expect(names as? [String] == ["blade", "grip"])
        let makers: [AnyObject] = saw.parts.value(forKeyPath: "maker.name")
        #expect(makers.map { $0 as? String } == ["saw", nil])
        let weights: [AnyObject] = saw.parts.value(forKey: "weight")
        #expect(weights.map { $0 as? Int } == [1, 2])
        let marks: [AnyObject] = bag.marks.value(forKey: "self")
        #expect(marks.map { $0 as? String } == [nil, "x"])
        let sum: [AnyObject] = saw.parts.value(forKeyPath: "@sum.weight")
        #expect(sum as? [Int] == [3])
        let sizes: [AnyObject] = bag.sizes.value(forKey: "self"),
            count: [AnyObject] = bag.sizes.value(forKeyPath: "@count")
        #expect(Set(sizes.compactMap { $0 as? Int }) == [1, 2] && count as? [Int] == [2])
        #expect(bag.sizes.value(forKey: "self") as? Set<Int> == [1, 2])
        let price: AnyObject? = saw.prices.value(forKey: "a"), none: AnyObject? = saw.prices.value(forKeyPath: "b")
        let total: AnyObject? = saw.prices.value(forKeyPath: "@sum.self")
        #expect(price as? Int == 3 && none == nil && total as? Int == 3)
        let byObject: AnyObject? = saw.prices.object(forKey: "a" as AnyObject)
        #expect(byObject as? Int == 3 && saw.prices.object(forKey: 5 as AnyObject) == nil)
    }

    @Test("equality is also a method, equal to the operator")
    func equalityAsAMethod() throws {
        let realm = try makeRealm([Tool.self, Bag.self])
        let saw = Tool("saw"), bag = Bag()
        let first = List([1, 2]), second = List([1, 2])
        #expect(
            first.isEqual(second) && !first.isEqual(List([2, 1])) && !first.isEqual([1, 2]) && !first.isEqual(nil))
        let prices: Map<String, Int> = Map()
        prices["a"] = 1
        saw.prices["a"] = 1
        #expect(saw.prices.isEqual(prices) && saw.isEqual(saw) && !saw.isEqual(Tool("saw")) && !saw.isEqual(bag))
        try realm.write { realm.add([saw, bag]) }
        let again = realm.objects(Tool.self)[0]
        #expect(again.isEqual(saw) && !again.isEqual(bag) && again.parts.isEqual(saw.parts))
        #expect(!saw.prices.isEqual(prices) && bag.sizes.isEqual(bag.sizes) && !bag.sizes.isEqual(MutableSet<Int>()))
    }

    @Test("a collection of a known element type stands for any kind of collection")
    func anyKindOfCollection() throws {
        let realm = try makeRealm([Tool.self])
        let saw = Tool("saw", 3)
        saw.parts.append(objectsIn: [Tool("grip", 2), Tool("blade", 1)])
        try realm.write { realm.add(saw) }
        let all = [AnyRealmCollection(saw.parts), AnyRealmCollection(realm.objects(Tool.self))]
        #expect(
            all.map(\.count) == [2, 3] && all[0][1].name == "blade"
                && all.map { $0.map(\.weight).reduce(0, +) } == [3, 6])
        #expect(all[0].sorted(byKeyPath: "name").first?.name == "blade" && all[1].filter("weight > 1").count == 2)
        #expect(
            all[0].sum(of: \.weight) == 3 && all[0].realm != nil && !all[0].isFrozen && all[0].index(of: saw) == nil)
        let frozen = all[0].freeze()
        try realm.write { saw.parts.removeAll() }
        #expect(frozen.count == 2 && frozen.isFrozen && all[0].isEmpty && frozen.thaw()?.isEmpty == true)
        #expect(Array(AnyRealmCollection(List([1, 2]))) == [1, 2])
        var updates = 0
        let token = all[0].observe { if case .update = $0 { updates += 1 } }
        try realm.write { saw.parts.append(saw) }
        #expect(updates == 1)
        token.invalidate()
    }
}
