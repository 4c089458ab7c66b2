import Harness
import RunRecords
import Strata

/// References that pass objects from one thread to another.
struct ThreadSafeReferences: CellScenario {
    let slug = "thread-safe-reference"
    let question = "What does a reference give when it is resolved twice, late, inside a write, or never?"

    enum Way: String, CaseIterable {
        case once, twice, afterDeletion, insideWrite, results, list, unmanagedAfterCancel, never
    }

    static func trial<C: ShownObject>(_ way: Way, _ type: C.Type, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.cells(C.self, count: 10)
        let held: C = try place.cell(3, realm)
        try realm.write { for number in 5..<8 { held.addPart(try place.cell(number, realm)) } }
        let reference = ThreadSafeReference(to: held)
        switch way {
        case .once:
            let title = try place.elsewhere(realm) { $0.resolve(reference)?.title ?? "nil" }
            return .expect("title over there", title, "title 3")
        case .twice:
            let found = try place.elsewhere(realm) { realm in
                [realm.resolve(reference) != nil, realm.resolve(reference) != nil]
            }
            return .all([
                .expect("found", found, [true, false]), .expect("isInvalidated", reference.isInvalidated, true),
            ])
        case .afterDeletion:
            try realm.write { realm.delete(held) }
            return .expect("nil", try place.elsewhere(realm) { $0.resolve(reference) == nil }, true)
        case .insideWrite:
            let title = try place.elsewhere(realm) { realm in
                try realm.write { realm.resolve(reference)?.title ?? "nil" }
            }
            return .expect("title over there", title, "title 3")
        case .results:
            let results = ThreadSafeReference(to: realm.objects(C.self).filter("number < 4"))
            return .expect("count", try place.elsewhere(realm) { $0.resolve(results)?.count ?? -1 }, 4)
        case .list:
            let list = ThreadSafeReference(to: held.parts)
            return .expect("count", try place.elsewhere(realm) { $0.resolve(list)?.count ?? -1 }, 3)
        case .unmanagedAfterCancel:
            realm.beginWrite()
            let added = C.make(50)
            realm.add(added)
            realm.cancelWrite()
            let reference = ThreadSafeReference(to: added)
            return .expect("nil", try place.elsewhere(realm) { $0.resolve(reference) == nil }, true)
        case .never:
            try realm.write { realm.delete(held) }
            return .expect("objects left", realm.objects(C.self).count, 9)
        }
    }
}
