import Foundation
import Testing

@testable import Strata

@Suite struct SectionedResultsTests {
    @Test("sectioned(by) groups in the order of first appearance, and follows changes")
    func firstAppearance() throws {
        let realm = try makeRealm([Note.self])
        try realm.write {
            for (text, rank) in [("b", 1), ("a", 2), ("c", 1), ("d", 3), ("e", 2)] { realm.add(Note(text, rank: rank)) }
        }
        let notes = realm.objects(Note.self)
        let sections = notes.sectioned(by: \.rank)
        #expect(sections.allKeys == [1, 2, 3])
        #expect(sections.map { $0.map(\.text) } == [["b", "c"], ["a", "e"], ["d"]])
        #expect(notes.sectioned(by: \.rank, ascending: false).allKeys == [3, 2, 1])
        let letters = notes.sectioned(by: { $0.text < "c" }, sortDescriptors: [SortDescriptor(keyPath: "text")])
        #expect(letters.map(\.key) == [true, false] && letters[1].map(\.text) == ["c", "d", "e"])
        try realm.write { realm.delete(notes.where { $0.rank == 1 }) }
        #expect(sections.allKeys == [2, 3] && sections.count == 2)
        #expect(sections.section(for: 3)?.first?.text == "d" && sections.section(for: 1) == nil)
    }

    final class Word: Object {
        @Persisted var text = ""
        @Persisted var count = 0
        @Persisted var letters: List<String>
        @Persisted var numbers: MutableSet<Int>
        @Persisted var absent: List<Int?>
        convenience init(_ text: String) {
            self.init()
            self.text = text
        }
        var initial: String { String(text.prefix(1)) }
    }
    final class WordCard: Projection<Word> {
        @Projected(\Word.text) var word
        var initial: String { String(word.prefix(1)) }
    }

    @Test("plain values are sectioned in their order")
    func plainValues() throws {
        let realm = try makeRealm([Word.self])
        let word = Word("w")
        word.letters.append(objectsIn: ["ba", "ca", "ab", "bb", "ba"])
        word.numbers.insert(objectsIn: [5, 12, 7, 13])
        word.absent.append(objectsIn: [1, nil, 2])
        try realm.write { realm.add(word) }
        let letters = word.letters.sectioned(by: { String($0.prefix(1)) })
        #expect(
            letters.allKeys == ["a", "b", "c"] && letters.map { Array($0) } == [["ab"], ["ba", "ba", "bb"], ["ca"]])
        let down = word.numbers.sectioned(by: { $0 / 10 }, ascending: false)
        #expect(down.map { Array($0) } == [[13, 12], [7, 5]] && down[IndexPath(item: 1, section: 0)] == 12)
        #expect(word.absent.sectioned(by: { $0 == nil }).map(\.count) == [1, 2])
        let some = word.letters.filter("SELF BEGINSWITH 'b'").sectioned(by: { $0.count })
        #expect(some.map { Array($0) } == [["ba", "ba", "bb"]])
        let frozen = letters.freeze()
        try realm.write { word.letters.append("d") }
        #expect(letters.allKeys == ["a", "b", "c", "d"] && frozen.allKeys == ["a", "b", "c"] && frozen.isFrozen)
        #expect(frozen.thaw()?.allKeys == ["a", "b", "c", "d"] && letters == letters && letters != frozen)
    }

    @Test("sections and each of them are frozen, and found by an index path")
    func frozenSections() throws {
        let realm = try makeRealm([Word.self])
        try realm.write { realm.add(["box", "apple", "banana"].map { Word($0) }) }
        let sections = realm.objects(Word.self).sectioned(by: \.initial)
        #expect(sections.allKeys == ["a", "b"] && sections[IndexPath(item: 1, section: 1)].text == "box")
        #expect(sections[0] == sections[0] && sections[0] != sections[1])
        let (frozen, first) = (sections.freeze(), sections[0].freeze())
        try realm.write { realm.add([Word("ant"), Word("zoo")]) }
        #expect(frozen.isFrozen && frozen.map(\.count) == [1, 2] && sections.map(\.count) == [2, 2, 1])
        #expect(first.isFrozen && first.map(\.text) == ["apple"] && first.key == "a" && first.id == "a")
        #expect(first.thaw()?.map(\.text) == ["ant", "apple"] && frozen.thaw()?.allKeys == ["a", "b", "z"])
        try realm.write { realm.delete(realm.objects(Word.self).where { $0.text.starts(with: "a") }) }
        #expect(first.thaw()?.isEmpty == true && first.count == 1)
    }

    @Test("projections are sectioned by projected properties")
    func sectionedProjections() throws {
        let realm = try makeRealm([Word.self])
        try realm.write { realm.add(["box", "apple", "banana"].map { Word($0) }) }
        let cards = realm.objects(WordCard.self)
        let sections = cards.sectioned(by: \.initial, ascending: false)
        #expect(sections.map { $0.map(\.word) } == [["box", "banana"], ["apple"]])
        #expect(cards.sectioned(by: { $0.word.count }, sortDescriptors: ["text"]).allKeys == [5, 6, 3])
        var seen: [Int] = []
        let token = sections.observe { change in
            switch change {
            case .initial(let sections): seen.append(sections.count)
            case .update(_, _, let insertions, _, let came, let went):
                seen += [insertions.count, came.count, went.count]
            }
        }
        try realm.write { realm.add(Word("zoo")) }
        #expect(seen == [2, 1, 1, 0])
        token.invalidate()
    }
}
