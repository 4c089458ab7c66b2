import Strata
import Testing

@Suite struct ListRangesTests {
    final class Row: Object { @Persisted var cells: List<Int> }

    @Test("lists take several elements and ranges as arrays do", arguments: [false, true])
    func elementsAndRanges(managed: Bool) throws {
        let realm = try makeRealm([Row.self])
        let row = Row()
        if managed { try realm.write { realm.add(row) } }
        let cells = row.cells
        func change(_ body: () -> Void) throws { if managed { try realm.write(body) } else { body() } }
        var expected: [Int] = []
        try change {
            cells.append(contentsOf: [1, 2, 3])
            cells.insert(contentsOf: [10, 11], at: 1)
        }
        expected = [1, 10, 11, 2, 3]
        #expect(Array(cells) == expected && Array(cells[1..<3]) == [10, 11])
        try change {
            cells.replaceSubrange(0...1, with: [7])
            cells.removeSubrange(2...)
        }
        #expect(Array(cells) == [7, 11])
        try change {
            cells[1..<2] = List([5, 6, 7, 8])[0..<3]
            cells.removeSubrange(...0)
        }
        #expect(Array(cells) == [5, 6, 7])
    }
}
