import Foundation
import Strata
import Testing

@Suite struct QueryTests {
    final class Person: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var name = ""
        @Persisted(indexed: true) var age = 0
        @Persisted var score: Double?
        @Persisted var isMember = false
        @Persisted var boss: Person?
        @Persisted var friends: List<Person>
        @Persisted var tags: List<String>
        @Persisted(indexed: true) var city = ""
        @Persisted var joined = Date(timeIntervalSinceReferenceDate: 0)
        @Persisted(originProperty: "boss") var reports: LinkingObjects<Person>
    }

    private func company() throws -> Realm {
        let realm = try makeRealm([Person.self])
        try realm.write {
            for id in 0..<100 {
                let person = realm.create(
                    Person.self,
                    value: [
                        "id": id, "name": "person-\(id)", "age": id % 10, "isMember": id % 2 == 0,
                        "score": id % 3 == 0 ? Double(id) / 2 : nil, "city": id % 4 == 0 ? "Kyoto" : "Osaka",
                        "tags": id % 5 == 0 ? ["five", "all"] : ["all"],
                        "joined": Date(timeIntervalSinceReferenceDate: Double(id)),
                    ] as [String: Any?])
                if id > 0 { person.boss = realm.object(ofType: Person.self, forPrimaryKey: id / 10) }
                if id >= 90 { person.friends.append(objectsIn: realm.objects(Person.self).where { $0.age == 1 }) }
            }
        }
        return realm
    }

    @Test("a key path of 64 names is followed, a longer one is refused at once")
    func longKeyPath() throws {
        let realm = try company()
        let people = realm.objects(Person.self)
        try realm.write { people[0].boss = people[0] }
        func path(_ names: Int) -> String { String(repeating: "boss.", count: names - 1) + "id" }
        #expect(try people.tryFilter("\(path(64)) == 0").count == 100)
        for names in [65, 4_000, 40_000] {
            for format in ["\(path(names)) == 0", "name == 'x' AND ANY friends.\(path(names)) == 0"] {
                let error = #expect(throws: Realm.Error.self) { try people.tryFilter(format) }
                #expect(error?.code == .invalidInput && error?.message.contains("at most 64") == true)
            }
        }
    }

    @Test("typed conditions find what a loop finds")
    func sameAsALoop() throws {
        let realm = try company()
        let people = realm.objects(Person.self)
        let all = Array(people)
        func check(
            _ query: (Query<Person>) -> Query<Bool>, _ loop: (Person) -> Bool,
            location: SourceLocation = #_sourceLocation
        ) {
            let found = people.where(query).map(\.id)
            #expect(found == all.filter(loop).map(\.id), sourceLocation: location)
        }
        check({ $0.age == 3 }, { $0.age == 3 })
        check({ $0.age != 3 && $0.isMember }, { $0.age != 3 && $0.isMember })
        check({ $0.age < 2 || $0.age >= 8 }, { $0.age < 2 || $0.age >= 8 })
        check({ !($0.age <= 5) && $0.name.ends(with: "9") }, { $0.age > 5 && $0.name.hasSuffix("9") })
        check({ $0.score > 10 }, { ($0.score ?? 0) > 10 })
        check({ $0.score == nil }, { $0.score == nil })
        check({ $0.score != nil && $0.score <= 3 }, { $0.score.map { $0 <= 3 } ?? false })
        check({ $0.id.contains(10...19) }, { (10...19).contains($0.id) })
        check({ $0.id.contains(10..<19) }, { (10..<19).contains($0.id) })
        check({ $0.age.in([1, 9]) }, { [1, 9].contains($0.age) })
        check({ $0.name.contains("N-5", options: .caseInsensitive) }, { $0.name.contains("n-5") })
        check({ $0.name.starts(with: "person-9") }, { $0.name.hasPrefix("person-9") })
        check({ $0.name.like("person-?1") }, { $0.name.count == 9 && $0.name.hasSuffix("1") })
        check({ $0.city == "Kyoto" && $0.age > 3 }, { $0.city == "Kyoto" && $0.age > 3 })
        check({ $0.boss.age == 4 }, { $0.boss?.age == 4 })
        check({ $0.boss == nil }, { $0.boss == nil })
        check({ $0.boss.boss.name == "person-0" }, { $0.boss?.boss?.name == "person-0" })
        check({ $0.friends.age == 1 }, { !$0.friends.isEmpty })
        check({ $0.friends.count == 0 }, { $0.friends.isEmpty })
        check({ $0.tags.contains("five") }, { $0.tags.contains("five") })
        check({ $0.reports.id > 95 }, { $0.reports.contains { $0.id > 95 } })
        check({ $0.reports.count >= 10 }, { $0.reports.count >= 10 })
        check({ $0.age == $0.id }, { $0.age == $0.id })
        let seven = try #require(realm.object(ofType: Person.self, forPrimaryKey: 7))
        check({ $0.boss == seven }, { $0.boss == seven })
        check(
            { $0.joined < Date(timeIntervalSinceReferenceDate: 5) },
            { $0.joined < Date(timeIntervalSinceReferenceDate: 5) })
    }

    @Test("formats find what typed conditions find")
    func formatsAndTyped() throws {
        let realm = try company()
        let people = realm.objects(Person.self)
        func check(
            _ format: String, _ arguments: [Any?] = [], _ query: (Query<Person>) -> Query<Bool>,
            location: SourceLocation = #_sourceLocation
        ) throws {
            let found =
                switch arguments.count {
                case 0: people.filter(format)
                case 1: people.filter(format, arguments[0])
                default: people.filter(format, arguments[0], arguments[1])
                }
            #expect(found.map(\.id) == people.where(query).map(\.id), sourceLocation: location)
            #expect(!found.isEmpty, sourceLocation: location)
        }
        try check("age == 3") { $0.age == 3 }
        try check("age > %@ AND name CONTAINS[c] 'PERSON-1'", [2]) {
            $0.age > 2 && $0.name.contains("person-1")
        }
        try check("NOT (age <= %@) || isMember == TRUE", [7]) { !($0.age <= 7) || $0.isMember }
        try check("name BEGINSWITH %@ and name ENDSWITH %@", ["person-2", "5"]) {
            $0.name.starts(with: "person-2") && $0.name.ends(with: "5")
        }
        try check("age IN %@", [[1, 2]]) { $0.age.in([1, 2]) }
        try check("age IN {1, 2}") { $0.age.in([1, 2]) }
        try check("id BETWEEN {5, 9}") { $0.id.contains(5...9) }
        try check("score = nil") { $0.score == nil }
        try check("boss.age = 4") { $0.boss.age == 4 }
        try check("ANY friends.age == 1") { $0.friends.age == 1 }
        try check("friends.@count > 0") { $0.friends.count > 0 }
        try check("%@ IN tags", ["five"]) { $0.tags.contains("five") }
        try check("3 < age") { $0.age > 3 }
        let seven = try #require(realm.object(ofType: Person.self, forPrimaryKey: 7))
        try check("boss == %@", [seven]) { $0.boss == seven }
        #expect(people.filter("TRUEPREDICATE").count == 100)
        #expect(people.filter("FALSEPREDICATE").isEmpty)
        #expect(people.filter("NONE friends.age == 1").count == 90)
    }

    @Test("results chain, sort and follow changes")
    func chainedResults() throws {
        let realm = try company()
        let members = realm.objects(Person.self).where { $0.isMember }
        let sorted = members.sorted(by: [
            SortDescriptor(keyPath: "age", ascending: false), SortDescriptor(keyPath: "name"),
        ])
        #expect(sorted.first?.age == 8 && sorted.first?.name == "person-18")
        #expect(sorted.where { $0.age < 1 }.count == 10)
        #expect(members.sorted(byKeyPath: "boss.name", ascending: false).first?.boss?.name == "person-9")
        #expect(realm.objects(Person.self).sorted(by: \.score).first?.score == nil)
        try realm.write {
            members[0].isMember = false
            #expect(members.count == 49)
        }
        #expect(sorted.count == 49)
        #expect(members.index(of: members[5]) == 5)
        #expect(members.index(matching: { $0.age == 4 }) == 1)
    }

    @Test("aggregates skip nulls and are absent without values")
    func skippedNulls() throws {
        let realm = try company()
        let people = realm.objects(Person.self)
        #expect(people.sum(of: \.age) == 450)
        #expect(people.where { $0.id < 10 }.sum(ofProperty: "age") == 45)
        #expect(people.max(of: \.id) == 99 && people.min(of: \.id) == 0)
        #expect(people.max(of: \.score) == 49.5 && people.min(ofProperty: "score") == 0.0)
        #expect(people.average(of: \.age) == 4.5)
        let scores = people.compactMap(\.score)
        #expect(people.average(of: \.score) == scores.reduce(0, +) / Double(scores.count))
        #expect(people.sum(of: \.score) == scores.reduce(0, +))
        let none = people.where { $0.id < 0 }
        #expect(none.sum(of: \.age) == 0 && none.min(of: \.age) == nil && none.average(of: \.age) == nil)
    }

    @Test("a mean does not overflow where the sum of its integers does")
    func meanWithoutOverflow() throws {
        let realm = try makeRealm([Person.self])
        try realm.write {
            for (id, age) in [Int.max, .max, .max - 1].enumerated() {
                realm.create(Person.self, value: ["id": id, "age": age])
            }
        }
        let people = realm.objects(Person.self)
        #expect(people.average(of: \.age) == Double(Int.max))
        #expect(people.where { $0.id < 2 }.average(ofProperty: "age") == Double(Int.max))
        #expect(people.sum(of: \.age) == Int.max &+ Int.max &+ (Int.max - 1))
    }

    @Test(
        "quoted text that begins with a mark is taken literally",
        arguments: ["\u{301}a", "a\u{301}", "\u{20E3}", "\u{1F468}\u{200D}\u{1F469}"])
    func quotedMark(text: String) throws {
        let realm = try makeRealm([Person.self])
        try realm.write { realm.create(Person.self, value: ["id": 1, "name": text]) }
        for quote in ["'", "\""] {
            #expect(try realm.objects(Person.self).tryFilter("name == \(quote)\(text)\(quote)").count == 1)
            #expect(try realm.objects(Person.self).tryFilter("name BEGINSWITH \(quote)\(text)\(quote)").count == 1)
        }
    }

    @Test("frozen results do not change, on any thread")
    func frozenResults() throws {
        let realm = try company()
        let frozen = realm.objects(Person.self).where { $0.age == 1 }.freeze()
        let person = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1)).freeze()
        try realm.write {
            realm.objects(Person.self)[1].name = "changed"
            realm.delete(realm.objects(Person.self).where { $0.age == 1 })
        }
        let names = Locked<[String]>([])
        OtherThread.run {
            names.with { $0 = frozen.map(\.name) }
            names.with { $0.append(person.name) }
        }
        #expect(names.current.count == 11)
        #expect(names.current.first == "person-1" && names.current.last == "person-1")
        #expect(frozen.isFrozen && person.isFrozen && !person.isInvalidated)
        #expect(person.thaw() == nil)
        #expect(frozen.thaw()?.isEmpty == true)
    }
}
