import Dispatch
import Harness
import RunRecords
import Strata
import Synchronization

/// The object is deleted before its observer's first notification.
struct DeletedBeforeFirstNotify: CellScenario {
    let slug = "deleted-before-first-notify"
    let question = "Is an observer told exactly once of an object that was gone before its first call?"

    enum Way: String, CaseIterable {
        case sameCommitAsChange, queue, list, results
    }

    private final class Events: Sendable {
        let list = Mutex<[String]>([])
        func add(_ event: String) { list.withLock { $0.append(event) } }
        var all: [String] { list.withLock { $0 } }
    }

    static func trial<C: ShownObject>(_ way: Way, _ type: C.Type, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.cells(C.self, count: 5)
        let held: C = try place.cell(3, realm)
        let events = Events()
        switch way {
        case .sameCommitAsChange:
            let token = held.observe { events.add(Self.word($0)) }
            try realm.write {
                held.rename("renamed, and then deleted")
                realm.delete(held)
            }
            token.invalidate()
            return .expect("events", events.all, ["deleted"])
        case .queue:
            let queue = DispatchQueue(label: "observer")
            queue.suspend()
            let token = held.observe(on: queue) { events.add(Self.word($0)) }
            try realm.write { realm.delete(held) }
            queue.resume()
            for _ in 0..<3 { queue.sync {} }
            try realm.write { realm.add(C.make(9)) }
            for _ in 0..<3 { queue.sync {} }
            token.invalidate()
            return .expect("events", events.all, ["deleted"])
        case .list:
            try realm.write { held.addPart(try place.cell(1, realm)) }
            let token = held.parts.observe { change in
                switch change {
                case .initial(let list): events.add("initial \(list.count)")
                case .update(let list, let deletions, _, _): events.add("update \(list.count) \(deletions)")
                case .error: events.add("error")
                }
            }
            try realm.write { realm.delete(held) }
            try realm.write { realm.add(C.make(9)) }
            token.invalidate()
            return .expect("events", events.all, ["initial 1", "update 0 [0]"])
        case .results:
            let token = realm.objects(C.self).filter("number == 3").observe { change in
                switch change {
                case .initial(let results): events.add("initial \(results.count)")
                case .update(let results, let deletions, let insertions, _):
                    events.add("update \(results.count) \(deletions) \(insertions)")
                case .error: events.add("error")
                }
            }
            try realm.write {
                realm.delete(held)
                realm.add(C.make(9))
            }
            try realm.write { realm.add(C.make(10)) }
            token.invalidate()
            return .expect("events", events.all, ["initial 1", "update 0 [0] []"])
        }
    }

    private static func word<C>(_ change: ObjectChange<C>) -> String {
        switch change {
        case .change: "change"
        case .deleted: "deleted"
        case .error: "error"
        }
    }
}
