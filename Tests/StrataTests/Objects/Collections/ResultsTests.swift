import Foundation
import Testing

@testable import Strata

/// The behaviour of queries and collections in the API that Strata is compatible with.
@Suite struct ResultsTests {
    private func notes(_ count: Int) throws -> (Realm, Results<Note>) {
        let realm = try makeRealm([Note.self])
        try realm.write { for rank in 0..<count { realm.add(Note("note-\(rank)", rank: rank)) } }
        return (realm, realm.objects(Note.self))
    }

    @Test("delete-in-loop: a loop that deletes or modifies its matches reaches all of them")
    func deletingLoop() throws {
        let (realm, notes) = try notes(20)
        var visited = 0
        try realm.write {
            for note in notes.where({ $0.rank < 100 }) {
                visited += 1
                note.rank += 1000
            }
        }
        #expect(visited == 20 && notes.where { $0.rank < 100 }.isEmpty)
        visited = 0
        try realm.write {
            for note in notes.where({ $0.rank >= 1000 }).sorted(by: \.rank) {
                visited += 1
                realm.delete(note)
            }
        }
        #expect(visited == 20 && notes.isEmpty)
    }

    @Test("delete-slice: deleting the last k of a result deletes exactly k")
    func deletedSlice() throws {
        let (realm, notes) = try notes(10)
        try realm.write { realm.delete(notes.where { $0.rank >= 2 }.suffix(3)) }
        #expect(notes.map(\.rank) == [0, 1, 2, 3, 4, 5, 6])
        try realm.write { realm.delete(notes.sorted(by: \.rank, ascending: false).prefix(2)) }
        #expect(notes.map(\.rank) == [0, 1, 2, 3, 4])
        try realm.write { realm.delete(notes.limit(2, offset: 1)) }
        #expect(notes.map(\.rank) == [0, 3, 4])
    }

    @Test("stale-results-in-write: results equal a recomputation after every step of a write")
    func stepsOfAWrite() throws {
        let (realm, notes) = try notes(12)
        let even = notes.where { $0.rank < 6 }.sorted(by: \.rank, ascending: false)
        let distinct = notes.distinct(by: ["text"])
        try realm.write {
            for step in 0..<12 {
                switch step % 3 {
                case 0: notes[step / 2].rank = 100 + step
                case 1: realm.add(Note("note-\(step)", rank: step % 6))
                default: realm.delete(notes[0])
                }
                let now = Array(notes)
                #expect(even.map(\.rank) == now.map(\.rank).filter { $0 < 6 }.sorted(by: >))
                #expect(distinct.count == Set(now.map(\.text)).count)
                #expect(even.first?.rank == now.map(\.rank).filter { $0 < 6 }.max())
            }
        }
    }

    @Test("Results are lazy, live and chainable")
    func lazyAndLive() throws {
        let (realm, notes) = try notes(5)
        let high = notes.where { $0.rank > 2 }
        let named = high.filter("text ENDSWITH '4'")
        #expect(high.count == 2 && named.count == 1)
        try realm.write { notes[0].rank = 9 }
        #expect(high.count == 3 && named.first?.rank == 4)
    }

    @Test("first, last, index(of), index(matching) and objects(at) agree with the order")
    func agreeingPlaces() throws {
        let (_, notes) = try notes(9)
        let sorted = notes.sorted(by: \.rank, ascending: false)
        #expect(sorted.first?.rank == 8 && sorted.last?.rank == 0)
        #expect(sorted.index(of: notes[0]) == 8 && sorted.index(of: Note("x")) == nil)
        #expect(sorted.index(matching: { $0.rank == 3 }) == 5 && sorted.index(matching: "rank == %@", 3) == 5)
        #expect(notes.index(matching: { $0.rank == 30 }) == nil)
        #expect(sorted.objects(at: IndexSet([0, 2])).map(\.rank) == [8, 6])
        #expect(notes.where { $0.rank < 0 }.first == nil && notes.where { $0.rank < 0 }.last == nil)
    }

    @Test("sorted(by) takes several descriptors, links, and orders of text")
    func severalDescriptors() throws {
        let realm = try makeRealm([Note.self])
        try realm.write {
            for text in ["b", "Ä", "a", "Z", "ab", "abcdefghij", "abcdefghia", "", "abcdefgh"] { realm.add(Note(text)) }
        }
        func texts(_ order: TextOrder, _ ascending: Bool = true) -> [String] {
            realm.objects(Note.self).sorted(by: [SortDescriptor(keyPath: "text", ascending: ascending, order: order)])
                .map(\.text)
        }
        let plain = ["", "Z", "a", "ab", "abcdefgh", "abcdefghia", "abcdefghij", "b", "Ä"]
        #expect(texts(.scalars) == plain && texts(.scalars, false) == plain.reversed())
        #expect(texts(.ignoringCase) == ["", "a", "ab", "abcdefgh", "abcdefghia", "abcdefghij", "b", "Z", "Ä"])
        #expect(
            texts(.ignoringCaseAndDiacritics) == ["", "Ä", "a", "ab", "abcdefgh", "abcdefghia", "abcdefghij", "b", "Z"])
        let german = TextOrder.custom("de") { a, b in
            a.compare(b, locale: Locale(identifier: "de_DE")) == .orderedAscending
        }
        #expect(texts(german).firstIndex(of: "Ä") == 2)
        #expect(SortDescriptor(keyPath: "text").reversed().ascending == false)
    }

    @Test("text that many rows share is sorted like the rest")
    func sharedText() throws {
        let realm = try makeRealm([Note.self])
        var dice = Dice(state: 3)
        let stems = ["Schleswig-Holstein", "Schleswig-Holstein, Kiel", "Schleswig", "Schleswig-Holstein\u{0}", "ß"]
        try realm.write {
            for rank in 0..<900 {
                realm.add(Note(dice.pick(stems) + (dice.roll(3) == 0 ? "\(dice.roll(9))" : ""), rank: rank))
            }
        }
        let notes = realm.objects(Note.self)
        for ascending in [true, false] {
            let found = notes.sorted(by: \.text, ascending: ascending).map { [$0.text, "\($0.rank)"] }
            let expected = notes.map { ($0.text, $0.rank) }.enumerated().sorted { a, b in
                if a.element.0 == b.element.0 { return a.offset < b.offset }
                return a.element.0.utf8.lexicographicallyPrecedes(b.element.0.utf8) == ascending
            }.map { [$0.element.0, "\($0.element.1)"] }
            #expect(found == expected)
        }
    }

    @Test("distinct(by) keeps the first of each")
    func firstOfEach() throws {
        let realm = try makeRealm([AllTypes.self])
        try realm.write {
            for int in [3, 1, 3, 2, 1] {
                realm.create(AllTypes.self, value: ["int": int, "optionalString": int == 1 ? nil : "x"])
            }
        }
        let all = realm.objects(AllTypes.self)
        #expect(all.distinct(by: ["int"]).map(\.int) == [3, 1, 2])
        #expect(all.sorted(by: \.int).distinct(by: [\AllTypes.optionalString]).map(\.int) == [1, 2])
        #expect(all.distinct(by: ["int", "optionalString"]).count == 3)
    }

    @Test("min, max and average are nil and sum is 0 on nothing, and nulls are skipped")
    func aggregatesOfNothing() throws {
        let realm = try makeRealm([AllTypes.self])
        try realm.write {
            realm.create(AllTypes.self, value: ["int": 4, "optionalDouble": nil] as [String: Any?])
            realm.create(AllTypes.self, value: ["int": 6, "optionalDouble": 2.5] as [String: Any?])
            realm.create(AllTypes.self, value: ["int": 7, "optionalDouble": Double.nan] as [String: Any?])
            realm.objects(AllTypes.self)[0].link = realm.objects(AllTypes.self)[1]
        }
        let all = realm.objects(AllTypes.self)
        #expect((all.min(of: \.optionalDouble) as Double?) == 2.5 && (all.max(of: \.optionalDouble) as Double?) == 2.5)
        #expect(all.limit(2).average(of: \.optionalDouble) == 2.5)
        #expect((all.sum(ofProperty: "link.int") as Int) == 6)
        #expect(all.max(of: \.date) == all[0].date)
        let none = all.where { $0.int > 100 }
        #expect(none.min(of: \.int) == nil && none.average(of: \.int) == nil && none.sum(of: \.int) == 0)
        #expect(none.max(of: \.date) == nil)
    }

    @Test("queries on lists and linking objects keep the order and the duplicates of the collection")
    func orderOfTheCollection() throws {
        let realm = try makeRealm([AllTypes.self])
        try realm.write {
            for int in 0..<200 { realm.create(AllTypes.self, value: ["int": int]) }
            let all = realm.objects(AllTypes.self)
            all[0].objects.append(objectsIn: [all[5], all[3], all[5], all[1]])
            all[1].objects.append(objectsIn: (0..<200).reversed().map { all[$0] })
        }
        let all = realm.objects(AllTypes.self)
        #expect(all[0].objects.where { $0.int > 2 }.map(\.int) == [5, 3, 5])
        #expect(all[0].objects.sorted(by: \.int).map(\.int) == [1, 3, 5, 5])
        #expect(all[1].objects.where { $0.int < 3 }.map(\.int) == [2, 1, 0])
        #expect(all[0].objects.filter("int < 0").isEmpty && all[0].objects.limit(1).first?.int == 5)
    }
}
