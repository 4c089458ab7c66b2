import Foundation
import Testing

@testable import Strata

private final class Leaf: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted(primaryKey: true) var id = 7
    @Persisted var name = "leaf"
    @Persisted(originProperty: "leaf") var owners: LinkingObjects<Branch>
}

private final class Branch: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted var leaf: Leaf?
}

private struct Unpersisted<Value> { var value: Value }

/// ``FieldTypes`` finds a field by the descriptor of its type. It has to find what a cast to `PersistedField` finds.
@Suite struct FieldTypesTests {
    private static let types: [Any.Type] = [
        Persisted<Int>.self, Persisted<Int8?>.self, Persisted<String>.self, Persisted<Double?>.self,
        Persisted<Date>.self, Persisted<Data?>.self, Persisted<UUID>.self, Persisted<ObjectId>.self,
        Persisted<Decimal128?>.self, Persisted<AnyRealmValue>.self, Persisted<Mood>.self, Persisted<Mood?>.self,
        Persisted<Leaf?>.self, Persisted<List<Int>>.self, Persisted<List<Leaf>>.self,
        Persisted<MutableSet<String>>.self, Persisted<Map<String, Leaf?>>.self, Persisted<LinkingObjects<Branch>>.self,
        RealmProperty<Int?>.self, List<Leaf>.self, MutableSet<Int>.self, Map<String, Int>.self,
        LinkingObjects<Branch>.self,
    ]

    @Test("a field found by its descriptor is the type that a cast finds", arguments: types.indices)
    func shapes(index: Int) {
        let type = Self.types[index]
        guard let found = FieldTypes.field(type), let cast = type as? any PersistedField.Type else {
            Issue.record("\(type) is no field")
            return
        }
        let areSame = ObjectIdentifier(found) == ObjectIdentifier(cast)
        #expect(areSame)
        let (shape, expected) = (found.shape, cast.shape)
        let (size, expectedSize) = (found.valueSize, cast.valueSize)
        let (isPlain, isExpectedPlain) = (found.isPlain, cast.isPlain)
        let (isLink, isExpectedLink) = (found.isLink, cast.isLink)
        #expect(size == expectedSize && isPlain == isExpectedPlain && isLink == isExpectedLink)
        #expect(shape.type == expected.type && shape.isOptional == expected.isOptional)
        #expect(shape.collection == expected.collection && shape.objectType == expected.objectType)
    }

    @Test("other types are no fields") func others() {
        let others: [Any.Type] = [
            Int.self, String?.self, [Int].self, Leaf.self, Unpersisted<Int>.self, (() -> Void).self, (Int, Int).self,
        ]
        for type in others {
            let isField = FieldTypes.field(type) != nil
            #expect(!isField, "\(type)")
        }
    }

    @Test("values are read and written through a field") func values() throws {
        let plan = ClassPlan.plan(for: Leaf.self)
        let leaf = Leaf()
        let name = try #require(plan.field(named: "name"))
        let (field, address) = (name.field, leaf._field(name.offset))
        let value = field.getAny(address) as? String
        let (isSet, isSetWrongly) = (field.setAny(address, "new"), field.setAny(address, 5))
        #expect(value == "leaf" && isSet && leaf.name == "new" && !isSetWrongly)
        #expect(plan.primary?.name == "id" && plan.field(named: "owners")?.origin == "leaf")
        #expect(plan.fields.map(\.origin) == [nil, nil, "leaf"])
        #expect(!plan.isEncodable)
    }
}
