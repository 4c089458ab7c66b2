import Harness
import RunRecords
import Strata

/// A loop that deletes its elements, or changes the property that selected them, must not skip elements.
struct DeleteInLoop: CellScenario {
    let slug = "delete-in-loop"
    let question = "Does a loop that deletes its own matches see all of them?"

    enum Way: String, CaseIterable {
        case table, query, sorted, list, backlinks, modify, add
    }

    private static let count = 20

    static func trial<C: ShownObject>(_ way: Way, _ type: C.Type, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.cells(C.self, count: count)
        let table = realm.objects(C.self)
        let first: C = try place.cell(0, realm)
        try realm.write {
            for cell in table where cell.number > 0 {
                first.addPart(cell)
                cell.addPart(first)
            }
        }
        var seen: [Int] = []
        func each(_ cells: some Sequence<C>, _ body: (C) -> Void) throws {
            try realm.write {
                for cell in cells {
                    seen.append(cell.number)
                    body(cell)
                }
            }
        }
        var left = 0
        switch way {
        case .table: try each(table) { realm.delete($0) }
        case .query:
            try each(table.filter("number >= 10")) { realm.delete($0) }
            left = 10
        case .sorted: try each(table.sorted(byKeyPath: "number", ascending: false)) { realm.delete($0) }
        case .list:
            try each(first.parts) { realm.delete($0) }
            left = 1
        case .backlinks:
            try each(first.holders) { realm.delete($0) }
            left = 1
        case .modify:
            try each(table.filter("title BEGINSWITH 'title'")) { $0.rename("other") }
            left = count
        case .add:
            try each(table) { realm.add(C.make($0.number + 100)) }
            left = count * 2
        }
        let expected: [Int]
        switch way {
        case .table, .modify, .add: expected = Array(0..<count)
        case .query: expected = Array(10..<count)
        case .sorted: expected = Array((0..<count).reversed())
        case .list, .backlinks: expected = Array(1..<count)
        }
        return .all([
            .expect("numbers that the loop saw", way == .sorted ? seen : seen.sorted(), expected),
            .expect("objects afterwards", table.count, left),
            .expect("matches of the old title", way == .modify ? table.filter("title != 'other'").count : 0, 0),
            .expect("reports", place.reported.count, 0),
        ])
    }
}
