import Foundation
import Strata
import Testing

@Suite struct AggregateTests {
    final class Item: Object {
        @Persisted var count = 0
        @Persisted var weight: Double?
        @Persisted var price: Decimal128
        @Persisted var made: Date
        @Persisted var next: Item?
        @Persisted var parts: List<Item>
        convenience init(_ count: Int, _ weight: Double?, _ price: Decimal128 = 0) {
            self.init()
            self.count = count
            self.weight = weight
            self.price = price
            made = Date(timeIntervalSinceReferenceDate: Double(count))
        }
    }

    @Test(arguments: [false, true]) func `properties of objects are added up whether a Realm manages them or not`(
        managed: Bool
    ) throws {
        let realm = try makeRealm([Item.self])
        let owner = Item(0, nil)
        owner.parts.append(objectsIn: [Item(3, 1.5, "0.1"), Item(1, nil, "0.2"), Item(2, 2.5, "0.3")])
        owner.parts[0].next = owner.parts[2]
        if managed { try realm.write { realm.add(owner) } }
        let parts = owner.parts
        #expect(parts.sum(of: \.count) == 6 && parts.min(of: \.count) == 1 && parts.max(of: \.count) == 3)
        #expect(parts.average(of: \.count) == 2 && parts.sum(of: \.weight) == 4 && parts.average(of: \.weight) == 2)
        #expect(
            parts.min(of: \.weight) == 1.5 && parts.sum(of: \.price) == "0.6" && parts.average(of: \.price) == "0.2")
        #expect(parts.max(of: \.made) == Date(timeIntervalSinceReferenceDate: 3))
        #expect(parts.sum(ofProperty: "count") == 6 && parts.max(ofProperty: "next.count") == 2)
        #expect(parts[1].parts.sum(of: \.count) == 0 && parts[1].parts.min(of: \.count) == nil)
        #expect(parts[1].parts.average(of: \.weight) == nil)
    }

    final class Mixed: Object {
        @Persisted var list: List<AnyRealmValue>
        @Persisted var set: MutableSet<AnyRealmValue>
        @Persisted var map: Map<String, AnyRealmValue>
    }

    @Test(arguments: [false, true]) func `numbers among values of any type are added up`(managed: Bool) throws {
        let realm = try makeRealm([Mixed.self])
        let mixed = Mixed()
        let values: [AnyRealmValue] = [.int(3), .string("x"), .double(0.5), .none, .decimal128("1.5"), .bool(true)]
        mixed.list.append(objectsIn: values)
        mixed.set.insert(objectsIn: values)
        for (place, value) in values.enumerated() { mixed.map["\(place)"] = value }
        if managed { try realm.write { realm.add(mixed) } }
        #expect(mixed.list.min() == .double(0.5) && mixed.list.max() == .int(3))
        #expect(mixed.list.sum() == .decimal128(5) && mixed.set.sum() == .decimal128(5))
        #expect(mixed.set.max() == .int(3) && mixed.map.min() == .double(0.5) && mixed.map.sum() == .decimal128(5))
        #expect(mixed.map.average() == .decimal128(Decimal128(5) / 3) && Mixed().list.average() == nil)
        #expect(Mixed().set.min() == nil && Mixed().map.sum() == .decimal128(0))
    }
}
