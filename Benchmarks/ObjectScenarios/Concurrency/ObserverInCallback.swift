import Harness
import RunRecords
import Strata

/// Observers are added and removed while observers are notified.
struct ObserverInCallback: ObjectTrialScenario {
    let slug = "observer-in-callback"
    let family = Family.concurrency
    let question = "Is nothing lost and nothing told twice when observers come and go in callbacks?"

    enum Way: String, CaseIterable {
        case initialFirst, addedInside, removedInside, removesOther, droppedInside, many
    }

    private typealias Change = RealmCollectionChange<Strata.Results<Entry>>

    private static func word(_ name: String, _ change: Change) -> String {
        switch change {
        case .initial: "\(name) initial"
        case .update: "\(name) update"
        case .error: "\(name) error"
        }
    }

    static func trial(_ way: Way, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.realm(EntryClasses.all)
        try EntryClasses.fill(realm, count: 3)
        let table = realm.objects(Entry.self)
        var events: [String] = []
        var tokens: [NotificationToken] = []
        /// Observes as `a`; `inside` runs in its updates.
        func observe(_ inside: @escaping () -> Void = {}) {
            tokens.append(
                table.observe { change in
                    events.append(word("a", change))
                    if case .update = change { inside() }
                })
        }
        func observeOther() { tokens.append(table.observe { events.append(word("b", $0)) }) }
        let expected: [String]
        switch way {
        case .initialFirst:
            observe()
            expected = ["a initial", "a update", "a update"]
        case .addedInside:
            observe { if tokens.count == 1 { observeOther() } }
            expected = ["a initial", "a update", "b initial", "a update", "b update"]
        case .removedInside:
            observe { tokens[0].invalidate() }
            expected = ["a initial", "a update"]
        case .removesOther:
            observe { tokens[1].invalidate() }
            observeOther()
            expected = ["a initial", "b initial", "a update", "a update"]
        case .droppedInside:
            observe { tokens.removeAll() }
            expected = ["a initial", "a update"]
        case .many:
            for _ in 0..<50 { tokens.append(table.observe { _ in events.append("x") }) }
            for (index, token) in tokens.enumerated() where index % 2 == 0 { token.invalidate() }
            expected = Array(repeating: "x", count: 100)
        }
        for id in [10, 11] { try realm.write { realm.add(EntryClasses.make(id)) } }
        for token in tokens { token.invalidate() }
        return .expect("events", events, expected)
    }
}
