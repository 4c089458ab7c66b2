import Harness
import RunRecords
import Strata

/// Writes and observers inside callbacks of observers: each follows its rule, and none deadlocks.
struct WriteInCallback: ObjectTrialScenario {
    let slug = "write-in-callback"
    let family = Family.concurrency
    let question = "What happens to a write, or to an observer, that begins inside a callback or a write?"

    enum Way: String, CaseIterable {
        case write, writeChain, nested, observeInWriteFirst, readInCallback
    }

    static func trial(_ way: Way, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.realm(EntryClasses.all)
        try EntryClasses.fill(realm, count: 3)
        let table = realm.objects(Entry.self)
        switch way {
        case .write, .writeChain:
            let limit = way == .write ? 4 : 50
            var counts: [Int] = []
            let token = table.observe { change in
                guard case .update(let now, _, _, _) = change else { return }
                counts.append(now.count)
                if now.count < limit {
                    do { try realm.write { realm.add(EntryClasses.make(now.count + 10)) } } catch { counts.append(-1) }
                }
            }
            try realm.write { realm.add(EntryClasses.make(3)) }
            token.invalidate()
            let ids = [0, 1, 2, 3] + (4..<max(limit, 4)).map { $0 + 10 }
            return .all([
                .same("objects", EntryClasses.lines(realm), ids.map { EntryClasses.line($0) }),
                .expect("counts told", counts, Array(4...max(limit, 4))),
                .expect("the last count told", counts.last, max(limit, 4)),
                .expect("an error in between", counts.contains(-1), false),
            ])
        case .nested:
            var code: Realm.Error.Code?
            try realm.write {
                do { try realm.write {} } catch let error as Realm.Error { code = error.code }
                realm.add(EntryClasses.make(3))
            }
            return .all([
                .expect("code", code, .wrongState),
                .same("objects", EntryClasses.lines(realm), (0..<4).map { EntryClasses.line($0) }),
            ])
        case .observeInWriteFirst:
            var events = 0
            realm.beginWrite()
            let token = table.observe { _ in events += 1 }
            realm.add(EntryClasses.make(3))
            try realm.commitWrite()
            token.invalidate()
            return .expect("initial and one update", events, 2)
        case .readInCallback:
            var seen: [Int] = []
            let token = table.observe { _ in seen.append(realm.objects(Entry.self).filter("id >= 0").count) }
            try realm.write { realm.delete(table) }
            token.invalidate()
            return .expect("counts read inside", seen, [3, 0])
        }
    }
}
