import Harness
import RunRecords
import Strata

/// A detail screen observes an object that another screen deletes.
struct ObserverOfDeleted: CellScenario {
    let slug = "observer-of-deleted"
    let question = "Is an observer told of the deletion once, and may it be removed at any time?"

    enum Way: String, CaseIterable {
        case once, removedTwice, removedInside, laterWrites, recreated, otherThread
    }

    static func trial<C: ShownObject>(_ way: Way, _ type: C.Type, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.cells(C.self, count: 5)
        let held: C = try place.cell(3, realm)
        var events: [String] = []
        var token: NotificationToken?
        token = held.observe { change in
            switch change {
            case .change: events.append("change")
            case .deleted: events.append("deleted")
            case .error: events.append("error")
            }
            if way == .removedInside { token?.invalidate() }
        }
        if way == .otherThread {
            try place.elsewhere(realm) { realm in
                try realm.write { realm.delete(try TrialPlace.found(C.self, 3, realm)) }
            }
            realm.refresh()
        } else {
            try realm.write { realm.delete(held) }
        }
        switch way {
        case .once, .otherThread, .removedInside: break
        case .removedTwice:
            token?.invalidate()
            token?.invalidate()
        case .laterWrites:
            for number in 10..<13 { try realm.write { realm.add(C.make(number)) } }
        case .recreated:
            try realm.write { realm.add(C.make(3)) }
            try realm.write { (try place.cell(3, realm) as C).rename("again") }
        }
        token?.invalidate()
        return .all([
            .expect("events", events, ["deleted"]), .expect("isInvalidated", held.isInvalidated, true),
            .expect("reports", place.reported.count, 0),
        ])
    }
}

extension TrialPlace {
    /// As ``cell(_:_:)``, for code without a `TrialPlace`.
    static func found<C: ShownObject>(_ type: C.Type, _ number: Int, _ realm: Realm) throws -> C {
        guard let cell = C.first(number, in: realm) else { throw EngineError(.refused, "cell \(number) is not there") }
        return cell
    }
}
