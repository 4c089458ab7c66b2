import Foundation
import Testing

@testable import Strata

@Suite struct SectionedResultsTests {
    @Test func `sectioned(by) groups in the order of first appearance, and follows changes`() throws {
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
}
