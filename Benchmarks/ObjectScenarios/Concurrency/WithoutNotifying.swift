import Harness
import RunRecords
import Strata

/// A screen that makes a change excludes its own observer from the notification. The observer must be notified of all
/// other changes.
struct WithoutNotifying: ObjectTrialScenario {
    let slug = "without-notifying"
    let family = Family.concurrency
    let question = "Does a commit without notifying skip only the tokens that it names, and no later commit?"

    enum Way: String, CaseIterable {
        case skipped, next, otherToken, mirror, objectToken, rolledBack
    }

    static func trial(_ way: Way, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.realm(EntryClasses.all)
        try EntryClasses.fill(realm, count: 3)
        let table = realm.objects(Entry.self)
        var (own, other) = ([[Int]](), [[Int]]())
        let token = table.observe { change in
            if case .update(_, let deletions, let insertions, _) = change { own.append(deletions + insertions) }
        }
        let otherToken = table.observe { change in
            if case .update(_, let deletions, let insertions, _) = change { other.append(deletions + insertions) }
        }
        defer {
            token.invalidate()
            otherToken.invalidate()
        }
        func silent(_ body: () throws -> Void) throws { try realm.write(withoutNotifying: [token], body) }
        switch way {
        case .skipped:
            try silent { realm.add(EntryClasses.make(10)) }
            return .all([.expect("own updates", own, []), .expect("updates of the other", other, [[3]])])
        case .next:
            try silent { realm.add(EntryClasses.make(10)) }
            try realm.write { realm.add(EntryClasses.make(11)) }
            return .expect("own updates", own, [[4]])
        case .otherToken:
            try silent { realm.add(EntryClasses.make(10)) }
            return .expect("updates of the other", other, [[3]])
        case .mirror:
            try silent { realm.delete(table[0]) }
            try realm.write { realm.delete(table[0]) }
            return .all([.expect("own updates", own, [[0]]), .expect("others", other, [[0], [0]])])
        case .objectToken:
            guard let first = table.first else { return .wrong("no object") }
            var told: [String] = []
            let token = first.observe { change in
                if case .change(_, let properties) = change { told += properties.map { "\($0.newValue ?? "nil")" } }
            }
            defer { token.invalidate() }
            try realm.write(withoutNotifying: [token]) { first.text = "one" }
            try realm.write { first.text = "two" }
            return .expect("values told", told, ["two"])
        case .rolledBack:
            struct Stop: Error {}
            do {
                try silent {
                    realm.add(EntryClasses.make(10))
                    throw Stop()
                }
            } catch is Stop {}
            try realm.write { realm.add(EntryClasses.make(11)) }
            return .expect("own updates", own, [[3]])
        }
    }
}
