import Dispatch
import Harness
import RunRecords
import Strata
import Synchronization

/// Changes of other threads: each must be notified once, with and without a running run loop.
struct MissedNotification: ObjectTrialScenario {
    let slug = "missed-notification"
    let family = Family.concurrency
    let question = "Does an observer get every change of another thread, exactly once?"

    enum Way: String, CaseIterable {
        case refresh, beginWrite, queue, coalesced, objectOnQueue
    }

    private final class Seen: Sendable {
        /// Keys of inserted objects, or the successive values of one object.
        let numbers = Mutex<[Int]>([])
        let calls = Mutex(0)

        func note(_ new: [Int]) {
            numbers.withLock { $0 += new }
            calls.withLock { $0 += 1 }
        }
        var all: [Int] { numbers.withLock { $0 } }
    }

    static func trial(_ way: Way, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.realm(EntryClasses.all)
        try EntryClasses.fill(realm, count: 1)
        if way == .objectOnQueue { return try object(realm, place) }
        let table = realm.objects(Entry.self)
        let seen = Seen()
        let told: @Sendable (RealmCollectionChange<Strata.Results<Entry>>) -> Void = { change in
            guard case .update(let now, _, let insertions, _) = change else { return }
            seen.note(insertions.map { now[$0].id })
        }
        let queue = DispatchQueue(label: "observer")
        let token = way == .queue ? table.observe(on: queue, told) : table.observe(told)
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
        // The commit wakes the queue, which first runs what was submitted earlier.
        for _ in 0..<100 where seen.all.count < count { queue.sync {} }
        let calls = seen.calls.withLock { $0 }
        let isRight: Bool
        switch way {
        case .refresh, .beginWrite: isRight = calls == count
        case .coalesced: isRight = calls == 1
        case .queue, .objectOnQueue: isRight = (1...count).contains(calls)
        }
        let there = try place.elsewhere(realm) { EntryClasses.lines($0) }
        return .all([
            .same("objects", there, (0...count).map { EntryClasses.line($0) }),
            .expect("insertions told of, each once", seen.all.sorted(), Array(1...count)),
            .expect("as many calls as there were looks or wakes: \(calls)", isRight, true),
        ])
    }

    /// One object that another thread changes, observed on a queue: the last notification must have the newest value.
    private static func object(_ realm: Realm, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        guard let entry = realm.object(ofType: Entry.self, forPrimaryKey: 0) else { return .wrong("no object") }
        let seen = Seen()
        let queue = DispatchQueue(label: "observer")
        let token = entry.observe(on: queue) { change in
            guard case .change(let entry, let properties) = change else { return seen.note([-1]) }
            seen.note(properties.map(\.name) == ["rank"] ? [entry.rank] : [-2])
        }
        defer { token.invalidate() }
        queue.sync {}
        let ranks = (1...5).map { $0 * 100 }
        for rank in ranks {
            try place.elsewhere(realm) { realm in
                try realm.write { realm.object(ofType: Entry.self, forPrimaryKey: 0)?.rank = rank }
            }
        }
        for _ in 0..<100 where seen.all.last != ranks.last { queue.sync {} }
        let told = seen.all
        return .all([
            .expect("the newest value told", told.last, ranks.last),
            .expect("values told, each once and in order", told, Array(Set(told).intersection(ranks)).sorted()),
        ])
    }
}
