import Foundation
import Strata
import Testing

/// Keys of maps, and their values, in queries.
@Suite struct MapQueryTests {
    final class Pupil: Object {
        @Persisted(primaryKey: true) var name = ""
        @Persisted var scores: Map<String, Int>
        @Persisted var friends: Map<String, Pupil?>
    }

    private func pupils() throws -> Results<Pupil> {
        let realm = try makeRealm([Pupil.self])
        try realm.write {
            let ann = realm.create(Pupil.self, value: ["name": "Ann", "scores": ["math": 5, "art": 1]])
            let bob = realm.create(Pupil.self, value: ["name": "Bob", "scores": ["math": 2]])
            let cleo = realm.create(Pupil.self, value: ["name": "Cleo", "scores": ["history of art": 4]])
            ann.friends["best"] = bob
            bob.friends["best"] = ann
            bob.friends["other"] = cleo
            cleo.friends["old"] = nil as Pupil??
        }
        return realm.objects(Pupil.self).sorted(by: \.name)
    }

    private func names(_ results: Results<Pupil>) -> [String] { results.map(\.name) }

    @Test("@allKeys queries the keys of a map, and brackets the value of one")
    func queriedKeys() throws {
        let pupils = try pupils()
        #expect(names(pupils.filter("ANY scores.@allKeys == 'art'")) == ["Ann"])
        #expect(names(pupils.filter("scores.@allKeys CONTAINS 'math'")) == ["Ann", "Bob"])
        #expect(names(pupils.filter("ANY scores.@allKeys CONTAINS[c] 'ART'")) == ["Ann", "Cleo"])
        #expect(names(pupils.filter("scores.@allKeys.@count == 2")) == ["Ann"])
        #expect(names(pupils.filter("ANY scores.@allValues == 4")) == ["Cleo"])
        #expect(names(pupils.filter("scores['math'] > 3")) == ["Ann"])
        #expect(names(pupils.filter("scores[%@] == nil", "math")) == ["Cleo"])
        #expect(names(pupils.filter("scores['history of art'] == %@ OR scores['art'] == 1", 4)) == ["Ann", "Cleo"])
        #expect(names(pupils.filter("friends['best'].name == 'Ann'")) == ["Bob"])
        #expect(names(pupils.filter("friends['best'].scores['math'] == 2")) == ["Ann"])
        #expect(names(pupils.filter("friends['best'].scores.@allKeys CONTAINS 'art'")) == ["Bob"])
        #expect(names(pupils.filter("friends['other'] == %@", pupils[2])) == ["Bob"])
    }

    @Test("typed conditions query keys and the value of a key")
    func typedKeys() throws {
        let pupils = try pupils()
        #expect(names(pupils.where { $0.scores.keys == "art" }) == ["Ann"])
        #expect(names(pupils.where { $0.scores.keys.starts(with: "hist") }) == ["Cleo"])
        #expect(names(pupils.where { $0.scores["math"] > 3 }) == ["Ann"])
        #expect(names(pupils.where { $0.scores["math"] == nil }) == ["Cleo"])
        #expect(pupils.where { $0.scores["Math"] == nil }.count == 3)
        #expect(names(pupils.where { $0.friends["best"].name == "Ann" }) == ["Bob"])
        #expect(pupils.where { $0.scores["math"] > 3 }.explain().contains("over columns: scores['math'] > 3"))
    }

    @Test("values of a map are queried like those of a list")
    func queriedValues() throws {
        let pupils = try pupils()
        let bob = pupils[1]
        #expect(bob.friends.where { $0.name.starts(with: "C") }.map { $0?.name } == ["Cleo"])
        #expect(bob.friends.filter("scores['art'] == 1").count == 1)
        #expect(Array(pupils[0].scores.where { $0 > 3 }) == [5])
        let few = pupils[0].scores.filter("SELF < %@", 5)
        #expect(Array(few) == [1])
        try pupils.realm?.write { pupils[0].scores["sport"] = 2 }
        #expect(Array(few) == [1, 2] && few.sum() == 3)
    }

    @Test("a key that changes is noticed by results and observers")
    func changedKey() throws {
        let pupils = try pupils()
        let good = pupils.where { $0.scores["math"] > 3 }
        var insertions: [[Int]] = []
        let token = good.observe { change in
            if case .update(_, _, let inserted, _) = change { insertions.append(inserted) }
        }
        try pupils.realm?.write {
            #expect(good.count == 1)
            pupils[1].scores["math"] = 5
            #expect(names(good) == ["Ann", "Bob"])
        }
        #expect(insertions == [[1]])
        token.invalidate()
    }

    @Test("a property that is no map has no keys")
    func propertyWithoutKeys() throws {
        let pupils = try pupils()
        func refused(_ format: String, _ part: String) {
            let error = #expect(throws: Realm.Error.self, "\(format)") { try pupils.tryFilter(format) }
            #expect(
                error?.code == .invalidInput && error?.message.contains(part) == true,
                "\(format): \(error?.message ?? "none")")
        }
        refused("name['x'] == 'y'", "is no map")
        refused("name.@allKeys == 'y'", "is no map")
        refused("scores.@allKeys.name == 'y'", "leads to no object")
        refused("scores['math'].name == 'y'", "leads to no object")
        refused("scores[math] == 3", "the key of a map")
        refused("scores['math' == 3", "']'")
        refused("scores['math'] == 'x'", "cannot be compared")
    }
}
