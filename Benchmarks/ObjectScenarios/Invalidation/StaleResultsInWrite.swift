import Harness
import RunRecords
import Strata

/// Results are read inside the write that changes which rows they match.
struct StaleResultsInWrite: CellScenario {
    let slug = "stale-results-in-write"
    let question = "Do results inside a write show what the write has changed?"

    enum Way: String, CaseIterable {
        case add, delete, change, sort, aggregate, listMove, refreshLatest, chained
    }

    static func trial<C: ShownObject>(_ way: Way, _ type: C.Type, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.cells(C.self, count: 6)
        let table = realm.objects(C.self).sorted(byKeyPath: "number")
        let low = realm.objects(C.self).filter("number < 3").sorted(byKeyPath: "number", ascending: false)
        guard low.map(\.number) == [2, 1, 0] else { return .wrong("wrong before") }
        if way == .refreshLatest {
            try place.elsewhere(realm) { realm in try realm.write { realm.add(C.make(40)) } }
            return try realm.write { .expect("numbers in a write", table.map(\.number), [0, 1, 2, 3, 4, 5, 40]) }
        }
        realm.beginWrite()
        defer { if realm.isInWriteTransaction { realm.cancelWrite() } }
        switch way {
        case .add:
            realm.add(C.make(-1))
            return .expect("low", low.map(\.number), [2, 1, 0, -1])
        case .delete:
            realm.delete(try place.cell(1, realm) as C)
            return .all([.expect("low", low.map(\.number), [2, 0]), .expect("count", table.count, 5)])
        case .change:
            (try place.cell(1, realm) as C).rename("other")
            return .all([
                .expect("titles", realm.objects(C.self).filter("title == 'other'").count, 1),
                .expect("old titles", realm.objects(C.self).filter("title == 'title 1'").count, 0),
            ])
        case .sort:
            let byTitle = realm.objects(C.self).sorted(byKeyPath: "title")
            (try place.cell(5, realm) as C).rename("a first one")
            return .expect("first by title", byTitle.first?.number, 5)
        case .aggregate:
            realm.delete(try place.cell(5, realm) as C)
            return .expect("sum of count", table.sum(ofProperty: "count") as Int, 100)
        case .listMove:
            let owner: C = try place.cell(0, realm)
            for number in 1..<6 { owner.addPart(try place.cell(number, realm)) }
            owner.parts.move(from: 0, to: 3)
            let there = owner.parts.map(\.number)
            owner.parts.move(from: 3, to: 0)
            return .all([
                .expect("moved", there, [2, 3, 4, 1, 5]),
                .expect("moved back", owner.parts.map(\.number), [1, 2, 3, 4, 5]),
            ])
        case .chained:
            let chained = low.filter("number > 0")
            realm.add(C.make(-5))
            realm.delete(try place.cell(2, realm) as C)
            return .expect("chained", chained.map(\.number), [1])
        case .refreshLatest: return .right
        }
    }
}
