import Harness
import Results
import Strata

/// Observers come and go while observers are told.
package struct ObserverInCallback: ObjectTrialScenario, Scenario {
    package let slug = "observer-in-callback"
    package let family = Family.concurrency
    package let question = "Is nothing lost and nothing told twice when observers come and go in callbacks?"

    package init() {}

    enum Way: String, CaseIterable {
        case initialFirst, addedInside, removedInside, removesOther, droppedInside, many
    }

    static func trial(_ way: Way, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.realm(EntryClasses.all)
        try EntryClasses.fill(realm, count: 3)
        let table = realm.objects(Entry.self)
        var events: [String] = []
        var tokens: [NotificationToken] = []
        func word(_ name: String, _ change: RealmCollectionChange<Strata.Results<Entry>>) -> String {
            switch change {
            case .initial: "\(name) initial"
            case .update: "\(name) update"
            case .error: "\(name) error"
            }
        }
        func add(_ id: Int) throws { try realm.write { realm.add(EntryClasses.make(id)) } }
        let expected: [String]
        switch way {
        case .initialFirst:
            tokens.append(table.observe { events.append(word("a", $0)) })
            try add(10)
            try add(11)
            expected = ["a initial", "a update", "a update"]
        case .addedInside:
            tokens.append(
                table.observe { change in
                    events.append(word("a", change))
                    if case .update = change, tokens.count == 1 {
                        tokens.append(table.observe { events.append(word("b", $0)) })
                    }
                })
            try add(10)
            try add(11)
            expected = ["a initial", "a update", "b initial", "a update", "b update"]
        case .removedInside:
            tokens.append(
                table.observe { change in
                    events.append(word("a", change))
                    if case .update = change { tokens[0].invalidate() }
                })
            try add(10)
            try add(11)
            expected = ["a initial", "a update"]
        case .removesOther:
            tokens.append(
                table.observe { change in
                    events.append(word("a", change))
                    if case .update = change { tokens[1].invalidate() }
                })
            tokens.append(table.observe { events.append(word("b", $0)) })
            try add(10)
            try add(11)
            expected = ["a initial", "b initial", "a update", "a update"]
        case .droppedInside:
            tokens.append(
                table.observe { change in
                    events.append(word("a", change))
                    if case .update = change { tokens.removeAll() }
                })
            try add(10)
            try add(11)
            expected = ["a initial", "a update"]
        case .many:
            for _ in 0..<50 { tokens.append(table.observe { _ in events.append("x") }) }
            for (index, token) in tokens.enumerated() where index % 2 == 0 { token.invalidate() }
            try add(10)
            expected = Array(repeating: "x", count: 75)
        }
        for token in tokens { token.invalidate() }
        return .expect("events", events, expected)
    }
}
