import Strata
import Testing

@Suite struct CollectionEqualityTests {
    final class Bag: Object {
        @Persisted var numbers: List<Int>
        @Persisted var moreNumbers: List<Int>
        @Persisted var tags: MutableSet<String>
        @Persisted var prices: Map<String, Int>
        @Persisted var others: List<Bag>
        @Persisted var moreOthers: List<Bag>
        @Persisted(originProperty: "others") var owners: LinkingObjects<Bag>
        @Persisted(originProperty: "moreOthers") var moreOwners: LinkingObjects<Bag>
    }

    @Test("managed collections are equal when they are the same property of the same object")
    func sameProperty() throws {
        let realm = try makeRealm([Bag.self])
        let (first, second) = (Bag(), Bag())
        for bag in [first, second] {
            bag.numbers.append(1)
            bag.tags.insert("t")
            bag.prices["a"] = 1
        }
        #expect(first.numbers == second.numbers && first.tags == second.tags && first.prices == second.prices)
        try realm.write { realm.add([first, second]) }
        let again = realm.objects(Bag.self)[0]
        #expect(first.numbers == again.numbers && first.numbers != second.numbers && first.others == again.others)
        #expect(first.tags == again.tags && first.tags != second.tags)
        #expect(first.prices == again.prices && first.prices != second.prices)
        #expect(first.owners == again.owners && first.owners != second.owners)
        let all = realm.objects(Bag.self)
        #expect(all == all && all != realm.objects(Bag.self))
        let some = realm.objects(Bag.self).where { $0.numbers.count > 0 }
        #expect(some == some && some != realm.objects(Bag.self))
        #expect(AnyRealmCollection(first.numbers) == AnyRealmCollection(again.numbers))
        #expect(AnyRealmCollection(first.numbers) != AnyRealmCollection(second.numbers))
        #expect(AnyRealmCollection(all) == AnyRealmCollection(all))
        #expect(AnyRealmCollection(all) != AnyRealmCollection(realm.objects(Bag.self)))
        #expect(AnyRealmCollection(first.others) == AnyRealmCollection(again.others))
        #expect(AnyRealmCollection(List([1])) == AnyRealmCollection(List([1])))
    }

    @Test("another property, a query on it and a copy of it are not equal to it")
    func otherProperty() throws {
        let realm = try makeRealm([Bag.self])
        let bag = Bag()
        bag.numbers.append(1)
        bag.moreNumbers.append(1)
        bag.others.append(bag)
        bag.moreOthers.append(bag)
        try realm.write { realm.add(bag) }
        #expect(bag.numbers != bag.moreNumbers && bag.others != bag.moreOthers && bag.owners != bag.moreOwners)
        let (copy, tags, prices) = (List([1]), MutableSet<String>(), Map<String, Int>())
        #expect(bag.numbers != copy && copy != bag.numbers && bag.tags != tags && bag.prices != prices)
        let numbers = AnyRealmCollection(bag.numbers)
        #expect(numbers != AnyRealmCollection(bag.moreNumbers) && numbers != AnyRealmCollection(copy))
        #expect(numbers != AnyRealmCollection(bag.numbers.sorted()))
        #expect(AnyRealmCollection(bag.numbers.sorted()) != numbers)
        let others = AnyRealmCollection(bag.others)
        #expect(others != AnyRealmCollection(bag.others.where { $0.numbers.count > 0 }))
        #expect(AnyRealmCollection(bag.others.where { $0.numbers.count > 0 }) != others)
        #expect(AnyRealmCollection(bag.owners) != AnyRealmCollection(bag.moreOwners))
    }

    @Test("unmanaged collections are equal when their elements are")
    func unmanagedElements() {
        #expect(List([1, 2]) == List([1, 2]) && List([1, 2]) != List([2, 1]))
        #expect(MutableSet(["a", "b"]) == MutableSet(["b", "a"]) && MutableSet(["a"]) != MutableSet(["b"]))
        let (one, other): (Map<String, Int>, Map<String, Int>) = (["a": 1, "b": 2], ["b": 2, "a": 1])
        #expect(one == other && Map<String, Int>() != one && one != ["a": 1, "c": 2])
        other["b"] = 3
        #expect(one != other)
    }
}
