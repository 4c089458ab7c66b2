import Harness
import RunRecords
import Strata

/// A write is cancelled: its changes are undone, in the file and in every handle.
struct CancelWrite: CellScenario {
    let slug = "cancel-write"
    let question = "After a write was cancelled, is every handle what it was before?"

    enum Way: String, CaseIterable {
        case added, deleted, changed, results, list, thrown, observed, invalidated
    }

    private struct Stop: Error {}

    static func trial<C: ShownObject>(_ way: Way, _ type: C.Type, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.cells(C.self, count: 5)
        let held: C = try place.cell(3, realm)
        let other: C = try place.cell(1, realm)
        try realm.write { other.addPart(held) }
        let table = realm.objects(C.self)
        var calls = 0
        let token = table.observe { change in if case .update = change { calls += 1 } }
        defer { token.invalidate() }
        let added = C.make(77)
        let expected = (0..<5).map { C.line($0, parts: $0 == 1 ? [3] : [], holders: $0 == 3 ? [1] : []) }
        let body = {
            realm.add(added)
            held.rename("changed")
            other.parts.removeAll()
            realm.delete(held)
        }
        if way == .thrown {
            do {
                try realm.write {
                    body()
                    throw Stop()
                }
                return .wrong("the error did not come out of the write")
            } catch is Stop {}
        } else {
            realm.beginWrite()
            body()
            realm.cancelWrite()
        }
        let finding: PolicyTrials.Finding
        switch way {
        case .added:
            finding = .all([
                .expect("the added object is invalidated", added.isInvalidated, true),
                .expect("it is in the database", C.first(77, in: realm) == nil, true),
            ])
        case .deleted:
            finding = .all([
                .expect("the deleted object is invalidated", held.isInvalidated, false),
                .expect("its title", held.title, "title 3"),
            ])
        case .changed, .thrown: finding = .expect("title", held.isInvalidated ? "" : held.title, "title 3")
        case .results: finding = .expect("numbers", table.map(\.number).sorted(), [0, 1, 2, 3, 4])
        case .list: finding = .expect("entries", other.parts.map(\.number), [3])
        case .observed: finding = .expect("calls of an observer", calls, 0)
        case .invalidated:
            realm.invalidate()
            realm.refresh()
            finding = .expect("numbers after invalidate and refresh", table.map(\.number).sorted(), [0, 1, 2, 3, 4])
        }
        // Handles and file are checked separately.
        return .all([
            finding, .same("contents", C.lines(realm), expected),
            .same("contents to another thread", try place.elsewhere(realm) { C.lines($0) }, expected),
            try told(C.self, realm) { calls },
        ])
    }

    /// The control: the observer that must not be notified of the write must be notified of the next one.
    private static func told<C: ShownObject>(
        _ type: C.Type, _ realm: Realm, calls: () -> Int
    ) throws -> PolicyTrials.Finding {
        let before = calls()
        try realm.write { realm.add(C.make(90)) }
        return .expect("calls of the observer for the next write", calls() - before, 1)
    }
}
