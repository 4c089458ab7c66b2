import Harness
import RunRecords
import Strata

/// A dog with an inverse to its owner.
final class MatrixDog: Object {
    @Persisted var name = ""
    @Persisted var age = 0
    @Persisted(originProperty: "dogs") var owners: LinkingObjects<MatrixPerson>
}

final class MatrixPerson: Object {
    @Persisted var name = ""
    @Persisted var dogs: List<MatrixDog>
}

/// Each screen observes one class. It must be notified of every change of that class, and of no change of the other.
struct ObserverMatrix: Scenario {
    let slug = "observer-matrix"
    let family = Family.invalidation
    let question = "Is each observer told exactly of the changes of its own class or key paths?"
    let requires: Set<Capability> = [.objects]
    let expects: Promise.Kind? = .safeDeletedAccess
    let parameters = [PolicyTrials.parameter]

    enum Change: String, CaseIterable {
        case renameDog, ageDog, renamePerson, addDog, addDogToPerson, removeDogFromPerson, deleteDog, deletePerson
        case parentThenChild, childThenParent, nothing
    }

    /// The observed thing, and the changes that require a notification.
    enum Observer: String, CaseIterable {
        case dogs, people, dogNames, dogObject, personList

        func isTold(of change: Change) -> Bool {
            switch (self, change) {
            case (_, .nothing): false
            case (.dogs, .renamePerson), (.dogs, .addDogToPerson), (.dogs, .removeDogFromPerson),
                (.dogs, .deletePerson):
                false
            case (.dogs, _): true
            case (.people, .renamePerson), (.people, .addDogToPerson), (.people, .removeDogFromPerson),
                (.people, .deletePerson), (.people, .deleteDog), (.people, .parentThenChild),
                (.people, .childThenParent):
                true
            case (.people, _): false
            case (.dogNames, .renameDog), (.dogNames, .addDog), (.dogNames, .deleteDog), (.dogNames, .parentThenChild),
                (.dogNames, .childThenParent):
                true
            case (.dogNames, _): false
            case (.dogObject, .renameDog), (.dogObject, .ageDog), (.dogObject, .deleteDog),
                (.dogObject, .parentThenChild), (.dogObject, .childThenParent):
                true
            case (.dogObject, _): false
            case (.personList, .addDogToPerson), (.personList, .removeDogFromPerson), (.personList, .deleteDog),
                (.personList, .deletePerson), (.personList, .renameDog), (.personList, .ageDog),
                (.personList, .parentThenChild), (.personList, .childThenParent):
                true
            case (.personList, _): false
            }
        }
    }

    static var names: [String] {
        Observer.allCases.flatMap { observer in Change.allCases.map { "\(observer.rawValue),\($0.rawValue)" } }
    }

    func run(_ context: CaseContext) throws {
        try PolicyTrials(context).run(Self.names, trial: Self.trial)
    }

    static func trial(_ name: String, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let parts = name.split(separator: ",").map(String.init)
        guard parts.count == 2, let observer = Observer(rawValue: parts[0]), let change = Change(rawValue: parts[1])
        else { throw HarnessError("no such trial: \(name)") }
        let realm = try place.realm([MatrixPerson.self, MatrixDog.self])
        let (taro, jiro, alice) = (MatrixDog(), MatrixDog(), MatrixPerson())
        try realm.write {
            realm.add([taro, jiro])
            realm.add(alice)
            alice.dogs.append(taro)
        }
        var calls = 0
        let token = observe(observer, realm, taro: taro, alice: alice) { calls += 1 }
        defer { token.invalidate() }
        try realm.write { try apply(change, realm: realm, taro: taro, jiro: jiro, alice: alice) }
        let told = calls
        // The control: an observer that got no call must be able to get one.
        let isGone =
            observer == .dogObject && change == .deleteDog || observer == .personList && change == .deletePerson
        if !isGone { try realm.write { control(observer, realm, taro: taro, jiro: jiro, alice: alice) } }
        return .all([
            .expect("calls", told, observer.isTold(of: change) ? 1 : 0),
            .expect("calls for a change of its own", calls - told, isGone ? 0 : 1),
        ])
    }

    /// A change that the observer must be notified of, after any other.
    private static func control(
        _ observer: Observer, _ realm: Realm, taro: MatrixDog, jiro: MatrixDog, alice: MatrixPerson
    ) {
        switch observer {
        case .dogs, .dogNames: jiro.name = "Jiro"
        case .people: realm.add(MatrixPerson())
        case .dogObject: taro.age = 9
        case .personList: alice.dogs.append(jiro)
        }
    }

    private static func observe(
        _ observer: Observer, _ realm: Realm, taro: MatrixDog, alice: MatrixPerson, told: @escaping () -> Void
    ) -> NotificationToken {
        switch observer {
        case .dogs: realm.objects(MatrixDog.self).observe { if case .update = $0 { told() } }
        case .people:
            realm.objects(MatrixPerson.self).observe(keyPaths: ["name", "dogs"]) {
                if case .update = $0 { told() }
            }
        case .dogNames: realm.objects(MatrixDog.self).observe(keyPaths: ["name"]) { if case .update = $0 { told() } }
        case .dogObject: taro.observe { _ in told() }
        case .personList: alice.dogs.observe { if case .update = $0 { told() } }
        }
    }

    private static func apply(
        _ change: Change, realm: Realm, taro: MatrixDog, jiro: MatrixDog, alice: MatrixPerson
    ) throws {
        switch change {
        case .renameDog: taro.name = "Taro"
        case .ageDog: taro.age = 4
        case .renamePerson: alice.name = "Alice"
        case .addDog: realm.add(MatrixDog())
        case .addDogToPerson: alice.dogs.append(jiro)
        case .removeDogFromPerson: alice.dogs.removeAll()
        case .deleteDog: realm.delete(taro)
        case .deletePerson: realm.delete(alice)
        case .parentThenChild:
            alice.name = "Alice"
            taro.name = "Taro"
        case .childThenParent:
            taro.name = "Taro"
            alice.name = "Alice"
        case .nothing: break
        }
    }
}
