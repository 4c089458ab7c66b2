import Strata
import Testing

/// Queries on large collections.
@Suite struct CollectionQueryTests {
    @Test("numbers of a list are summed and found over packed values")
    func packedNumbers() throws {
        let realm = try makeRealm(LargeCollectionHistory.types)
        let shelf = Shelf()
        let numbers = (0..<9000).map { ($0 * 7919) % 20_011 - 9000 }
        shelf.numbers.append(objectsIn: numbers)
        for number in numbers { shelf.sizes["\(number)"] = Double(number) / 8 }
        try realm.write { realm.add(shelf) }
        #expect(shelf.numbers.sum() == numbers.reduce(0, +))
        #expect(shelf.numbers.min() == numbers.min() && shelf.numbers.max() == numbers.max())
        #expect(shelf.numbers.average() == numbers.reduce(0, +) / numbers.count)
        for number in [numbers[0], numbers[4000], numbers[8999], 20_000] {
            #expect(shelf.numbers.contains(number) == numbers.contains(number))
            #expect(shelf.numbers.firstIndex(of: number) == numbers.firstIndex(of: number))
        }
        let shelves = realm.objects(Shelf.self)
        #expect(shelves.filter("numbers.@sum == \(numbers.reduce(0, +)) AND numbers.@min < -8990").count == 1)
        #expect(shelves.filter("sizes.@min >= -1125 AND sizes.@max < 1376.5").count == 1)
    }

    @Test("queries read trees, also of the open write")
    func treesOfTheOpenWrite() throws {
        let realm = try makeRealm(LargeCollectionHistory.types)
        for number in 0..<6 {
            let shelf = Shelf()
            shelf.numbers.append(objectsIn: (0..<(number * 1500)).map { $0 * 2 + number })
            shelf.labels.insert(objectsIn: (0..<(number * 400)).map { "label \($0)" })
            for key in 0..<(number * 200) { shelf.sizes["key \(key)"] = Double(number) }
            let notes = (0..<(number * 400)).map { Note("\(number) \($0)") }
            shelf.notes.append(objectsIn: notes)
            try realm.write { realm.add(shelf) }
        }
        let shelves = realm.objects(Shelf.self)
        func check() {
            #expect(shelves.filter("numbers.@count > 4000").count == 3)
            #expect(shelves.filter("ANY numbers == 8003").count == 2)
            #expect(shelves.filter("NONE numbers > 2000").count == 1)
            #expect(shelves.filter("ALL numbers < 4000").count == 2)
            #expect(shelves.filter("numbers.@max > 12002").count == 1)
            #expect(shelves.filter("'label 1599' IN labels").count == 2)
            #expect(shelves.filter("sizes['key 900'] == 5").count == 1)
            #expect(shelves.filter("ANY sizes.@allKeys == 'key 799'").count == 2)
            #expect(shelves.filter("ANY notes.text == '3 1100'").count == 1)
            #expect(shelves.filter("notes.@count >= 1600").count == 2)
        }
        check()
        realm.beginWrite()
        for shelf in shelves { shelf.numbers.append(1) }
        #expect(shelves.filter("ANY numbers == 1").count == 6)
        for shelf in shelves { shelf.numbers.removeLast() }
        check()
        realm.cancelWrite()
        check()
    }

    @Test("more elements than fit one batch are returned in order")
    func severalBatches() throws {
        let realm = try makeRealm(LargeCollectionHistory.types)
        let shelf = Shelf()
        let numbers = (0..<140_000).map { $0 * 7 % 1_000_003 }
        try realm.write {
            realm.add(shelf)
            shelf.numbers.append(objectsIn: numbers)
        }
        let isSame = Array(shelf.numbers) == numbers
        #expect(isSame)
    }

    @Test("a held list shows each change immediately, inside and outside of writes")
    func heldList() throws {
        let realm = try makeRealm(LargeCollectionHistory.types)
        let shelf = Shelf()
        var model = Array(0..<6000)
        shelf.numbers.append(objectsIn: model)
        try realm.write { realm.add(shelf) }
        let (numbers, frozen) = (shelf.numbers, shelf.freeze().numbers)
        for round in 0..<40 {
            let place = round * 149 % model.count
            try realm.write {
                for offset in 0..<20 {
                    numbers[place + offset] += 1
                    model[place + offset] += 1
                    #expect(numbers[place + offset] == model[place + offset])
                    if offset % 7 == 0 {
                        numbers.insert(-offset, at: place)
                        model.insert(-offset, at: place)
                    }
                    #expect(numbers[place + 1] == model[place + 1] && numbers.last == model.last)
                }
                shelf.sizes["\(round)"] = 1
                #expect(numbers[place] == model[place] && numbers.count == model.count)
            }
            #expect(numbers[place] == model[place] && numbers[place + 15] == model[place + 15])
            if round % 10 == 0 {
                let isSame = model.indices.allSatisfy { numbers[$0] == model[$0] }
                #expect(isSame)
            }
            #expect(frozen[place] == place && frozen.count == 6000)
        }
        realm.beginWrite()
        numbers[3000] = -7
        realm.cancelWrite()
        #expect(numbers[3000] == model[3000])
    }

    @Test("a walk that began in a write continues after its rollback")
    func walkAfterARollback() throws {
        let realm = try makeRealm(LargeCollectionHistory.types)
        let shelf = Shelf()
        try realm.write { realm.add(shelf) }
        realm.beginWrite()
        shelf.numbers.append(objectsIn: 0..<9000)
        var walk = shelf.numbers.makeIterator()
        let first = walk.next()
        var seen = [try #require(first)]
        realm.cancelWrite()
        while let number = walk.next() { seen.append(number) }
        let isWhole = seen == Array(0..<9000)
        #expect(isWhole && shelf.numbers.isEmpty)
    }

    @Test("a query on a large map of objects skips keys without an object")
    func keysWithoutAnObject() throws {
        let realm = try makeRealm(LargeCollectionHistory.types)
        let shelf = Shelf()
        for number in 0..<3000 { shelf.topics["\(number)"] = .some(Note("\(number)")) }
        try realm.write {
            realm.add(shelf)
            realm.delete(realm.objects(Note.self).where { $0.text.starts(with: "29") })
        }
        #expect(shelf.topics.count == 3000 && shelf.topics["2900"] == .some(nil))
        #expect(shelf.topics.where { $0.rank == 0 }.count == 2889)
        #expect(shelf.topics.sorted(byKeyPath: "text").count == 2889)
    }

    @Test("an object of another version is compared by identity, not by key")
    func comparedByIdentity() throws {
        let realm = try makeRealm([Drawer.self, Counter.self])
        let drawer = Drawer()
        drawer.counters.append(objectsIn: (0..<900).map { Counter($0) })
        try realm.write { realm.add(drawer) }
        let frozen = drawer.counters[400].freeze()
        #expect(drawer.counters.contains(frozen) && drawer.counters.firstIndex(of: frozen) == 400)
        #expect(drawer.freeze().counters.contains(drawer.counters[400]))
        try realm.write {
            realm.delete(drawer.counters[400])
            drawer.counters.insert(Counter(400), at: 400)
        }
        #expect(!drawer.counters.contains(frozen) && drawer.counters.contains(drawer.counters[400]))
    }

    final class Drawer: Object {
        @Persisted var counters: List<Counter>
    }
}
