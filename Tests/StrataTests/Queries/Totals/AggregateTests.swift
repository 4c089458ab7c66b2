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

    @Test("properties of managed and unmanaged objects are aggregated", arguments: [false, true])
    func aggregatedProperties(managed: Bool) throws {
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
        let large = Item(0, nil)
        large.parts.append(objectsIn: [Item(.max, nil), Item(.max, nil)])
        if managed { try realm.write { realm.add(large) } }
        #expect(large.parts.average(of: \.count) == Double(Int.max))
    }

    final class Mixed: Object {
        @Persisted var list: List<AnyRealmValue>
        @Persisted var set: MutableSet<AnyRealmValue>
        @Persisted var map: Map<String, AnyRealmValue>
    }

    @Test("numbers among values of any type are aggregated", arguments: [false, true])
    func numbersAmongAnyValues(managed: Bool) throws {
        let realm = try makeRealm([Mixed.self])
        let mixed = Mixed()
        let values: [AnyRealmValue] = [
            .int(3), .string("x"), .double(0.5), .none, .decimal128("1.5"), .bool(true), .double(.nan),
        ]
        mixed.list.append(objectsIn: values)
        mixed.set.insert(objectsIn: values)
        for (place, value) in values.enumerated() { mixed.map["\(place)"] = value }
        if managed { try realm.write { realm.add(mixed) } }
        #expect(mixed.list.min() == .double(0.5) && mixed.list.max() == .int(3))
        #expect(mixed.list.sum() == .decimal128(5) && mixed.set.sum() == .decimal128(5))
        #expect(mixed.set.max() == .int(3) && mixed.map.min() == .double(0.5) && mixed.map.sum() == .decimal128(5))
        #expect(mixed.map.average() == .decimal128(Decimal128(5) / 3) && Mixed().list.average() == nil)
        #expect(Mixed().set.min() == nil)
    }

    @Test("an empty sum of values of any type is the integer 0, in managed lists and sets a decimal")
    func emptySum() throws {
        let realm = try makeRealm([Mixed.self])
        let alone = Mixed(), mixed = Mixed()
        try realm.write { realm.add(mixed) }
        for sum in [alone.list.sum(), alone.set.sum(), alone.map.sum(), mixed.map.sum()] { #expect(sum.intValue == 0) }
        for sum in [mixed.list.sum(), mixed.set.sum()] { #expect(sum.decimal128Value == 0) }
        alone.list.append(.string("x"))
        #expect(alone.list.sum() == .decimal128(0) && List<Decimal128>().sum() == 0)
    }

    @Test("dates among values of any type order after its numbers", arguments: [false, true])
    func datesAmongAnyValues(managed: Bool) throws {
        let realm = try makeRealm([Mixed.self])
        let mixed = Mixed()
        let early = Date(timeIntervalSinceReferenceDate: 1)
        let late = Date(timeIntervalSinceReferenceDate: 2)
        mixed.list.append(objectsIn: [.date(late), .string("x"), .date(early)])
        mixed.map["only"] = .date(late)
        mixed.set.insert(objectsIn: [.date(early), .int(7), .double(9)])
        if managed { try realm.write { realm.add(mixed) } }
        #expect(mixed.list.min() == .date(early) && mixed.list.max() == .date(late) && mixed.map.min() == .date(late))
        #expect(mixed.set.min() == .int(7) && mixed.set.max() == .date(early))
        let none: Double? = mixed.list.average()
        let mean: Double? = mixed.set.average()
        #expect(none == nil && mean == 8 && mixed.list.sum() == .decimal128(0))
    }

    /// Generic code over a collection and a property.
    private static func spread<Values: RealmCollection>(_ values: Values) -> [Values.Element?]
    where Values.Element.PersistedType: MinMaxType & AddableType & SortableType {
        [values.min(), values.max(), values.sum()]
    }

    private static func means<Value: _HasPersistedType>(_ items: List<Item>, _ property: KeyPath<Item, Value>) -> Value?
    where Value.PersistedType: AddableType { items.average(of: property) }

    enum Size: Int, PersistableEnum { case small = 1, medium = 2, large = 5 }

    final class Sized: Object {
        @Persisted var sizes: List<Size>
        @Persisted var maybe: Map<String, Size?>
        @Persisted var bytes: List<Int8>
    }

    @Test("generic code aggregates the stored form of a type", arguments: [false, true])
    func storedForm(managed: Bool) throws {
        let realm = try makeRealm([Sized.self, Item.self])
        let sized = Sized()
        sized.sizes.append(objectsIn: [.medium, .large, .medium])
        sized.maybe["a"] = .some(.large)
        sized.maybe["b"] = .some(nil)
        sized.bytes.append(objectsIn: [3, 4])
        let owner = Item(0, nil)
        owner.parts.append(objectsIn: [Item(3, 1.5, "0.1"), Item(2, nil, "0.2")])
        if managed { try realm.write { realm.add([sized, owner] as [Object]) } }
        #expect(sized.sizes.min() == .medium && sized.sizes.max() == .large)
        #expect(sized.maybe.min() == .some(.large))
        #expect(Self.spread(sized.bytes) == [3, 4, 7])
        let mean: Double? = sized.sizes.average()
        #expect(mean == 3)
        #expect(Self.means(owner.parts, \.count) == 2 && Self.means(owner.parts, \.price) == "0.15")
        #expect(Self.means(owner.parts, \.weight) == 1.5)
        let rounded: Int? = owner.parts.average(ofProperty: "count")
        let least: Int8? = owner.parts.min(ofProperty: "count")
        #expect(rounded == 2 && least == 2)
        guard managed else { return }
        #expect(Array(sized.sizes.sorted()) == [.medium, .medium, .large] && sized.sizes.distinct().count == 2)
    }

    struct Metres: CustomPersistable, Hashable {
        let length: Double
        init(persistedValue: Double) { length = persistedValue }
        var persistableValue: Double { length }
    }

    final class Sparse: Object {
        @Persisted var marks: List<Int?>
        @Persisted var prices: Map<String, Decimal128?>
        @Persisted var days: MutableSet<Date?>
        @Persisted var lengths: List<Metres>
        @Persisted var whole: List<Int>
    }

    @Test("optional values and values of custom types are aggregated", arguments: [false, true])
    func optionalAndCustom(managed: Bool) throws {
        let realm = try makeRealm([Sparse.self])
        let sparse = Sparse()
        sparse.marks.append(objectsIn: [3, nil, 2])
        sparse.prices["a"] = .some("0.5")
        sparse.prices["b"] = .some(nil)
        sparse.days.insert(objectsIn: [nil, Date(timeIntervalSinceReferenceDate: 4)])
        sparse.lengths.append(objectsIn: [Metres(persistedValue: 2), Metres(persistedValue: 0.5)])
        sparse.whole.append(objectsIn: [1, 2])
        if managed { try realm.write { realm.add(sparse) } }
        #expect(sparse.marks.min() == .some(2) && sparse.marks.max() == .some(3) && sparse.marks.sum() == 5)
        let mean: Double? = sparse.marks.average()
        let rounded: Int? = sparse.marks.average()
        let exact: Double? = sparse.whole.average()
        #expect(mean == 2.5 && rounded == 2 && exact == 1.5 && sparse.whole.average() == 1)
        let negative: Int? = List<Int?>([-3, nil, -2]).average()
        #expect(negative == -2)
        #expect(sparse.prices.sum() == Decimal128("0.5") && sparse.prices.max() == .some("0.5"))
        #expect(sparse.days.min() == .some(Date(timeIntervalSinceReferenceDate: 4)))
        #expect(sparse.lengths.min()?.length == 0.5 && sparse.lengths.sum().length == 2.5)
        #expect(Sparse().marks.min() == nil && Sparse().marks.sum() == 0 && Sparse().lengths.max() == nil)
        guard managed else { return }
        #expect(Array(sparse.prices.sorted()) == [nil, "0.5"])
        #expect(Array(sparse.prices.sorted(ascending: false)) == ["0.5", nil])
    }
}
