import Foundation
import Strata
import Testing

// As in an application that keeps Foundation's names: each module declares them once.
private typealias NSPredicate = FormatPredicate
private typealias NSCompoundPredicate = CompoundFormatPredicate

/// Foundation parses formats only on Apple's systems, so applications with predicates compiled nowhere else.
@Suite struct FormatPredicateTests {
    final class Player: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var name = ""
        @Persisted var age = 0
        @Persisted var rival: Player?
        @Persisted var scores: List<Int>
        @Persisted var best: Map<String, Int>
        @Persisted var friends: Map<String, Player?>
    }

    private func players() throws -> (Realm, Results<Player>) {
        let realm = try makeRealm([Player.self])
        try realm.write {
            for (id, name) in ["Ann", "Bob", "Cid", "Dan"].enumerated() {
                let player = realm.create(Player.self, value: ["id": id, "name": name, "age": 10 * id])
                player.scores.append(objectsIn: 0..<id)
                player.best["a"] = id
            }
            let all = realm.objects(Player.self)
            all[3].rival = all[0]
            all[3].friends["a"] = all[1]
        }
        return (realm, realm.objects(Player.self).sorted(by: \.id))
    }

    private func ids(_ players: Results<Player>, _ predicate: NSPredicate) -> [Int] {
        players.filter(predicate).map(\.id)
    }

    @Test("a format with arguments of any form filters collections")
    func argumentsOfAnyForm() throws {
        let (_, players) = try players()
        #expect(ids(players, NSPredicate(format: "age >= %@ AND name != %@", 10, "Bob")) == [2, 3])
        #expect(ids(players, NSPredicate(format: "%K == %d", "age", 20)) == [2])
        #expect(ids(players, NSPredicate(format: "name IN %@", ["Ann", "Dan"])) == [0, 3])
        #expect(ids(players, NSPredicate(format: "rival == nil AND name CONTAINS[cd] 'A'")) == [0])
        #expect(ids(players, NSPredicate(format: "age == %@ OR name == %@", argumentArray: [0, "Cid"])) == [0, 2])
        #expect(ids(players, NSPredicate(format: "age == 0", argumentArray: nil)) == [0])
        #expect(ids(players, NSPredicate(format: "rival == %@", players[0])) == [3])
        #expect(ids(players, NSPredicate(value: true)).count == 4 && ids(players, NSPredicate(value: false)).isEmpty)
    }

    @Test("conditions are joined, also one, none, and nested ones")
    func joinedConditions() throws {
        let (_, players) = try players()
        let young = NSPredicate(format: "age < %@", 20)
        let named = NSPredicate(format: "name == %@ OR name == %@", "Bob", "Dan")
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: [young, named])
        #expect(ids(players, both) == [1])
        #expect(ids(players, NSCompoundPredicate(orPredicateWithSubpredicates: [young, named])) == [0, 1, 3])
        #expect(ids(players, NSCompoundPredicate(notPredicateWithSubpredicate: named)) == [0, 2])
        #expect(ids(players, NSCompoundPredicate(notPredicateWithSubpredicate: both)) == [0, 2, 3])
        #expect(ids(players, NSCompoundPredicate(andPredicateWithSubpredicates: [young])) == [0, 1])
        #expect(ids(players, NSCompoundPredicate(andPredicateWithSubpredicates: [])).count == 4)
        #expect(ids(players, NSCompoundPredicate(orPredicateWithSubpredicates: [])).isEmpty)
        let or = NSCompoundPredicate(type: .or, subpredicates: [both, NSPredicate(format: "id == 2")])
        #expect(ids(players, or) == [1, 2] && or.compoundPredicateType == .or && or.subpredicates.count == 2)
        #expect(both.predicateFormat == "age < 20 AND (name == 'Bob' OR name == 'Dan')")
        #expect(young == NSPredicate(format: "age < 20") && young != named && "\(young)" == "age < 20")
    }

    @Test("lists, sets and maps of values and of objects are queried as well")
    func everyCollection() throws {
        let (_, players) = try players()
        let dan = players[3]
        let high = NSPredicate(format: "SELF > %@", 0)
        #expect(dan.scores.filter(high).map { $0 } == [1, 2] && dan.best.filter(high).map { $0 } == [3])
        #expect(dan.friends.filter(NSPredicate(format: "name == 'Bob'")).count == 1)
        #expect(dan.scores.index(matching: high) == 1 && players.index(matching: NSPredicate(format: "age > 5")) == 1)
        #expect(List([4, 5]).index(matching: NSPredicate(format: "SELF == 5")) == 1)
        let wrong = NSPredicate(format: "nothing == 1")
        #expect(throws: Realm.Error.self) { try players.tryFilter(wrong) }
    }

    @Test("a single object or value can be tested, managed or not")
    func oneObjectOrValue() throws {
        let (_, players) = try players()
        let grown = NSPredicate(format: "age >= 20 AND name BEGINSWITH 'C'")
        #expect(players.map { grown.evaluate(with: $0) } == [false, false, true, false])
        #expect(grown.evaluate(with: Player(value: ["name": "Cleo", "age": 30])))
        #expect(NSPredicate(format: "SELF == 'a'").evaluate(with: "a"))
        #expect(!NSPredicate(format: "SELF > 3").evaluate(with: 2))
    }

    @Test("arguments in an array are handed on by formats, too")
    func argumentsInAnArray() throws {
        let (_, players) = try players()
        func find(_ format: String, _ arguments: Any...) -> Results<Player> {
            players.filter(format, argumentArray: arguments)
        }
        #expect(find("age > %@ AND age < %@", 5, 25).map(\.id) == [1, 2])
        #expect(players.filter("name == 'Ann'", argumentArray: nil).map(\.id) == [0])
        #expect(players.index(matching: "age == %@", argumentArray: [20]) == 2)
        #expect(try players.tryFilter("age == %@", argumentArray: [30]).map(\.id) == [3])
        #expect(players[3].best.filter("SELF == %@", argumentArray: [3]).count == 1)
        let error = #expect(throws: Realm.Error.self) { try players.tryFilter("age == %@", argumentArray: [1, 2]) }
        #expect(error?.message.contains("takes 1 arguments, but 2 were given") == true)
    }

    @Test("a condition is made once, and evaluated on any thread")
    func madeOnce() throws {
        let file = TemporaryFile()
        let configuration = file.configuration([Player.self])
        let realm = try Realm(configuration: configuration)
        try realm.write {
            let ann = realm.create(Player.self, value: ["id": 1])
            realm.create(Player.self, value: ["id": 2, "rival": ann])
        }
        let ann = try #require(realm.object(ofType: Player.self, forPrimaryKey: 1))
        let rivals = NSPredicate(format: "rival == %@", ann)
        let found = Locked<[Int]>([])
        OtherThread.run {
            do {
                let other = try Realm(configuration: configuration)
                let ids = other.objects(Player.self).filter(rivals).map(\.id)
                found.with { $0 = ids }
            } catch { Issue.record(error) }
        }
        #expect(found.with { $0 } == [2])
    }
}
