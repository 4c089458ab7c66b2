import Foundation
import Seeds
import Strata
import Testing

/// Random histories, followed by observers of every kind.
@Suite struct NotificationHistoryTests {
    /// The parts that observing without key paths covers: an element, and objects within four links.
    private static func seen(_ person: LivePerson) -> String { seen(person, links: 4) }
    private static func seen(_ dog: LiveDog) -> String { seen(dog, links: 4) }

    private static func seen(_ person: LivePerson, links: Int) -> String {
        if links == 0 { return own(person) }
        let dogs = Set([person.best].compactMap { $0 } + person.dogs.map { $0 } + person.pets.compactMap { $0.value })
        let behind = dogs.map { seen($0, links: links - 1) }.sorted()
        let friend = person.friend.map { seen($0, links: links - 1) }
        return "\(own(person)) \(behind) \(friend ?? "-")"
    }

    private static func seen(_ dog: LiveDog, links: Int) -> String {
        links == 0 ? own(dog) : "\(own(dog)) \(dog.toys.map(\.name))"
    }

    private static func own(_ person: LivePerson) -> String {
        "\(person.name) \(person.age) \(ids(person.dogs)) \(id(person.best)) \(id(person.friend)) "
            + "\(person.tags.map { $0 }) \(person.pets.map { "\($0.key) \(id($0.value))" })"
    }

    private static func own(_ dog: LiveDog) -> String { "\(dog.name) \(dog.age) \(ids(dog.toys))" }
    private static func id(_ object: ObjectBase?) -> String { object.map { "\($0.hashValue)" } ?? "-" }
    private static func ids(_ objects: some Sequence<some ObjectBase>) -> [String] { objects.map { id($0) } }

    private final class Observers {
        var checks: [() -> Void] = []
        var failures: () -> [String] = { [] }
        var updates: () -> Int = { 0 }

        func add<Collection: RealmCollection>(
            _ title: String, _ collection: Collection, _ keyPaths: [String]? = nil,
            print: ((Collection.Element) -> String)?
        ) where Collection.Element: ObjectBase {
            let mirror = LiveMirror(title, collection, keyPaths: keyPaths, print)
            checks.append { mirror.check() }
            let (failures, updates) = (failures, updates)
            self.failures = { failures() + mirror.failures }
            self.updates = { updates() + mirror.updates }
        }
    }

    private func observers(_ realm: Realm, _ owner: LivePerson) -> Observers {
        let all = Observers()
        let people = realm.objects(LivePerson.self)
        let dogs = realm.objects(LiveDog.self)
        all.add("people", people, print: Self.seen)
        all.add("dogs", dogs, print: Self.seen)
        all.add("filtered", people.where { $0.age >= 4 }, print: Self.seen)
        all.add("by link", people.filter("best.age > 4"), print: Self.seen)
        all.add("by list", people.filter("ANY dogs.age > 6"), print: Self.seen)
        all.add("sorted", people.sorted(byKeyPath: "age"), print: Self.seen)
        all.add(
            "filtered and sorted", people.where { $0.age < 7 }.sorted(by: [SortDescriptor(keyPath: "name"), "age"]),
            print: Self.seen)
        all.add("sorted by link", people.sorted(byKeyPath: "best.name", ascending: false), print: Self.seen)
        all.add("list", owner.dogs, print: Self.seen)
        all.add("list, sorted", owner.dogs.sorted(byKeyPath: "name"), print: Self.seen)
        all.add("list, filtered", owner.dogs.filter("age < 5"), print: Self.seen)
        all.add("inverse", owner.admirers, print: Self.seen)
        all.add("age", people, ["age"]) { "\($0.age)" }
        all.add("dogs", people, ["dogs"]) { "\(Self.ids($0.dogs))" }
        all.add("dogs.name", people.where { $0.age > 1 }, ["dogs.name"]) {
            "\($0.dogs.map { "\(Self.id($0)) \($0.name)" })"
        }
        all.add("dogs.toys", people, ["dogs.toys"]) { "\($0.dogs.map { "\(Self.id($0)) \(Self.ids($0.toys))" })" }
        all.add("best.age, name", people.sorted(byKeyPath: "age"), ["best.age", "name"]) {
            "\(Self.id($0.best)) \($0.best?.age ?? -1) \($0.name)"
        }
        all.add("friend.friend.name", people, ["friend.friend.name"]) {
            "\(Self.id($0.friend)) \(Self.id($0.friend?.friend)) \($0.friend?.friend?.name ?? "-")"
        }
        all.add("owners.age", dogs, ["owners.age"]) {
            "\($0.owners.map { "\(Self.id($0)) \($0.age)" }.sorted())"
        }
        all.add("admirers.admirers.age", people, ["admirers.admirers.age"]) {
            let behind = $0.admirers.map { admirer in
                "\(Self.id(admirer)) \(admirer.admirers.map { "\(Self.id($0)) \($0.age)" }.sorted())"
            }
            return "\(behind.sorted())"
        }
        all.add("pets.name", people, ["pets.name"]) {
            "\($0.pets.map { "\($0.key) \(Self.id($0.value)) \($0.value?.name ?? "-")" })"
        }
        return all
    }

    private static func repeatCommand(_ seed: UInt64) -> Comment {
        "seed \(seed): swift test --filter NotificationHistoryTests"
    }

    @Test(
        "changeset-mismatch, key-path-filter: change sets give the collection, and name exactly the changes",
        arguments: Array(UInt64(1)...6))
    func mirrors(seed: UInt64) throws {
        let realm = try makeRealm(liveTypes)
        var history = LiveHistory(generator: RandomStream(Seed(seed)))
        let owner = LivePerson(1000, "owner")
        try realm.write {
            realm.add(owner)
            for _ in 0..<120 { history.step(realm) }
        }
        let observers = observers(realm, owner)
        for round in 0..<40 {
            try realm.write {
                for _ in 0..<(round % 8 == 0 ? 60 : 1 + history.below(5)) {
                    history.step(realm)
                    if history.below(3) == 0, !owner.isInvalidated, let dog = history.dog(realm) {
                        owner.dogs.insert(dog, at: history.below(owner.dogs.count + 1))
                    }
                }
            }
            for check in observers.checks { check() }
            try #require(observers.failures() == [], Self.repeatCommand(seed))
        }
        #expect(observers.updates() > 100)
        for check in observers.checks { check() }
    }

    @Test(
        "changeset-mismatch: coalesced commits of other threads give the collection",
        arguments: Array(UInt64(11)...14))
    func otherThreads(seed: UInt64) throws {
        let realm = try makeRealm(liveTypes)
        let configuration = realm.configuration
        let owner = LivePerson(1000, "owner")
        try realm.write { realm.add(owner) }
        let observers = observers(realm, owner)
        let generator = Locked(LiveHistory(generator: RandomStream(Seed(seed))))
        for round in 0..<25 {
            let failure = Locked<(any Error)?>(nil)
            OtherThread.run {
                do {
                    let other = try Realm(configuration: configuration)
                    for _ in 0..<(1 + round % 4) {
                        try other.write { generator.with { history in for _ in 0..<6 { history.step(other) } } }
                    }
                } catch { failure.with { $0 = error } }
            }
            #expect(failure.current == nil)
            if round % 3 == 0 { try realm.write { generator.with { $0.step(realm) } } } else { realm.refresh() }
            for check in observers.checks { check() }
            try #require(observers.failures() == [], Self.repeatCommand(seed))
        }
        #expect(observers.updates() > 50)
    }

    @Test("changeset-mismatch: too many changes for a list are found by comparing the versions")
    func lostRecords() throws {
        let realm = try makeRealm([Note.self, Counter.self])
        try realm.write { for id in 0..<3000 { realm.add(Counter(id, "c", count: id % 10)) } }
        let configuration = realm.configuration
        let mirror = LiveMirror("all", realm.objects(Counter.self), keyPaths: nil) { "\($0.name) \($0.count)" }
        let filtered = LiveMirror("five", realm.objects(Counter.self).where { $0.count == 5 }, keyPaths: nil) {
            "\($0.name) \($0.count)"
        }
        let failure = Locked<(any Error)?>(nil)
        OtherThread.run {
            do {
                let other = try Realm(configuration: configuration)
                for round in 0..<80 {
                    try other.write { for counter in other.objects(Counter.self) { counter.name = "c\(round)" } }
                }
                try other.write {
                    for counter in other.objects(Counter.self) { counter.name = "c" }
                    other.delete(other.objects(Counter.self).where { $0.id < 100 })
                    other.objects(Counter.self)[7].count = 77
                    other.add(Counter(5, "new", count: 5))
                }
            } catch { failure.with { $0 = error } }
        }
        #expect(failure.current == nil)
        realm.refresh()
        mirror.check()
        filtered.check()
        #expect(mirror.failures == [] && filtered.failures == [])
        #expect(mirror.updates == 1)
    }
}
