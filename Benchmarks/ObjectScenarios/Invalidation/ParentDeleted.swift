import Harness
import RunRecords
import Strata

/// References through a deleted object: its list, results of the list, a query over them.
struct ParentDeleted: CellScenario {
    let slug = "parent-deleted"
    let question = "What are the list and the results of a parent that was deleted?"

    enum Way: String, CaseIterable {
        case list, listQuery, listSort, loop, observed, inWrite, recreated
    }

    static func trial<C: ShownObject>(_ way: Way, _ type: C.Type, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.cells(C.self, count: 10)
        let parent: C = try place.cell(0, realm)
        try realm.write { for number in 1..<10 { parent.addPart(try place.cell(number, realm)) } }
        let list = parent.parts
        let query = list.filter("number > 4")
        let sorted = list.sorted(byKeyPath: "number", ascending: false)
        var updates: [String] = []
        let token = list.observe { change in
            if case .update(let list, let deletions, _, _) = change {
                updates.append("\(list.count) left, gone \(deletions)")
            }
        }
        defer { token.invalidate() }
        guard list.count == 9, query.count == 5, sorted.first?.number == 9 else { return .wrong("wrong before") }
        if way == .inWrite {
            realm.beginWrite()
            realm.delete(parent)
            let counts = [list.count, query.count, sorted.count]
            try realm.commitWrite()
            return .expect("counts inside the write", counts, [0, 0, 0])
        }
        try realm.write {
            realm.delete(parent)
            if way == .recreated { realm.add(C.make(0)) }
        }
        let children = PolicyTrials.Finding.expect(
            "the children stay", realm.objects(C.self).count, way == .recreated ? 10 : 9)
        switch way {
        case .list, .inWrite, .recreated:
            return .all([
                children, .expect("count", list.count, 0), .expect("isInvalidated", list.isInvalidated, true),
                .expect("first", list.first == nil, true),
            ])
        case .listQuery:
            return .all([
                children, .expect("count", query.count, 0), .expect("isInvalidated", query.isInvalidated, true),
            ])
        case .listSort:
            return .all([
                children, .expect("count", sorted.count, 0), .expect("isInvalidated", sorted.isInvalidated, true),
            ])
        case .loop: return .expect("elements of a loop", list.map(\.number) + query.map(\.number), [])
        case .observed: return .expect("updates of the list", updates, ["0 left, gone \(Array(0..<9))"])
        }
    }
}
