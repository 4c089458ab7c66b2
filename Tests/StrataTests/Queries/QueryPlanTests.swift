import Foundation
import Testing

@testable import Strata

@Suite struct QueryPlanTests {
    final class City: Object {
        @Persisted(primaryKey: true) var name = ""
        @Persisted var country = ""
    }

    final class Citizen: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted(indexed: true) var email = ""
        @Persisted(indexed: true) var age = 0
        @Persisted var height = 0.0
        @Persisted var city: City?
        @Persisted var friends: List<Citizen>
    }

    private func people(_ count: Int = 3200) throws -> Results<Citizen> {
        let realm = try makeRealm([City.self, Citizen.self])
        try realm.write {
            for name in 0..<100 { realm.create(City.self, value: ["name": "city-\(name)", "country": "c\(name % 4)"]) }
            let cities = Array(realm.objects(City.self))
            for id in 0..<count {
                let citizen = Citizen()
                citizen.id = id
                citizen.email = "mail-\(id)"
                citizen.age = id % 1000
                citizen.height = Double(id % 7)
                citizen.city = cities[id % 100]
                realm.add(citizen)
            }
            let all = realm.objects(Citizen.self)
            if count > 6 { all[5].friends.append(all[6]) }
        }
        return realm.objects(Citizen.self)
    }

    private func plan(_ results: Results<Citizen>) -> [String] {
        results.explain().split(separator: "\n").dropFirst().map(String.init)
    }

    @Test("an equality on an index, a key or a link is looked up")
    func lookedUp() throws {
        let people = try people()
        #expect(
            people.where { $0.email == "mail-7" }.explain()
                == "Citizen\n1. index on 'email': 1 rows at most")
        #expect(plan(people.where { $0.id == 7 })[0] == "1. primary key: 1 rows at most")
        #expect(plan(people.where { $0.email.in(["mail-1", "mail-2"]) })[0] == "1. index on 'email': 2 rows at most")
        #expect(
            plan(people.where { $0.age == 7 || $0.email == "x" })[0]
                == "1. index on 'age'; or index on 'email': 4 rows at most")
        let city = try #require(people[3].city)
        #expect(plan(people.where { $0.city == city })[0] == "1. links of 'city', backwards: 32 rows at most")
        #expect(
            plan(people.where { $0.city.name == "city-3" })[0]
                == "1. links of 'city', backwards from 'City': 32 rows at most")
        #expect(
            plan(people.where { $0.friends.contains(people[6]) })[0]
                == "1. links of 'friends', backwards: 1 rows at most")
        #expect(people.where { $0.city.name == "city-3" }.count == 32)
    }

    @Test("the most selective part of a conjunction decides")
    func mostSelectivePart() throws {
        let people = try people()
        #expect(plan(people.where { $0.age == 3 && $0.email == "mail-3" })[0] == "1. index on 'email': 1 rows at most")
        #expect(
            plan(people.where { $0.age > 5 && $0.height == 1 && $0.age < 8 })[0]
                == "1. index on 'age', a range: 8 rows at most")
        #expect(
            plan(people.where { $0.age > 5 && $0.height == 1 }) == [
                "1. all 3200 rows", "2. over columns: age > 5 AND height == 1.0",
            ])
    }

    @Test("conditions outside of storage are evaluated row by row, over the remaining rows")
    func outsideOfStorage() throws {
        let people = try people()
        let results = people.filter("height > 2 AND age != id").sorted(by: \.age).distinct(by: ["city.name"]).limit(5)
        #expect(
            results.explain() == """
                Citizen
                1. all 3200 rows
                2. over columns: height > 2
                3. row by row: age != id
                4. sorted by age ascending
                5. distinct by city.name
                6. at most 5
                """)
        #expect(results.count == 5)
        #expect(
            plan(people.filter("city.country == 'c1' AND ANY friends.age > 3")) == [
                "1. all 3200 rows", "2. over columns: city.country == 'c1' AND ANY friends.age > 3",
            ])
    }

    @Test("a filter moves before sorts, and filters are merged")
    func mergedFilters() throws {
        let people = try people(200)
        let chained = people.sorted(by: \.height, ascending: false).where { $0.age > 3 }.where { $0.age < 20 }
        #expect(
            plan(chained) == [
                "1. index on 'age', a range: 16 rows at most", "2. row by row: age > 3 AND age < 20",
                "3. sorted by height descending",
            ])
        #expect(chained.map(\.height) == chained.map(\.height).sorted(by: >))
        #expect(chained.count == 16)
        let limited = people.limit(10).where { $0.age > 3 }
        #expect(limited.map(\.id) == [4, 5, 6, 7, 8, 9])
    }

    @Test("an unknown property is an error with the class and near names")
    func unknownProperty() throws {
        let people = try people(1)
        func message(_ format: String, _ arguments: Any?...) -> String {
            do {
                _ = try people.matching(try PredicateParser.parse(format, arguments))
                return ""
            } catch { return error.message }
        }
        #expect(message("emial == 'x'") == "'Citizen' has no property 'emial'; did you mean 'email'?")
        #expect(message("city.nam == 'x'") == "'City' has no property 'nam'; did you mean 'name'?")
        #expect(
            message("qqqqq == 1") == "'Citizen' has no property 'qqqqq'; it has id, email, age, height, city, friends")
        #expect(message("age.x == 1").contains("'Citizen.age' is int and leads to no object"))
        #expect(message("age == 'x'") == "'age' is int and cannot be compared with the text 'x'")
        #expect(message("age == %@", Date()).contains("a date"))
        #expect(message("age CONTAINS 'x'").contains("CONTAINS needs text or data"))
        #expect(message("city > nil").contains("objects have no order"))
        #expect(message("city == %@", people[0]).contains("leads to objects of 'City', not of 'Citizen'"))
        #expect(message("email == age").contains("cannot be compared"))
        #expect(message("age.@count > 1").contains("needs a collection"))
        #expect(message("friends.email.@sum > 1").contains("needs numbers"))
        #expect(message("@links.City.name.@count > 1").contains("does not lead to 'Citizen'"))
        #expect(throws: Realm.Error.self) { try people.tryFilter("age === 3") }
        #expect(try people.tryFilter("age == %@", 0).count == 1)
    }

    @Test("a very deep or wide typed query is evaluated")
    func deepAndWide() throws {
        let people = try people(50)
        let wide = people.where { query in (0..<2000).reduce(query.age == -1) { $0 || query.age == $1 } }
        #expect(wide.count == 50)
        let deep = people.where { query in
            (0..<60).reduce(query.age == -1) { $1 % 2 == 0 ? !($0 && query.age == -2) : $0 || query.age == $1 }
        }
        #expect(deep.count == 50)
    }
}
