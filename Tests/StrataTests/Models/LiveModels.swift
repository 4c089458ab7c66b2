import Seeds
import Strata

/// People and dogs with links of every kind, cycles and inverses.
final class LivePerson: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var name = ""
    @Persisted(indexed: true) var age = 0
    @Persisted var dogs: List<LiveDog>
    @Persisted var best: LiveDog?
    @Persisted var friend: LivePerson?
    @Persisted var tags: MutableSet<String>
    @Persisted var pets: Map<String, LiveDog?>
    @Persisted(originProperty: "friend") var admirers: LinkingObjects<LivePerson>

    convenience init(_ id: Int, _ name: String = "", age: Int = 0) {
        self.init()
        self.id = id
        self.name = name
        self.age = age
    }
}

final class LiveDog: Object {
    @Persisted var name = ""
    @Persisted var age = 0
    @Persisted(deleteRule: .cascade) var toys: List<LiveToy>
    @Persisted(originProperty: "dogs") var owners: LinkingObjects<LivePerson>

    convenience init(_ name: String, age: Int = 0) {
        self.init()
        self.name = name
        self.age = age
    }
}

final class LiveToy: Object {
    @Persisted var name = ""
}

let liveTypes: [ObjectBase.Type] = [LivePerson.self, LiveDog.self, LiveToy.self]

/// Random changes of people, dogs and toys.
struct LiveHistory {
    var generator: RandomStream

    mutating func below(_ count: Int) -> Int { Int.random(in: 0..<max(1, count), using: &generator) }

    mutating func person(_ realm: Realm) -> LivePerson? {
        let people = realm.objects(LivePerson.self)
        return people.isEmpty ? nil : people[below(people.count)]
    }

    mutating func dog(_ realm: Realm) -> LiveDog? {
        let dogs = realm.objects(LiveDog.self)
        return dogs.isEmpty ? nil : dogs[below(dogs.count)]
    }

    /// One change; inside a write.
    mutating func step(_ realm: Realm) {
        switch below(20) {
        case 0, 1:
            let id = below(60)
            realm.create(
                LivePerson.self, value: ["id": id, "name": "n\(below(9))", "age": below(9)], update: .modified)
        case 2: realm.add(LiveDog("d\(below(9))", age: below(9)))
        case 3: if let person = person(realm) { realm.delete(person) }
        case 4: if let dog = dog(realm) { realm.delete(dog) }
        case 5:
            // Deleted, and inserted again with the same key.
            guard let person = person(realm) else { return }
            let (id, age) = (person.id, person.age)
            realm.delete(person)
            realm.add(LivePerson(id, "again", age: age))
        case 6: person(realm)?.name = "n\(below(9))"
        case 7, 8: person(realm)?.age = below(9)
        case 9: dog(realm)?.name = "d\(below(9))"
        case 10: dog(realm)?.age = below(9)
        case 11: person(realm)?.best = below(4) == 0 ? nil : dog(realm)
        case 12: person(realm)?.friend = below(4) == 0 ? nil : person(realm)
        case 13, 14: if let dog = dog(realm), let person = person(realm) { person.dogs.append(dog) }
        case 15:
            guard let dogs = person(realm)?.dogs, !dogs.isEmpty else { return }
            dogs.move(from: below(dogs.count), to: below(dogs.count))
        case 16:
            guard let dogs = person(realm)?.dogs, !dogs.isEmpty else { return }
            dogs.remove(at: below(dogs.count))
        case 17:
            guard let dog = dog(realm) else { return }
            let toy = LiveToy()
            toy.name = "t\(below(9))"
            dog.toys.append(toy)
        case 18:
            if let tags = person(realm)?.tags { tags.insert("g\(below(5))") }
        default:
            guard let person = person(realm) else { return }
            person.pets["p\(below(3))"] = .some(dog(realm))
        }
    }
}

/// Mirrors a collection by its change sets only, and compares the mirror with it.
final class LiveMirror<Collection: RealmCollection> where Collection.Element: ObjectBase {
    private let collection: Collection
    private let title: String
    /// The observed part of an element; nil leaves modifications unchecked.
    private let print: ((Collection.Element) -> String)?
    private var elements: [(object: Collection.Element, print: String)] = []
    private(set) var failures: [String] = []
    private(set) var updates = 0
    var token: NotificationToken?

    init(_ title: String, _ collection: Collection, keyPaths: [String]?, _ print: ((Collection.Element) -> String)?) {
        self.title = title
        self.collection = collection
        self.print = print
        token = collection.observe(keyPaths: keyPaths) { [unowned self] change in
            switch change {
            case .initial(let now): elements = show(now)
            case .update(let now, let deletions, let insertions, let modifications):
                updates += 1
                apply(show(now), deletions, insertions, modifications)
            case .error(let error): failures.append("\(title): \(error)")
            }
        }
    }

    private func show(_ now: Collection) -> [(object: Collection.Element, print: String)] {
        now.map { ($0, print?($0) ?? "") }
    }

    private func apply(
        _ now: [(object: Collection.Element, print: String)], _ deletions: [Int], _ insertions: [Int],
        _ modifications: [Int]
    ) {
        for places in [deletions, insertions, modifications] where places != Set(places).sorted() {
            failures.append("\(title): not ascending: \(places)")
        }
        if !Set(deletions).isDisjoint(with: modifications) { failures.append("\(title): deleted and modified") }
        let before = elements
        var kept = before.indices.map { $0 }
        for place in deletions.reversed() { kept.remove(at: place) }
        elements = now
        guard kept.count + insertions.count == now.count else {
            return failures.append("\(title): \(kept.count) + \(insertions.count) elements, not \(now.count)")
        }
        let new = Set(insertions)
        var next = kept.makeIterator()
        let modified = Set(modifications)
        for place in now.indices where !new.contains(place) {
            guard let old = next.next() else { break }
            if before[old].object != now[place].object { failures.append("\(title): another object at \(place)") }
            guard print != nil else { continue }
            if (before[old].print != now[place].print) != modified.contains(old) {
                failures.append(
                    "\(title): \(before[old].print) -> \(now[place].print), modified \(modified.contains(old))")
            }
        }
    }

    /// Whether the mirror equals the collection.
    func check() {
        let now = collection.map { $0 }
        if now != elements.map(\.object) { failures.append("\(title): the mirror shows something else") }
    }
}
