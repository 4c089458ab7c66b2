import Foundation
import Strata
import Testing

/// The code of docs/queries.md.
@Suite struct QueriesPageTests {
    final class Person: Object {
        @Persisted var name = ""
        @Persisted var age = 0
        @Persisted var isWaiting = false
        @Persisted var marks: List<Int>
    }

    private func people() throws -> (Realm, Results<Person>) {
        let realm = try makeRealm([Person.self])
        try realm.write {
            for age in 0..<50 { realm.create(Person.self, value: ["name": "Taro \(age)", "age": age]) }
        }
        return (realm, realm.objects(Person.self))
    }

    @Test("a loop that takes the first result out of the results ends")
    func loopEnds() throws {
        let (realm, people) = try people()
        try realm.write { for person in people { person.isWaiting = person.age % 2 == 0 } }
        let waiting = people.where { $0.isWaiting }.sorted(by: \.age)
        try realm.write {
            while let person = waiting.first { person.isWaiting = false }
        }
        #expect(waiting.isEmpty)
    }

    @Test("a predicate of Foundation's finds objects")
    func foundationPredicate() throws {
        let (_, people) = try people()
        let part = "Ta"
        let found = try people.where(#Predicate<Person> { $0.age > 3 && $0.name.contains(part) })
        #expect(found.count == 46)
    }

    @Test("conditions are kept as values and joined")
    func keptConditions() throws {
        let (_, people) = try people()
        let names = ["Taro 3", "Taro 18", "Taro 20"]
        let grown = FormatPredicate(format: "age >= %@", 18)
        let named = FormatPredicate(format: "name IN %@", argumentArray: [names])
        let found = people.filter(CompoundFormatPredicate(andPredicateWithSubpredicates: [grown, named]))
        let others = people.filter("age >= %@ AND name != %@", argumentArray: [18, "Taro 18"])
        #expect(found.map(\.age) == [18, 20] && others.count == 31)
    }

    @Test("values of a list are filtered and sorted")
    func valuesOfAList() throws {
        let (realm, people) = try people()
        let person = people[0]
        try realm.write { person.marks.append(objectsIn: [1, 5, 4, 2]) }
        let high = person.marks.where { $0 > 3 }.sorted(ascending: false)
        let same = person.marks.filter("SELF > 3").sorted(ascending: false)
        let mean = person.marks.average()
        #expect(Array(high) == [5, 4] && Array(same) == [5, 4] && mean == 3)
    }

    @Test("the page shows the code of these tests")
    func pageShowsTheseTests() throws {
        try PageCode.expect("queries.md", in: #filePath)
    }
}
