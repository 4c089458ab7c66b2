import Harness
import RunRecords
import Strata

/// The notification of a commit releases the Realm, the observer or both: the commit must stay.
struct CommitInNotification: ObjectTrialScenario {
    let slug = "commit-in-notification"
    let family = Family.concurrency
    let question = "Is a commit kept whatever the observers that it calls do?"

    enum Way: String, CaseIterable {
        case invalidate, writeAndInvalidate, cancel, tokenDropped
    }

    static func trial(_ way: Way, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.realm(EntryClasses.all)
        var token: NotificationToken?
        var isDone = false
        token = realm.objects(Entry.self).observe { change in
            guard case .update = change, !isDone else { return }
            isDone = true
            switch way {
            case .invalidate: realm.invalidate()
            case .writeAndInvalidate:
                do { try realm.write { realm.add(EntryClasses.make(2)) } } catch {}
                realm.invalidate()
            case .cancel:
                realm.beginWrite()
                realm.deleteAll()
                realm.cancelWrite()
            case .tokenDropped: token = nil
            }
        }
        try realm.write { realm.add(EntryClasses.make(1)) }
        realm.refresh()
        let there = try place.elsewhere(realm) { EntryClasses.lines($0) }
        token?.invalidate()
        let expected = (way == .writeAndInvalidate ? [1, 2] : [1]).map { EntryClasses.line($0) }
        return .all([
            .same("objects that another thread sees", there, expected),
            .same("objects here", EntryClasses.lines(realm), expected),
            // The notification comes with the commit and with a refresh.
            .expect("a notification came", isDone, true),
        ])
    }
}
