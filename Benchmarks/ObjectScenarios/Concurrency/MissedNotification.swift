import Dispatch
import Harness
import RunRecords
import Strata
import Synchronization

/// Changes of other threads: each has to be told of once, whether a run loop turns or not.
struct MissedNotification: ObjectTrialScenario {
    let slug = "missed-notification"
    let family = Family.concurrency
    let question = "Is every change of another thread told of, once?"

    enum Way: String, CaseIterable {
        case refresh, beginWrite, queue, coalesced, objectOnQueue
    }

    private final class Seen: Sendable {
        let ids = Mutex<[Int]>([])
        let calls = Mutex(0)
    }

    static func trial(_ way: Way, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.realm(EntryClasses.all)
        try EntryClasses.fill(realm, count: 1)
        let table = realm.objects(Entry.self)
        let seen = Seen()
        let told: @Sendable (RealmCollectionChange<Strata.Results<Entry>>) -> Void = { change in
            guard case .update(let now, _, let insertions, _) = change else { return }
            let new = insertions.map { now[$0].id }
            seen.ids.withLock { $0 += new }
            seen.calls.withLock { $0 += 1 }
        }
        let queue = DispatchQueue(label: "observer")
        let token: NotificationToken
        switch way {
        case .refresh, .beginWrite, .coalesced: token = table.observe(told)
        case .queue, .objectOnQueue: token = table.observe(on: queue, told)
        }
        defer { token.invalidate() }
        queue.sync {}
        let count = way == .coalesced ? 40 : 5
        for id in 1...count {
            try place.elsewhere(realm) { realm in try realm.write { realm.add(EntryClasses.make(id)) } }
            if way == .refresh { realm.refresh() }
            if way == .beginWrite {
                realm.beginWrite()
                realm.cancelWrite()
            }
        }
        if way == .coalesced { realm.refresh() }
        // A queue is woken by the commit: it runs what it was given before this.
        for _ in 0..<100 where seen.ids.withLock({ $0.count }) < count { queue.sync {} }
        let ids = seen.ids.withLock { $0 }
        let calls = seen.calls.withLock { $0 }
        return .all([
            .expect("insertions told of, each once", ids.sorted(), Array(1...count)),
            .expect("at most a call for each commit", calls <= count && calls > 0, true),
        ])
    }
}
